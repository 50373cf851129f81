// The canvas of a graph with its moving, zooming, mouse, fingers and keys.
import { isDark } from "../../core/prefs";
import { Skin } from "../glyphs";
import {
  centredOn, firstView, keptNear, mapSize, showing, wholeView, zoomAt, type Graph, type GraphNode, type Size, type View,
} from "./model";
import { GraphPainter, paintMap, type GraphScene } from "./paint";

export interface StageCalls {
  onPoint: (node: GraphNode | null) => void;
  onChoose: (node: GraphNode | null) => void;
  onOpen: (node: GraphNode, isNewTab: boolean) => void;
  onToggle: (group: string) => void;
}

export const ZOOM_STEP = 1.3;
const DRAG_PX = 4;
const LEAST_HEIGHT = 340;

export class Stage {
  private readonly canvas: HTMLCanvasElement;
  private readonly map: HTMLCanvasElement;
  private painter: GraphPainter;
  private skin: Skin;
  private graph: Graph | null = null;
  private view: View = { x: 0, y: 0, scale: 1 };
  private screen: Size = { width: 0, height: 0 };
  private cursor: GraphNode | null = null;
  private mouse: GraphNode | null = null;
  private chosen: string | null = null;
  private found = new Set<string>();
  private frame = 0;
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private moved = 0;
  private shape = "";
  private readonly undo: (() => void)[] = [];
  calls: StageCalls | null = null;

  constructor(private readonly box: HTMLElement) {
    [this.canvas, this.map] = [...box.querySelectorAll("canvas")] as [HTMLCanvasElement, HTMLCanvasElement];
    this.skin = new Skin(box);
    this.painter = this.newPainter();
    this.listen();
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.undo.forEach((call) => call());
  }

  show(graph: Graph, chosen: string | null, found: Set<string>): void {
    const isFirst = this.graph === null;
    const { answer } = graph;
    // The same tasks at the same places: whoever looks at a part of it goes on doing so.
    const shape = `${answer.width} ${answer.height} ${answer.nodes.length} ${answer.dag_version}`;
    const isOther = shape !== this.shape;
    const isChosenAnew = chosen !== this.chosen;
    this.shape = shape;
    this.graph = graph;
    this.chosen = chosen;
    this.found = found;
    this.cursor = graph.find(this.cursor?.task_id ?? null) ?? null;
    this.mouse = graph.find(this.mouse?.task_id ?? null) ?? null;
    this.fit();
    const node = graph.find(chosen);
    if (isOther) this.view = firstView(answer, this.screen, node ?? answer.nodes.find((one) => one.state === "failed"));
    else if (isChosenAnew && node) this.view = showing(node, this.view, this.screen);
    const first = found.values().next();
    const hit = first.done ? undefined : graph.find(first.value);
    if (hit) this.view = showing(hit, this.view, this.screen);
    this.paintNow();
    if (isFirst) performance.mark("drawn");
  }

