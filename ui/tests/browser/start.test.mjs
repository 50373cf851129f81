// Forms that start runs: a run with parameters, a backfill with its plan, and what goes wrong on the way.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { visit } from "./forms.mjs";
import { cleanUp, Daemon, openPage, SIZES, THEMES, until } from "./harness.mjs";

const HOSTILE = "<img src=x onerror=\"document.title='owned'\">";

const SALES = `dag: sales
title: Sales of the day
doc: "${HOSTILE.replaceAll('"', '\\"')}"
params:
  region: { type: string, default: eu, enum: [eu, us] }
  rows: { type: integer, default: 10, minimum: 1, maximum: 1000, title: Rows to fetch }
  full: { type: boolean, default: false }
  code: { type: string, pattern: "^[A-Z]{2,4}$", description: "${HOSTILE.replaceAll('"', '\\"')}" }
  key: { type: string, default: "", secret: true }
  items: { type: array, default: [1, 2], maxItems: 3 }
tasks:
  fetch: { run: "echo rows {{ params.rows }} of {{ params.region }} {{ params.code }}" }
  report: { needs: [fetch], run: echo reported }
`;

const DAILY = `dag: daily
schedule: "@daily"
start_date: 2026-01-01
catchup: false
tasks:
  a: { run: echo a }
`;

// Waits until it is told to go on: the test, not a clock, says when.
const HELD = `dag: held
schedule: "@daily"
start_date: 2026-01-01
catchup: false
tasks:
  a: { run: "until [ -e \\"$EIDER_HOME/../go\\" ]; do sleep 0.1; done" }
`;

const MANY = "dag: many\ntasks:\n" + Array.from({ length: 600 }, (_, i) => `  t${i}: { run: "true" }\n`).join("");

let daemon;
before(async () => {
  daemon = await Daemon.start({ "sales.yaml": SALES, "daily.yaml": DAILY, "held.yaml": HELD, "many.yaml": MANY },
    { env: { EIDER_BACKFILL_APPROVAL: "30" } });
  await daemon.knows("sales", "daily", "held", "many");
});
cleanUp();

const runsOf = async (dag) => (await daemon.api("GET", `/api/v1/x/runs?dag=${dag}`)).dag_runs;
const command = (page, label) => page.locator(".same-now .command", { hasText: label }).locator("code");

test("a run is triggered with its parameters, after mistakes were told", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/dags/sales/trigger");
  const rows = page.getByLabel("Rows to fetch", { exact: true });
  await rows.fill("0");
  await page.getByText("0 is less than the minimum 1").waitFor();
  await page.getByRole("button", { name: "Trigger", exact: true }).click();
  await page.getByText("is required").waitFor();
  assert.equal((await runsOf("sales")).length, 0, "nothing was sent");

  await rows.fill("5");
  await page.getByLabel("code", { exact: true }).fill("ab");
  await page.getByText("does not match the pattern").waitFor();
  await page.getByLabel("code", { exact: true }).fill("AB");
  await page.getByLabel("region", { exact: true }).selectOption("us");
  await page.getByRole("switch", { name: "full" }).click();
  await page.getByLabel("items", { exact: true }).fill("[1, 2");
  await page.getByText("is no JSON").waitFor();
  await page.getByLabel("items", { exact: true }).fill("[7]");
  await page.getByLabel("key", { exact: true }).fill("s3cret");
  await page.getByLabel("Run id").fill("by hand");
  await page.getByText("starting with a letter").waitFor();
  await page.getByLabel("Run id").fill("by-hand");
  await page.getByLabel("Note").fill("it's mine");

  const cli = await command(page, "CLI").textContent();
  assert.match(cli, /^eider dags trigger sales .*-p rows=5/);
  assert.match(cli, /--run-id by-hand --note 'it'\\''s mine'$/);
  const curl = await command(page, "curl").textContent();
  assert.ok(curl.includes('"rows":"5"'), curl);
  assert.ok(!cli.includes("s3cret") && !curl.includes("s3cret"), "secrets are not shown");
  await page.waitForURL(/p\.rows=5/);
  assert.ok(!page.url().includes("s3cret"), "nor are they in the URL");

  await page.getByRole("button", { name: "Trigger", exact: true }).click();
  await page.waitForURL(/\/runs\/\d+$/);
  await page.locator("main .state[data-state='success']").first().waitFor();
  const run = (await runsOf("sales")).find((row) => row.dag_run_id === "by-hand");
  assert.deepEqual([run.params.rows, run.params.region, run.params.full, run.params.items, run.note],
    [5, "us", true, [7], "it's mine"]);

  // The same id again: the server refuses, and says so at the field.
  await page.goBack();
  await page.getByLabel("Run id").waitFor();
  assert.equal(await page.getByLabel("Rows to fetch", { exact: true }).inputValue(), "5", "the link fills the form in");
  await page.getByRole("button", { name: "Trigger", exact: true }).click();
  await page.locator(".field.is-wrong", { hasText: "there is a run 'by-hand'" }).waitFor();
  assert.equal(page.mistakes.filter((mistake) => !mistake.includes("409")).length, 0, String(page.mistakes));
  assert.notEqual(await page.title(), "owned");
});

