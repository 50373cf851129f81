// Every page, in both themes and at two sizes, with something to show.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { fits, visit } from "./forms.mjs";
import { cleanUp, openPage, SIZES, THEMES, wear } from "./harness.mjs";
import { startWorld } from "./world.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let daemon;
before(async () => {
  daemon = await startWorld();
});
cleanUp();

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

const WCAG = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21aa"], resultTypes: ["violations"],
  preload: false, iframes: false, // nothing here plays, and there are no frames
};
/** Those of them that look at colours. */
const COLOURS = { ...WCAG, runOnly: ["color-contrast", "link-in-text-block"] };

async function complaintsOfAxe(page, options) {
  const found = await page.evaluate((wanted) => window.axe.run(document, wanted), options);
  return found.violations.map((violation) =>
    `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

for (const [name, size] of Object.entries(SIZES))
  test(`all pages, ${name}`, async (t) => {
    const page = await openPage(daemon, { size });
    // Loaded in the one in which the last page was left; in the other nothing but colours is another.
    const themes = [...THEMES];
    for (const path of paths())
      await t.test(path, async (t) => {
        await visit(page, path);
        await page.evaluate(AXE);
        for (const [i, theme] of themes.entries())
          await t.test(theme, async () => {
            await wear(page, theme);
            assert.deepEqual(page.mistakes.splice(0), []);
            assert.equal(await page.locator("h1").count(), 1);
            assert.equal(await page.locator("main .problem").filter({ hasText: "mistake" }).count(), 0);
            await fits(page);
            assert.deepEqual(await complaintsOfAxe(page, i === 0 ? WCAG : COLOURS), []);
          });
        themes.reverse();
      });
  });
