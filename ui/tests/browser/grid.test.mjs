import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { before, test } from "node:test";
import { cleanUp, Daemon, openPage, SIZES, THEMES, until } from "./harness.mjs";
import { clickCell, waitForCell } from "./pictures.mjs";

const HOSTILE = `<img src=x onerror="document.title='owned'">`;
const SALES = `title: ${JSON.stringify(HOSTILE + " sales")}
description: ${JSON.stringify(HOSTILE)}
owner: ${JSON.stringify(HOSTILE)}
tags: ["<b>bold</b>"]
tasks:
  start: { run: "true" }
  load.each: { run: "true", needs: start, group: load, foreach: ["<i>one</i>", two], label: "{{ item }}" }
  load.in.bad: { run: "exit 3", needs: start, group: load.in }
  end: { run: "true", needs: [load.each, load.in.bad] }
`;

let daemon;
let gate;
before(async () => {
  daemon = await Daemon.start({ "sales.yaml": SALES, "none.yaml": "tasks:\n  one: { noop: {} }\n" });
  gate = path.join(daemon.folder, "gate");
  await daemon.write("slow.yaml", `tasks:
  first: { run: "true" }
  wait: { needs: first, run: "until [ -e ${gate} ]; do sleep 0.05; done" }
`);
  for (let i = 0; i < 3; i++) await daemon.cli("dags", "trigger", "sales");
  await daemon.cli("runs", "wait", "3").catch(() => {}); // it fails, as it should
});
cleanUp();

const openGrid = async (page, rest = "") => {
  await page.goto("/dags/sales" + rest);
  await page.getByRole("grid").waitFor();
};

for (const theme of THEMES)
  for (const [name, size] of Object.entries(SIZES))
    test(`cells have the colours of their states, and show what they are (${name}, ${theme})`, async () => {
      const page = await openPage(daemon, { theme, size });
      await openGrid(page);
      await waitForCell(page, 0, 0, "success");
      await waitForCell(page, 4, 2, "failed");
      await waitForCell(page, 5, 2, "upstream");
      await clickCell(page, 4, 2);
      const side = page.getByRole("complementary", { name: "Task load.in.bad of run 3" });
      await side.getByText("exit code 3").waitFor();
      assert.equal(new URL(page.url()).search, "?run=3&task=load.in.bad");
      assert.equal(await side.getByRole("link", { name: "Log" }).getAttribute("href"), "/runs/3/tasks/load.in.bad/log");
      await side.getByRole("button", { name: "Close" }).click();
      await side.waitFor({ state: "detached" });
      await clickCell(page, -1, 1);
      await page.getByRole("complementary", { name: "Run 2" }).waitFor();
      assert.deepEqual(page.mistakes, []);
    });

