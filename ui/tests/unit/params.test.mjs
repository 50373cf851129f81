import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const params = await load("pages/start/params.ts");
const draft = await load("pages/start/draft.ts");
const when = await load("core/time.ts");

const SCHEMAS = {
  region: { type: "string", default: "eu", enum: ["eu", "us"] },
  rows: { type: "integer", default: 10, minimum: 1, maximum: 1000 },
  ratio: { type: "number", default: 0.5 },
  full: { type: "boolean", default: false },
  code: { type: "string", pattern: "^[A-Z]{2,4}$" },
  day: { type: ["string", "null"], default: "2026-01-01" },
  items: { type: "array", default: [1, 2], maxItems: 3 },
  extra: { type: "object", default: {} },
  token: { type: "string", secret: true, default: "" },
  any: { default: 1 },
};

test("every declaration has a control", () => {
  const controls = Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) =>
    [name, params.controlOf(schema)]));
  assert.deepEqual(controls, { region: "choice", rows: "number", ratio: "number", full: "switch", code: "text",
    day: "date",
    items: "json", extra: "json", token: "secret", any: "text" });
  assert.equal(params.controlOf({ type: "boolean" }), "choice", "one must choose what has no default");
  assert.equal(params.controlOf({ type: "string", default: "a\nb" }), "lines");
  assert.deepEqual(params.choicesOf({ enum: ["a", 1, null, true] }), ["a", "1", "true"]);
});

test("those that must be given come first, large ones last", () => {
  assert.equal(params.orderedNames(SCHEMAS)[0], "code");
  assert.deepEqual(params.orderedNames(SCHEMAS).slice(-2), ["extra", "items"]);
});

const problem = (name, text) => params.readParam(SCHEMAS[name], text).problem;

test("a text is judged as the server judges it", () => {
  assert.equal(problem("rows", "0"), "0 is less than the minimum 1");
  assert.equal(problem("rows", "1001"), "1001 is more than the maximum 1000");
  assert.equal(problem("rows", "1.5"), "expected an integer, got 1.5");
  assert.equal(problem("rows", "1.0"), "expected an integer, got 1");
  assert.equal(problem("rows", "many"), "expected an integer, got 'many'");
  assert.equal(problem("rows", ""), "must not be empty");
  assert.equal(problem("code", "ab"), "\"ab\" does not match the pattern '^[A-Z]{2,4}$'");
  assert.equal(problem("code", undefined), "is required");
  assert.equal(problem("code", ""), "is required");
  assert.equal(problem("region", "mars"), "\"mars\" is not one of [\"eu\",\"us\"]");
  assert.equal(problem("items", "[1, 2, 3, 4]"), "has 4 items, at most 3 are allowed");
  assert.equal(problem("items", "{}"), "expected an array, got {}");
  assert.match(problem("extra", "{"), /^is no JSON/);
  assert.equal(problem("full", "maybe"), "expected a boolean, got 'maybe'");
  assert.equal(params.readParam({ type: "string", minLength: 2 }, "é").problem,
    "has 1 characters, at least 2 are needed");
});

test("a good text is sent as it is; what nobody touched is not sent", () => {
  assert.deepEqual(params.readParam(SCHEMAS.rows, "12"), { text: "12" });
  assert.deepEqual(params.readParam(SCHEMAS.rows, "9007199254740993").problem,
    "9007199254740992 is more than the maximum 1000");
  assert.deepEqual(params.readParam({ type: "integer" }, "9007199254740993"), { text: "9007199254740993" });
  assert.deepEqual(params.readParam(SCHEMAS.rows, undefined), {});
  assert.deepEqual(params.readParam(SCHEMAS.any, "not json"), { text: "not json" });
  assert.deepEqual(params.readParam(SCHEMAS.day, ""), { isNull: true });
  assert.deepEqual(params.readParam({ type: "string", default: null }, ""), {});
  assert.deepEqual(params.readParam({ type: "string", default: "x" }, ""), { text: "" });
});

test("a pattern that may mean something else here is left to the server", () => {
  assert.equal(params.patternOf("^\\d+$"), null);
  assert.equal(params.patternOf("^[\\.]+$"), null);
  assert.ok(params.patternOf("^[[:alpha:]_]+$").test("aB_"));
  assert.ok(!params.patternOf("^[[:digit:]]+$").test("a"));
  assert.equal(params.readParam({ type: "string", pattern: "^\\d+$" }, "abc").problem, undefined);
});

test("what the server says is told at the fields", () => {
  assert.deepEqual(params.problemsByField("any: is required; code: \"a; b\" does not match; rows: is less",
    ["any", "code", "rows"]),
    { fields: { any: "is required", code: "\"a; b\" does not match", rows: "is less" }, rest: "" });
  assert.deepEqual(params.problemsByField("unknown parameter 'x'", ["any"]), { fields: {},
    rest: "unknown parameter 'x'" });
});

