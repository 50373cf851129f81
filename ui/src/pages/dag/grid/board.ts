// The canvas of a grid with its scrolling, mouse and keys. What it shows is given; what somebody does is told.
import { isDark } from "../../../core/prefs";
import { Skin } from "../../../parts/glyphs";
import { hitOf, layoutOf, moveBy, scrollTo, wholeHeight, wholeWidth, type Layout, type Spot } from "./layout";
import type { Matrix, Row } from "./model";
import { Painter, type Scene } from "./paint";

export interface Shown {
  matrix: Matrix;
  rows: Row[];
  columns: number[];
  dates: (string | null)[];
  chosen: Spot;
}

export interface BoardCalls {
  onCross: (spot: Spot | null, box: { x: number; y: number } | null) => void;
  onChoose: (spot: Spot) => void;
  onOpen: (spot: Spot, isNewTab: boolean) => void;
  onCancel: () => void;
}

const LEAST_HEIGHT = 320;
const NAME_ROOM = 36;

export class Board {
  private readonly canvas: HTMLCanvasElement;
  private readonly room: HTMLElement;
  private painter: Painter;
  private layout: Layout = layoutOf(0, 0, 0, 0, 200);
  private shown: Shown | null = null;
  private cursor: Spot | null = null;
  private mouse: Spot | null = null;
  private frame = 0;
  private readonly undo: (() => void)[] = [];
  calls: BoardCalls | null = null;

  constructor(private readonly box: HTMLElement) {
    this.room = box.querySelector<HTMLElement>(".grid-room")!;
    this.canvas = box.querySelector("canvas")!;
    this.painter = this.newPainter();
    this.listen();
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.undo.forEach((call) => call());
  }

  show(shown: Shown): void {
    const isFirst = this.shown === null;
    const before = this.shown?.columns.length ?? 0;
    this.shown = shown;
    this.cursor = this.cursor && this.inside(this.cursor);
    this.mouse = this.mouse && this.inside(this.mouse);
    this.fit();
    // The newest runs are at the right, where one begins to look.
    if (isFirst || shown.columns.length !== before) this.box.scrollLeft = wholeWidth(this.layout);
    this.paintNow();
    if (isFirst) performance.mark("drawn");
  }

