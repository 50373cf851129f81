// What the rows of bench/ui.mjs share: a daemon on a store with a history, pages, and clocks in them.
import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { closeBrowser, Daemon } from "../ui/tests/browser/harness.mjs";

const run = promisify(execFile);
export const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const PLAYER = path.join(ROOT, "build/release/bench/schedule_loop");

/** A daemon that only answers, on a store in which `dags` DAGs of `tasks` tasks had `runs` runs each. */
export function startWithHistory({ dags, tasks, runs }) {
  return Daemon.start({}, {
    env: { EIDER_ROLES: "api" },
    async prepare(daemon) {
      await run("cmake", ["--build", "--preset", "release", "--target", "schedule_loop"], { cwd: ROOT });
      const url = `sqlite:${path.join(daemon.home, "eider.db")}`;
      await run(PLAYER, [url, "keep-day", String(dags), String(tasks)]);
      await run(PLAYER, [url, "play", String(runs)]);
    },
  });
}

/**
 * Opens a path anew. `painted`: milliseconds from the start of the navigation to the frame after
 * the one in which `selector` was there; `interactive`: the same, or the end of the last stretch of
 * work of more than 50 ms, whichever came later.
 */
export async function timePage(page, url, selector) {
  await page.goto("about:blank");
  await page.addInitScript((wanted) => {
    window.benchLong = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.benchLong.push(entry.startTime + entry.duration);
    }).observe({ type: "longtask", buffered: true });
    const look = () => {
      if (!document.querySelector(wanted)) return requestAnimationFrame(look);
      return requestAnimationFrame(() => setTimeout(() => (window.benchPainted = performance.now())));
    };
    requestAnimationFrame(look);
  }, selector);
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForFunction(() => window.benchPainted);
  await page.waitForTimeout(300); // long stretches that follow are told of late
  return page.evaluate(() => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    const painted = window.benchPainted;
    const busyUntil = window.benchLong.filter((end) => end < painted + 250);
    return { contentful: paint, painted, interactive: Math.max(painted, ...busyUntil) };
  });
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
export const closeStage = closeBrowser;
