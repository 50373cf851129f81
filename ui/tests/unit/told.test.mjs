import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { piecesOf, plainTold } = await load("core/told.ts");
const kinds = (text) => piecesOf(text).map((piece) => `${piece.kind[0]}:${piece.text}`);

test("what a sentence has of times and of things to type is told apart", () => {
  assert.deepEqual(kinds("its next tick is at 2026-11-17T01:30:00Z, in 2 h"),
    ["t:its next tick is at ", "i:2026-11-17T01:30:00Z", "t:, in 2 h"]);
  assert.deepEqual(kinds("since 2026-11-16T23:14:09.715912Z (1m11s)"),
    ["t:since ", "i:2026-11-16T23:14:09.715912Z", "t: (1m11s)"]);
  assert.deepEqual(kinds("`eider mark 29 file success` lets the run go on"),
    ["c:eider mark 29 file success", "t: lets the run go on"]);
  assert.deepEqual(kinds("2026-11-17T01:30+02:00"), ["i:2026-11-17T01:30+02:00"]);
  assert.deepEqual(kinds(""), []);
});

test("times in names and commands stay as they are, and so do single backticks", () => {
  for (const text of ["run scheduled__2026-11-17T01:30:00Z waits", "file '2026-11-17T01:30:00Z' is not there",
    "/in/2026-11-17T01:30:00Z.csv", "2026-11-17T01:30:00", "2026-99-99T01:30:00Z", "<b>no markup</b>"])
    assert.deepEqual(kinds(text), ["t:" + text]);
  assert.deepEqual(kinds("`eider dags trigger a --date 2026-11-17T01:30:00Z`"),
    ["c:eider dags trigger a --date 2026-11-17T01:30:00Z"]);
  assert.deepEqual(kinds("a ` alone"), ["t:a ", "t:` alone"]);
  assert.deepEqual(kinds("`x` and ` y"), ["c:x", "t: and ", "t:` y"]);
});

test("where there is only text, times are in the zone", () => {
  assert.equal(plainTold("until 2026-11-17T01:30:00Z: `eider retry 1`", "Europe/Berlin"),
    "until 2026-11-17 02:30:00: eider retry 1");
});
