// Runs: watched, looked into, mended.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { fits } from "./forms.mjs";
import { cleanUp, Daemon, openPage, SIZES, THEMES, until } from "./harness.mjs";

// Tasks wait for files, so that the test says when they go on.
const STEPS = `tasks:
  first: { run: 'echo began; until [ -e "$GATE/first" ]; do sleep 0.05; done; echo went on', env: { GATE: "GATES" } }
  second: { run: 'until [ -e "$GATE/second" ]; do sleep 0.05; done', needs: [first], env: { GATE: "GATES" } }
`;
const BETWEEN = `tasks:
  waits: { run: 'until [ -e "$GATE/between" ]; do sleep 0.05; done', env: { GATE: "GATES" } }
`;
const ORDERS = `params:
  region: { type: string, default: eu }
tasks:
  extract: { run: "seq 1 30", doc: Reads the orders of a day. }
  parts: { run: 'test {{ item }} != 3', foreach: [1, 2, 3, 4, 5], needs: [extract] }
  load:
    needs: [extract]
    run: |
      for i in $(seq 1 25); do echo "row $i"; done
      [ -e "$GATE/mended" ] || { echo "Error: no table orders" >&2; exit 3; }
    env: { GATE: "GATES", PASSWORD: "{{ secrets.db_password }}" }
  publish: { run: echo published, needs: [load] }
`;
const WIDE = `tasks:
  many: { run: "true", foreach: [${Array.from({ length: 120 }, (_, i) => i).join(", ")}] }
`;

let daemon;
let gate;
before(async () => {
  daemon = await Daemon.start();
  gate = (name) => daemon.write(`../${name}`, "");
  await daemon.cli("secrets", "set", "db_password", "swordfish-4711");
  for (const [name, text] of Object.entries({ steps: STEPS, between: BETWEEN, orders: ORDERS, wide: WIDE }))
    await daemon.write(`${name}.yaml`, text.replaceAll("GATES", daemon.folder));
  await daemon.knows("steps", "between", "orders", "wide");
});
cleanUp();

/** A run that is over. */
const ran = async (dag, ...more) => {
  const run = await daemon.trigger(dag, ...more);
  await daemon.isOver(run);
  return run;
};

test("a run is watched from its start to its end", async () => {
  const run = await daemon.trigger("steps");
  const page = await openPage(daemon);
  await page.goto(`/runs/${run}`);
  await page.locator('tr:has-text("first") [data-state="running"]').waitFor();
  await page.locator('tr:has-text("second") [data-state="none"]').waitFor();
  await gate("first");
  await page.locator('tr:has-text("first") [data-state="success"]').waitFor();
  await page.locator('tr:has-text("second") [data-state="running"]').waitFor();
  await gate("second");
  await page.locator('h1 [data-state="success"]').waitFor();
  await page.locator('tr:has-text("second") [data-state="success"]').waitFor();
  await page.getByRole("link", { name: "Gantt" }).click();
  await page.getByRole("link", { name: /second; .*on the critical path/ }).waitFor();
  await page.getByRole("link", { name: "Events" }).click();
  await page.getByRole("table", { name: "Events" }).getByText("run ended").waitFor();
  assert.deepEqual(page.mistakes, []);
});

for (const theme of THEMES)
  test(`on a phone a failing run shows its error, the last lines and how to retry at once (${theme})`, async () => {
    const run = await ran("orders");
    const page = await openPage(daemon, { size: SIZES.phone, theme });
    await page.goto("/runs?state=failed");
    await page.getByRole("link", { name: `#${run}` }).click();
    const failure = page.getByRole("region", { name: "load failed" });
    const parts = [failure.locator(".error-line"), failure.getByText("row 25"),
      failure.getByRole("button", { name: "Retry" }),
      failure.getByRole("link", { name: "Log" })];
    for (const part of parts) {
      await part.waitFor();
      const box = await part.boundingBox();
      assert.ok(box.y > 0 && box.y + box.height <= SIZES.phone.height - 48,
        `within the first screen: ${await part.textContent()} at ${box.y}`);
      assert.ok(box.x >= 0 && box.x + box.width <= SIZES.phone.width, "within the width");
    }
    await fits(page);
    assert.deepEqual(page.mistakes, []);
  });

