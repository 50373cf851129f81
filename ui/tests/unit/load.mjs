// Loads TypeScript modules of src/ for a test, without a browser.
import { build } from "esbuild";
import path from "node:path";
import { fileURLToPath } from "node:url";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../src");

/** What all of them export, bundled together: modules that they share are the same for each. */
export async function load(...names) {
  const made = await build({
    stdin: { contents: names.map((name) => `export * from "./${name}";`).join("\n"), resolveDir: source },
    bundle: true, write: false, format: "esm", platform: "node",
    jsx: "automatic", jsxImportSource: "preact", logLevel: "silent",
  });
  return import("data:text/javascript;base64," + Buffer.from(made.outputFiles[0].contents).toString("base64"));
}
