import assert from "node:assert/strict";
import { before, test } from "node:test";
import { act, field, looksRight, row, visit } from "./forms.mjs";
import { cleanUp, Daemon, openPage, until } from "./harness.mjs";

const ORDERS = "warehouse://mart/orders";
const HOSTILE = "s3://x/<img/src=x/onerror=window.owned=1>";
let daemon;

before(async () => {
  daemon = await Daemon.start({
    "orders.yaml":
      `sla: { within: 10ms }\ntasks:\n  load: { run: sleep 0.2, outputs: ["${ORDERS}", "s3://landing/raw"] }\n`,
    "mart.yaml": `schedule: { datasets: ["${ORDERS}", "s3://landing/products"] }\ntasks:\n  build: { run: "true" }\n`,
    "alone.yaml": `schedule: { datasets: ["s3://other/thing"] }\ntasks:\n  go: { run: "true" }\n`,
  });
  await daemon.knows("orders", "mart", "alone");
  await daemon.cli("dags", "trigger", "orders");
  await until("an update", async () => (await daemon.json("assets", "show", ORDERS)).updates === 1);
  await until("a missed deadline", async () => (await daemon.get("/sla")).misses.length > 0);
  await daemon.cli("assets", "emit", HOSTILE);
});
cleanUp();

const pathOf = (uri) => `/asset/${encodeURIComponent(uri)}`;

test("the pages of data load in both themes and sizes", async () => {
  await looksRight(daemon,
    ["/assets", pathOf(ORDERS), pathOf(HOSTILE), "/lineage", `/lineage?asset=${encodeURIComponent(ORDERS)}`, "/sla"]);
});

test("the list says who makes a dataset and who waits, and is searched", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, "/assets");
  const orders = row(page, ORDERS);
  await orders.getByText("orders / load").waitFor();
  await orders.getByText("1 update waits").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await page.getByLabel("Part of a URI").fill("mart");
  await page.waitForURL(/q=mart/);
  await until("only what fits", async () => (await page.locator("tbody tr").count()) === 1);
  await page.getByRole("link", { name: ORDERS }).click();
  await page.waitForURL("**" + pathOf(ORDERS));
  await page.getByRole("table", { name: "DAGs that wait" }).getByRole("link",
    { name: "s3://landing/products" }).waitFor();
  assert.equal(await page.evaluate(() => window.owned), undefined);
  assert.deepEqual(page.mistakes, []);
});

test("an operator says that a dataset was updated, and the DAG that waited starts", async () => {
  const viewer = await openPage(daemon, { role: "viewer" });
  await visit(viewer, pathOf("s3://landing/products"));
  assert.ok(await viewer.getByRole("button", { name: "Say that it was updated" }).isDisabled());
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, pathOf("s3://landing/products"));
  await page.getByRole("button", { name: "Say that it was updated" }).click();
  await field(page, "What is told").fill("[1]");
  await page.getByText("This must be a JSON object").waitFor();
  await page.keyboard.press("Escape");
  await act(page, "Say that it was updated", { "What is told": '{"rows": 120}' }, "The update is known");
  await page.getByText('{"rows":120}').waitFor();
  await page.getByText("the-operator, by hand").waitFor();
  await until("the DAG ran", async () => (await daemon.get("/runs?dag=mart")).dag_runs.length === 1);
});

test("lineage joins tasks, datasets and DAGs, and is about what the URL says", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, "/lineage");
  const node = (name) => page.getByRole("link", { name: new RegExp(name) });
  await node(`dataset ${ORDERS}`).waitFor();
  await node("DAG: load orders").waitFor();
  await node("DAG alone").waitFor();
  await node(`dataset ${ORDERS}`).click();
  await page.waitForURL(/asset=/);
  await node("DAG alone").waitFor({ state: "detached" });
  await node("DAG mart").waitFor();
  await page.getByLabel("Direction").selectOption("up");
  await node("DAG mart").waitFor({ state: "detached" });
  await node("DAG: load orders").waitFor();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.getByRole("link", { name: /Show all/ }).click();
  await node("DAG alone").waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("deadlines tell what was late and how often", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, "/sla");
  await page.getByText("0 % on time: 0 of 1 runs").waitFor();
  await page.getByRole("table", { name: "Missed deadlines" }).getByRole("link", { name: /orders/ }).first().waitFor();
  await page.getByLabel("Which").selectOption("true");
  await page.waitForURL(/open=true/);
  await page.getByText("Nothing was late.").waitFor();
  assert.deepEqual(page.mistakes, []);
});
