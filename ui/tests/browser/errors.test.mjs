// Import errors: where, what, and gone when the file is mended.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { fits } from "./forms.mjs";
import { cleanUp, Daemon, openPage, SIZES, THEMES, until } from "./harness.mjs";

const GOOD = "dag: report\ntasks:\n  draw: { run: echo drawn }\n";
const BAD = "dag: report\ntasks:\n  draw: { rnu: '<b>echo</b>' }\n";

let daemon;
before(async () => {
  daemon = await Daemon.start({ "report.yaml": GOOD });
});
cleanUp();

test("a mistake in a file comes up with its line and a caret, and goes when it is mended", async () => {
  const page = await openPage(daemon);
  await page.goto("/errors");
  await page.getByText("Every DAG file can be read.").waitFor();
  await daemon.write("report.yaml", BAD);
  const card = page.locator("[data-file$='report.yaml']");
  await card.getByText("unknown key 'rnu' of a task").waitFor();
  await card.getByText("did you mean 'run'?").waitFor();
  const source = (await card.locator("li", { hasText: "rnu" }).last().locator("pre").textContent()).split("\n");
  assert.equal(source[0], "3 │   draw: { rnu: '<b>echo</b>' }");
  assert.equal(source[1].indexOf("^"), source[0].indexOf("rnu"));
  assert.equal(await card.locator("pre b:not(.bad)").count(), 0);
  assert.equal(await card.getByRole("link", { name: "report" }).getAttribute("href"), "/dags/report");
  await daemon.write("report.yaml", GOOD);
  await page.getByText("Every DAG file can be read.").waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("the list of DAGs marks the one whose file is broken", async () => {
  const page = await openPage(daemon);
  await daemon.write("report.yaml", BAD);
  const errors = async () => (await daemon.api("GET", "/api/v1/x/import-errors")).errors;
  await until("the file to be read", async () => (await errors()).length > 0);
  await page.goto("/dags?state=broken");
  await page.locator("[data-dag=report]").getByRole("link", { name: "broken file" }).click();
  await page.waitForURL("**/errors");
  await daemon.write("report.yaml", GOOD);
  await page.getByText("Every DAG file can be read.").waitFor();
});

for (const theme of THEMES)
  for (const [name, size] of Object.entries(SIZES))
    test(`problems fit the screen, ${theme}, ${name}`, async () => {
      await daemon.write("wide.yaml", `tasks:\n  a: { rnu: "${"x".repeat(300)}" }\n`);
      const page = await openPage(daemon, { theme, size });
      await page.goto("/errors");
      await page.locator("[data-file$='wide.yaml'] pre").first().waitFor();
      await fits(page);
      assert.deepEqual(page.mistakes, []);
    });