  /** Something of what is shown has changed its state. */
  repaint(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paintNow());
  }

  private inside(spot: Spot): Spot {
    return {
      row: Math.min(spot.row, (this.shown?.rows.length ?? 0) - 1),
      column: Math.min(spot.column, (this.shown?.columns.length ?? 0) - 1),
    };
  }

  private newPainter(): Painter {
    return new Painter(this.canvas.getContext("2d", { alpha: false })!, new Skin(this.box), devicePixelRatio || 1);
  }

  /** The size of everything, after the window, the zoom or what is shown changed. */
  private fit(): void {
    if (!this.shown) return;
    const { rows, columns } = this.shown;
    const width = this.box.clientWidth;
    const top = this.box.getBoundingClientRect().top + scrollY;
    const room = Math.max(LEAST_HEIGHT, Math.min(innerHeight - top - 20, innerHeight * 0.85));
    const measured = layoutOf(width, room, rows.length, columns.length, this.longestName());
    this.layout = { ...measured, height: Math.min(room, wholeHeight(measured)) };
    const { height } = this.layout;
    this.box.style.height = `${height + this.box.offsetHeight - this.box.clientHeight}px`;
    this.room.style.width = `${Math.max(width, wholeWidth(this.layout))}px`;
    this.room.style.height = `${wholeHeight(this.layout)}px`;
    if (this.painter.ratio !== (devicePixelRatio || 1)) this.painter = this.newPainter();
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const wide = Math.round(width * this.painter.ratio);
    const high = Math.round(height * this.painter.ratio);
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
    }
    const { labels, head, cell, line } = this.layout;
    Object.assign(this.box.dataset, { labels, head, cell, line });
    this.painter.measure(this.scene());
  }

  /** Roughly: to measure thousands of names takes longer than to draw those one sees. */
  private longestName(): number {
    let most = 0;
    for (const row of this.shown?.rows ?? []) most = Math.max(most, row.name.length * 7.2 + row.depth * 14 + NAME_ROOM);
    return Math.max(150, most);
  }

  private scene(): Scene {
    return {
      ...this.shown!, layout: this.layout, cross: this.mouse ?? this.cursor,
      scroll: { left: this.box.scrollLeft, top: this.box.scrollTop },
    };
  }

  private paintNow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.shown) this.painter.paint(this.scene());
  }

  private on<K extends keyof HTMLElementEventMap>(kind: K, call: (event: HTMLElementEventMap[K]) => void): void {
    this.box.addEventListener(kind, call, { passive: kind === "scroll" });
    this.undo.push(() => this.box.removeEventListener(kind, call));
  }

  private listen(): void {
    this.on("scroll", () => this.repaint());
    this.on("mousemove", (event) => this.cross(this.hit(event)));
    this.on("mouseleave", () => this.cross(null));
    this.on("click", (event) => this.click(event));
    this.on("auxclick", (event) => event.button === 1 && this.open(this.hit(event), true));
    this.on("dblclick", (event) => this.open(this.hit(event), false));
    this.on("keydown", (event) => this.key(event));
    this.on("focus", () => this.focus());
    this.on("blur", () => this.blur());
    const resized = new ResizeObserver(() => {
      this.fit();
      this.repaint();
    });
    resized.observe(this.box);
    const resize = () => {
      this.fit();
      this.repaint();
    };
    addEventListener("resize", resize);
    const themed = isDark.subscribe(() => {
      this.painter = this.newPainter();
      if (!this.shown) return;
      this.painter.measure(this.scene());
      this.repaint();
    });
    this.undo.push(() => resized.disconnect(), () => removeEventListener("resize", resize), themed);
  }

  private hit(event: MouseEvent): Spot | null {
    const place = this.canvas.getBoundingClientRect();
    return hitOf(this.layout, { left: this.box.scrollLeft, top: this.box.scrollTop },
      event.clientX - place.left, event.clientY - place.top);
  }

  private cross(spot: Spot | null): void {
    if (spot?.row === this.mouse?.row && spot?.column === this.mouse?.column) return;
    this.mouse = spot;
    this.box.style.cursor = spot ? "pointer" : "";
    this.tell(spot ?? null, true);
    this.repaint();
  }

  /** Says which cell is meant now; `isPointed`: by the mouse, so that a hint stands beside it. */
  private tell(spot: Spot | null, isPointed: boolean): void {
    const at = spot && isPointed ? {
      x: this.layout.labels + (spot.column + 1) * this.layout.cell - (spot.column < 0 ? 0 : this.box.scrollLeft),
      y: spot.row < 0 ? this.layout.head : this.layout.head + (spot.row + 1) * this.layout.line - this.box.scrollTop,
    } : null;
    this.calls?.onCross(spot ?? this.cursor, at);
  }

  private click(event: MouseEvent): void {
    const spot = this.hit(event);
    if (!spot) return;
    if (event.ctrlKey || event.metaKey) return this.open(spot, true);
    this.cursor = spot;
    this.calls?.onChoose(spot);
  }

  private open(spot: Spot | null, isNewTab: boolean): void {
    if (spot) this.calls?.onOpen(spot, isNewTab);
  }

  private focus(): void {
    if (!this.box.matches(":focus-visible") || !this.shown) return;
    const { rows, columns } = this.shown;
    this.cursor ??= rows.length > 0 ? { row: 0, column: columns.length - 1 } : null;
    this.tell(this.cursor, false);
    this.repaint();
  }

  private blur(): void {
    this.cursor = null;
    this.tell(null, false);
    this.repaint();
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey) return;
    if (event.key === "Escape") return this.calls?.onCancel();
    if (!this.cursor) this.focus();
    const from = this.cursor;
    if (!from) return;
    if (event.key === "Enter") this.open(from, false);
    else if (event.key === " ") this.calls?.onChoose(from);
    else {
      const to = moveBy(this.layout, from, event.key, event.ctrlKey);
      if (!to) return;
      this.moveTo(to);
    }
    event.preventDefault();
  }

  private moveTo(spot: Spot): void {
    this.cursor = spot;
    this.mouse = null;
    const to = scrollTo(this.layout, { left: this.box.scrollLeft, top: this.box.scrollTop }, spot);
    this.box.scrollTo(to);
    this.tell(spot, false);
    this.repaint();
  }
}
