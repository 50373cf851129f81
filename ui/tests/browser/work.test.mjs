import assert from "node:assert/strict";
import { before, test } from "node:test";
import { act, commandOf, field, fillAndSend, looksRight, row, settled, visit } from "./forms.mjs";
import { cleanUp, Daemon, openPage, until } from "./harness.mjs";

const HOSTILE = "<img src=x onerror=window.owned=1>";
let daemon;
let failed;
const idOf = (answer) => answer.id ?? answer.jobs[0].id;

before(async () => {
  daemon = await Daemon.start({
    "pooled.yaml": "tasks:\n  a: { run: sleep 600, pool: narrow }\n  b: { run: sleep 600, pool: narrow }\n",
  });
  await daemon.cli("pools", "set", "narrow", "--slots", "1", "--description", HOSTILE);
  await daemon.cli("limits", "set", "dag", "pooled", "--max-running", "5");
  await daemon.cli("queues", "set", "mail", "--priority", "10", "--max-running", "4");
  await daemon.cli("enqueue", "default", "noop", JSON.stringify({ text: HOSTILE }));
  failed = idOf(JSON.parse(await daemon.cli("enqueue", "default", "-o", "json", "--",
    `echo begin; echo '${HOSTILE}' >&2; exit 4`)));
  await until("a dead letter", async () => (await daemon.get("/dlq")).letters.length === 1);
  await daemon.knows("pooled");
  await daemon.cli("dags", "trigger", "pooled");
});
cleanUp();

test("the pages of work load in both themes and sizes", async () => {
  await looksRight(daemon,
    ["/jobs", "/jobs?queue=default&status=failed", "/dead", "/queues", "/pools?pool=narrow", "/hosts?all=true"]);
});

test("a job is put in a queue, looked at, run later, stopped and run again", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/jobs");
  await page.getByRole("button", { name: "New job" }).click();
  const dialog = page.getByRole("dialog");
  await field(page, "Handler").fill("noop");
  await field(page, "Payload").fill("{no json");
  await dialog.getByText("This is no JSON").waitFor();
  await dialog.locator("button[type=submit]").click();
  assert.equal(await dialog.count(), 1, "what is no JSON is not sent");
  await field(page, "Payload").fill('{"to": "ann"}');
  await field(page, "Not before").fill("3h");
  assert.equal(await commandOf(page), `eider enqueue default noop '{"to":"ann"}' --delay 3h`);
  await dialog.locator("button[type=submit]").click();
  await page.waitForURL(/jobs\/\d+$/);
  await page.getByText("delayed").first().waitFor();
  const id = new URL(page.url()).pathname.split("/").pop();
  const job = await daemon.json("jobs", "show", id);
  assert.deepEqual([job.handler, job.payload, job.status], ["noop", { to: "ann" }, "delayed"]);
  await act(page, "Run later", { "From now": "9h" }, "another time");
  const later = await daemon.json("jobs", "show", id);
  assert.ok(Date.parse(later.run_after) - Date.parse(job.run_after) > 5 * 3600_000);
  await act(page, "Cancel", { Reason: "not needed" }, "being stopped");
  await page.locator("[data-state=cancelled]").first().waitFor();
  assert.equal((await daemon.json("jobs", "show", id)).status, "cancelled");
  await act(page, "Run again", {}, "runs again");
  await page.locator("[data-state=completed]").first().waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("a failed job shows its error and last lines as text", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, `/jobs/${failed}`);
  await page.getByLabel("Last lines of the log").getByText("begin").waitFor();
  assert.ok((await page.getByLabel("Last lines of the log").innerText()).includes(HOSTILE));
  assert.equal(await page.locator("main img").count(), 0);
  assert.equal(await page.evaluate(() => window.owned), undefined);
  const again = page.getByRole("button", { name: "Run again" });
  assert.ok(await again.isDisabled());
  assert.match(await again.getAttribute("title"), /operator/);
});

