import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const model = await load("pages/dag/grid/model.ts");
const layout = await load("pages/dag/grid/layout.ts");
const { Teller, worst } = await load("core/live.ts");

const task = (task_id, states, more = {}) =>
  ({ task_id, group: null, operator: "run", is_mapped: false, is_finally: false, is_current: true, states, ...more });
const run = (number, state, more = {}) =>
  ({ number, dag_run_id: "r" + number, state, run_type: "manual", logical_date: null, duration: 1, ...more });
const STATES = ["none", "scheduled", "queued", "running", "success", "failed", "skipped", "upstream_failed",
  "up_for_retry", "up_for_reschedule", "deferred", "awaiting_input", "cancelled", "removed"];
const answer = () => ({
  dag_id: "d", dag_version: 1, states: STATES, total_entries: 3, has_more: false,
  runs: [run("1", "success"), run("2", "failed", { run_type: "scheduled" }), run("3", "running")],
  tasks: [task("a", "443"), task("load.x", "45.", { group: "load" }), task("b", "47c"),
    task("load.in.y", "444", { group: "load.in", is_mapped: true, instances: [null, [3, 2, 1, 0], null] })],
});

test("letters are states, and a dot is no task", () => {
  const matrix = new model.Matrix(answer());
  assert.equal(matrix.stateAt(0, 2), "running");
  assert.equal(matrix.stateAt(1, 1), "failed");
  assert.equal(matrix.stateAt(1, 2), null);
  assert.equal(matrix.stateAt(2, 2), "cancelled");
  assert.deepEqual(matrix.instancesAt(3, 1), [3, 2, 1, 0]);
  assert.equal(matrix.instancesAt(3, 0), null);
});

test("what events tell changes one cell, and says whether it did", () => {
  const matrix = new model.Matrix(answer());
  assert.equal(matrix.setTask("3", "a", "success"), true);
  assert.equal(matrix.setTask("3", "a", "success"), false);
  assert.equal(matrix.stateAt(0, 2), "success");
  assert.equal(matrix.stateAt(0, 1), "success");
  assert.equal(matrix.setTask("9", "a", "failed"), false);
  assert.equal(matrix.setTask("3", "nobody", "failed"), false);
  assert.equal(matrix.setTask("3", "b", "a state of tomorrow"), true);
  assert.equal(matrix.stateAt(2, 2), "a state of tomorrow");
  assert.equal(matrix.setRun("3", "success"), true);
  assert.equal(matrix.answer.runs[2].state, "success");
});

test("groups stand where their first task stands, inner ones inside, and close", () => {
  const sign = (row) => (row.isGroup ? (row.isClosed ? "+" : "-") : "");
  const names = (rows) => rows.map((row) => " ".repeat(row.depth) + sign(row) + row.name);
  const { tasks } = answer();
  assert.deepEqual(names(model.rowsOf(tasks, new Set())), ["a", "-load", " x", " -in", "  y", "b"]);
  assert.deepEqual(names(model.rowsOf(tasks, new Set(["load"]))), ["a", "+load", "b"]);
  assert.deepEqual(names(model.rowsOf(tasks, new Set(["load.in"]))), ["a", "-load", " x", " +in", "b"]);
  assert.deepEqual(model.rowsOf(tasks, new Set()).find((row) => row.id === "load").tasks, [1, 3]);
  assert.deepEqual(model.groupsOf(tasks), ["load", "load.in"]);
  assert.deepEqual(model.groupsOf([{ group: "p.q.r" }]), ["p", "p.q", "p.q.r"]);
});

test("a group shows what is most worth a look", () => {
  const matrix = new model.Matrix(answer());
  assert.equal(matrix.stateOf([1, 3], 1), "failed");
  assert.equal(matrix.stateOf([1, 3], 2), "success");
  assert.equal(matrix.stateOf([1], 2), null);
  assert.equal(worst("success", "running"), "running");
  assert.equal(worst("failed", "running"), "failed");
});

test("filters take rows and columns away", () => {
  const matrix = new model.Matrix(answer());
  const filter = { text: "", state: "", runType: "", runState: "" };
  const all = model.columnsOf(matrix.answer.runs, filter);
  assert.deepEqual(all, [0, 1, 2]);
  assert.deepEqual(model.columnsOf(matrix.answer.runs, { ...filter, runType: "scheduled" }), [1]);
  assert.deepEqual(model.columnsOf(matrix.answer.runs, { ...filter, runState: "running" }), [2]);
  const rows = (wanted, columns = all) =>
    model.rowsOf(matrix.answer.tasks, new Set(), model.taskFilter(matrix, columns, wanted))
      .filter((row) => !row.isGroup).map((row) => row.id);
  assert.deepEqual(rows({ ...filter, text: "LOAD" }), ["load.x", "load.in.y"]);
  assert.deepEqual(rows({ ...filter, state: "failed" }), ["load.x"]);
  assert.deepEqual(rows({ ...filter, state: "failed" }, [0]), []);
});

const big = () => ({ ...layout.layoutOf(1000, 500, 2000, 50, 300), labels: 200 });

