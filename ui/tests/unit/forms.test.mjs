import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

globalThis.location = { pathname: "/", search: "", hash: "" };
const checks = await load("core/checks.ts");
const connection = await load("pages/admin/connectionForm.ts");
const audit = await load("pages/admin/auditLinks.ts");

test("what somebody typed is looked at before it is sent", () => {
  for (const good of ["", "90s", "1h30m", "7d", "250ms"]) assert.equal(checks.durationProblem(good), null, good);
  for (const bad of ["5", "soon", "7 d", "-1h"]) assert.ok(checks.durationProblem(bad), bad);
  assert.equal(checks.jsonProblem('{"a": [1]}'), null);
  assert.match(checks.jsonProblem("{a"), /no JSON/);
  assert.match(checks.jsonObjectProblem("[1]"), /object/);
  assert.equal(checks.jsonObjectProblem(" "), null);
  for (const bad of ["a b", "-a", "a/b", "<b>"]) assert.ok(checks.nameProblem(bad), bad);
  for (const good of ["a", "db.main-ro", "_x"]) assert.equal(checks.nameProblem(good), null, good);
});

const KEPT = {
  name: "web", namespace: "default", doc: null,
  value: { type: "http", host: "h", port: 80, login: "l", password: "***", extra: { mode: "x", api_key: "***" } },
};

test("of a connection that is changed only what differs is sent", () => {
  const values = connection.valuesOf(KEPT);
  assert.equal(values.password, "");
  assert.ok(!values.extra.includes("***"));
  assert.deepEqual(connection.partsOf(values, KEPT), {});
  assert.deepEqual(connection.partsOf({ ...values, host: "other", port: "81" }, KEPT), { host: "other", port: 81 });
  assert.deepEqual(connection.partsOf({ ...values, login: "" }, KEPT), { login: "" });
});

test("of a new connection everything is sent, and no secret is shown", () => {
  const values = { ...connection.valuesOf(undefined), host: "h", password: "pw", extra: '{"api_key": "pw"}' };
  const parts = connection.partsOf(values, undefined);
  assert.deepEqual(parts, { type: "postgres", host: "h", password: "pw", extra: { api_key: "pw" } });
  assert.ok(!JSON.stringify(connection.shownParts(parts)).includes("pw"));
});

test("entries of the audit lead to what they are about", () => {
  const entry = { dag_id: "sales", number: "17" };
  const leads = [["run 17 sales/manual__x", "/runs/17"],
    ["run 17 sales/manual__x load[3]", "/runs/17/tasks/load?map=3"],
    ["run 17 sales/manual__x load", "/runs/17/tasks/load"],
    ["job 380503", "/jobs/380503"], ["queue mail", "/queues"],
    ["variable default/bucket", "/variables"], ["secret default/x", "/connections?tab=secrets"],
      ["something new", "/runs/17"]];
  for (const [object, href] of leads) assert.equal(audit.hrefOfObject(object, entry), href, object);
  assert.equal(audit.hrefOfObject("something new", { dag_id: null }), null);
  assert.equal(audit.objectText("run 17 sales/manual__2026"), "run 17 of sales");
  assert.equal(audit.objectText("run 17 sales/manual__2026 load"), "run 17 of sales / load");
});
