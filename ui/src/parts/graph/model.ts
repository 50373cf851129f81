// A graph as the server laid it out, and how one moves about in it. Pure.

export interface GraphNode {
  /** Of a closed group its name. */
  task_id: string;
  group: string | null;
  is_group?: boolean;
  /** In a closed group. */
  tasks?: number;
  operator?: string;
  is_mapped?: boolean;
  is_finally: boolean;
  /** Edges to tasks that are left out. */
  hidden_up?: number;
  hidden_down?: number;
  layer: number;
  x: number;
  y: number;
  width: number;
  height: number;
  state?: string;
  /** Of a closed group: how many are in each. */
  states?: Record<string, number>;
  try_number?: number;
  instances?: { total: number; success: number; failed: number; skipped: number };
}

export interface GraphEdge {
  from: string;
  to: string;
  points: number[];
}

export interface GraphBox {
  group: string;
  above: string | null;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** GET /graph/X. */
export interface GraphAnswer {
  dag_id: string;
  dag_version: number;
  number: string | null;
  state: string | null;
  width: number;
  height: number;
  tasks_total?: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
  groups: GraphBox[];
}

/** Which part of the plane one sees: screen = (plane - origin) * scale. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

export const LEAST_SCALE = 0.05;
export const MOST_SCALE = 3;
/** Below this names cannot be read. */
const READABLE = 0.45;
/** Pixels that stay free around what is shown first. */
const EDGE = 16;

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

/** Those of the first layer. */
function rootsOf(graph: GraphAnswer): GraphNode[] {
  const first = Math.min(...graph.nodes.map((node) => node.layer));
  return graph.nodes.filter((node) => node.layer === first);
}

/** The whole, or as much of it as can be read: around `about` if that is given, else where it begins. */
export function firstView(graph: GraphAnswer, screen: Size, about?: GraphNode): View {
  const whole = wholeView(graph, screen);
  if (whole.scale >= READABLE) return whole;
  const scale = READABLE * 1.5;
  if (about) return centredOn(about, screen, scale);
  const roots = rootsOf(graph);
  const top = Math.min(...roots.map((node) => node.y));
  const bottom = Math.max(...roots.map((node) => node.y + node.height));
  const seen = (screen.height - 2 * EDGE) / scale;
  // All of them in the middle, or from the highest on when there are more than fit.
  const y = bottom - top <= seen ? (top + bottom) / 2 - screen.height / 2 / scale : top - EDGE / scale;
  return { scale, x: Math.min(...roots.map((node) => node.x)) - EDGE / scale, y };
}

/** Buttons stand at the right. */
const RIGHT = 44;

export function wholeView(graph: Size, screen: Size): View {
  const width = Math.max(50, screen.width - RIGHT);
  const scale = clamp(Math.min(width / graph.width, screen.height / graph.height), LEAST_SCALE, 1);
  return { scale, x: graph.width / 2 - width / 2 / scale, y: graph.height / 2 - screen.height / 2 / scale };
}

/** Of the small picture of everything: as the graph is, within bounds. */
export function mapSize(graph: Size): Size {
  const scale = Math.min(160 / graph.width, 100 / graph.height);
  const sized = (length: number, least: number): number => Math.max(least, Math.round(length * scale));
  return { width: sized(graph.width, 24), height: sized(graph.height, 16) };
}

export function centredOn(node: GraphNode, screen: Size, scale: number): View {
  return {
    scale,
    x: node.x + node.width / 2 - screen.width / 2 / scale,
    y: node.y + node.height / 2 - screen.height / 2 / scale,
  };
}

/** Larger or smaller, with the point of the screen staying where it is. */
export function zoomAt(view: View, factor: number, x: number, y: number): View {
  const scale = clamp(view.scale * factor, LEAST_SCALE, MOST_SCALE);
  return { scale, x: view.x + x / view.scale - x / scale, y: view.y + y / view.scale - y / scale };
}

/** Never so far away that nothing is seen. */
export function keptNear(view: View, graph: Size, screen: Size): View {
  const margin = 60 / view.scale;
  return {
    scale: view.scale,
    x: clamp(view.x, margin - screen.width / view.scale, graph.width - margin),
    y: clamp(view.y, margin - screen.height / view.scale, graph.height - margin),
  };
}

/** The same view, moved just as far as is needed to see a node. */
export function showing(node: GraphNode, view: View, screen: Size): View {
  const margin = 24 / view.scale;
  return {
    scale: view.scale,
    x: clamp(view.x, node.x + node.width + margin - screen.width / view.scale, node.x - margin),
    y: clamp(view.y, node.y + node.height + margin - screen.height / view.scale, node.y - margin),
  };
}

export const isVisible = (box: GraphBox | GraphNode, view: View, screen: Size): boolean =>
  box.x + box.width >= view.x && box.y + box.height >= view.y &&
  box.x <= view.x + screen.width / view.scale && box.y <= view.y + screen.height / view.scale;

export class Graph {
  private readonly byId = new Map<string, GraphNode>();
  private readonly before = new Map<string, GraphNode[]>();
  private readonly after = new Map<string, GraphNode[]>();

