// Every page, in both themes and at two sizes, with something to show.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, SIZES, THEMES } from "./harness.mjs";
import { startWorld } from "./world.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core"), "utf8");

let daemon;
before(async () => {
  daemon = await startWorld();
});
after(async () => {
  await closeBrowser();
  await daemon?.remove();
});

/** Paths of all pages. */
function paths() {
  const asset = encodeURIComponent("warehouse://mart/orders");
  return [
    "/", "/dags", "/errors", "/dags/shop_orders", "/dags/shop_orders/graph", "/dags/shop_orders/runs",
    "/dags/exchange_rates/calendar", "/dags/exchange_rates/durations", "/dags/shop_orders/versions",
    "/dags/shop_orders/source", "/dags/shop_orders/backfills", "/dags/shop_orders/settings",
    "/dags/shop_orders/trigger", "/dags/shop_orders/backfill", "/runs", `/runs/${daemon.failed}`,
    `/runs/${daemon.good}/graph`, `/runs/${daemon.good}/gantt`, `/runs/${daemon.good}/values`,
    `/runs/${daemon.good}/events`, `/runs/${daemon.failed}/tasks/upload`, `/runs/${daemon.waiting}/tasks/file`,
    `/runs/${daemon.running}/tasks/train/log`, `/runs/${daemon.failed}/tasks/upload/log`, "/backfills",
    `/backfills/${daemon.backfill}`, "/jobs", `/jobs/${daemon.job}`, `/jobs/${daemon.job}/log`, "/dead", "/queues",
    "/pools", "/hosts", "/assets", "/lineage", `/asset/${asset}`, "/sla", "/variables", "/connections",
    "/messages", "/audit", "/users", "/tokens", "/server", "/no/such/page",
  ];
}

async function settle(page) {
  await page.locator("main h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("[data-waiting], .loading, main[aria-busy]"));
}

async function complaintsOfAxe(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => window.axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21aa"], resultTypes: ["violations"],
  }));
  return found.violations.map((violation) =>
    `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

for (const theme of THEMES)
  for (const [name, size] of Object.entries(SIZES))
    test(`all pages, ${theme}, ${name}`, async (t) => {
      const page = await openPage(daemon, { theme, size });
      for (const path of paths())
        await t.test(path, async () => {
          await page.goto(new URL(path, daemon.pages).href);
          await settle(page);
          assert.deepEqual(page.mistakes.splice(0), []);
          assert.equal(await page.locator("h1").count(), 1);
          assert.equal(await page.locator("main .problem").filter({ hasText: "mistake" }).count(), 0);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
          assert.deepEqual(await complaintsOfAxe(page), []);
        });
      await page.context().close();
    });