  repaint(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paintNow());
  }

  zoom(factor: number): void {
    this.look(zoomAt(this.view, factor, this.screen.width / 2, this.screen.height / 2));
  }

  whole(): void {
    if (this.graph) this.look(wholeView(this.graph.answer, this.screen));
  }

  /** Goes there, and so near that it can be read. */
  seek(node: GraphNode): void {
    this.cursor = node;
    this.look(centredOn(node, this.screen, Math.max(this.view.scale, 0.7)));
  }

  private newPainter(): GraphPainter {
    return new GraphPainter(this.canvas.getContext("2d", { alpha: false })!, this.skin, devicePixelRatio || 1);
  }

  private look(view: View): void {
    if (this.graph) this.view = keptNear(view, this.graph.answer, this.screen);
    this.repaint();
  }

  private fit(): void {
    if (!this.graph) return;
    const width = this.box.clientWidth;
    const top = this.box.getBoundingClientRect().top + scrollY;
    const most = Math.max(LEAST_HEIGHT, Math.min(innerHeight - top - 50, innerHeight * 0.85));
    const height = Math.round(Math.min(most, Math.max(240, this.graph.answer.height + 60)));
    if (this.painter.ratio !== (devicePixelRatio || 1)) this.painter = this.newPainter();
    this.screen = { width, height };
    sizeTo(this.canvas, this.screen, this.painter.ratio);
    sizeTo(this.map, mapSize(this.graph.answer), this.painter.ratio);
  }

  private scene(): GraphScene {
    return {
      graph: this.graph!, view: this.view, screen: this.screen, chosen: this.chosen, found: this.found,
      pointed: (this.mouse ?? this.cursor)?.task_id ?? null,
    };
  }

  private paintNow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.graph) return;
    const { width, height } = this.graph.answer;
    const { scale } = this.view;
    const scene = this.scene();
    this.painter.paint(scene);
    const isPart = width * scale > this.screen.width + 20 || height * scale > this.screen.height + 20;
    this.map.hidden = !isPart;
    if (isPart) paintMap(this.map.getContext("2d")!, this.skin, this.painter.ratio, mapSize(this.graph.answer), scene);
    Object.assign(this.box.dataset, { x: this.view.x, y: this.view.y, scale: this.view.scale });
  }

  private on<K extends keyof HTMLElementEventMap>(
    element: HTMLElement, kind: K, call: (event: HTMLElementEventMap[K]) => void): void {
    element.addEventListener(kind, call, { passive: false });
    this.undo.push(() => element.removeEventListener(kind, call));
  }

  private listen(): void {
    const { canvas, box } = this;
    this.on(canvas, "wheel", (event) => this.wheel(event));
    this.on(canvas, "pointerdown", (event) => this.press(event));
    this.on(canvas, "pointermove", (event) => this.drag(event));
    this.on(canvas, "pointerup", (event) => this.release(event));
    this.on(canvas, "pointercancel", (event) => void this.fingers.delete(event.pointerId));
    this.on(canvas, "pointerleave", () => this.point(null));
    this.on(canvas, "dblclick", (event) => this.twice(event));
    this.on(canvas, "auxclick", (event) => event.button === 1 && this.open(this.nodeAt(event), true));
    this.on(box, "keydown", (event) => this.key(event));
    this.on(box, "blur", () => this.leave());
    this.on(this.map, "pointerdown", (event) => this.jump(event));
    this.on(this.map, "pointermove", (event) => event.buttons > 0 && this.jump(event));
    const resize = () => {
      this.fit();
      this.repaint();
    };
    const resized = new ResizeObserver(resize);
    resized.observe(box);
    addEventListener("resize", resize);
    const themed = isDark.subscribe(() => {
      this.skin = new Skin(box);
      this.painter = this.newPainter();
      this.repaint();
    });
    this.undo.push(() => resized.disconnect(), () => removeEventListener("resize", resize), themed);
  }

  private spot(event: MouseEvent): { x: number; y: number } {
    const place = this.canvas.getBoundingClientRect();
    return { x: event.clientX - place.left, y: event.clientY - place.top };
  }

  private onPlane(event: MouseEvent): { x: number; y: number } {
    const { x, y } = this.spot(event);
    return { x: x / this.view.scale + this.view.x, y: y / this.view.scale + this.view.y };
  }

  private nodeAt(event: MouseEvent): GraphNode | null {
    const { x, y } = this.onPlane(event);
    return this.graph?.nodeAt(x, y) ?? null;
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { x, y } = this.spot(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    this.look(zoomAt(this.view, Math.exp(-lines * (event.ctrlKey ? 0.01 : 0.0018)), x, y));
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, this.spot(event));
    if (this.fingers.size === 1) this.moved = 0;
  }

  private drag(event: PointerEvent): void {
    const before = this.fingers.get(event.pointerId);
    if (!before) return event.pointerType === "mouse" ? this.point(this.nodeAt(event)) : undefined;
    const now = this.spot(event);
    const others = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.fingers.set(event.pointerId, now);
    this.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (this.moved < DRAG_PX) return;
    const other = others[0];
    if (other) {
      const apart = (at: { x: number; y: number }) => Math.hypot(at.x - other.x, at.y - other.y) || 1;
      this.look(zoomAt(this.view, apart(now) / apart(before), other.x, other.y));
    } else {
      const { scale } = this.view;
      this.look({ scale, x: this.view.x - (now.x - before.x) / scale, y: this.view.y - (now.y - before.y) / scale });
    }
  }

  private release(event: PointerEvent): void {
    const wasAlone = this.fingers.size === 1;
    if (!this.fingers.delete(event.pointerId) || !wasAlone || this.moved >= DRAG_PX) return;
    const { x, y } = this.onPlane(event);
    const node = this.graph?.nodeAt(x, y) ?? null;
    const box = node ? null : this.graph?.boxAt(x, y, (one) => this.painter.nameWidth(one)) ?? null;
    if (box) return this.calls?.onToggle(box.group);
    if (node && (event.ctrlKey || event.metaKey)) return this.open(node, true);
    this.cursor = node;
    this.calls?.onChoose(node);
  }

  private twice(event: MouseEvent): void {
    this.open(this.nodeAt(event), false);
  }

  private open(node: GraphNode | null, isNewTab: boolean): void {
    if (node) this.calls?.onOpen(node, isNewTab);
  }

  private point(node: GraphNode | null): void {
    if (node === this.mouse) return;
    this.mouse = node;
    this.canvas.style.cursor = node ? "pointer" : "";
    this.calls?.onPoint(node ?? this.cursor);
    this.repaint();
  }

  private leave(): void {
    this.cursor = null;
    this.calls?.onPoint(null);
    this.repaint();
  }

  private jump(event: PointerEvent): void {
    if (!this.graph) return;
    const place = this.map.getBoundingClientRect();
    const scale = place.width / this.graph.answer.width;
    this.look({
      scale: this.view.scale,
      x: (event.clientX - place.left) / scale - this.screen.width / 2 / this.view.scale,
      y: (event.clientY - place.top) / scale - this.screen.height / 2 / this.view.scale,
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || event.ctrlKey || event.target !== this.box || !this.graph) return;
    if (event.key === "+" || event.key === "=") this.zoom(ZOOM_STEP);
    else if (event.key === "-") this.zoom(1 / ZOOM_STEP);
    else if (event.key === "0") this.whole();
    else if (event.key === "Escape") this.calls?.onChoose(null);
    else if (event.key === "Enter") this.open(this.cursor, false);
    else if (event.key === " ") this.calls?.onChoose(this.cursor);
    else if (event.key.startsWith("Arrow")) this.step(event.key);
    else return;
    event.preventDefault();
  }

  private step(key: string): void {
    const { graph } = this;
    if (!graph) return;
    const from = this.cursor ?? graph.find(this.chosen);
    const to = from ? graph.neighbour(from, key) : graph.first();
    if (!to) return;
    this.cursor = to;
    this.mouse = null;
    this.calls?.onPoint(to);
    this.look(showing(to, this.view, this.screen));
  }
}

function sizeTo(canvas: HTMLCanvasElement, size: Size, ratio: number): void {
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.height}px`;
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (canvas.width === width && canvas.height === height) return;
  canvas.width = width;
  canvas.height = height;
}
