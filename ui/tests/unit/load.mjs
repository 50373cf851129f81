// Loads a TypeScript module of src/ for a test, without a browser.
import { build } from "esbuild";
import path from "node:path";
import { fileURLToPath } from "node:url";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../src");

export async function load(name) {
  const made = await build({
    entryPoints: [path.join(source, name)], bundle: true, write: false, format: "esm", platform: "node",
    jsx: "automatic", jsxImportSource: "preact", logLevel: "silent",
  });
  return import("data:text/javascript;base64," + Buffer.from(made.outputFiles[0].contents).toString("base64"));
}
