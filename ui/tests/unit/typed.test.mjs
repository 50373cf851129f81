// A field that the URL follows.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

globalThis.location = new URL("http://eider/runs");
const { adopt } = await load("parts/typed.ts");

const typed = (text, known = text, path = "/runs") => ({ text, known, path });

test("what was typed while the URL followed stays", () => {
  const before = typed("manu", "man");
  assert.equal(adopt(before, "man", "/runs"), before);
});

test("what somebody else put into the URL counts, also against what is typed and not there yet", () => {
  assert.deepEqual(adopt(typed("man"), "other", "/runs"), typed("other"));
  assert.deepEqual(adopt(typed("manu", "man"), "", "/runs"), typed(""));
});

test("what was typed on one page is not for the next", () => {
  assert.deepEqual(adopt(typed("m", ""), "", "/audit"), typed("", "", "/audit"));
});
