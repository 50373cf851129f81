// The list of DAGs: found, filtered, paused, and kept up to date by itself.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { cleanUp, Daemon, openPage, SIZES, THEMES, until } from "./harness.mjs";

const HOSTILE = "<img src=x onerror=alert(1)>";
const FILES = {
  "sales.yaml": `dag: sales
title: Daily money
owner: ann
tags: [money, nightly]
schedule: { cron: "30 2 * * *", tz: Europe/Berlin }
tasks: { count: { run: "true" } }
`,
  "stock.yaml": "dag: stock\nowner: bob\ntags: [money]\ntasks: { fail: { run: exit 3 } }\n",
  "evil.yaml": `dag: evil
title: '${HOSTILE}'
owner: '${HOSTILE}'
tags: ['${HOSTILE}']
tasks: { a: { run: "true" } }
`,
};

let daemon;
before(async () => {
  daemon = await Daemon.start(FILES);
  await daemon.cli("dags", "trigger", "stock");
  await until("the run to fail", async () => (await daemon.api("GET", "/api/v1/x/home")).failing.length === 1);
});
cleanUp();

const open = async (options, query = "") => {
  const page = await openPage(daemon, options);
  await page.goto(`/dags${query}`);
  await page.locator("[data-dag]").first().waitFor();
  return page;
};
const shown = (page) => page.locator("[data-dag]").evaluateAll((lines) => lines.map((line) => line.dataset.dag));
const line = (page, dag) => page.locator(`[data-dag="${dag}"]`);

for (const theme of THEMES)
  for (const [name, size] of Object.entries(SIZES))
    test(`the list shows what DAGs are, ${theme}, ${name}`, async () => {
      const page = await open({ theme, size });
      await line(page, "sales").getByText("every day at 02:30 Europe/Berlin").waitFor();
      await line(page, "stock").getByText("failed", { exact: true }).waitFor();
      assert.equal(await line(page, "stock").locator(".run-bars a").count(), 1);
      assert.match(await line(page, "stock").locator(".run-bars a").getAttribute("title"), /^run \d+: failed, /);
      assert.equal(await line(page, "evil").getByText(HOSTILE).count(), 3);
      assert.equal(await page.locator("main img").count(), 0);
      assert.deepEqual(page.mistakes, []);
    });

test("what is searched and chosen is in the URL, and back takes it away", async () => {
  const page = await open();
  await page.getByRole("searchbox").fill("MONEY");
  await page.waitForURL("**/dags?q=MONEY");
  await until("the others to go", async () => (await shown(page)).join() === "sales");
  await page.getByRole("searchbox").fill("");
  await page.getByRole("combobox", { name: "State" }).selectOption("failed");
  await page.waitForURL("**/dags?state=failed");
  await until("only what failed", async () => (await shown(page)).join() === "stock");
  await page.getByRole("link", { name: "Clear filters" }).click();
  await line(page, "sales").getByRole("link", { name: "nightly" }).click();
  await page.waitForURL("**/dags?tag=nightly");
  await until("only its tag", async () => (await shown(page)).join() === "sales");
  await page.goBack();
  await until("all of them", async () => (await shown(page)).length === 3);
  await page.getByRole("link", { name: "DAG", exact: true }).click();
  await until("the other way round", async () => (await shown(page)).join() === "stock,sales,evil");
  await page.goto("/dags?owner=ann&tag=money");
  await until("what a link says", async () => (await shown(page)).join() === "sales");
  assert.deepEqual(page.mistakes, []);
});

test("a DAG is paused at once, and again when that was refused", async () => {
  const page = await open();
  const toggle = line(page, "sales").getByRole("switch");
  assert.equal(await toggle.getAttribute("aria-checked"), "true");
  let letGo;
  const held = new Promise((resolve) => (letGo = resolve));
  await page.route("**/dags/sales/pause", async (route) => {
    await held;
    await route.continue();
  });
  await toggle.click();
  await until("it to be shown before there is an answer", async () =>
    (await toggle.getAttribute("aria-checked")) === "false");
  letGo();
  await page.getByText("sales is paused").waitFor();
  await until("the server to know", async () => (await daemon.api("GET", "/api/v1/x/dags/sales")).is_paused);
  await page.route("**/unpause", (route) => route.fulfill({
    status: 409, contentType: "application/problem+json",
    body: JSON.stringify({ title: "no", detail: "not on a Monday" }),
  }));
  await toggle.click();
  await page.getByText("not on a Monday").waitFor();
  assert.equal(await toggle.getAttribute("aria-checked"), "false");
  await page.unroute("**/unpause");
  await daemon.cli("dags", "unpause", "sales");
  await until("what others did to be seen", async () => (await toggle.getAttribute("aria-checked")) === "true");
});

