// Home: what is wrong, with the words of what failed, and how it gets well again.
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { before, test } from "node:test";
import { fits } from "./forms.mjs";
import { cleanUp, Daemon, openPage, SIZES, THEMES } from "./harness.mjs";

const WORDS = "<script>alert(1)</script> could not connect: refused";

let daemon;
let gate;
before(async () => {
  daemon = await Daemon.start();
  gate = path.join(daemon.folder, "gate");
  await daemon.write("load.yaml", `dag: load_orders
schedule: "0 4 * * *"
tasks:
  fetch: { run: "true" }
  store: { needs: [fetch], run: "test -e ${gate} || { echo 'more'; echo '${WORDS}' >&2; exit 1; }" }
  tell: { needs: [store], run: "true" }
`);
  await daemon.write("slow.yaml", `dag: slow
tasks:
  first: { run: "true" }
  second: { needs: [first], run: "until test -e ${gate}; do sleep 0.05; done" }
`);
});
cleanUp();

const open = async (options) => {
  const page = await openPage(daemon, options);
  await page.goto("/");
  await page.locator(".tiles").waitFor();
  return page;
};

test("a calm place says so; a failure comes up with its words, is tried again and goes", async () => {
  const page = await open();
  await page.getByText("All is well").waitFor();
  await page.getByRole("link", { name: "load_orders" }).waitFor(); // what comes next
  await daemon.cli("dags", "trigger", "load_orders");
  const failing = page.locator(".failing[data-dag=load_orders]");
  await failing.getByText(WORDS).waitFor();
  await page.locator(".alert[data-kind=failing]").waitFor();
  assert.equal(await failing.getByRole("link", { name: "store" }).getAttribute("href"), "/runs/1/tasks/store");
  assert.equal(await failing.getByRole("link", { name: "Log" }).getAttribute("href"), "/runs/1/tasks/store/log");
  await writeFile(gate, "");
  await failing.getByRole("button", { name: "Retry" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The same by command").click();
  await dialog.getByText("eider retry 1", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Retry", exact: true }).click();
  await page.getByText("All is well").waitFor();
  assert.equal(await page.locator(".failing").count(), 0);
  assert.deepEqual(page.mistakes, []);
});

test("a run that goes on is shown with how far it is, until it is over", async () => {
  await rm(gate, { force: true });
  const page = await open();
  await page.getByText("Nothing runs at the moment.").waitFor();
  await daemon.cli("dags", "trigger", "slow");
  const run = page.locator("[data-run]", { hasText: "slow" });
  await run.getByText("1/2").waitFor();
  assert.equal(await run.getByRole("meter").getAttribute("aria-valuenow"), "1");
  await writeFile(gate, "");
  await page.getByText("Nothing runs at the moment.").waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("somebody who only looks on sees the failure and cannot try again", async () => {
  await rm(gate, { force: true });
  await daemon.cli("dags", "trigger", "load_orders");
  const page = await open({ role: "viewer" });
  const failing = page.locator(".failing[data-dag=load_orders]");
  await failing.getByText(WORDS).waitFor();
  assert.ok(await failing.getByRole("button", { name: "Retry" }).isDisabled());
});

for (const theme of THEMES)
  for (const [name, size] of Object.entries(SIZES))
    test(`everything fits the screen, ${theme}, ${name}`, async () => {
      const page = await open({ theme, size });
      await page.locator(".failing").first().waitFor();
      assert.equal(await page.locator(".tile").count(), 4);
      await fits(page);
      assert.deepEqual(page.mistakes, []);
    });
