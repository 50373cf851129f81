// From the end of a task's process to the pixel of the grid, and of the graph, that shows it.
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { Daemon, openPage, until } from "../../ui/tests/browser/harness.mjs";

const TIMES = 30;

export const what = "state change to pixels";
export const bar = "p95 < 300 ms";

const dagOf = (folder) => `max_active_runs: 1
tasks:
  step:
    run: |
      until [ -e ${folder}/go ]; do sleep 0.01; done
      date +%s%3N > ${folder}/ended
      exit 1
`;

/** In the page: says in which frame a pixel got, or lost, the colour of failure. */
function lookForFailure() {
  const value = getComputedStyle(document.documentElement).getPropertyValue("--s-failed").trim();
  const wanted = [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
  const spotOf = {
    // The newest run is the last column, the only task the first row.
    grid(box, at) {
      const columns = Number(box.getAttribute("aria-colcount")) - 1;
      return [at.labels + (columns - 0.5) * at.cell - 6 - box.scrollLeft, at.head + 0.5 * at.line - 6];
    },
    graph: (box, at, node) => [(node.x + 8 - at.x) * at.scale, (node.y + node.height / 2 - 6 - at.y) * at.scale],
  };
  window.benchIsFailed = (kind, node) => {
    const box = document.querySelector(`.${kind}-box`);
    const canvas = box?.querySelector("canvas");
    if (!canvas) return false;
    const at = Object.fromEntries(Object.entries(box.dataset).map(([key, text]) => [key, Number(text)]));
    const [x, y] = spotOf[kind](box, at, node).map(Math.round);
    const pixel = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
    return wanted.every((part, i) => Math.abs(part - pixel[i]) <= 3);
  };
  window.benchWait = (kind, node, isFailed) => new Promise((resolve) => {
    const look = () => {
      if (window.benchIsFailed(kind, node) === isFailed) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    look();
  });
}

async function once(daemon, page, kind, node) {
  const wait = (isFailed) => page.evaluate(([...given]) => window.benchWait(...given), [kind, node, isFailed]);
  await rm(path.join(daemon.folder, "go"), { force: true });
  const { number } = await daemon.json("dags", "trigger", "gate");
  await until("the task runs", async () => {
    const { task_instances: [task] } = await daemon.api("GET", `/api/v1/x/runs/${number}/tasks`);
    return task.state === "running";
  });
  await wait(false); // the page shows the new run
  const seen = wait(true);
  await writeFile(path.join(daemon.folder, "go"), "");
  const at = await seen;
  const ended = Number(await readFile(path.join(daemon.folder, "ended"), "utf8"));
  await daemon.cli("runs", "wait", number).catch(() => {}); // it fails, as it should
  return at - ended;
}

async function series(daemon, kind, href) {
  const page = await openPage(daemon);
  const { nodes: [node] } = await daemon.api("GET", "/api/v1/x/graph/gate?run=1");
  await page.goto(new URL(href, daemon.pages).href);
  await page.locator(`.${kind}-box canvas`).first().waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await page.evaluate(lookForFailure);
  const times = [];
  for (let i = 0; i < TIMES; i++) times.push(await once(daemon, page, kind, node));
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
    const grid = await series(daemon, "grid", "/dags/gate?limit=100");
    const graph = await series(daemon, "graph", "/dags/gate/graph");
    const words = (name, times) => `${name} median ${at(times, 0.5)} ms, p95 ${at(times, 0.95)} ms`;
    return {
      text: `${words("grid", grid)}; ${words("graph", graph)}`,
      isMet: at(grid, 0.95) < 300 && at(graph, 0.95) < 300, grid, graph,
    };
  } finally {
    await daemon.remove();
  }
}
