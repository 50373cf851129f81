// Draws what is visible of a graph.
import { lookOf } from "../../core/states";
import { Glyphs, Skin, Texts } from "../glyphs";
import {
  isVisible, shortName, type Graph, type GraphBox, type GraphEdge, type GraphNode, type Size, type View,
} from "./model";

export interface GraphScene {
  graph: Graph;
  view: View;
  screen: Size;
  /** Under the mouse, or where the keyboard is. */
  pointed: string | null;
  chosen: string | null;
  /** What was searched for. */
  found: Set<string>;
}

const GLYPH = 16;
const TEXT_SCALE = 0.35;
const ARROW = 5;
const FLAGGED = new Set(["failed", "running", "up_for_retry", "awaiting_input"]);

export class GraphPainter {
  private readonly glyphs: Glyphs;
  private readonly texts = new Texts();
  private paths: { of: Graph; all: Path2D; each: Map<string, Path2D[]> } | null = null;

  constructor(private readonly context: CanvasRenderingContext2D, private readonly skin: Skin, readonly ratio: number) {
    // Twice as large, for it is looked at from near, too.
    this.glyphs = new Glyphs(skin, GLYPH, ratio * 2);
  }

  paint(scene: GraphScene): void {
    const { context, ratio } = this;
    const { view, screen, graph } = scene;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.skin.colour("card");
    context.fillRect(0, 0, screen.width, screen.height);
    const scale = ratio * view.scale;
    context.setTransform(scale, 0, 0, scale, -view.x * scale, -view.y * scale);
    for (const box of graph.answer.groups) if (isVisible(box, view, screen)) this.box(box, view);
    this.edges(scene);
    if (view.scale >= TEXT_SCALE)
      for (const box of graph.answer.groups) if (isVisible(box, view, screen)) this.title(box);
    const visible = graph.answer.nodes.filter((node) => isVisible(node, view, screen));
    for (const node of visible) this.node(scene, node);
    if (view.scale < TEXT_SCALE) for (const node of visible) this.flag(node, view);
  }

  nameWidth(box: GraphBox): number {
    this.context.font = `600 11px ${this.skin.font}`;
    return this.context.measureText("▾ " + this.nameOf(box)).width + 8;
  }

  private nameOf(box: GraphBox): string {
    const name = box.above && box.group.startsWith(box.above + ".") ? box.group.slice(box.above.length + 1) : box.group;
    this.context.font = `600 11px ${this.skin.font}`;
    return this.texts.fit(this.context, name, Math.max(40, box.width - 34));
  }

