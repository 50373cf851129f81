// Pictures of the pages for the documentation: `node screenshots.mjs FOLDER` (make screenshots).
import path from "node:path";
import { visit } from "./forms.mjs";
import { closeBrowser, openPage, SIZES } from "./harness.mjs";
import { startWorld } from "./world.mjs";

const folder = process.argv[2] ?? "docs/images";
const daemon = await startWorld({ days: 40 });

/** name, path, size, theme, what to wait for */
const PICTURES = [
  ["home", "/", "desk", "light"],
  ["dags", "/dags", "desk", "light"],
  ["grid", "/dags/exchange_rates", "desk", "light"],
  ["graph", "/dags/shop_orders/graph", "desk", "dark"],
  ["calendar", "/dags/exchange_rates/calendar", "desk", "light"],
  ["durations", "/dags/exchange_rates/durations", "desk", "dark"],
  ["versions", "/dags/shop_orders/versions", "desk", "light"],
  ["trigger", "/dags/shop_orders/trigger", "desk", "light"],
  ["run", `/runs/${daemon.failed}`, "desk", "light"],
  ["gantt", `/runs/${daemon.good}/gantt`, "desk", "light"],
  ["task", `/runs/${daemon.failed}/tasks/upload`, "desk", "dark"],
  ["log", `/runs/${daemon.running}/tasks/train/log`, "desk", "dark"],
  ["errors", "/errors", "desk", "light"],
  ["pools", "/pools", "desk", "light"],
  ["lineage", "/lineage", "desk", "light"],
  ["phone", `/runs/${daemon.failed}`, "phone", "light"],
];

try {
  for (const [name, at, size, theme] of PICTURES) {
    const page = await openPage(daemon, { size: SIZES[size], theme });
    await visit(page, at);
    await page.waitForLoadState("load");
    await page.evaluate(() => document.fonts.ready.then(() => new Promise(requestAnimationFrame)));
    await page.screenshot({ path: path.join(folder, `ui-${name}.png`), animations: "disabled" });
    await page.context().close();
  }
} finally {
  await closeBrowser();
  await daemon.remove();
}
