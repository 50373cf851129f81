#!/usr/bin/env node
// Measures the pages in a real browser against the release build, and prints the table.
//
//   bench/ui.mjs [--passes N] [--strict] [ROW..]
//
// Each row is a module bench/ui/ROW.mjs that exports `what`, `bar` and `measure(options)`, which
// gives { text, isMet } and whatever else is worth keeping. Results also go to build/bench-ui.json.
// With --strict a row that misses its bar is a failure.
import { readdir, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { closeStage, ROOT } from "./ui_stage.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { passes: { type: "string", default: "3" }, strict: { type: "boolean", default: false } },
});
const folder = path.join(ROOT, "bench/ui");
const all = (await readdir(folder)).filter((name) => name.endsWith(".mjs")).map((name) => name.slice(0, -4)).sort();
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`bench/ui.mjs: no row ${unknown.join(", ")}; there are ${all.join(", ")}`);
  process.exit(2);
}

const results = {};
console.log("| what | measured | bar | |\n|---|---|---|---|");
for (const name of positionals.length > 0 ? positionals : all) {
  const row = await import(path.join(folder, `${name}.mjs`));
  try {
    results[name] = await row.measure({ passes: Number(values.passes) });
  } catch (error) {
    results[name] = { text: `not measured: ${error.message}`, isMet: false };
  }
  console.log(`| ${row.what} | ${results[name].text} | ${row.bar} | ${results[name].isMet ? "yes" : "**no**"} |`);
}
await closeStage();
await mkdir(path.join(ROOT, "build"), { recursive: true });
await writeFile(path.join(ROOT, "build/bench-ui.json"), JSON.stringify(results, null, 2));
process.exitCode = values.strict && Object.values(results).some((result) => !result.isMet) ? 1 : 0;