test("keys move through the grid and say where they are", async () => {
  const page = await openPage(daemon);
  await openGrid(page);
  const grid = page.getByRole("grid");
  await grid.focus();
  await page.keyboard.press("Home");
  const cell = page.locator("#grid-at");
  await until("the first cell is told", async () => (await cell.textContent()).startsWith("start, success, run 1"));
  await page.keyboard.press("End");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
  await until("the failed one", async () => (await cell.textContent()).startsWith("load.in.bad, failed, run 3"));
  assert.equal(await grid.getAttribute("aria-activedescendant"), "grid-at");
  await page.keyboard.press("Space");
  await page.getByRole("complementary", { name: "Task load.in.bad of run 3" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL("**/dags/sales");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/runs/3/tasks/load.in.bad");
  await page.goBack();
  await grid.waitFor();
});

test("groups close and open, and the URL knows", async () => {
  const page = await openPage(daemon);
  await openGrid(page);
  const grid = page.getByRole("grid");
  assert.equal(await grid.getAttribute("aria-rowcount"), "7");
  await clickCell(page, 1, -1);
  await page.waitForURL("**?closed=load");
  await until("fewer rows", async () => (await grid.getAttribute("aria-rowcount")) === "4");
  await waitForCell(page, 1, 2, "failed");
  await openGrid(page, "?closed=load");
  assert.equal(await grid.getAttribute("aria-rowcount"), "4");
  await page.getByRole("button", { name: "Expand all" }).click();
  await until("all rows", async () => (await grid.getAttribute("aria-rowcount")) === "7");
  await page.getByRole("button", { name: "Collapse all" }).click();
  await page.waitForURL("**?closed=load%2Cload.in");
});

test("filters are in the URL and leave what they say", async () => {
  const page = await openPage(daemon);
  await openGrid(page);
  const grid = page.getByRole("grid");
  await page.getByPlaceholder("Task name").fill("bad");
  await page.waitForURL("**?q=bad");
  await until("one task and its groups", async () => (await grid.getAttribute("aria-rowcount")) === "4");
  await page.getByLabel("Tasks that have this state").selectOption("success");
  await page.getByText("No task is as the filters want it.").waitFor();
  await page.getByLabel("Tasks that have this state").selectOption("");
  await page.getByLabel("Runs of this state").selectOption("success");
  await page.getByText("No run is as the filters want it.").waitFor();
  await openGrid(page, "?limit=25&run_type=manual&before=2999-01-01T00:00:00Z");
  assert.equal(await grid.getAttribute("aria-colcount"), "4");
  await page.getByRole("link", { name: "Newest runs" }).click();
  await until("the newest runs", async () => !page.url().includes("before"));
});

test("a run that goes colours the grid, without a reload", async () => {
  const page = await openPage(daemon);
  await page.goto("/dags/slow");
  await page.getByText("There are no runs yet.").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  const { number } = await daemon.json("dags", "trigger", "slow");
  await page.getByRole("grid").waitFor();
  await waitForCell(page, 0, 0, "success");
  await waitForCell(page, 1, 0, "running");
  await waitForCell(page, -1, 0, "running");
  await writeFile(gate, "");
  await waitForCell(page, 1, 0, "success");
  await waitForCell(page, -1, 0, "success");
  await clickCell(page, 1, 0);
  const side = page.getByRole("complementary", { name: `Task wait of run ${number}` });
  await side.getByRole("button", { name: "Clear" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The same by command").click();
  await dialog.getByText(`eider tasks clear ${number} wait`, { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Clear", exact: true }).click();
  await until("it ran again", async () => {
    const { task_instances: [task] } = await daemon.api("GET", `/api/v1/x/runs/${number}/tasks?task=wait`);
    return task.generation > 0 && task.state === "success";
  });
  await side.getByRole("button", { name: "Mark failed" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Mark failed", exact: true }).click();
  await waitForCell(page, 1, 0, "failed");
  assert.deepEqual(page.mistakes, []);
});

test("names, owners and labels stay text, and a viewer changes nothing", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await openGrid(page, "?run=3&task=load.each");
  await page.getByRole("heading", { name: `${HOSTILE} sales` }).waitFor();
  const instance = page.getByRole("link", { name: "<i>one</i>" });
  assert.equal(await instance.getAttribute("href"), "/runs/3/tasks/load.each?map=0");
  assert.equal(await page.locator("main img, main i, main b b").count(), 0);
  assert.notEqual(await page.title(), "owned");
  assert.equal(await page.getByRole("button", { name: "Clear" }).isDisabled(), true);
  assert.equal(await page.getByRole("switch").isDisabled(), true);
  assert.equal(await page.getByRole("link", { name: "Trigger" }).count(), 0);
  assert.deepEqual(page.mistakes, []);
});

test("the switch pauses, and tells it as a command", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await page.goto("/dags/none");
  const pause = page.getByRole("switch");
  await pause.click();
  await page.getByText("Paused", { exact: true }).waitFor();
  assert.match(await pause.getAttribute("title"), /eider dags unpause none/);
  assert.equal((await daemon.api("GET", "/api/v1/x/dags/none")).is_paused, true);
  await pause.click();
  await page.getByText("Active", { exact: true }).waitFor();
});