test("the list of jobs is filtered by the URL, paged, and live", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, "/jobs?status=failed");
  assert.equal(await page.locator("tbody tr").count(), 1);
  await page.getByLabel("Status").selectOption("");
  await page.waitForURL(/\/jobs$/);
  await row(page, "noop").first().waitFor();
  await visit(page, "/jobs?queue=mail");
  await page.getByText("No jobs here").waitFor();
  await daemon.cli("enqueue", "mail", "noop", "--delay", "1h");
  await row(page, "noop").first().waitFor();
  const lines = Array.from({ length: 60 }, () => '{"handler": "noop", "delay": "1h", "queue": "many"}');
  await daemon.cli("queues", "set", "many");
  await daemon.write("../many.jsonl", lines.join("\n"));
  await daemon.cli("enqueue", "many", "--batch", `${daemon.folder}/many.jsonl`);
  await visit(page, "/jobs?queue=many");
  assert.equal(await page.locator("tbody tr").count(), 50);
  await page.getByRole("link", { name: "Older" }).click();
  await until("the second page", async () => (await page.locator("tbody tr").count()) === 10);
  assert.match(page.url(), /before=\d+/);
  await page.goBack();
  await until("the first page", async () => (await page.locator("tbody tr").count()) === 50);
  assert.deepEqual(page.mistakes, []);
});

test("old jobs are counted and removed by an editor only", async () => {
  const operator = await openPage(daemon, { role: "operator" });
  await visit(operator, "/jobs");
  assert.match(await operator.getByRole("button", { name: "Delete old" }).getAttribute("title"),
    /needs the role editor/);
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/jobs");
  await page.getByRole("button", { name: "Delete old" }).click();
  await field(page, "Older than").fill("0s");
  await field(page, "Only in the state").selectOption("completed");
  await page.getByRole("button", { name: "What would happen?" }).click();
  await page.getByText(/[1-9]\d* jobs would go/).waitFor();
  assert.ok((await daemon.json("jobs", "list", "--status", "completed")).jobs.length > 0);
  await fillAndSend(page, {});
  await until("they are gone",
    async () => (await daemon.get("/jobs?status=completed")).jobs.length === 0);
});

test("dead letters are looked at, requeued and forgotten", async () => {
  const page = await openPage(daemon, { role: "admin" });
  await visit(page, "/dead");
  await page.getByText("after 1 try").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await act(page, "Requeue", {}, "in its queue again");
  await until("it failed once more", async () => (await daemon.get(`/jobs/${failed}`)).dead);
  await visit(page, "/dead?queue=default");
  await page.getByRole("button", { name: "Requeue all" }).click();
  await page.getByRole("button", { name: "What would happen?" }).click();
  await page.getByText("1 would run again.").waitFor();
  assert.equal(await commandOf(page), "eider dlq requeue --all --queue default");
  await fillAndSend(page, {});
  await until("it failed again", async () => (await daemon.get("/dlq")).letters.length === 1);
  await visit(page, "/dead");
  await act(page, "Forget…", { "Older than": "0s" }, "forgotten");
  await page.getByText("No dead letters").waitFor();
  assert.equal((await daemon.json("dlq", "list")).letters.length, 0);
  assert.deepEqual(page.mistakes, []);
});

test("a dead letter of a task leads to its instance", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  const letter = { id: "9", kind: "task", name: "sales/by-hand/load", queue: "default", died_at: "2026-01-01T00:00:00Z",
    reason: "lost", attempts: 2, message: null, payload: null, run: "17", task_id: "load", map_index: 3 };
  await page.route("**/api/v1/x/dlq?**", (route) => route.fulfill({ json: { letters: [letter], total_entries: 1 } }));
  await visit(page, "/dead");
  const link = page.getByRole("link", { name: "sales/by-hand/load [3]" });
  assert.equal(await link.getAttribute("href"), "/runs/17/tasks/load?map=3");
  assert.equal(await page.getByRole("link", { name: "Log" }).getAttribute("href"), "/runs/17/tasks/load/log?map=3");
});