test("the command that is shown makes the same run", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/dags/sales/trigger?p.code=XY&p.rows=7&note=from+the+shell&tasks=fetch");
  const text = (await command(page, "CLI").textContent()).replace("'from the shell'", "shell");
  await daemon.cli(...text.split(" ").slice(1));
  const run = await until("the run ends", async () =>
    (await runsOf("sales")).find((row) => row.note === "shell" && row.state === "success"));
  assert.deepEqual([run.params.code, run.params.rows, run.counts.success], ["XY", 7, 1]);
});

test("of very many tasks a few hundred are drawn, and the others are searched for", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/dags/many/trigger");
  await page.getByText("All tasks", { exact: true }).click();
  const boxes = page.locator(".task-boxes label");
  await page.getByText("400 more: search for them.").first().waitFor();
  assert.equal(await boxes.count(), 200);
  assert.equal(await page.getByRole("combobox", { name: "Task to preview" }).locator("option").count(), 201);
  await page.getByRole("searchbox", { name: "Filter tasks" }).fill("t599");
  await until("one is left", async () => (await boxes.count()) === 1);
  await page.getByLabel("t599", { exact: true }).check();
  await page.getByRole("searchbox", { name: "Filter tasks" }).fill("");
  await until("what was chosen stays", async () => (await boxes.count()) === 201);
  assert.equal(await page.getByLabel("t599", { exact: true }).isChecked(), true);
  await visit(page, "/dags/many/settings");
  await page.locator("summary", { hasText: "retries, pools" }).click();
  const rows = page.getByRole("table", { name: "Tasks" }).locator("tbody tr");
  assert.equal(await rows.count(), 200);
  await page.getByRole("searchbox", { name: "Find a task" }).fill("t59");
  await until("those that fit", async () => (await rows.count()) === 11);
  assert.deepEqual(page.mistakes, []);
});

test("a task is shown with its templates filled in", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, "/dags/sales/trigger?p.code=AB&p.rows=42");
  await page.getByLabel("Task to preview").selectOption("fetch");
  await page.getByText("echo rows 42 of eu AB").waitFor();
  assert.ok(await page.getByRole("button", { name: "Trigger", exact: true }).isDisabled(), "a viewer only looks");
  assert.deepEqual(page.mistakes, []);
});

test("the last days are filled in by one press", async () => {
  const page = await openPage(daemon);
  await visit(page, "/dags/daily/backfill");
  const value = (label) => page.getByLabel(label).inputValue();
  await page.getByRole("button", { name: "Last 7 days" }).click();
  await until("the URL to have both", () => /from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d/.test(page.url()));
  const days = (Date.parse(await value("Last date")) - Date.parse(await value("First date"))) / 86_400_000;
  assert.equal(days, 6);
  await page.getByRole("button", { name: "Yesterday" }).click();
  await until("one day", async () => (await value("First date")) === (await value("Last date")));
});

