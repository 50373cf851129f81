// Bundles the pages: `node build.mjs OUT` writes OUT/index.html and OUT/static/NAME-HASH.EXT.
import { build } from "esbuild";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? "dist");

await rm(out, { recursive: true, force: true });
await mkdir(path.join(out, "static"), { recursive: true });
const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", style: "src/style/style.css", icon: "src/icon.svg" },
  outdir: path.join(out, "static"),
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: ["chrome109", "firefox115", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  loader: { ".svg": "copy" },
  metafile: true,
  logLevel: "warning",
});

const places = {};
for (const [file, made] of Object.entries(result.metafile.outputs))
  if (made.entryPoint) places[path.basename(made.entryPoint)] = "/static/" + path.basename(file);
const page = (await readFile(path.join(here, "src/index.html"), "utf8"))
  .replace("SCRIPT", places["main.tsx"])
  .replace("STYLE", places["style.css"])
  .replace("ICON", places["icon.svg"]);
await writeFile(path.join(out, "index.html"), page);
