import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { barHeights, currentRows, facets, NOTHING_KNOWN, shownRows, toPause, windowOf, withAnswer, withGuess } =
  await load("pages/dags/rows.ts");
const { byFile, caretOf, splitHint } = await load("pages/dags/errors.ts");

const STATES = ["queued", "running", "success", "failed", "cancelled"];
const row = (dag_id, more = {}) => ({
  dag_id, title: null, owner: null, namespace: "default", tags: [], schedule: null, status: "active", is_paused: false,
  is_scheduled: false, next_run: null, last_at: null, states: "", numbers: [], durations: [], ...more,
});
const ROWS = [
  row("a", { title: "Money in", tags: ["x", "y"], owner: "ann", states: "23", last_at: "2026-01-01T00:00:00Z" }),
  row("b", { tags: ["x"], owner: "bob", states: "32", next_run: "2026-03-01T00:00:00Z", is_scheduled: true }),
  row("c", { namespace: "retail", is_paused: true, last_at: "2026-02-01T00:00:00Z", next_run: "2026-02-02T00:00:00Z" }),
];
const NONE = { q: "", tag: "", owner: "", namespace: "", state: "", sort: "" };
const names = (filter) => shownRows(ROWS, { ...NONE, ...filter }, STATES).map((one) => one.dag_id).join("");

test("DAGs are found by words of name and title, and by what they are", () => {
  const wanted = [[{}, "abc"], [{ q: "money" }, "a"], [{ q: "IN mon" }, "a"], [{ q: "zzz" }, ""], [{ tag: "x" }, "ab"],
    [{ tag: "x", owner: "bob" }, "b"], [{ namespace: "retail" }, "c"], [{ state: "failed" }, "a"],
    [{ state: "success" }, "b"], [{ state: "none" }, "c"], [{ state: "paused" }, "c"], [{ state: "scheduled" }, "b"]];
  for (const [filter, found] of wanted) assert.equal(names(filter), found, JSON.stringify(filter));
});

test("they are sorted by name, last run and next run; those without come last", () => {
  assert.equal(names({ sort: "-name" }), "cba");
  assert.equal(names({ sort: "last" }), "cab");
  assert.equal(names({ sort: "next" }), "cba");
  assert.equal(names({ sort: "nonsense" }), "abc");
});

test("a change for all that are shown leaves out what is so already, and what is not allowed", () => {
  const ids = (isPause, isAllowed) => toPause(ROWS, isPause, isAllowed).map((one) => one.dag_id).join("");
  assert.equal(ids(true, () => true), "ab");
  assert.equal(ids(false, () => true), "c");
  assert.equal(ids(true, (one) => one.owner === "bob"), "b");
});

test("what can be chosen is counted", () => {
  assert.deepEqual(facets(ROWS, (one) => one.tags), [["x", 2], ["y", 1]]);
  assert.deepEqual(facets(ROWS, (one) => [one.owner]), [["ann", 1], ["bob", 1]]);
});

test("rows that were asked for again take the place of the old ones, come and go", () => {
  const known = withAnswer(NOTHING_KNOWN, ["b", "c", "aa"], [row("b", { states: "1" }), row("aa")], 2);
  const changed = currentRows(ROWS, 1, known);
  assert.deepEqual(changed.map((one) => one.dag_id), ["a", "aa", "b"]);
  assert.equal(changed[2].states, "1");
  assert.equal(changed[0], ROWS[0]);
  assert.equal(currentRows(ROWS, 1, NOTHING_KNOWN), ROWS);
});

test("what was asked for later counts, whichever answer comes last", () => {
  const known = withAnswer(NOTHING_KNOWN, ["b", "c"], [row("b", { states: "1" })], 5);
  const told = (askedAt) => currentRows(ROWS, askedAt, known).map((one) => one.dag_id + one.states).join();
  assert.equal(told(4), "a23,b1");
  assert.equal(told(6), "a23,b32,c");
  const again = withAnswer(known, ["b"], [], 7);
  assert.deepEqual(currentRows(ROWS, 6, again).map((one) => one.dag_id), ["a", "c"]);
});

