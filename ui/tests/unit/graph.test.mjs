import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const graphs = await load("parts/graph/model.ts");

const node = (task_id, layer, y, more = {}) =>
  ({ task_id, group: null, is_finally: false, layer, x: 20 + layer * 150, y, width: 100, height: 34, ...more });
const edge = (from, to) => ({ from, to, points: [0, 0, 1, 1] });
const make = () => new graphs.Graph({
  dag_id: "d", dag_version: 1, number: "1", state: "running", width: 600, height: 300,
  nodes: [node("a", 0, 100, { state: "success" }), node("g.b", 1, 20, { group: "g", state: "running" }),
    node("c", 1, 110), node("e", 1, 200), node("f", 2, 100), node("h", 2, 20, { is_group: true, state: "none" })],
  edges: [edge("a", "g.b"), edge("a", "c"), edge("a", "e"), edge("c", "f"), edge("g.b", "h"), edge("e", "gone")],
  groups: [{ group: "g", above: null, x: 160, y: 10, width: 120, height: 60 }],
});

test("arrow keys go along edges, and up and down in a layer", () => {
  const graph = make();
  const go = (id, key) => graph.neighbour(graph.find(id), key)?.task_id ?? null;
  assert.equal(go("a", "ArrowRight"), "c");
  assert.equal(go("c", "ArrowLeft"), "a");
  assert.equal(go("c", "ArrowUp"), "g.b");
  assert.equal(go("c", "ArrowDown"), "e");
  assert.equal(go("e", "ArrowDown"), null);
  assert.equal(go("a", "ArrowLeft"), null);
  assert.equal(go("e", "ArrowRight"), null);
  assert.deepEqual(graph.needs("f").map((one) => one.task_id), ["c"]);
  assert.equal(graph.neededBy("a").length, 3);
});

test("points are nodes, or names of groups", () => {
  const graph = make();
  assert.equal(graph.nodeAt(21, 101).task_id, "a");
  assert.equal(graph.nodeAt(121, 101), null);
  const box = (x, y) => graph.boxAt(x, y, () => 40)?.group ?? null;
  assert.equal(box(170, 12), "g");
  assert.equal(box(230, 12), null);
  assert.equal(box(170, 40), null);
});

test("states are of tasks that are shown with one", () => {
  const graph = make();
  assert.equal(graph.setState("g.b", "failed"), true);
  assert.equal(graph.setState("g.b", "failed"), false);
  assert.equal(graph.setState("c", "failed"), false);
  assert.equal(graph.setState("h", "failed"), false);
  assert.equal(graph.setState("nobody", "failed"), false);
});

test("the point under the mouse stays where it is while one zooms", () => {
  const view = { x: 10, y: 20, scale: 0.5 };
  const near = graphs.zoomAt(view, 2, 100, 60);
  const at = (of) => [100 / of.scale + of.x, 60 / of.scale + of.y];
  assert.deepEqual(at(near), at(view));
  assert.equal(near.scale, 1);
  assert.equal(graphs.zoomAt(view, 1000, 0, 0).scale, graphs.MOST_SCALE);
  assert.equal(graphs.zoomAt(view, 0, 0, 0).scale, graphs.LEAST_SCALE);
});

test("a small graph is seen whole, of a large one what can be read", () => {
  const screen = { width: 800, height: 400 };
  const whole = graphs.firstView({ width: 600, height: 300, nodes: [] }, screen);
  assert.equal(whole.scale, 1);
  const at = (layer, y) => ({ ...node(`${layer} ${y}`, layer * 200, y), layer });
  const large = { width: 20000, height: 9000, nodes: [at(0, 8000), at(0, 8100), at(1, 20), at(2, 4000)] };
  const part = graphs.firstView(large, screen);
  assert.ok(part.scale > 0.5);
  for (const one of large.nodes) assert.equal(graphs.isVisible(one, part, screen), one.layer === 0);
  const many = { ...large, nodes: Array.from({ length: 100 }, (_, i) => at(0, 90 * i + 30)) };
  const from = graphs.firstView(many, screen);
  assert.ok(graphs.isVisible(many.nodes[0], from, screen) && from.y < 30);
  const about = graphs.firstView(large, screen, node("x", 60, 4000));
  assert.ok(graphs.isVisible(node("x", 60, 4000), about, screen));
  assert.ok(!graphs.isVisible(node("x", 60, 4000), part, screen));
  const kept = graphs.keptNear({ x: 1e6, y: -1e6, scale: 1 }, large, screen);
  assert.ok(kept.x < large.width && kept.y > -screen.height);
});

test("what is looked for moves into view, and nothing moves for what is there", () => {
  const screen = { width: 800, height: 400 };
  const view = { x: 0, y: 0, scale: 1 };
  assert.deepEqual(graphs.showing(node("x", 1, 100), view, screen), view);
  assert.ok(graphs.isVisible(node("x", 20, 3000), graphs.showing(node("x", 20, 3000), view, screen), screen));
});

test("a search finds parts of names, beginnings first", () => {
  const graph = make();
  assert.deepEqual(graph.search("B").map((one) => one.task_id), ["g.b"]);
  assert.deepEqual(graph.search(" "), []);
  assert.equal(graphs.shortName({ task_id: "g.b", group: "g" }), "b");
  assert.equal(graphs.shortName({ task_id: "gb", group: "g" }), "gb");
});