test("a backfill is planned while it is filled in, then made", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/dags/daily/backfill");
  await page.getByLabel("First date").fill("2026-03-10");
  await page.getByLabel("Last date").fill("2026-03-01");
  await page.getByText("is before the first date").waitFor();
  await page.getByLabel("Last date").fill("2026-03-14");
  await page.getByText("5 runs").waitFor();
  assert.equal(await command(page, "CLI").textContent(),
    "eider backfill create daily --from 2026-03-10 --to 2026-03-14");
  assert.equal((await runsOf("daily")).length, 0, "a plan makes nothing");
  await page.getByLabel("Runs at once").fill("3");
  await page.getByRole("button", { name: "Create backfill" }).click();
  await page.waitForURL(/\/backfills\/\d+$/);
  await page.locator(".state[data-state='success']").first().waitFor();
  await page.getByText("100 %").waitFor();
  assert.equal(await page.getByRole("list", { name: "Dates" }).getByRole("listitem").count(), 5);

  // Once more: all dates have a run.
  await visit(page, "/dags/daily/backfill?from=2026-03-10&to=2026-03-14");
  await page.getByText("Nothing to do").waitFor();
  await page.getByLabel("Dates that have a run").selectOption("all");
  await page.getByText("5 runs").waitFor();
  await visit(page, "/dags/daily/backfills");
  await page.getByRole("cell", { name: "2026-03-10 to 2026-03-14" }).waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("a large backfill begins when an admin has approved it", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/dags/daily/backfill?from=2026-04-01&to=2026-05-05&max_active=8");
  await page.getByText("an admin must approve it first").waitFor();
  await page.getByRole("button", { name: "Create backfill" }).click();
  await page.waitForURL(/\/backfills\/\d+$/);
  await page.locator("h2 .state[data-state='awaiting_approval']").waitFor();
  assert.ok(await page.getByRole("button", { name: "Approve" }).isDisabled());
  const admin = await openPage(daemon, { role: "admin" });
  await visit(admin, new URL(page.url()).pathname);
  await admin.getByRole("button", { name: "Approve" }).click();
  await admin.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  // The one that waited sees it go, without doing anything.
  await page.locator("h2 .state[data-state='success']").waitFor();
  await page.getByText("35 succeeded").waitFor();
  assert.deepEqual([...page.mistakes, ...admin.mistakes], []);
});

test("a backfill is paused, resumed and cancelled", async () => {
  const page = await openPage(daemon, { role: "operator" });
  const { backfill } = await daemon.api("POST", "/api/v1/x/backfills",
    { dag: "held", from: "2026-03-01", to: "2026-03-20", max_active: 2 });
  await visit(page, `/backfills/${backfill}`);
  const act = async (label) => {
    await page.getByRole("button", { name: label, exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: label, exact: true }).click();
  };
  await act("Pause");
  await page.locator("h2 .state[data-state='paused']").waitFor();
  await act("Resume");
  await page.locator("h2 .state[data-state='running']").waitFor();
  await page.getByRole("button", { name: "Cancel backfill" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The same by command").click();
  await dialog.getByLabel("stop what runs, too").check();
  await dialog.getByText(`eider backfill cancel ${backfill} --running`).waitFor();
  await dialog.getByRole("button", { name: "Cancel backfill" }).click();
  await page.locator("h2 .state[data-state='cancelled']").waitFor();
  assert.equal(await page.getByRole("button", { name: "Cancel backfill" }).count(), 0, "nothing is left to do");
  await visit(page, "/backfills?state=cancelled");
  await page.getByRole("link", { name: "held" }).waitFor();
  assert.deepEqual(page.mistakes, []);
});

for (const theme of THEMES)
  for (const [name, size] of Object.entries(SIZES))
    test(`the form by keyboard, ${theme}, ${name}`, async () => {
      const page = await openPage(daemon, { theme, size, role: "operator" });
      await visit(page, "/dags/sales/trigger");
      await page.getByLabel("code", { exact: true }).focus();
      await page.keyboard.type("a");
      await page.keyboard.press("Enter");
      await page.getByText("to mend above").waitFor();
      await page.waitForFunction(() => document.activeElement?.id === "param-code");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("QQ");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/runs\/\d+$/);
      assert.deepEqual(page.mistakes, []);
    });
