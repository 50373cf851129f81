// The grid of a large DAG: until it is drawn, and how it scrolls.
import { Daemon, openPage } from "../../ui/tests/browser/harness.mjs";
import { median, timePage } from "../ui_stage.mjs";

const TASKS = 2000;
const RUNS = 50;
const LONG_MS = 50;

export const what = `grid of ${TASKS.toLocaleString("en")} tasks x ${RUNS} runs`;
export const bar = `drawn < 500 ms, no stretch of work over ${LONG_MS} ms while it scrolls`;

/** Groups of fifty, of which one in four hundred tasks fails. */
export function largeDag(tasks) {
  const lines = ["max_active_runs: 5", "tasks:"];
  for (let i = 0; i < tasks; i++) {
    const group = `g${String(Math.floor(i / 50)).padStart(2, "0")}`;
    const needs = i % 50 === 0 ? "" : `, needs: ${group}.t${i - 1 - ((i - 1) % 5)}`;
    const kind = i % 400 === 399 ? 'run: "exit 1"' : "noop: {}";
    lines.push(`  ${group}.t${i}: { ${kind}, group: ${group}, trigger_rule: all_done${needs} }`);
  }
  return lines.join("\n") + "\n";
}

export async function startLarge(tasks, runs) {
  const daemon = await Daemon.start({ "large.yaml": largeDag(tasks) });
  let last;
  for (let i = 0; i < runs; i++) last = await daemon.json("dags", "trigger", "large");
  await daemon.cli("runs", "wait", last.number).catch(() => {}); // some of its tasks fail
  return daemon;
}

/** Down through everything and to the side, a step for each frame; gives all stretches of work that were too long. */
async function scroll(page) {
  return page.evaluate(async (most) => {
    const long = [];
    const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => long.push(entry.duration)));
    observer.observe({ type: "longtask" });
    const box = document.querySelector(".grid-box");
    const frames = [];
    let before = performance.now();
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => {
      const now = performance.now();
      frames.push(now - before);
      before = now;
      resolve();
    }));
    for (let i = 0; i < 200; i++) {
      box.scrollTop += i % 40 === 39 ? 6000 : 90;
      box.scrollLeft = i % 2 ? 0 : 400;
      await frame();
    }
    await new Promise((resolve) => setTimeout(resolve, 200)); // the last ones are told of late
    observer.disconnect();
    frames.sort((a, b) => a - b);
    return { long: long.filter((duration) => duration > most), p95: frames[Math.floor(frames.length * 0.95)] };
  }, LONG_MS);
}

export async function measure({ passes }) {
  const daemon = await startLarge(TASKS, RUNS);
  try {
    const page = await openPage(daemon);
    const times = [];
    const scrolls = [];
    for (let i = 0; i < passes; i++) {
      times.push(await timePage(page, new URL(`/dags/large?limit=${RUNS}`, daemon.pages).href, ".grid-box[data-cell]"));
      scrolls.push(await scroll(page));
    }
    const drawn = median(times.map((time) => time.painted));
    const long = scrolls.flatMap((one) => one.long);
    const frames = median(scrolls.map((one) => one.p95));
    return {
      text: `drawn ${drawn.toFixed(0)} ms; ${long.length} long stretches, frames p95 ${frames.toFixed(1)} ms`,
      isMet: drawn < 500 && long.length === 0, times, scrolls,
    };
  } finally {
    await daemon.remove();
  }
}
