import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { before, test } from "node:test";
import { cleanUp, Daemon, openPage, SIZES, THEMES, until } from "./harness.mjs";
import { clickNode, nodeAt, waitForNode } from "./pictures.mjs";

const SALES = `title: "<img src=x onerror=alert(1)>"
tasks:
  start: { run: "true" }
  load.each: { run: "true", needs: start, group: load, foreach: [1, 2, 3] }
  load.bad: { run: "exit 3", needs: start, group: load }
  end: { run: "true", needs: [load.each, load.bad] }
  alone: { run: "true" }
`;

let daemon;
let gate;
before(async () => {
  daemon = await Daemon.start({ "sales.yaml": SALES });
  gate = path.join(daemon.folder, "gate");
  await daemon.write("slow.yaml", `tasks:
  first: { run: "true" }
  wait: { needs: first, run: "until [ -e ${gate} ]; do sleep 0.05; done" }
`);
  await daemon.cli("dags", "trigger", "sales");
  await daemon.cli("runs", "wait", "1").catch(() => {}); // it fails, as it should
});
cleanUp();

const openGraph = async (page, rest = "", dag = "sales") => {
  await page.goto(`/dags/${dag}/graph${rest}`);
  await page.locator(".graph-box[data-scale]").waitFor();
};
const nodesOf = async (dag, query = "") => {
  const { nodes } = await daemon.api("GET", `/api/v1/x/graph/${dag}${query}`);
  return Object.fromEntries(nodes.map((node) => [node.task_id, node]));
};
const scaleOf = async (page) => Number(await page.locator(".graph-box").getAttribute("data-scale"));

for (const theme of THEMES)
  for (const [name, size] of Object.entries(SIZES))
    test(`the graph has the states of the latest run (${name}, ${theme})`, async () => {
      const page = await openPage(daemon, { theme, size });
      await openGraph(page);
      const nodes = await nodesOf("sales");
      await waitForNode(page, nodes.start, "success");
      await waitForNode(page, nodes["load.bad"], "failed");
      await waitForNode(page, nodes.end, "upstream");
      await clickNode(page, nodes["load.bad"]);
      const side = page.getByRole("complementary", { name: "Task load.bad of run 1" });
      await side.getByText("exit code 3").waitFor();
      assert.equal(new URL(page.url()).search, "?task=load.bad");
      assert.deepEqual(page.mistakes, []);
    });

test("keys go from task to task, zoom and open", async () => {
  const page = await openPage(daemon);
  await openGraph(page);
  const box = page.locator(".graph-box");
  const told = page.locator("#graph-at");
  await box.focus();
  const press = async (key, words) => {
    await page.keyboard.press(key);
    await until(`${key}: ${words}`, async () => (await told.textContent()).includes(words));
  };
  await press("ArrowRight", "needs nothing");
  if ((await told.textContent()).startsWith("alone")) await press("ArrowDown", "start, success");
  await press("ArrowRight", "needs start");
  await press("ArrowRight", "end, upstream failed");
  const before = await scaleOf(page);
  await page.keyboard.press("-");
  await until("smaller", async () => (await scaleOf(page)) < before);
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  await until("larger", async () => (await scaleOf(page)) > before);
  await page.keyboard.press("0");
  await until("whole", async () => (await scaleOf(page)) === before);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/runs/1/tasks/end");
});

test("the wheel zooms, and a drag moves", async () => {
  const page = await openPage(daemon);
  await openGraph(page);
  const node = (await nodesOf("sales")).start;
  const at = await nodeAt(page, node);
  const place = await page.locator(".graph-main").boundingBox();
  await page.mouse.move(place.x + at.x, place.y + at.y);
  await page.mouse.wheel(0, -200);
  await until("nearer", async () => (await scaleOf(page)) > at.scale * 1.2);
  const near = await nodeAt(page, node);
  assert.ok(Math.abs(near.x - at.x) < 2 && Math.abs(near.y - at.y) < 2, "the point under the mouse stays");
  await page.mouse.down();
  await page.mouse.move(place.x + at.x + 60, place.y + at.y + 30, { steps: 4 });
  await page.mouse.up();
  await until("moved", async () => Math.abs((await nodeAt(page, node)).x - near.x - 60) < 2);
  assert.equal(new URL(page.url()).search, "", "a drag chooses nothing");
});

test("groups become one node, and what is around a task is all there is", async () => {
  const page = await openPage(daemon);
  await openGraph(page);
  await page.getByRole("button", { name: "Collapse all" }).click();
  await page.waitForURL("**?closed=*");
  await page.getByText("5 tasks, 4 shown").waitFor();
  const closed = await nodesOf("sales", "?run=1&collapsed=*");
  await waitForNode(page, closed.load, "failed");
  await clickNode(page, closed.load);
  await page.getByText("5 tasks, 4 edges").waitFor();
  await openGraph(page, "?task=load.bad");
  await page.getByRole("link", { name: "Only around it" }).click();
  await page.getByText("5 tasks, 3 shown").waitFor();
  await page.getByRole("button", { name: "fewer levels before" }).click();
  await page.getByText("5 tasks, 2 shown").waitFor();
  await page.getByRole("link", { name: "Whole graph" }).first().click();
  await page.getByText("5 tasks, 4 edges").waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("where there is nothing to draw, words say so", async () => {
  const page = await openPage(daemon);
  await page.goto("/dags/sales/graph?task=nothing_like_it&up=1&down=1");
  await page.getByRole("alert").getByText("has no task 'nothing_like_it'").waitFor();
  assert.equal(await page.locator(".graph-box").count(), 0);
  await page.getByRole("link", { name: "Whole graph" }).first().click();
  await page.locator(".graph-box").waitFor();
  await page.route("**/api/v1/x/graph/**", async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, nodes: [], edges: [], groups: [] } });
  });
  await page.reload();
  await page.getByText("This DAG has no tasks.").waitFor();
  assert.deepEqual(page.mistakes.filter((mistake) => !mistake.includes("404")), []);
});

test("tasks are found by a part of their name", async () => {
  const page = await openPage(daemon);
  await openGraph(page);
  await page.getByPlaceholder("Find a task").fill("load");
  await page.getByText("1 of 2").waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("2 of 2").waitFor();
  await page.getByPlaceholder("Find a task").fill("nothing of the kind");
  await page.getByText("none found").waitFor();
});

test("a run that goes colours the graph, without a reload", async () => {
  const page = await openPage(daemon);
  await openGraph(page, "", "slow");
  await page.getByText("live", { exact: true }).waitFor();
  await daemon.cli("dags", "trigger", "slow");
  const nodes = await nodesOf("slow");
  await waitForNode(page, nodes.first, "success");
  await waitForNode(page, nodes.wait, "running");
  await writeFile(gate, "");
  await waitForNode(page, nodes.wait, "success");
  await page.getByLabel("States of this run").selectOption("none");
  await page.waitForURL("**?run=none");
  await page.getByText("success").first().waitFor();
  assert.deepEqual(page.mistakes, []);
});
