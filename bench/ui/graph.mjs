// The graph of a large DAG with the states of a run: until it is drawn, and how it is moved.
import { openPage } from "../../ui/tests/browser/harness.mjs";
import { median, timePage } from "../ui_stage.mjs";
import { startLarge } from "./grid.mjs";

const NODES = 1000;

export const what = `graph of ${NODES.toLocaleString("en")} nodes`;
export const bar = "drawn < 1 s";

/** Drags it about, all of it being visible; the time between frames that 95 % keep to. */
async function drag(page) {
  await page.locator(".graph-box").press("0");
  const place = await page.locator(".graph-main").boundingBox();
  await page.evaluate(() => {
    window.benchFrames = [];
    let before = performance.now();
    const next = () => {
      const now = performance.now();
      window.benchFrames.push(now - before);
      before = now;
      if (window.benchFrames.length < 1000) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await page.mouse.move(place.x + 50, place.y + 20);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) await page.mouse.move(place.x + 50 + i * 5, place.y + 20 + (i % 10) * 8);
  await page.mouse.up();
  return page.evaluate(() => window.benchFrames.sort((a, b) => a - b)[Math.floor(window.benchFrames.length * 0.95)]);
}

export async function measure({ passes }) {
  const daemon = await startLarge(NODES, 1);
  try {
    const page = await openPage(daemon);
    const times = [];
    for (let i = 0; i < passes; i++)
      times.push(await timePage(page, new URL("/dags/large/graph", daemon.pages).href, ".graph-box[data-scale]"));
    const frames = await drag(page);
    const drawn = median(times.map((time) => time.painted));
    return {
      text: `drawn ${drawn.toFixed(0)} ms; dragged whole, frames p95 ${frames.toFixed(1)} ms`,
      isMet: drawn < 1000, times, frames,
    };
  } finally {
    await daemon.remove();
  }
}
