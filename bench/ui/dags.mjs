// The list of DAGs: a thousand of them with thirty runs each.
import { openPage } from "../../ui/tests/browser/harness.mjs";
import { median, startWithHistory, timePage } from "../ui_stage.mjs";

export const what = "list of 1,000 DAGs, 30 runs each";
export const bar = "painted < 300 ms, interactive < 500 ms";

/** From a letter in the search field to the rows that are left. */
async function timeSearch(page) {
  return page.evaluate(async () => {
    const field = document.querySelector("[data-search]");
    const begin = performance.now();
    field.value = "d99";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    while (document.querySelector("[data-dag]")?.dataset.dag !== "d99")
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - begin;
  });
}

export async function measure({ passes }) {
  const daemon = await startWithHistory({ dags: 1000, tasks: 5, runs: 30 });
  try {
    const page = await openPage(daemon);
    const times = [];
    const url = new URL("/dags", daemon.pages).href;
    for (let i = 0; i < passes; i++) times.push(await timePage(page, url, "[data-dag] .run-bars a"));
    const search = await timeSearch(page);
    const [contentful, painted, interactive] = ["contentful", "painted", "interactive"]
      .map((name) => median(times.map((time) => time[name])));
    return {
      text: `frame ${contentful.toFixed(0)} ms, painted ${painted.toFixed(0)} ms, ` +
        `interactive ${interactive.toFixed(0)} ms; search ${search.toFixed(0)} ms`,
      isMet: painted < 300 && interactive < 500, times, search,
    };
  } finally {
    await daemon.remove();
  }
}
