// The log of a gigabyte: its end, any place in it, a text at its very end, and what the tab keeps.
import path from "node:path";
import { writeFile } from "node:fs/promises";
import { Daemon, openPage, until } from "../../ui/tests/browser/harness.mjs";
import { median } from "../ui_stage.mjs";

export const what = "log of 1 GB";
export const bar = "tail < 300 ms, first hit < 1 s, heap flat";

const PRINT = `import sys
done, line = 0, 0
while done < 1_000_000_000:
    words = b"some words that fill the line until it is as long as usual ones are"
    text = b"".join(b"2026-11-16T19:00:00 line %09d %s\\n" % (line + i + 1, words) for i in range(10000))
    line, done = line + 10000, done + len(text)
    sys.stdout.buffer.write(text)
sys.stdout.buffer.write(b"the needle in the haystack\\nthe end\\n")
`;

async function startPrinted() {
  const daemon = await Daemon.start();
  await writeFile(path.join(daemon.folder, "print.py"), PRINT);
  await daemon.write("big.yaml",
    `tasks:\n  print: { run: python3 print.py, workdir: ${daemon.folder}, limits: { output: 2GiB } }\n`);
  await until("the DAG is there", async () => (await daemon.json("dags", "list")).dags.length > 0);
  await daemon.cli("dags", "trigger", "big");
  await daemon.cli("runs", "wait", "big", "--timeout", "10m").catch(() => {});
  await until("it is printed", async () => (await daemon.json("runs", "show", "big")).state === "success");
  return daemon;
}

/** From the start of the page to the frame after the last line is in it. */
async function timeTail(page, url) {
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "commit" });
  return page.evaluate(async () => {
    while (!document.querySelector(".log-lines")?.textContent.includes("the end"))
      await new Promise((done) => requestAnimationFrame(done));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now();
  });
}

/** From the last letter to the line with the hit, which is the last but one of all. */
async function timeSearch(page, text) {
  await page.getByRole("searchbox", { name: "Search the whole log" }).fill("");
  await until("the search is over", () => page.evaluate(() =>
    !document.querySelector(".log-hits, .log-line.is-chosen")));
  return page.evaluate(async (wanted) => {
    const field = document.querySelector(".log-search input");
    const begin = performance.now();
    field.value = wanted;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    while (!document.querySelector(".log-line.is-chosen mark"))
      await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - begin;
  }, text);
}

async function heapOf(client) {
  await client.send("HeapProfiler.collectGarbage");
  return (await client.send("Runtime.getHeapUsage")).usedSize / 1e6;
}

/** Through the whole log: dragged to 200 places, wheeled in between. */
async function scrollThrough(page) {
  const box = page.getByRole("log", { name: "Log" });
  await box.hover();
  for (let i = 0; i <= 200; i++) {
    await box.evaluate((element, share) => { element.scrollTop = share * (element.scrollHeight - element.clientHeight);
      }, i / 200);
    await page.mouse.wheel(0, 600);
    await page.waitForFunction(() => [...document.querySelectorAll(".log-line code")].every((code) =>
      code.textContent !== ""));
  }
}

export async function measure({ passes }) {
  const daemon = await startPrinted();
  try {
    const page = await openPage(daemon);
    const url = new URL("/runs/1/tasks/print/log", daemon.pages).href;
    const tails = [];
    for (let i = 0; i < passes; i++) tails.push(await timeTail(page, url));
    const searches = [];
    for (let i = 0; i < passes; i++) searches.push(await timeSearch(page, "needle in"));
    await page.goto(url);
    const client = await page.context().newCDPSession(page);
    await until("the end is shown", async () => (await page.locator(".log-lines").textContent()).includes("the end"));
    const before = await heapOf(client);
    await scrollThrough(page);
    const after = await heapOf(client);
    const [tail, search] = [median(tails), median(searches)];
    return {
      text: `tail ${tail.toFixed(0)} ms, first hit ${search.toFixed(0)} ms, ` +
        `heap ${before.toFixed(1)} to ${after.toFixed(1)} MB`,
      isMet: tail < 300 && search < 1000 && after < before + 10, tails, searches, before, after,
    };
  } finally {
    await daemon.remove();
  }
}
