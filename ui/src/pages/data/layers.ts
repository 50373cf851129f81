// Which task makes which dataset, and which DAG waits for it: a graph in layers, from left to right. Pure.
import type { Asset } from "./types";

export interface LineageNode {
  id: string;
  kind: "asset" | "dag";
  name: string;
  /** Tasks of a DAG that make something, or none. */
  tasks: string[];
}

export interface LineageEdge {
  from: string;
  to: string;
  /** Of the task that made it. */
  label: string | null;
}

export interface Lineage {
  nodes: LineageNode[];
  edges: LineageEdge[];
}

export const assetNode = (uri: string): string => "a " + uri;
export const dagNode = (dag: string): string => "d " + dag;

export function lineageOf(assets: Asset[]): Lineage {
  const nodes = new Map<string, LineageNode>();
  const edges = new Map<string, LineageEdge>();
  const node = (id: string, kind: LineageNode["kind"], name: string): LineageNode => {
    const made = nodes.get(id) ?? { id, kind, name, tasks: [] };
    nodes.set(id, made);
    return made;
  };
  const edge = (from: string, to: string, label: string | null): void => {
    edges.set(`${from}\n${to}`, { from, to, label });
  };
  for (const asset of assets) {
    const own = node(assetNode(asset.uri), "asset", asset.uri);
    for (const event of asset.events) {
      if (!event.source_dag_id) continue;
      const maker = node(dagNode(event.source_dag_id), "dag", event.source_dag_id);
      const task = event.source_task_id;
      if (task && !maker.tasks.includes(task)) maker.tasks.push(task);
      edge(maker.id, own.id, task);
    }
    for (const waiter of asset.waiting_dags)
      edge(own.id, node(dagNode(waiter.dag_id), "dag", waiter.dag_id).id, null);
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

export type Direction = "both" | "up" | "down";

function reach(from: string, edges: LineageEdge[], isDown: boolean): Set<string> {
  const seen = new Set([from]);
  const next = new Map<string, string[]>();
  for (const edge of edges) {
    const [a, b] = isDown ? [edge.from, edge.to] : [edge.to, edge.from];
    next.set(a, [...(next.get(a) ?? []), b]);
  }
  for (const id of seen) for (const other of next.get(id) ?? []) seen.add(other);
  return seen;
}

/** Only what comes before, or after, one of them. */
export function focused(lineage: Lineage, id: string, direction: Direction): Lineage {
  if (!lineage.nodes.some((node) => node.id === id)) return lineage;
  const seen = new Set<string>();
  if (direction !== "down") for (const other of reach(id, lineage.edges, false)) seen.add(other);
  if (direction !== "up") for (const other of reach(id, lineage.edges, true)) seen.add(other);
  return {
    nodes: lineage.nodes.filter((node) => seen.has(node.id)),
    edges: lineage.edges.filter((edge) => seen.has(edge.from) && seen.has(edge.to)),
  };
}

export interface PlacedNode extends LineageNode {
  x: number;
  y: number;
}

export interface Layout {
  nodes: PlacedNode[];
  edges: LineageEdge[];
  width: number;
  height: number;
}

export const NODE_WIDTH = 220;
export const NODE_HEIGHT = 44;
const GAP_X = 70;
const GAP_Y = 16;

/** The longest way from a beginning; edges that close a circle count for nothing. */
function layersOf({ nodes, edges }: Lineage): Map<string, number> {
  const out = new Map<string, string[]>();
  for (const edge of edges) out.set(edge.from, [...(out.get(edge.from) ?? []), edge.to]);
  const order: string[] = [];
  const state = new Map<string, "open" | "done">();
  const back = new Set<string>();
  // Depth first with a stack of its own: a chain may be as long as there are DAGs.
  for (const { id } of nodes) {
    if (state.has(id)) continue;
    const stack: { id: string; at: number }[] = [{ id, at: 0 }];
    state.set(id, "open");
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      const next = out.get(top.id)?.[top.at++];
      if (next === undefined) {
        state.set(top.id, "done");
        order.push(top.id);
        stack.pop();
      } else if (state.get(next) === "open") back.add(`${top.id}\n${next}`);
      else if (!state.has(next)) {
        state.set(next, "open");
        stack.push({ id: next, at: 0 });
      }
    }
  }
  const layer = new Map<string, number>(nodes.map(({ id }) => [id, 0]));
  for (const id of order.reverse())
    for (const next of out.get(id) ?? [])
      if (!back.has(`${id}\n${next}`)) layer.set(next, Math.max(layer.get(next) ?? 0, (layer.get(id) ?? 0) + 1));
  return layer;
}

/** Each node at the middle of those it is joined with, so that few lines cross. */
function orderColumns(columns: LineageNode[][], edges: LineageEdge[]): void {
  const joined = new Map<string, string[]>();
  for (const { from, to } of edges) {
    joined.set(from, [...(joined.get(from) ?? []), to]);
    joined.set(to, [...(joined.get(to) ?? []), from]);
  }
  const rank = new Map<string, number>();
  const number = (column: LineageNode[]) => column.forEach((node, i) => rank.set(node.id, (i + 0.5) / column.length));
  columns.forEach(number);
  for (let round = 0; round < 4; round++) {
    for (const column of round % 2 ? [...columns].reverse() : columns) {
      const wish = new Map(column.map((node) => {
        const others = (joined.get(node.id) ?? []).map((id) => rank.get(id) ?? 0.5);
        return [node.id, others.length ? others.reduce((a, b) => a + b, 0) / others.length : rank.get(node.id) ?? 0.5];
      }));
      column.sort((a, b) => wish.get(a.id)! - wish.get(b.id)!);
      number(column);
    }
  }
}

export function layOut(lineage: Lineage): Layout {
  const layer = layersOf(lineage);
  const columns: LineageNode[][] = [];
  for (const node of [...lineage.nodes].sort((a, b) => (a.name < b.name ? -1 : 1)))
    (columns[layer.get(node.id) ?? 0] ??= []).push(node);
  orderColumns(columns, lineage.edges);
  const tallest = Math.max(0, ...columns.map((column) => column.length));
  const height = Math.max(0, tallest * (NODE_HEIGHT + GAP_Y) - GAP_Y);
  const nodes = columns.flatMap((column, x) => {
    const top = (height - (column.length * (NODE_HEIGHT + GAP_Y) - GAP_Y)) / 2;
    return column.map((node, y) => ({ ...node, x: x * (NODE_WIDTH + GAP_X), y: top + y * (NODE_HEIGHT + GAP_Y) }));
  });
  return { nodes, edges: lineage.edges, width: Math.max(0, columns.length * (NODE_WIDTH + GAP_X) - GAP_X), height };
}