  private box(box: GraphBox, view: View): void {
    const { context, skin } = this;
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, 8);
    context.fillStyle = skin.colour("hover");
    context.globalAlpha = 0.5;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = skin.colour("line");
    context.lineWidth = Math.max(1, 0.7 / view.scale);
    context.stroke();
  }

  /** On the upper edge, as nothing else stands there. */
  private title(box: GraphBox): void {
    const { context, skin } = this;
    const name = "▾ " + this.nameOf(box);
    const width = this.nameWidth(box);
    context.fillStyle = skin.colour("card");
    context.beginPath();
    context.roundRect(box.x + 8, box.y - 8, width, 15, 4);
    context.fill();
    context.fillStyle = skin.colour("dim");
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText(name, box.x + 12, box.y);
  }

  private pathsOf(graph: Graph) {
    if (this.paths?.of === graph) return this.paths;
    const made = { of: graph, all: new Path2D(), each: new Map<string, Path2D[]>() };
    for (const edge of graph.answer.edges) {
      const path = pathOfEdge(edge);
      made.all.addPath(path);
      for (const end of [edge.from, edge.to]) {
        const list = made.each.get(end);
        if (list) list.push(path);
        else made.each.set(end, [path]);
      }
    }
    this.paths = made;
    return made;
  }

  private edges({ graph, view, pointed, chosen }: GraphScene): void {
    const { context, skin } = this;
    const paths = this.pathsOf(graph);
    context.strokeStyle = skin.colour("s-none");
    context.lineWidth = Math.max(1.2, 0.7 / view.scale);
    context.stroke(paths.all);
    context.strokeStyle = skin.colour("accent");
    context.lineWidth = Math.max(2.2, 1.4 / view.scale);
    for (const id of new Set([pointed, chosen]))
      for (const path of (id && paths.each.get(id)) || []) context.stroke(path);
  }

  private node(scene: GraphScene, node: GraphNode): void {
    const { context, skin } = this;
    const { view } = scene;
    const isClose = view.scale >= TEXT_SCALE;
    const colour = node.state ? skin.ofState(node.state) : skin.colour("dim");
    if (node.is_group || node.is_mapped) this.shadow(node, colour);
    context.beginPath();
    context.roundRect(node.x, node.y, node.width, node.height, 6);
    context.fillStyle = isClose || !node.state ? skin.colour("card") : colour;
    context.fill();
    context.strokeStyle = colour;
    context.lineWidth = Math.max(node.state ? 2 : 1.2, 0.8 / view.scale);
    if (node.state && !lookOf(node.state).isOver && node.state !== "running") context.setLineDash([5, 3]);
    context.stroke();
    context.setLineDash([]);
    if (isClose) this.inside(node);
    this.marks(scene, node);
  }

  /** From afar what fails or runs is a speck; its icon keeps its size. */
  private flag(node: GraphNode, view: View): void {
    if (!node.state || !FLAGGED.has(node.state)) return;
    const size = 12 / view.scale;
    this.context.drawImage(this.glyphs.get(node.state), node.x + (node.width - size) / 2,
      node.y + (node.height - size) / 2, size, size);
  }

  /** There is more than one behind it. */
  private shadow(node: GraphNode, colour: string): void {
    const { context } = this;
    context.globalAlpha = 0.4;
    context.fillStyle = colour;
    context.beginPath();
    context.roundRect(node.x + 4, node.y - 4, node.width, node.height, 6);
    context.fill();
    context.globalAlpha = 1;
  }

  private inside(node: GraphNode): void {
    const { context, skin } = this;
    const middle = node.y + node.height / 2;
    let x = node.x + 7;
    if (node.state) {
      context.drawImage(this.glyphs.get(node.state), x - 1, middle - GLYPH / 2, GLYPH, GLYPH);
      x += GLYPH + 3;
    }
    context.fillStyle = skin.colour("text");
    context.textBaseline = "middle";
    context.textAlign = "left";
    const room = node.x + node.width - x - 4;
    const font = (size: number) => `${node.is_group ? 600 : 400} ${size}px ${skin.font}`;
    const name = shortName(node);
    context.font = font(12.5);
    let shown = this.texts.fit(context, name, room);
    if (shown !== name) {
      // Rather small than cut.
      context.font = font(10.5);
      shown = this.texts.fit(context, name, room);
    }
    context.fillText(shown, x, middle + 0.5);
    const count = node.is_group ? node.tasks : node.instances?.total;
    if (count) this.badge(node.x + node.width, node.y, String(count));
  }

  private badge(x: number, y: number, text: string): void {
    const { context, skin } = this;
    context.font = `600 10px ${skin.font}`;
    const width = context.measureText(text).width + 8;
    context.fillStyle = skin.colour("text");
    context.beginPath();
    context.roundRect(x - width / 2 - 4, y - 8, width, 14, 7);
    context.fill();
    context.fillStyle = skin.colour("bg");
    context.textAlign = "center";
    context.fillText(text, x - 4, y - 0.5);
  }

  private marks({ pointed, chosen, found, view }: GraphScene, node: GraphNode): void {
    const { context, skin } = this;
    const ring = (colour: string, gap: number) => {
      context.strokeStyle = skin.colour(colour);
      context.lineWidth = Math.max(2, 1.5 / view.scale);
      context.beginPath();
      context.roundRect(node.x - gap, node.y - gap, node.width + 2 * gap, node.height + 2 * gap, 6 + gap);
      context.stroke();
    };
    if (node.task_id === chosen) ring("text", 4);
    if (node.task_id === pointed) ring("accent", 4);
    if (found.has(node.task_id)) ring("warn", 7);
    if (view.scale < TEXT_SCALE) return;
    context.font = `600 10px ${skin.font}`;
    context.fillStyle = skin.colour("dim");
    context.textBaseline = "middle";
    if (node.hidden_up) this.hidden(`+${node.hidden_up} ◂`, node.x - 4, node, "right");
    if (node.hidden_down) this.hidden(`▸ +${node.hidden_down}`, node.x + node.width + 4, node, "left");
  }

  private hidden(text: string, x: number, node: GraphNode, align: CanvasTextAlign): void {
    this.context.textAlign = align;
    this.context.fillText(text, x, node.y - 4);
  }
}

/** Straight along a layer, bent between two of them, with a head. */
function pathOfEdge(edge: GraphEdge): Path2D {
  const path = new Path2D();
  const { points } = edge;
  path.moveTo(points[0]!, points[1]!);
  for (let i = 2; i + 1 < points.length; i += 2) {
    const [x0, y0, x1, y1] = [points[i - 2]!, points[i - 1]!, points[i]!, points[i + 1]!];
    if (y0 === y1) path.lineTo(x1, y1);
    else path.bezierCurveTo((x0 + x1) / 2, y0, (x0 + x1) / 2, y1, x1, y1);
  }
  const x = points.at(-2)!;
  const y = points.at(-1)!;
  path.moveTo(x - ARROW, y - ARROW * 0.8);
  path.lineTo(x, y);
  path.lineTo(x - ARROW, y + ARROW * 0.8);
  return path;
}

/** Everything, small, and which part of it one sees. */
export function paintMap(
  context: CanvasRenderingContext2D, skin: Skin, ratio: number, size: Size, scene: GraphScene): void {
  const { width, nodes } = scene.graph.answer;
  const scale = size.width / width;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = skin.colour("bg");
  context.fillRect(0, 0, size.width, size.height);
  for (const node of nodes) {
    context.fillStyle = node.state ? skin.ofState(node.state) : skin.colour("s-none");
    context.fillRect(node.x * scale, node.y * scale, Math.max(1, node.width * scale), Math.max(1, node.height * scale));
  }
  context.strokeStyle = skin.colour("accent");
  context.lineWidth = 1.5;
  context.strokeRect(scene.view.x * scale, scene.view.y * scale,
    (scene.screen.width / scene.view.scale) * scale, (scene.screen.height / scene.view.scale) * scale);
}
