// What is heard and asked for while a tab stays open: states told, polls, streams one after another.
import assert from "node:assert/strict";
import test, { beforeEach, mock } from "node:test";
import { load } from "./load.mjs";

/** As much of a browser as these modules need. */
class Page extends EventTarget {
  hidden = false;
  documentElement = { toggleAttribute() {} };
  show(isShown) {
    this.hidden = !isShown;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

/** Requests that wait to be answered. */
let asked = [];
globalThis.document = new Page();
globalThis.fetch = (url) => new Promise((resolve) => {
  asked.push({ url, answer: (body, status = 200) => resolve(new Response(JSON.stringify(body), { status })) });
});

class Stream extends EventTarget {
  static CLOSED = 2;
  static all = [];
  readyState = 0;
  constructor(url) {
    super();
    this.url = new URL(url, "http://eider");
    Stream.all.push(this);
  }
  close() {
    this.readyState = Stream.CLOSED;
  }
  tell(name, lastEventId, data = {}) {
    const message = Object.assign(new Event(name), { lastEventId, data: JSON.stringify(data) });
    if (name === "message") this.onmessage?.(message);
    this.dispatchEvent(message);
  }
  get cursor() {
    return this.url.searchParams.get("cursor");
  }
}
globalThis.EventSource = Stream;

let now = 0;
globalThis.performance.now = () => now;
mock.timers.enable({ apis: ["setTimeout"] });
const pass = async (ms) => {
  now += ms;
  mock.timers.tick(ms);
  await settled();
};
/** After all that is promised already. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const { Teller, Asker, ChangeKey, Problem, me, lookAt, comebacks, beginnings } =
  await load("core/live.ts", "core/load.ts", "core/http.ts", "core/session.ts", "core/stream.ts");

beforeEach(() => {
  asked = [];
  document.show(true);
});

test("a tab that hears events for days does not remember them all", () => {
  const teller = new Teller();
  const ended = (i) => ({ at: "", kind: "task_ended", number: String(i), task_id: "load", state: "success",
    attempt: 1 });
  for (let i = 0; i < 100_000; i++) teller.hear(ended(i), i);
  assert.ok(teller.size < 20_000, `${teller.size} are kept`);
  const late = (i) => teller.hear({ ...ended(i), kind: "task_started", state: "running" }, 1e6);
  assert.equal(late(99_999), null, "a start that is told after its end is left out");
  assert.deepEqual(teller.since(99_998).map((told) => told.number), ["99998", "99999"]);
  assert.equal(teller.since(2e6).length, 0);
});

function asker(every) {
  const told = [];
  const made = new Asker("/thing", (change) => told.push(change), every);
  return { made, told };
}

async function answered(body, status) {
  asked.at(-1).answer(body, status);
  await settled();
}

test("a tab that nobody sees does not poll, and asks at once when it is seen again", async () => {
  const { made, told } = asker(1000);
  void made.ask();
  await answered({ n: 1 });
  document.show(false);
  await pass(10_000);
  assert.equal(asked.length, 1, "nothing is asked while it is hidden");
  document.show(true);
  await pass(0);
  assert.equal(asked.length, 2);
  await answered({ n: 2 });
  assert.deepEqual(told.map((change) => change.data.n), [1, 2]);
  await pass(1000);
  assert.equal(asked.length, 3, "and goes on as before");
  made.end();
  await pass(60_000);
  document.show(true);
  await pass(1000);
  assert.equal(asked.length, 3);
});

test("what is not there is not asked for again by itself", async () => {
  for (const status of [403, 404]) {
    asked = [];
    const { made, told } = asker(1000);
    void made.ask();
    await answered({ title: "no" }, status);
    assert.equal(told[0].problem.status, status);
    await pass(60_000);
    document.show(true);
    await pass(1000);
    assert.equal(asked.length, 1);
    void made.ask();
    await answered({ n: 1 });
    await pass(1000);
    assert.equal(asked.length, 3, "once it is there it is polled again");
    made.end();
  }
});

test("a server that is away is asked again", async () => {
  const { made } = asker(0);
  void made.ask();
  await answered({ title: "starting" }, 503);
  await pass(2000);
  assert.equal(asked.length, 2);
  made.end();
});

test("an answer that comes when nobody wants it any more is not told", async () => {
  const { made, told } = asker(1000);
  void made.ask();
  made.end();
  await answered({ n: 1 });
  assert.deepEqual(told, []);
  void made.ask();
  assert.equal(asked.length, 1);
});

test("a stream of something else goes on where the last one was", async () => {
  me.value = { name: "ann", user: "ann", grants: [], csrf_token: null };
  const first = Stream.all.at(-1);
  assert.equal(first.cursor, null);
  const begun = beginnings.value;
  first.tell("ready", "7");
  assert.equal(beginnings.value, begun + 1, "what was asked for before it began is asked for again");
  first.tell("message", "9", { kind: "run_created" });
  now += 30_000;
  lookAt({ run: "12" });
  const second = Stream.all.at(-1);
  assert.equal(first.readyState, Stream.CLOSED);
  assert.equal(second.url.searchParams.get("run"), "12");
  assert.equal(second.cursor, "9");
  second.tell("ready", "11");
  assert.equal(beginnings.value, begun + 1, "nothing was missed");
  second.tell("task.started", "11", { kind: "task_started" });
  lookAt(null);
  assert.equal(Stream.all.at(-1).cursor, "11");
  Stream.all.at(-1).tell("dropped", "15");
  lookAt({ run: "13" });
  assert.equal(Stream.all.at(-1).cursor, "15");
});

test("after a long silence, a reset or a refusal a stream does not go on from an old place", async () => {
  const quiet = Stream.all.at(-1);
  quiet.tell("ready", "20");
  now += 61_000;
  quiet.tell("task.started", "20", { kind: "task_started" });
  lookAt({ run: "14" });
  const late = Stream.all.at(-1);
  assert.equal(late.cursor, null);
  const before = comebacks.value;
  late.tell("reset", "40");
  assert.equal(comebacks.value, before + 1, "everything is asked for anew");
  lookAt({ run: "15" });
  const refused = Stream.all.at(-1);
  assert.equal(refused.cursor, "40");
  refused.readyState = Stream.CLOSED;
  refused.onerror();
  await pass(5000);
  assert.notEqual(Stream.all.at(-1), refused);
  assert.equal(Stream.all.at(-1).cursor, null);
});

test("whoever signs in next does not go on where the other was", () => {
  Stream.all.at(-1).tell("ready", "50");
  me.value = null;
  me.value = { name: "bob", user: "bob", grants: [], csrf_token: null };
  assert.equal(Stream.all.at(-1).cursor, null);
});

test("a change keeps its key until there is an answer, or it is another change", async () => {
  const change = new ChangeKey();
  const send = async (contents, status) => {
    let used;
    await change.use(contents, async (key) => {
      used = key;
      if (status !== undefined) throw new Problem(status, "", "");
    }).catch(() => {});
    return used;
  };
  const first = await send({ a: 1 }, 0);
  assert.equal(await send({ a: 1 }, 503), first);
  assert.equal(await send({ a: 1 }, 502), first);
  assert.equal(await send({ a: 1 }), first);
  const second = await send({ a: 1 }, 409);
  assert.notEqual(second, first, "it was done: this is to be done once more");
  const third = await send({ a: 1 }, 0);
  assert.notEqual(third, second, "it was refused");
  assert.notEqual(await send({ a: 2 }, 0), third, "it is another one");
  assert.notEqual(await send({ a: 1 }), third);
});