test("only what is visible is in the window", () => {
  const of = big();
  const { head, line, cell } = of;
  const seen = layout.windowOf(of, { left: 0, top: 0 });
  assert.deepEqual([seen.firstRow, seen.firstColumn], [0, 0]);
  assert.equal(seen.endRow, Math.ceil((500 - head) / line));
  assert.equal(seen.endColumn, Math.ceil(800 / cell));
  const end = layout.windowOf(of, { left: 50 * cell - 800, top: 2000 * line + head - 500 });
  assert.deepEqual([end.endRow, end.endColumn], [2000, 50]);
  assert.ok(end.endRow - end.firstRow < 30 && end.endColumn - end.firstColumn < 50);
  const part = layout.windowOf(of, { left: cell / 2, top: line * 1.5 });
  assert.deepEqual([part.firstRow, part.firstColumn], [1, 0]);
});

test("a point is a cell, a name or a bar, wherever one has scrolled", () => {
  const of = big();
  const { head, line, cell } = of;
  const at = (x, y, left = 0, top = 0) => layout.hitOf(of, { left, top }, x, y);
  assert.deepEqual(at(201, head + 1), { row: 0, column: 0 });
  assert.deepEqual(at(200 + cell, head + line), { row: 1, column: 1 });
  assert.deepEqual(at(201, head + 1, cell * 3, line * 100), { row: 100, column: 3 });
  assert.deepEqual(at(10, head + 1, 500, 0), { row: 0, column: -1 });
  assert.deepEqual(at(201, 10, 0, 500), { row: -1, column: 0 });
  assert.equal(at(10, 10), null);
  assert.equal(at(-1, 200), null);
  const small = { ...of, rows: 2, columns: 2 };
  assert.equal(layout.hitOf(small, { left: 0, top: 0 }, 200 + cell * 2 + 1, head + 1), null);
  assert.equal(layout.hitOf(small, { left: 0, top: 0 }, 201, head + line * 2 + 1), null);
});

test("keys move within the bounds, and what they reach is scrolled into view", () => {
  const of = big();
  const move = (row, column, key, isWhole = false) => {
    const to = layout.moveBy(of, { row, column }, key, isWhole);
    return to && [to.row, to.column];
  };
  assert.deepEqual(move(0, 0, "ArrowDown"), [1, 0]);
  assert.deepEqual(move(0, 0, "ArrowUp"), [-1, 0]);
  assert.deepEqual(move(-1, 0, "ArrowLeft"), [-1, 0]);
  assert.deepEqual(move(1999, 49, "ArrowDown"), [1999, 49]);
  assert.deepEqual(move(5, 20, "Home"), [5, 0]);
  assert.deepEqual(move(5, 20, "End"), [5, 49]);
  assert.deepEqual(move(5, 20, "End", true), [1999, 49]);
  assert.equal(move(5, 20, "x"), null);
  const seen = layout.scrollTo(of, { left: 0, top: 0 }, { row: 1999, column: 49 });
  const window = layout.windowOf(of, seen);
  assert.equal(window.endRow, 2000);
  assert.equal(seen.top, 2000 * of.line - (500 - of.head));
  assert.deepEqual(layout.scrollTo(of, { left: 40, top: 30 }, { row: 5, column: 5 }), { left: 40, top: 30 });
});

test("bars and dates fit", () => {
  assert.deepEqual(layout.barHeights([10, 5, null, 0.01], 50), [50, 25, 3, 3]);
  assert.deepEqual(layout.barHeights([null, null], 50), [3, 3]);
  const dates = ["2026-11-01", "2026-11-01", "2026-11-02", "2026-11-03", null, "2026-11-04"];
  assert.deepEqual(layout.dateMarks(dates, 22, 46).map((mark) => mark.column), [0, 3]);
  assert.deepEqual(layout.dateMarks(dates, 60, 46).map((mark) => mark.text), ["11-01", "11-02", "11-03", "11-04"]);
});

const event = (kind, more = {}) => ({ at: "", kind, number: "7", task_id: "t", map_index: -1, attempt: 1, ...more });

test("a start that is told after the end of its attempt is not shown", () => {
  const teller = new Teller();
  assert.equal(teller.hear(event("task_started"), 0).state, "running");
  assert.equal(teller.hear(event("task_ended", { state: "failed" }), 1).state, "failed");
  assert.equal(teller.hear(event("task_started"), 2), null);
  assert.equal(teller.hear(event("task_started", { attempt: 2 }), 3).state, "running");
  assert.equal(teller.hear(event("task_retry", { state: "up_for_retry", attempt: 2 }), 4).state, "up_for_retry");
  assert.equal(teller.hear(event("task_started", { attempt: 2 }), 5), null);
  teller.hear(event("task_cleared", { state: "none", attempt: 2 }), 6);
  assert.equal(teller.hear(event("task_started", { attempt: 1 }), 7).state, "running");
});

test("instances and notes are no states of a task; runs have their own", () => {
  const teller = new Teller();
  assert.equal(teller.hear(event("task_ended", { state: "failed", map_index: 2 }), 0), null);
  assert.equal(teller.hear(event("task_note"), 0), null);
  assert.equal(teller.hear(event("dag_version"), 0), null);
  assert.deepEqual(teller.hear(event("run_ended", { state: "failed", task_id: null }), 5),
    { number: "7", task: null, state: "failed" });
  assert.equal(teller.hear(event("run_created", { state: "queued", task_id: null }), 6), null);
  teller.hear(event("task_ended", { state: "success" }), 9);
  assert.deepEqual(teller.since(6).map((told) => told.state), ["success"]);
});
