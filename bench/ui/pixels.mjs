// From the end of a task's process to the pixel of the grid, and of the graph, that shows it.
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { Daemon, openPage, until } from "../../ui/tests/browser/harness.mjs";

const TIMES = 30;

export const what = "state change to pixels";
export const bar = "p95 < 300 ms";

const dagOf = (folder) => `max_active_runs: 1
tasks:
  step: { run: "until [ -e ${folder}/go ]; do sleep 0.01; done; date +%s%3N > ${folder}/ended; exit 1" }
`;

/** Looks at a pixel in every frame until it has the colour of failure; gives the time of day then. */
function watch(page, kind) {
  return page.evaluate((which) => new Promise((resolve) => {
    const value = getComputedStyle(document.documentElement).getPropertyValue("--s-failed").trim();
    const wanted = [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
    const spot = () => {
      const box = document.querySelector(which === "grid" ? ".grid-box" : ".graph-box");
      const at = Object.fromEntries(Object.entries(box.dataset).map(([key, text]) => [key, Number(text)]));
      // The newest run is the last column; the only task the first row, or the only node.
      if (which === "grid") {
        const columns = Number(box.getAttribute("aria-colcount")) - 1;
        return [at.labels + (columns - 0.5) * at.cell - 6 - box.scrollLeft, at.head + 0.5 * at.line - 6];
      }
      return [(20 - at.x) * at.scale + 8 * at.scale, (20 + 17 - at.y) * at.scale - 6 * at.scale];
    };
    const canvas = document.querySelector(which === "grid" ? ".grid-box canvas" : ".graph-main");
    const look = () => {
      const [x, y] = spot();
      const pixel = canvas.getContext("2d").getImageData(Math.round(x), Math.round(y), 1, 1).data;
      if (wanted.every((part, i) => Math.abs(part - pixel[i]) <= 3)) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }), kind);
}

async function once(daemon, page, kind) {
  await rm(path.join(daemon.folder, "go"), { force: true });
  const { number } = await daemon.json("dags", "trigger", "gate");
  await until("the task runs", async () => {
    const { task_instances: [task] } = await daemon.api("GET", `/api/v1/x/runs/${number}/tasks`);
    return task.state === "running";
  });
  await until("the page shows the run", () => page.evaluate(([which, run]) => which === "grid"
    ? document.querySelector(".grid-box")?.getAttribute("aria-colcount") === String(run + 1)
    : document.querySelector("main")?.textContent.includes(`run ${run},`), [kind, Number(number)]));
  const seen = watch(page, kind);
  await writeFile(path.join(daemon.folder, "go"), "");
  const at = await seen;
  return at - Number(await readFile(path.join(daemon.folder, "ended"), "utf8"));
}

async function series(daemon, kind) {
  const page = await openPage(daemon);
  await page.goto(new URL(kind === "grid" ? "/dags/gate?limit=100" : "/dags/gate/graph", daemon.pages).href);
  await page.locator(kind === "grid" ? ".grid-box[data-cell]" : ".graph-box[data-scale]").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  const times = [];
  for (let i = 0; i < TIMES; i++) times.push(await once(daemon, page, kind));
  await page.context().close();
  return times.sort((a, b) => a - b);
}

const at = (times, part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];

export async function measure() {
  const daemon = await Daemon.start({});
  try {
    await daemon.write("gate.yaml", dagOf(daemon.folder));
    await writeFile(path.join(daemon.folder, "go"), "");
    await until("the DAG is there", () => daemon.cli("dags", "trigger", "gate").catch(() => null));
    await daemon.cli("runs", "wait", "1").catch(() => {}); // it fails, as it should
    const grid = await series(daemon, "grid");
    const graph = await series(daemon, "graph");
    const words = (name, times) => `${name} median ${at(times, 0.5)} ms, p95 ${at(times, 0.95)} ms`;
    return {
      text: `${words("grid", grid)}; ${words("graph", graph)}`,
      isMet: at(grid, 0.95) < 300 && at(graph, 0.95) < 300, grid, graph,
    };
  } finally {
    await daemon.remove();
  }
}