test("a draft goes through the URL, without secrets", () => {
  const query = draft.queryOf({ "p.rows": "5", "p.token": "s3cret", note: "", date: "2026-01-01" },
    new URLSearchParams("keep=1&note=old"),
    SCHEMAS, ["note", "date"]);
  assert.equal(query.toString(), "keep=1&p.rows=5&date=2026-01-01");
  assert.deepEqual(draft.draftFrom(query, ["note", "date"]), { "p.rows": "5", date: "2026-01-01" });
});

test("the request and the command say the same", () => {
  const filled = { "p.code": "AB", "p.rows": "5", "p.day": "", "p.token": "s3cret", conf: '{"more": 1}', tasks: "a,b",
    note: "it's" };
  const read = draft.readParams(filled, SCHEMAS);
  assert.deepEqual(read.problems, {});
  const body = draft.triggerBody(filled, read);
  assert.deepEqual(body, { params: { code: "AB", rows: "5", token: "s3cret" }, conf: { more: 1, day: null },
    note: "it's", tasks: ["a", "b"] });
  const shown = draft.withoutSecrets(body, SCHEMAS);
  assert.deepEqual(draft.triggerWords("sales", shown),
    ["dags", "trigger", "sales", "-p", "rows=5", "-p", "code=AB", "-p", "token=***",
    "-c", '{"more":1,"day":null}', "-t", "a", "-t", "b", "--note", "it's"]);
});

test("conf must be an object; a member of it stands for its parameter", () => {
  assert.equal(draft.readParams({ conf: "[1]" }, {}).problems.conf, 'must be a JSON object, as {"key": 1}');
  assert.match(draft.readParams({ conf: "{" }, {}).problems.conf, /^is no JSON/);
  assert.deepEqual(draft.readParams({ conf: '{"code": "AB"}' }, { code: SCHEMAS.code }).problems, {});
});

test("a backfill as a command", () => {
  const filled = { from: "2026-01-01", to: "2026-01-31", redo: "failed", max_active: "4", tasks: "a",
    upstream: "true" };
  const body = draft.backfillBody("sales", filled, draft.readParams(filled, {}));
  assert.deepEqual(draft.backfillWords(body),
    ["backfill", "create", "sales", "--from", "2026-01-01", "--to", "2026-01-31",
    "--redo", "failed", "--max-active", "4", "-t", "a", "--with-upstream"]);
});

test("the last days are whole ones of the zone", () => {
  const now = Date.parse("2026-03-01T23:30:00Z");
  assert.deepEqual(when.lastDays(1, now, "UTC"), { from: "2026-02-28", to: "2026-02-28" });
  assert.deepEqual(when.lastDays(7, now, "Europe/Berlin"), { from: "2026-02-23", to: "2026-03-01" });
  assert.deepEqual(when.lastDays(30, now, "UTC"), { from: "2026-01-30", to: "2026-02-28" });
});

test("clocks of a zone and instants", () => {
  assert.equal(when.instantFrom("2026-07-01T06:00", "Europe/Berlin"), "2026-07-01T04:00:00Z");
  assert.equal(when.instantFrom("2026-01-01T06:00:30", "Europe/Berlin"), "2026-01-01T05:00:30Z");
  assert.equal(when.instantFrom("", "UTC"), "");
  assert.equal(when.localFrom("2026-07-01T04:00:00Z", "Europe/Berlin"), "2026-07-01T06:00:00");
});

test("a run id is one that the server takes", () => {
  assert.equal(draft.runIdProblem("manual__2026-01-01T00:00:00+00:00"), null);
  assert.equal(draft.runIdProblem(""), null);
  assert.ok(draft.runIdProblem("x y"));
  assert.ok(draft.runIdProblem("-x"));
});

test("what is a secret, or is named like one, does not get into the URL", () => {
  const schemas = { ...SCHEMAS, api_key: { type: "string" }, pin: { type: "string", secret: true } };
  const urlOf = (given) => draft.queryOf(given, new URLSearchParams("view=1"), schemas, ["conf", "note"]);
  assert.equal(urlOf({ "p.token": "t1", "p.api_key": "k1", "p.pin": "4711", "p.region": "us" }).toString(),
    "view=1&p.region=us");
  const confOf = (text) => urlOf({ conf: text }).get("conf");
  const plain = '{ "rows": [1, 2],  "": 3 }';
  assert.equal(confOf(plain), plain, "as it was typed");
  assert.equal(confOf('{"a": 1, "password": "p", "db": {"apiToken": "t", "host": "h"}, "pin": "4711"}'),
    '{"a":1,"db":{"host":"h"}}');
  assert.equal(confOf('{"secret": "s"}'), null);
  assert.equal(confOf('{"password": "p'), null, "also while it is typed");
  assert.equal(confOf('{"pin": "47'), null);
  assert.equal(confOf('{"rows": 1'), '{"rows": 1');
});
