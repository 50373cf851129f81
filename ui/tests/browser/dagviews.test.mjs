// Views of a DAG: its calendar, durations, versions, source and settings.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { visit } from "./forms.mjs";
import { cleanUp, Daemon, openPage, SIZES, until } from "./harness.mjs";

const first = (text) => `dag: shop
title: "<b>Shop</b>"
schedule: { cron: "0 3 * * *", webhook: true }
start_date: 2026-01-01
catchup: false
max_active_runs: 5
params:
  size: { type: integer, default: 3, description: "<script>alert(1)</script>" }
tasks:
  load:
    run: |
      echo "${text}" # <i>not markup</i>
      case {{ ds }} in *-04) exit 1 ;; esac
  send: { needs: [load], run: echo sent }
`;

let daemon;
before(async () => {
  daemon = await Daemon.start({ "shop.yaml": first("one") });
  await daemon.knows("shop");
  await daemon.cli("backfill", "create", "shop", "--from", "2026-02-01", "--to", "2026-02-09", "-q");
  await until("the backfill is over", async () =>
    (await daemon.api("GET", "/api/v1/x/backfills/1")).end_date !== null);
});
cleanUp();

test("a year is told by shapes and words, walked by keys, and leads to the runs", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, "/dags/shop/calendar?year=2026");
  const bad = page.getByRole("link", { name: "2026-02-04: 1 run: 1 failed" });
  await bad.waitFor();
  await page.getByRole("link", { name: "2026-02-05: 1 run: 1 success" }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.activeElement?.dataset.date === "2026-02-04");
  await page.locator(".day-facts", { hasText: "2026-02-04 1 run: 1 failed" }).waitFor();
  await page.keyboard.press("PageDown");
  await page.waitForFunction(() => document.activeElement?.dataset.date === "2026-03-04");
  await bad.click();
  await page.waitForURL("**/dags/shop/runs?from=2026-02-04&to=2026-02-04");
  await page.goBack();
  await page.getByRole("link", { name: "The year 2025" }).click();
  await page.getByText("December").waitFor();
  await page.waitForFunction(() => document.querySelector("[data-date='2025-12-31']"));
  assert.deepEqual(page.mistakes, []);
});

test("on a phone the calendar opens at this month", async () => {
  const page = await openPage(daemon, { size: SIZES.phone });
  await page.goto("/dags/shop/calendar");
  await page.locator(".day-cell.is-today").waitFor();
  await until("today to be on the screen", () => page.locator(".day-cell.is-today").evaluate((day) =>
    day.getBoundingClientRect().bottom < innerHeight && day.getBoundingClientRect().top > 0));
});

test("durations are drawn, told in numbers and as a table", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await visit(page, "/dags/shop/durations");
  await page.locator(".chart canvas").waitFor();
  const facts = page.locator(".facts");
  assert.match(await facts.textContent(), /Shown9Failed11 %Median of successes/);
  await page.getByText("As a table").click();
  const table = page.getByRole("table", { name: "Durations" });
  assert.equal(await table.getByRole("row").count(), 10);
  await page.getByLabel("Runs or a task").selectOption("send");
  await page.waitForURL("**/durations?task=send");
  await page.waitForFunction(() => /Shown8Failed0 %/.test(document.querySelector(".facts")?.textContent ?? ""));
  const box = await page.locator(".chart .u-over").boundingBox();
  await page.mouse.move(box.x + 20, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 200, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.locator(".chart-told .state").waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("a change of the file is a version: seen, compared, and taken back", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/dags/shop/versions");
  await page.getByText("There is one version only").waitFor();
  await daemon.write("shop.yaml", first("two") + "  extra: { run: echo more }\n");
  await page.getByRole("heading", { name: "From version 1 to 2" }).waitFor();
  await page.locator(".changes li", { hasText: "extra added" }).waitFor();
  const diff = page.getByRole("region", { name: "Difference" });
  await diff.locator("tr.d-removed", { hasText: 'echo "one" # <i>not markup</i>' }).waitFor();
  await diff.locator("tr.d-added", { hasText: 'echo "two"' }).waitFor();
  await page.getByRole("link", { name: "side by side" }).click();
  await page.getByRole("region", { name: "Difference, side by side" }).waitFor();

  await page.getByRole("button", { name: "Roll back" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("extra removed").waitFor();
  await dialog.getByText("The same by command").click();
  await dialog.getByText("eider dags rollback shop 1").waitFor();
  await dialog.getByRole("button", { name: "Roll back" }).click();
  await page.getByText("This is version 1, to which somebody went back").waitFor();
  const { versions } = await daemon.api("GET", "/api/v1/x/dags/shop/versions");
  assert.equal(versions.find((row) => row.is_current).version_number, 1);

  await visit(page, "/dags/shop/source?version=2#L12");
  await page.locator("#L12.is-marked", { hasText: 'echo "two" # <i>not markup</i>' }).waitFor();
  await page.locator("#L4 a").click();
  await page.waitForURL("**/source?version=2#L4");
  await page.locator("#L6 a").click({ modifiers: ["Shift"] });
  await page.waitForURL("**#L4-L6");
  assert.equal(await page.locator(".line.is-marked").count(), 3);
  const arriving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const file = await arriving;
  assert.equal(file.suggestedFilename(), "shop.yaml");
  await page.getByLabel("Version", { exact: true }).selectOption("1");
  await page.getByText('echo "one"').waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("settings tell what is set, what comes next and why nothing runs; webhooks come and go", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/dags/shop/settings");
  await page.getByRole("heading", { name: "Why no run starts now" }).waitFor();
  await page.locator(".why li", { hasText: "next tick" }).waitFor();
  assert.equal(await page.getByRole("table", { name: "Next runs" }).getByRole("row").count(), 6);
  await page.getByText("<script>alert(1)</script>").waitFor();
  assert.equal(await page.locator("h1").textContent(), "<b>Shop</b>");

  await page.getByRole("button", { name: "New token" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "New token" }).click();
  await page.getByText("The token is shown only now").waitFor();
  const row = page.getByRole("table", { name: "Webhooks" }).getByRole("row").nth(1);
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No token yet.").waitFor();
  assert.equal((await daemon.api("GET", "/api/v1/x/webhooks?dag=shop")).webhooks.length, 0);
  assert.deepEqual(page.mistakes, []);

  await page.getByRole("button", { name: "Delete DAG" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete DAG" }).click();
  await page.getByRole("dialog").getByText("is active").waitFor();
});

test("who only looks is not offered changes, on a phone either", async () => {
  const page = await openPage(daemon, { role: "viewer", size: SIZES.phone, theme: "dark" });
  await visit(page, "/dags/shop/settings");
  assert.ok(await page.getByRole("button", { name: "Delete DAG" }).isDisabled());
  await visit(page, "/dags/shop/versions");
  assert.ok(await page.getByRole("button", { name: "Roll back" }).first().isDisabled());
  assert.deepEqual(page.mistakes, []);
});