test("queues are made, changed, paused and deleted", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/queues");
  await act(page, "New queue", { Name: "reports", Priority: "7", "Warn producers": "100" }, "reports is there");
  const show = () => daemon.json("queues", "show", "reports");
  assert.deepEqual([(await show()).priority, (await show()).soft_pending], [7, 100]);
  const own = row(page, "reports");
  await own.getByRole("button", { name: "Edit" }).click();
  await field(page, "At most running").fill("3");
  assert.equal(await commandOf(page), "eider queues set reports --max-running 3");
  await fillAndSend(page, {});
  await own.getByText("3 run at once").waitFor();
  assert.equal((await show()).priority, 7, "what was not changed stays");
  await own.getByRole("switch").click();
  await own.locator("[data-state=PAUSED]").waitFor();
  assert.equal((await show()).paused, true);
  await own.getByRole("switch").click();
  await own.locator("[data-state=READY]").waitFor();
  await own.getByRole("button", { name: "Delete" }).click();
  await fillAndSend(page, { Reason: "no reports" });
  await own.waitFor({ state: "detached" });
  assert.ok(!(await daemon.json("queues", "list")).queues.some((queue) => queue.name === "reports"));
  const viewer = await openPage(daemon, { role: "operator" });
  await visit(viewer, "/queues");
  assert.ok(await viewer.getByRole("switch").first().isDisabled());
  assert.ok(await viewer.getByRole("button", { name: "New queue" }).isDisabled());
  assert.deepEqual(page.mistakes, []);
});

test("pools show who holds and who waits, and are changed", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/pools");
  await page.getByText("1 of 1 held, 1 asked for").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await page.getByRole("link", { name: "narrow" }).click();
  await page.getByRole("table", { name: "Tasks of the pool narrow" }).getByText("pooled / b").waitFor();
  await act(page, "New pool", { Name: "wide", Slots: "9", "What it is for": "much" }, "wide is there");
  assert.equal((await daemon.json("pools", "show", "wide")).slots, 9);
  await row(page, "wide").getByRole("button", { name: "Edit" }).click();
  await fillAndSend(page, { Slots: "12" });
  await row(page, "0 of 12 held").waitFor();
  assert.equal((await daemon.json("pools", "show", "wide")).description, "much");
  await row(page, "wide").getByRole("button", { name: "Delete" }).click();
  assert.match(await commandOf(page), /^eider pools delete wide --yes$/);
  await fillAndSend(page, {});
  await row(page, "wide").waitFor({ state: "detached" });
  assert.ok(!(await daemon.json("pools", "list")).pools.some((pool) => pool.name === "wide"));
});

test("limits are set, changed and removed", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/pools");
  await act(page, "New limit", { "Of a": "namespace", Name: "sales", "At most running": "6" }, "limit is set");
  const limits = async () =>
    Object.fromEntries((await daemon.json("limits", "list")).limits.map((limit) => [limit.name, limit.max_running]));
  assert.deepEqual(await limits(), { sales: 6, pooled: 5 });
  await row(page, "sales").getByRole("button", { name: "Edit" }).click();
  await fillAndSend(page, { "At most running": "8" });
  await row(page, "0 of 8").waitFor();
  await row(page, "sales").getByRole("button", { name: "Delete" }).click();
  await fillAndSend(page, {});
  await row(page, "sales").waitFor({ state: "detached" });
  assert.deepEqual(await limits(), { pooled: 5 });
});

test("a host is drained and resumed", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/hosts");
  await page.getByText("leader").waitFor();
  await act(page, "Drain", { Reason: "a new disk" }, "is draining");
  await page.locator("[data-state=draining]").waitFor();
  assert.equal((await daemon.json("hosts", "list")).hosts[0].status, "draining");
  await act(page, "Resume", {}, "claims again");
  await page.locator("[data-state=active]").waitFor();
  const viewer = await openPage(daemon, { role: "viewer" });
  await visit(viewer, "/hosts");
  await settled(viewer);
  assert.ok(await viewer.getByRole("button", { name: "Drain" }).isDisabled());
  assert.deepEqual(page.mistakes, []);
});
