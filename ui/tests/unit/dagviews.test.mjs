import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const calendar = await load("pages/dag/calendar.ts");
const numbers = await load("pages/dag/quantiles.ts");
const diff = await load("pages/dag/diff.ts");
const yaml = await load("pages/dag/yaml.ts");
const backfill = await load("pages/start/backfill.ts");

test("a year is months of weeks from Monday", () => {
  const months = calendar.monthsOf(2026);
  assert.equal(months.length, 12);
  assert.equal(months.flatMap((month) => month.cells).filter(Boolean).length, 365);
  assert.equal(months[0].cells.indexOf("2026-01-01"), 3, "it was a Thursday");
  assert.ok(months.every((month) => month.cells.length % 7 === 0));
  assert.equal(calendar.monthsOf(2024)[1].cells.filter(Boolean).length, 29);
});

test("a year begins today, or with its newest run", () => {
  const days = [["2025-03-01", 1], ["2025-08-09", 2], ["2025-12-24", 0]].map(([date, total]) =>
    ({ date, total, counts: {}, planned: 0 }));
  assert.equal(calendar.startOf(2026, [], "2026-11-16"), "2026-11-16");
  assert.equal(calendar.startOf(2025, days, "2026-11-16"), "2025-08-09");
  assert.equal(calendar.startOf(2024, [], "2026-11-16"), "2024-01-01");
});

test("keys lead from day to day, and not out of the year", () => {
  assert.equal(calendar.dayAfterKey("2026-03-31", "ArrowRight"), "2026-04-01");
  assert.equal(calendar.dayAfterKey("2026-03-31", "ArrowUp"), "2026-03-24");
  assert.equal(calendar.dayAfterKey("2026-03-31", "PageUp"), "2026-02-28");
  assert.equal(calendar.dayAfterKey("2026-12-31", "ArrowRight"), null);
  assert.equal(calendar.dayAfterKey("2026-01-10", "PageUp"), null);
  assert.equal(calendar.dayAfterKey("2026-01-10", "x"), null);
});

test("a day looks like its worst run", () => {
  const day = (counts, planned = 0) => ({ date: "2026-01-01", counts,
    total: Object.values(counts).reduce((a, b) => a + b, 0), planned });
  assert.deepEqual(calendar.lookOfDay(day({ success: 3, failed: 1, running: 1 })), { state: "failed",
    failedShare: 0.25 });
  assert.deepEqual(calendar.lookOfDay(day({ success: 1, queued: 1 })), { state: "queued", failedShare: 0 });
  assert.deepEqual(calendar.lookOfDay(undefined), { state: null, failedShare: 0 });
  assert.equal(calendar.dayText(day({ failed: 1, success: 2 }, 1)), "3 runs: 1 failed, 2 success; 1 planned");
  assert.equal(calendar.dayText(day({})), "no run");
});

test("quantiles lie between the two nearest values", () => {
  assert.equal(numbers.quantile([], 0.5), null);
  assert.equal(numbers.quantile([3, 1, 2], 0.5), 2);
  assert.equal(numbers.quantile([1, 2], 0.5), 1.5);
  assert.equal(numbers.quantile([0, 10], 0.95), 9.5);
  assert.deepEqual(numbers.rollingQuantile([5, null, 1, 3], 0.5, 2), [5, 5, 3, 2]);
});

test("numbers of durations count successes; failures are a share", () => {
  const row = (state, duration, at, wait = 1) => ({ number: "1", label: "", state, at, duration, wait });
  const rows = [row("success", 4, "2026-01-02T00:00:00Z"), row("failed", 100, "2026-01-01T00:00:00Z"),
    row("success", 2, "2026-01-03T00:00:00Z"), row("running", null, "2026-01-04T00:00:00Z")];
  assert.deepEqual(numbers.summaryOf(rows), { count: 4, failedShare: 1 / 3, median: 3, p95: 3.9, medianWait: 1 });
  const { rows: sorted, data } = numbers.columnsOf(rows);
  assert.deepEqual(sorted.map((one) => one.state), ["failed", "success", "success"],
    "oldest first, only what took its time");
  assert.deepEqual(data[2], [null, 4, 3]);
});

const DIFF = `--- a (version 1)
+++ b (version 2)
@@ -1,3 +1,4 @@
 same
-old
--- a line that looks like a file
+new
+new 2
+new 3
@@ -9 +10 @@
-x
+y
`;