test("a list that was asked for before a change does not take the change back", async () => {
  const page = await openPage(daemon);
  const gate = () => {
    const made = {};
    made.opened = new Promise((resolve) => (made.open = resolve));
    return made;
  };
  const stream = gate(), list = gate();
  let lists = 0;
  await page.route((url) => url.pathname.endsWith("/x/events"), async (route) => {
    await stream.opened;
    await route.continue();
  });
  await page.route((url) => url.pathname.endsWith("/x/dag-rows") && !url.searchParams.has("dags"), async (route) => {
    const response = await route.fetch();
    if (++lists === 2) await list.opened;
    await route.fulfill({ response });
  });
  await page.goto("/dags");
  const toggle = line(page, "sales").getByRole("switch");
  await toggle.waitFor();
  stream.open(); // when it begins, all are asked for again
  await until("the second list to be on its way", () => lists === 2);
  await toggle.click();
  await page.getByText("sales is paused").waitFor();
  await until("the server to know", async () => (await daemon.api("GET", "/api/v1/x/dags/sales")).is_paused);
  list.open();
  await page.waitForFunction(() => !document.documentElement.hasAttribute("data-waiting"));
  assert.equal(await toggle.getAttribute("aria-checked"), "false");
  await daemon.cli("dags", "unpause", "sales");
  await until("what others did to be seen", async () => (await toggle.getAttribute("aria-checked")) === "true");
});

test("who only looks on cannot pause", async () => {
  const page = await open({ role: "viewer" });
  assert.ok(await line(page, "sales").getByRole("switch").isDisabled());
});

test("all that a filter leaves are paused and unpaused; one that fails does not hold up the others", async () => {
  const page = await open({}, "?tag=money");
  const isPaused = async (dag) => (await daemon.api("GET", `/api/v1/x/dags/${dag}`)).is_paused;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Pause all shown", exact: true }).click();
  await dialog.getByText("Nothing of 2 DAGs starts by itself any more.").waitFor();
  await dialog.getByLabel("Reason").fill("warehouse is down");
  await dialog.getByText("The same by command").click();
  await dialog.getByText("eider dags pause sales stock --reason 'warehouse is down'").waitFor();
  await page.route("**/dags/sales/pause", (route) => route.fulfill({
    status: 409, contentType: "application/problem+json",
    body: JSON.stringify({ title: "no", detail: "not on a Monday" }),
  }));
  await dialog.getByRole("button", { name: "Pause 2 DAGs" }).click();
  const alert = dialog.getByRole("alert");
  await alert.getByText("1 DAG could not be paused").waitFor();
  assert.match(await alert.getByRole("listitem").innerText(), /^sales: .*not on a Monday/);
  assert.deepEqual([await isPaused("sales"), await isPaused("stock"), await isPaused("evil")], [false, true, false]);
  await page.unroute("**/dags/sales/pause");
  await dialog.getByRole("button", { name: "Try again" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.ok(await isPaused("sales"));
  assert.ok(await page.getByRole("button", { name: "Pause all shown", exact: true }).isDisabled());
  await page.getByRole("button", { name: "Unpause all shown" }).click();
  await dialog.getByRole("button", { name: "Unpause 2 DAGs" }).click();
  await dialog.waitFor({ state: "detached" });
  await until("both to be active", async () => !(await isPaused("sales")) && !(await isPaused("stock")));
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByRole("button", { name: "Pause all shown", exact: true }).waitFor({ state: "detached" });
  const other = await open({ role: "viewer" }, "?tag=money");
  assert.ok(await other.getByRole("button", { name: "Pause all shown", exact: true }).isDisabled());
});

test("a run that starts and ends is seen without loading the page again", async () => {
  const page = await open();
  const bars = line(page, "sales").locator(".run-bars a");
  const before = await bars.count();
  await page.evaluate(() => (window.stays = true));
  await daemon.cli("dags", "trigger", "sales");
  await until("its bar to come", async () => (await bars.count()) === before + 1);
  await until("its bar to say how it ended", async () => /success/.test(await bars.last().getAttribute("title")));
  assert.ok(await page.evaluate(() => window.stays));
  await daemon.write("late.yaml", "dag: late_comer\ntasks: { a: { run: 'true' } }\n");
  await line(page, "late_comer").waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("runs are one stop for the tab key, and the arrows go from one to the next", async () => {
  await daemon.cli("dags", "trigger", "stock");
  const page = await open();
  const bars = line(page, "stock").locator(".run-bars a");
  await until("two runs", async () => (await bars.count()) >= 2);
  assert.equal(await line(page, "stock").locator(".run-bars a[tabindex='0']").count(), 1);
  await bars.last().focus();
  await page.keyboard.press("ArrowLeft");
  const href = await page.evaluate(() => document.activeElement.getAttribute("href"));
  assert.equal(href, await bars.nth((await bars.count()) - 2).getAttribute("href"));
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${href}`);
});

test("of very many DAGs only those near the screen are drawn", async () => {
  const many = await Daemon.start({
    "many.yaml": Array.from({ length: 400 }, (_, i) =>
      `dag: d${String(i).padStart(3, "0")}\ntasks: { a: { run: "true" } }\n`).join("---\n"),
  });
  try {
    const page = await openPage(many);
    await page.goto("/dags");
    await page.locator("[data-dag=d000]").waitFor();
    await page.getByText("400", { exact: true }).waitFor();
    assert.ok((await page.locator("[data-dag]").count()) < 100);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.locator("[data-dag=d399]").waitFor();
    assert.ok((await page.locator("[data-dag]").count()) < 100);
    assert.deepEqual(page.mistakes, []);
  } finally {
    await many.remove();
  }
});
