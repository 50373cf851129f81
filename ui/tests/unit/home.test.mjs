import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { alertsOf, shareOf, taskPath, whyText } = await load("pages/home/home.ts");

const CALM = {
  failing: [], late: [], hosts: [{ name: "vm", status: "active" }], hosts_lost: [], import_errors: 0, dead_letters: 0,
  queues: [{ name: "default", state: "READY", late: false, pending: 3, soft_pending: 0, hard_pending: 0 }],
};
const queue = (more) => ({ queues: [{ ...CALM.queues[0], name: "gpu", ...more }] });
const told = (more) => alertsOf({ ...CALM, ...more }).map((alert) => `${alert.text} ${alert.href}`);

test("nothing is told while nothing is wrong", () => {
  assert.deepEqual(told({}), []);
  assert.deepEqual(told(queue({ state: "NOT_READY", pending: 0 })), []);
});

test("each thing that is wrong is told with where to look", () => {
  assert.deepEqual(told({ failing: [{}] }), ["1 DAG fails /dags?state=failed"]);
  assert.deepEqual(told({ failing: Array(20).fill({}) }), ["20 or more DAGs fail /dags?state=failed"]);
  assert.deepEqual(told({ import_errors: 2 }), ["2 DAG files with problems /errors"]);
  assert.deepEqual(told({ dead_letters: 1 }), ["1 dead letter /dead"]);
  assert.deepEqual(told({ late: [{}, {}] }), ["2 runs are late /sla"]);
  assert.deepEqual(told({ hosts_lost: ["w1"] }), ["1 host lost: w1 /hosts"]);
  assert.deepEqual(told({ hosts: [{ name: "w2", status: "expired" }] }), ["1 host lost: w2 /hosts"]);
  assert.deepEqual(told(queue({ state: "NOT_READY" })), ["no host serves: gpu /queues"]);
  assert.deepEqual(told(queue({ hard_pending: 3 })), ["full, new jobs are refused: gpu /queues"]);
  assert.deepEqual(told(queue({ soft_pending: 2 })), ["longer than their bound: gpu /queues"]);
  assert.deepEqual(told(queue({ late: true })), ["work waits for long: gpu /queues"]);
});

test("a share is seen when there is something, and never more than the whole", () => {
  const shares = [[0, 8, 0], [1, 1000, 2], [4, 8, 50], [20, 8, 100], [1, 0, 0]];
  for (const [part, whole, share] of shares) assert.equal(shareOf(part, whole), share);
});

test("why a run failed is told without orders to a terminal, and always something", () => {
  const failed = { task_id: "a", exit_code: 7, reason: "exit", message: null };
  assert.equal(whyText({ ...failed, message: "\x1b[31;1merror:\x1b[0m no" }), "error: no");
  assert.equal(whyText(failed), "exit code 7, without a word");
  assert.equal(whyText({ ...failed, reason: "queue_timeout" }), "queue timeout");
  assert.equal(whyText({ ...failed, task_id: null }), "no task of it failed");
});

test("paths escape names and name the instance of a mapped task", () => {
  assert.equal(taskPath({ number: "7", task_id: "a/b", map_index: -1 }, "log"), "/runs/7/tasks/a%2Fb/log");
  assert.equal(taskPath({ number: "7", task_id: "a", map_index: 3 }), "/runs/7/tasks/a?map=3");
});