test("what happens while one goes from a list to a run is told there", async () => {
  const page = await openPage(daemon);
  await page.addInitScript(() => {
    const Source = window.EventSource;
    window.readies = 0;
    window.EventSource = class extends Source {
      constructor(url) {
        super(url);
        this.addEventListener("ready", () => window.readies++);
      }
    };
  });
  // Its second task waits; nobody is told of it before the run is over.
  const run = await daemon.trigger("between");
  let letGo;
  const held = new Promise((resolve) => (letGo = resolve));
  await page.route((url) => url.pathname.endsWith("/x/events") && url.searchParams.has("run"), async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("/runs");
  const link = page.getByRole("link", { name: `#${run}`, exact: true });
  await link.waitFor();
  await page.waitForFunction(() => window.readies > 0);
  await link.click();
  await page.locator('tr:has-text("waits") [data-state="running"]').waitFor();
  await page.waitForFunction(() => !document.documentElement.hasAttribute("data-waiting"));
  // A tab that nobody sees asks for nothing by itself: only what is told shows up.
  await page.evaluate(() => Object.defineProperty(document, "hidden", { value: true }));
  await gate("between");
  await daemon.isOver(run);
  letGo();
  await page.locator('h1 [data-state="success"]').waitFor();
  assert.deepEqual(page.mistakes, []);
  await page.context().close(); // the script that counts would stay
});

test("a failing task is mended and retried until the run is green", async () => {
  const run = await ran("orders");
  const page = await openPage(daemon, { role: "operator" });
  await page.goto(`/runs/${run}`);
  await gate("mended");
  await page.getByRole("region", { name: "load failed" }).getByRole("button", { name: "Retry" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("publish").waitFor();
  await dialog.getByText("The same by command").click();
  await dialog.getByText(`eider retry ${run} load`).waitFor();
  await dialog.getByRole("button", { name: "Retry", exact: true }).click();
  await page.getByRole("region", { name: "load failed" }).waitFor({ state: "detached" });
  // The instance of the mapped task still fails: it is marked by hand.
  await page.getByRole("link", { name: "parts [2]" }).first().click();
  await page.getByRole("button", { name: "Mark" }).click();
  await page.getByRole("dialog").getByRole("combobox", { name: "State" }).selectOption("success");
  await page.getByRole("dialog").getByRole("button", { name: "Mark", exact: true }).click();
  await page.locator('h1 [data-state="success"]').waitFor();
  await page.getByRole("link", { name: `#${run}` }).first().click();
  await page.locator('h1 [data-state="success"]').waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("clearing lists before what would run again", async () => {
  await gate("mended");
  const run = await ran("orders");
  const page = await openPage(daemon);
  await page.goto(`/runs/${run}/tasks/load`);
  await page.getByRole("button", { name: "Clear" }).click();
  const dialog = page.getByRole("dialog");
  const listed = dialog.locator(".dry-run li");
  await listed.first().waitFor();
  assert.deepEqual((await listed.allTextContents()).map((text) => text.trim().split(" ")[0]).sort(),
    ["load", "publish"]);
  await dialog.getByLabel("also what it needs").check();
  await dialog.locator(".dry-run").getByText("extract").waitFor();
  await dialog.getByText("The same by command").click();
  await dialog.getByText(`eider tasks clear ${run} load --upstream`).waitFor();
  const before = (await daemon.get(`/runs/${run}/tasks`)).task_instances.find((task) => task.task_id === "extract");
  await dialog.getByRole("button", { name: "Clear", exact: true }).click();
  await until("it ran again", async () => {
    const task = (await daemon.get(`/runs/${run}/tasks`)).task_instances.find((each) => each.task_id === "extract");
    return task.state === "success" && task.start_date > before.start_date;
  });
  assert.deepEqual(page.mistakes, []);
});

test("a task tells its tries, its command with secrets masked, what is around it and why", async () => {
  const run = await ran("orders");
  const page = await openPage(daemon, { role: "viewer" });
  await page.goto(`/runs/${run}/tasks/load`);
  await page.getByRole("table", { name: "Tries" }).waitFor();
  await page.getByText("Reads the orders").waitFor({ state: "detached" });
  await page.getByText("env.PASSWORD", { exact: true }).waitFor();
  assert.ok(!(await page.content()).includes("swordfish"), "the secret is in the page");
  await page.getByRole("link", { name: "extract" }).waitFor();
  await page.getByRole("link", { name: "publish" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Clear" }).isDisabled(), "a viewer clears nothing");
  assert.deepEqual(page.mistakes, []);
});

test("many instances are folded, and come in pages", async () => {
  const run = await ran("wide");
  const page = await openPage(daemon);
  await page.goto(`/runs/${run}`);
  await page.getByRole("button", { name: /120 instances/ }).click();
  await page.getByRole("link", { name: "many [0]", exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: "many [60]", exact: true }).count(), 0);
  await page.getByText("1–50 of 120").locator("..").getByRole("link", { name: "Next" }).click();
  await page.getByRole("link", { name: "many [60]", exact: true }).click();
  await page.waitForURL("**/tasks/many?map=60");
  await page.getByRole("heading", { name: "many [60]" }).waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("runs are found by their filters, which are in the URL", async () => {
  const run = await ran("wide", "--note", "for the filter");
  const page = await openPage(daemon);
  await page.goto("/runs");
  await page.getByRole("combobox", { name: "State" }).selectOption("success");
  await page.getByRole("searchbox", { name: "Id of a DAG" }).fill("wide");
  await page.waitForURL("**/runs?**dag=wide**");
  await page.getByText("for the filter").waitFor();
  await until("only that DAG", async () => !(await page.getByRole("table",
    { name: "Runs" }).textContent()).includes("orders"));
  await page.getByRole("searchbox", { name: "Number or run id" }).fill(String(run));
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/runs/${run}`);
  // A note is made, and the run deleted.
  await page.getByText("More ▾").click();
  await page.getByRole("button", { name: "Edit note" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Note" }).fill("known and harmless");
  await page.getByRole("dialog").getByRole("button", { name: "Edit note", exact: true }).click();
  await page.locator(".run-note").getByText("known and harmless").waitFor();
  await page.getByRole("button", { name: "Delete run" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete run", exact: true }).click();
  await page.waitForURL("**/runs");
  assert.deepEqual(page.mistakes, []);
});

test("days of the filters are those of the chosen zone", async () => {
  const page = await openPage(daemon);
  await page.goto("/");
  await page.evaluate(() => localStorage.setItem("eider.zone", "America/New_York"));
  const asked = (name) => page.waitForRequest((request) => new URL(request.url()).pathname.endsWith(name));
  let request = asked("/x/runs");
  await page.goto("/runs?from=2026-11-15&to=2026-11-16");
  const runs = new URL((await request).url()).searchParams;
  assert.equal(runs.get("logical_from"), "2026-11-15T05:00:00Z");
  assert.equal(runs.get("logical_to"), "2026-11-17T04:59:59.999999Z");
  request = asked("/x/audit");
  await page.goto("/audit?from=2026-11-15&to=2026-11-16");
  const audit = new URL((await request).url()).searchParams;
  assert.equal(audit.get("from"), "2026-11-15T05:00:00Z");
  assert.equal(audit.get("to"), "2026-11-16T05:00:00Z");
  await page.getByRole("table", { name: "Changes" }).or(page.getByText("Nobody changed anything")).first().waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("a run that goes on is cancelled", async () => {
  await daemon.write("endless.yaml", "tasks:\n  wait: { run: sleep 600 }\n");
  await daemon.knows("endless");
  const run = await daemon.trigger("endless");
  const page = await openPage(daemon);
  await page.goto(`/runs/${run}`);
  await page.locator('h1 [data-state="running"]').waitFor();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("a mistake");
  await page.getByRole("dialog").getByLabel(/finally/).check();
  await page.getByRole("dialog").getByText("The same by command").click();
  await page.getByRole("dialog").getByText(`eider stop ${run} --kill --reason 'a mistake'`).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel run", exact: true }).click();
  await page.locator('h1 [data-state="cancelled"]').waitFor();
  await page.getByText("a mistake").waitFor();
  assert.deepEqual(page.mistakes, []);
});

/** What of a page is beyond its right edge, hidden by a box that scrolls. */
const cutOff = (page, selector) => page.locator(selector).evaluateAll((boxes) =>
  boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).length);

test("runs are sorted by how long they took, and fit a phone", async () => {
  await ran("wide");
  await daemon.write("slower.yaml", "dag: slower\ntasks: { nap: { run: sleep 1.5 } }\n");
  await daemon.knows("slower");
  const long = await ran("slower");
  const last = await ran("wide");
  for (const size of Object.values(SIZES)) {
    const page = await openPage(daemon, { size });
    await page.goto(`/runs?from=2000-01-01`);
    const numbers = () => page.locator("tbody .run-number").allInnerTexts();
    const before = (one, other) => async () => {
      const all = (await numbers()).map((text) => text.trim());
      return all.includes(`#${one}`) && all.indexOf(`#${one}`) < all.indexOf(`#${other}`);
    };
    await until("the newest first", before(last, long));
    await page.getByRole("link", { name: "Took" }).click();
    await page.waitForURL("**order=-duration**");
    await until("the longest first", before(long, last));
    assert.equal(await page.getByRole("columnheader", { name: "Took" }).getAttribute("aria-sort"), "descending");
    await page.getByRole("link", { name: "Took" }).click();
    await until("the shortest first", before(last, long));
    assert.equal(await cutOff(page, ".table-box"), 0);
    assert.deepEqual(page.mistakes, []);
    await page.context().close();
  }
});

test("what type a run is of is said with how far it was looked", async () => {
  const page = await openPage(daemon);
  await page.goto("/runs?type=manual");
  await page.getByText(/Looked at all \d+ runs: \d+ are manual\./).waitFor();
  await page.goto("/runs?type=backfill");
  await page.getByText(/Looked at all \d+ runs: 0 are backfill\./).waitFor();
});

test("the name of a task may be very long", async () => {
  const name = "a_very_long_name_".repeat(11).slice(0, 180);
  await daemon.write("lengthy.yaml", `dag: lengthy\ntasks:\n  ${name}: { run: exit 1 }\n  b: { run: "true" }\n`);
  await daemon.knows("lengthy");
  const run = await ran("lengthy");
  for (const size of Object.values(SIZES)) {
    const page = await openPage(daemon, { size });
    await page.goto(`/runs/${run}`);
    await page.getByRole("table", { name: "Tasks" }).getByRole("link", { name, exact: true }).waitFor();
    assert.equal(await cutOff(page, ".table-box"), 0);
    await fits(page);
    await page.context().close();
  }
});
