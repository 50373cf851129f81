import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const gantt = await load("pages/runs/ganttModel.ts");
const at = (second) => (second === null ? null : new Date(second * 1000).toISOString());
const bar = (task_id, queued, start, end, more = {}) => ({
  task_id, map_index: -1, state: "success", try_number: 1, attempts: [],
  queued_when: at(queued), start_date: at(start), end_date: at(end), ...more,
});
const pathOf = (bars, needs, now = 1e6) =>
  [...gantt.criticalPath(bars, new Map(Object.entries(needs)), now)].map((key) =>
    key.replace("\n-1", "").replace("\n", "/"));

test("the critical path goes back from what ended last", () => {
  const bars = [bar("a", 0, 0, 5), bar("b", 0, 0, 9), bar("c", 9, 9, 20), bar("d", 5, 5, 6), bar("e", 20, 20, 25)];
  assert.deepEqual(pathOf(bars, { c: ["a", "b"], d: ["a"], e: ["c", "d"] }), ["e", "c", "b"]);
});

test("of a mapped task the instance that ended last counts, and what still runs ends now", () => {
  const bars = [bar("a", 0, 0, 5), bar("m", 5, 5, 12), bar("m", 5, 5, 8, { map_index: 0 }),
    bar("m", 5, 6, 12, { map_index: 1 }),
    bar("z", 12, 12, null, { state: "running" })];
  assert.deepEqual(pathOf(bars, { m: ["a"], z: ["m"] }, 30_000), ["z", "m/1", "a"]);
});

test("what never started is on no path, and circles end", () => {
  assert.deepEqual(pathOf([bar("a", 0, null, 3)], {}), []);
  assert.deepEqual(pathOf([bar("a", 0, 0, 3), bar("b", 0, 0, 2)], { a: ["b"], b: ["a"] }), ["a", "b"]);
});

test("a row has earlier tries, waiting and running", () => {
  const row = bar("a", 10, 12, 15, { try_number: 2, state: "failed",
    attempts: [{ try_number: 1, state: "failed", start_date: at(1), end_date: at(4) },
      { try_number: 2, state: "failed", start_date: at(12), end_date: at(15) }] });
  assert.deepEqual(gantt.segmentsOf(row, 0).map((part) => [part.kind, part.from / 1000, part.to / 1000]),
    [["earlier", 1, 4], ["queued", 10, 12], ["ran", 12, 15]]);
  assert.deepEqual(gantt.segmentsOf(bar("b", 3, null, null), 9000).map((part) => [part.kind, part.to / 1000]),
    [["queued", 9]]);
});

test("marks of the axis are few and round", () => {
  for (const seconds of [0.01, 1, 59, 3600, 86400 * 30]) {
    const ticks = gantt.ticksOf({ from: 0, to: seconds * 1000 }, 6);
    assert.ok(ticks.length >= 1 && ticks.length <= 7, `${seconds}: ${ticks.length}`);
  }
});

test("only rows in sight are drawn", () => {
  assert.deepEqual(gantt.rowWindow(0, 480, 24, 2000), { first: 0, last: 30 });
  assert.deepEqual(gantt.rowWindow(24000, 480, 24, 2000), { first: 990, last: 1030 });
  assert.deepEqual(gantt.rowWindow(0, 480, 24, 3), { first: 0, last: 3 });
});