  constructor(readonly answer: GraphAnswer) {
    for (const node of answer.nodes) this.byId.set(node.task_id, node);
    for (const edge of answer.edges) {
      const from = this.byId.get(edge.from);
      const to = this.byId.get(edge.to);
      if (!from || !to) continue;
      push(this.after, edge.from, to);
      push(this.before, edge.to, from);
    }
  }

  find(id: string | null): GraphNode | undefined {
    return id === null ? undefined : this.byId.get(id);
  }

  needs(id: string): GraphNode[] {
    return this.before.get(id) ?? [];
  }

  neededBy(id: string): GraphNode[] {
    return this.after.get(id) ?? [];
  }

  /** Whether it shows something else now. */
  setState(id: string, state: string): boolean {
    const node = this.byId.get(id);
    if (!node || node.is_group || node.state === undefined || node.state === state) return false;
    node.state = state;
    return true;
  }

  nodeAt(x: number, y: number): GraphNode | null {
    return this.answer.nodes.findLast((node) =>
      x >= node.x && y >= node.y && x <= node.x + node.width && y <= node.y + node.height) ?? null;
  }

  /** A group whose name is at the point; the name stands on the upper edge of its box. */
  boxAt(x: number, y: number, widthOf: (box: GraphBox) => number): GraphBox | null {
    return this.answer.groups.findLast((box) =>
      x >= box.x && y >= box.y - 8 && x <= box.x + 8 + widthOf(box) && y <= box.y + 8) ?? null;
  }

  /** Where an arrow key leads: along an edge, or to the next one of the same layer. */
  neighbour(from: GraphNode, key: string): GraphNode | null {
    const middle = (node: GraphNode): number => node.y + node.height / 2;
    const nearest = (nodes: GraphNode[]): GraphNode | null =>
      nodes.reduce<GraphNode | null>((best, node) =>
        !best || Math.abs(middle(node) - middle(from)) < Math.abs(middle(best) - middle(from)) ? node : best, null);
    const layer = (isWanted: (node: GraphNode) => boolean): GraphNode | null =>
      nearest(this.answer.nodes.filter((node) => node !== from && node.layer === from.layer && isWanted(node)));
    switch (key) {
      case "ArrowRight": return nearest(this.neededBy(from.task_id));
      case "ArrowLeft": return nearest(this.needs(from.task_id));
      case "ArrowUp": return layer((node) => node.y < from.y);
      case "ArrowDown": return layer((node) => node.y > from.y);
      default: return null;
    }
  }

  /** Where one begins: what needs nothing, and of that what is highest. */
  first(): GraphNode | null {
    return this.answer.nodes.reduce<GraphNode | null>((best, node) =>
      !best || node.layer < best.layer || (node.layer === best.layer && node.y < best.y) ? node : best, null);
  }

  /** By a part of its name; those that begin with it come first. */
  search(text: string): GraphNode[] {
    const small = text.trim().toLowerCase();
    if (!small) return [];
    const found = this.answer.nodes.filter((node) => node.task_id.toLowerCase().includes(small));
    const rank = (node: GraphNode): number => node.task_id.toLowerCase().indexOf(small);
    return found.sort((a, b) => rank(a) - rank(b) || a.task_id.length - b.task_id.length);
  }
}

function push(map: Map<string, GraphNode[]>, key: string, node: GraphNode): void {
  const list = map.get(key);
  if (list) list.push(node);
  else map.set(key, [node]);
}

/** The name of a node without the group whose box it stands in. */
export function shortName({ task_id: id, group }: { task_id: string; group: string | null }): string {
  return group && id.startsWith(group + ".") ? id.slice(group.length + 1) : id;
}
