import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { assetNode, dagNode, focused, layOut, lineageOf, NODE_HEIGHT, NODE_WIDTH } = await load("pages/data/layers.ts");

const made = (dag, task) => ({ source_dag_id: dag, source_task_id: task });
const waits = (dag) => ({ dag_id: dag });
const asset = (uri, events, waiting) => ({ uri, events, waiting_dags: waiting });
const CHAIN = [
  asset("raw", [made("fetch", "get"), made("fetch", "get")], [waits("clean")]),
  asset("tidy", [made("clean", "wash"), made("clean", "dry")], [waits("report"), waits("mail")]),
  asset("by hand", [{ source_dag_id: null }], []),
];

test("tasks make datasets, DAGs wait for them, each once", () => {
  const { nodes, edges } = lineageOf(CHAIN);
  assert.deepEqual(nodes.map((node) => node.name).sort(),
    ["by hand", "clean", "fetch", "mail", "raw", "report", "tidy"]);
  assert.equal(edges.length, 5);
  assert.deepEqual(nodes.find((node) => node.name === "clean").tasks, ["wash", "dry"]);
});

test("what is in focus shows what it comes from, and what comes of it", () => {
  const all = lineageOf(CHAIN);
  const names = (direction) => focused(all, assetNode("tidy"), direction).nodes.map((node) => node.name).sort();
  assert.deepEqual(names("up"), ["clean", "fetch", "raw", "tidy"]);
  assert.deepEqual(names("down"), ["mail", "report", "tidy"]);
  assert.deepEqual(names("both"), ["clean", "fetch", "mail", "raw", "report", "tidy"]);
  assert.equal(focused(all, assetNode("gone"), "up"), all);
});

test("every edge leads to the right, and no two nodes overlap", () => {
  const layout = layOut(lineageOf(CHAIN));
  const at = new Map(layout.nodes.map((node) => [node.id, node]));
  for (const edge of layout.edges) assert.ok(at.get(edge.from).x + NODE_WIDTH < at.get(edge.to).x);
  for (const a of layout.nodes)
    for (const b of layout.nodes)
      assert.ok(a === b || a.x !== b.x || Math.abs(a.y - b.y) >= NODE_HEIGHT, `${a.name} and ${b.name}`);
  for (const node of layout.nodes) assert.ok(node.x + NODE_WIDTH <= layout.width && node.y
    + NODE_HEIGHT <= layout.height);
});

test("a circle is drawn as well", () => {
  const layout = layOut(lineageOf([asset("a", [made("one", "t")], [waits("one")])]));
  assert.equal(layout.nodes.length, 2);
  assert.notEqual(layout.nodes[0].x, layout.nodes[1].x);
});

test("a chain of thousands is no matter of the stack", () => {
  const chain = Array.from({ length: 5000 }, (_, i) => asset(`a${i}`, [made(`d${i}`, "t")], [waits(`d${i + 1}`)]));
  const layout = layOut(lineageOf(chain));
  assert.equal(layout.nodes.length, 10_001);
  assert.equal(layout.nodes.find((node) => node.id === dagNode("d5000")).x,
    10_000 * (layout.width - NODE_WIDTH) / 10_000);
});

test("nothing is laid out as nothing", () => {
  assert.deepEqual(layOut(lineageOf([])), { nodes: [], edges: [], width: 0, height: 0 });
});
