import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const win = await load("pages/logs/logWindow.ts");
const sheetOf = (total, heightOf = () => 10, height = 100) => ({ total, height, heightOf });

test("lines are kept by their numbers, and not more than fit", () => {
  const store = new win.LineStore();
  store.total = 10_000_000;
  for (let first = 1; first < 2_000_000; first += 500)
    store.put(first, Array.from({ length: 500 }, (_, i) => `line ${first + i} `.padEnd(100, "x")));
  assert.ok(store.size <= 2_000_000, `${store.size} letters are kept`);
  assert.match(store.get(1_999_999), /^line 1999999 /);
  assert.equal(store.get(1), undefined);
  assert.equal(store.get(5_000_000), undefined);
});

test("only what is missing is asked for", () => {
  const store = new win.LineStore();
  store.total = 1000;
  store.put(101, Array(100).fill("x"));
  assert.deepEqual(store.missing(90, 220), { line: 90, count: 131 });
  assert.deepEqual(store.missing(150, 250), { line: 201, count: 50 });
  assert.deepEqual(store.missing(80, 150), { line: 80, count: 21 });
  assert.equal(store.missing(120, 180), null);
  assert.deepEqual(store.missing(990, 1010), { line: 990, count: 11 });
  store.forget(150);
  assert.deepEqual(store.missing(120, 180), { line: 150, count: 1 });
  assert.equal(store.size, 99);
});

test("one walks by pixels over lines of different heights, and not beyond the ends", () => {
  const sheet = sheetOf(100, (line) => (line % 2 ? 10 : 30));
  assert.deepEqual(win.walk({ line: 1, px: 0 }, 45, sheet), { line: 3, px: 5 });
  assert.deepEqual(win.walk({ line: 3, px: 5 }, -45, sheet), { line: 1, px: 0 });
  assert.deepEqual(win.walk({ line: 3, px: 5 }, -4500, sheet), { line: 1, px: 0 });
  const end = win.endPlace(sheet);
  assert.deepEqual(end, { line: 96, px: 10 });
  assert.deepEqual(win.walk({ line: 90, px: 0 }, 1e6, sheet), end);
  assert.ok(win.isAtEnd(end, sheet));
  assert.ok(!win.isAtEnd({ line: 90, px: 0 }, sheet));
});

test("a short log begins at its first line, which is also its end", () => {
  const sheet = sheetOf(3);
  assert.deepEqual(win.endPlace(sheet), { line: 1, px: 0 });
  assert.ok(win.isAtEnd({ line: 1, px: 0 }, sheet));
  assert.deepEqual(win.linesInSight({ line: 1, px: 0 }, sheet), { first: 1, last: 3 });
});

test("the scroll bar reaches every part of ten million lines", () => {
  const sheet = sheetOf(10_000_000, () => 19, 800);
  const track = win.trackHeight(sheet.total, 19);
  assert.equal(track, win.TRACK_MAX);
  assert.deepEqual(win.placeAtTrack(0, sheet, track), { line: 1, px: 0 });
  assert.ok(win.isAtEnd(win.placeAtTrack(track - 800, sheet, track), sheet));
  for (const share of [0.1, 0.5, 0.9]) {
    const top = share * (track - 800);
    const at = win.placeAtTrack(top, sheet, track);
    assert.ok(Math.abs(at.line / 10_000_000 - share) < 0.001);
    assert.ok(Math.abs(win.trackOf(at, sheet, track) - top) < 1);
  }
});

test("lines of a URL", () => {
  assert.deepEqual(win.parseLines("12"), { from: 12, to: 12 });
  assert.deepEqual(win.parseLines("L30-12"), { from: 12, to: 30 });
  for (const wrong of ["", "0", "x", "1-", "-1", null, "1e9"]) assert.equal(win.parseLines(wrong), null);
});

test("hits are stepped through in a circle", () => {
  const hits = [10, 20, 30];
  assert.deepEqual([0, 10, 15, 30, 99].map((line) => win.nextHit(hits, line, 1)), [10, 20, 20, 10, 10]);
  assert.deepEqual([0, 10, 15, 30, 99].map((line) => win.nextHit(hits, line, -1)), [30, 30, 10, 20, 30]);
  assert.equal(win.nextHit([], 5, 1), null);
});

test("wrapped lines are as high as their letters need", () => {
  assert.equal(win.rowsOf("", 80), 1);
  assert.equal(win.rowsOf(undefined, 80), 1);
  assert.equal(win.rowsOf("x".repeat(160), 80), 2);
  assert.equal(win.rowsOf("x".repeat(161), 80), 3);
  assert.equal(win.rowsOf("\x1b[31m" + "x".repeat(80) + "\x1b[0m", 80), 1);
  assert.equal(win.rowsOf("漢".repeat(41), 80), 2);
});