test("a change is shown until the server tells it, over answers that could not have it yet", () => {
  const paused = (all, askedAt, known) =>
    currentRows(all, askedAt, known).filter((one) => one.is_paused).map((one) => one.dag_id).join("");
  const guess = { dag: "a", part: { is_paused: true }, agreedAt: Infinity };
  const asked = withGuess(NOTHING_KNOWN, null, guess);
  assert.equal(paused(ROWS, 1, asked), "ac");
  assert.equal(paused(ROWS, 9, asked), "ac");
  assert.equal(paused(ROWS, 1, withGuess(asked, guess, null)), "c");
  const agreed = withGuess(asked, guess, { ...guess, agreedAt: 5 });
  assert.equal(paused(ROWS, 4, agreed), "ac");
  assert.equal(paused(ROWS, 6, agreed), "c");
  const early = withAnswer(agreed, ["a"], [row("a")], 4);
  assert.equal(paused(ROWS, 1, early), "ac");
  const late = withAnswer(agreed, ["a"], [row("a")], 6);
  assert.equal(paused(ROWS, 1, late), "c");
  assert.deepEqual(late.guesses, []);
  const gone = withAnswer(asked, ["a"], [], 6);
  assert.deepEqual(currentRows(ROWS, 1, gone).map((one) => one.dag_id), ["b", "c"]);
});

test("of two changes at once the later is shown, and the other when that was refused", () => {
  const one = { dag: "a", part: { is_paused: true }, agreedAt: Infinity };
  const other = { dag: "a", part: { is_paused: false }, agreedAt: Infinity };
  const both = withGuess(withGuess(NOTHING_KNOWN, null, one), null, other);
  assert.equal(currentRows(ROWS, 1, both)[0].is_paused, false);
  assert.equal(currentRows(ROWS, 1, withGuess(both, other, null))[0].is_paused, true);
});

test("only rows near the screen are drawn", () => {
  assert.deepEqual(windowOf(1000, 50, 100, 800, 5), { first: 0, last: 19 });
  assert.deepEqual(windowOf(1000, 50, -5000, 800, 5), { first: 95, last: 121 });
  assert.deepEqual(windowOf(10, 50, -5000, 800, 5), { first: 10, last: 10 });
  assert.deepEqual(windowOf(1000, 50, -1e6, 800, 5), { first: 1000, last: 1000 });
});

test("bars are as high as runs are long, and all can be seen", () => {
  const heights = barHeights([-1, 0, 25, 100]);
  assert.deepEqual(heights, [12, 20, 60, 100]);
  assert.deepEqual(barHeights([0]), [20]);
});

const problem = (more) => ({
  file: "/d/a.yaml", line: 3, column: 3, length: 4, message: "m", source: "  x: y", since: null, hostname: "vm",
  dags: [], ...more,
});

test("the caret stands below what is meant, whatever is before it", () => {
  assert.equal(caretOf(problem({ source: "  abcd: 1" })), "  ^^^^");
  assert.equal(caretOf(problem({ source: "\tabcd", column: 2, length: 1 })), "\t^");
  assert.equal(caretOf(problem({ source: "äö: x", column: 5, length: 9 })), "    ^");
  assert.equal(caretOf(problem({ source: "ab", column: 9, length: 1 })), "  ^");
  assert.equal(caretOf(problem({ source: null, column: 1 })), "^");
});

test("problems are gathered by file and host, and hints stand apart", () => {
  const files = byFile([problem({}), problem({ line: 4 }), problem({ hostname: "other" })]);
  assert.deepEqual(files.map((file) => [file.hostname, file.problems.length]), [["vm", 2], ["other", 1]]);
  const { what, hint } = splitHint("unknown key 'rn'; did you mean 'run'?");
  assert.deepEqual([what, hint], ["unknown key 'rn'", "did you mean 'run'?"]);
  assert.deepEqual(splitHint("warning: a circle"), { what: "a circle", hint: "" });
});