test("a difference has the numbers of its lines", () => {
  const rows = diff.parseDiff(DIFF);
  assert.deepEqual(rows.map((row) => row.kind),
    ["file", "file", "hunk", "same", "removed", "removed", "added", "added", "added", "hunk",
    "removed", "added"]);
  assert.deepEqual(rows[5], { kind: "removed", text: "-- a line that looks like a file", before: 3 });
  assert.deepEqual(rows[8], { kind: "added", text: "new 3", after: 4 });
  assert.deepEqual(rows[11], { kind: "added", text: "y", after: 10 });
});

test("side by side, what went stands beside what came", () => {
  const pairs = diff.pairsOf(diff.parseDiff(DIFF));
  assert.deepEqual(pairs.slice(4, 7).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]),
    [["old", "new"], ["-- a line that looks like a file", "new 2"], [null, "new 3"]]);
});

const kinds = (line, state = yaml.START) => yaml.tokensOf(line, state).tokens.filter((token) => token.text.trim())
  .map((token) => `${token.kind} ${token.text.trim()}`);

test("words of YAML have kinds", () => {
  assert.deepEqual(kinds("retries: 3 # often"), ["key retries", "mark :", "number 3", "comment # often"]);
  assert.deepEqual(kinds("a: { run: \"x: {{ ds }}\", on: true }"),
    ["key a", "mark :", "mark {", "key run", "mark :", 'text "x:', "template {{ ds }}", 'text "', "mark ,", "key on",
      "mark :", "word true", "mark }"]);
  assert.deepEqual(kinds("- http://x/y#z"), ["mark -", "plain http://x/y#z"]);
  assert.deepEqual(kinds("'it''s': \"a\\\"b\""), ["key 'it''s'", "mark :", 'text "a\\"b"']);
});

test("blocks and open quotes go on over lines", () => {
  const lines = yaml.highlight("run: |\n  echo 'x' # no comment\n\n  key: no\nnext: \"open\n  still\" # c\n");
  assert.deepEqual(lines[1], [{ kind: "text", text: "  echo 'x' # no comment" }]);
  assert.equal(lines[3][0].kind, "text");
  assert.equal(lines[4][0].kind, "key");
  assert.deepEqual(lines[5].map((token) => token.kind), ["text", "plain", "comment"]);
});

test("no text is lost or changed by its colours", () => {
  const hostile = ["a: b: c", "{{{{", "}}: [", "\"", "'", "- - -", "? x", "!!str &a *b", ":::",
    "<script>alert(1)</script>", "\t tab", "# only",
    "a:|", "x: >-", "  {{ a }} {{ b", "--- # doc", "key : 1", "é: ü"];
  for (const line of hostile)
    for (const state of [yaml.START, { block: 0, quote: null }, { block: null, quote: '"' }, { block: null,
      quote: "'" }])
      assert.equal(yaml.tokensOf(line, state).tokens.map((token) => token.text).join(""), line);
});

test("lines of a link", () => {
  assert.deepEqual(yaml.linesOfHash("L3"), { first: 3, last: 3 });
  assert.deepEqual(yaml.linesOfHash("L9-L3"), { first: 3, last: 9 });
  assert.equal(yaml.linesOfHash("x"), null);
});

test("a backfill is as far as its dates are over", () => {
  const given = { state: "running", size: 10, succeeded: 4, failed: 1, cancelled: 0, kept: 1, active: 2, left: 2,
    start_date: "2026-01-01T00:00:00Z" };
  assert.equal(backfill.percentOf(given), 60);
  assert.deepEqual(backfill.segmentsOf(given).map((segment) => segment.count), [4, 1, 1, 2, 2]);
  assert.equal(backfill.secondsLeft(given, Date.parse("2026-01-01T00:00:50Z")), 40);
  assert.equal(backfill.secondsLeft({ ...given, state: "success" }, 0), null);
  assert.equal(backfill.rangeText("2026-01-01T00:00:00Z", "2026-01-31T23:59:59.999999Z"), "2026-01-01 to 2026-01-31");
  assert.equal(backfill.rangeText("2026-01-01T05:00:00Z", "2026-01-02T05:00:00Z"),
    "2026-01-01 05:00 to 2026-01-02 05:00");
});
