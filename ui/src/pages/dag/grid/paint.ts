// Draws what is visible of a grid.
import { Glyphs, Skin, Texts } from "../../../parts/glyphs";
import { durationText } from "../../../core/time";
import {
  barHeights, dateMarks, windowOf, type DateMark, type Layout, type Scroll, type Spot, type Window,
} from "./layout";
import type { Matrix, Row } from "./model";

export interface Scene {
  matrix: Matrix;
  rows: Row[];
  /** Runs of the matrix, from the left. */
  columns: number[];
  /** Of the columns, in the chosen time zone. */
  dates: (string | null)[];
  layout: Layout;
  scroll: Scroll;
  /** Under the mouse, or where the keyboard is. */
  cross: Spot | null;
  /** -2: none. */
  chosen: Spot;
}

const GLYPH = 16;
const INDENT = 14;
const BASE = 74;
const BAR_ROOM = 50;
const DATE_ROOM = 46;

export class Painter {
  private glyphs: Glyphs;
  private readonly texts = new Texts();
  private bars: number[] = [];
  private marks: DateMark[] = [];
  private longest = 0;

  constructor(private readonly context: CanvasRenderingContext2D, private readonly skin: Skin, readonly ratio: number) {
    this.glyphs = new Glyphs(skin, GLYPH, ratio);
  }

  /** Other runs: their bars and dates are worked out once, not at every step of a scroll. */
  measure(scene: Scene): void {
    const { runs } = scene.matrix.answer;
    const durations = scene.columns.map((run) => runs[run]?.duration ?? null);
    this.bars = barHeights(durations, BAR_ROOM);
    this.longest = Math.max(0, ...durations.map((seconds) => seconds ?? 0));
    this.marks = dateMarks(scene.dates, scene.layout.cell, DATE_ROOM);
  }

  paint(scene: Scene): void {
    const { context, ratio } = this;
    const { layout } = scene;
    const window = windowOf(layout, scene.scroll);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.skin.colour("card");
    context.fillRect(0, 0, layout.width, layout.height);
    this.clipped(layout.labels, layout.head, () => this.body(scene, window));
    this.clipped(0, layout.head, () => this.labels(scene, window), layout.labels);
    this.clipped(layout.labels, 0, () => this.head(scene, window), undefined, layout.head);
    this.corner(scene);
  }

  private clipped(x: number, y: number, draw: () => void, width = 100_000, height = 100_000): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }

  private snap(value: number): number {
    return Math.round(value * this.ratio) / this.ratio;
  }

  private left(scene: Scene, column: number): number {
    return scene.layout.labels + column * scene.layout.cell - scene.scroll.left;
  }

  private top(scene: Scene, row: number): number {
    return scene.layout.head + row * scene.layout.line - scene.scroll.top;
  }

  private band(colour: string, x: number, y: number, width: number, height: number): void {
    this.context.fillStyle = this.skin.colour(colour);
    this.context.fillRect(x, y, width, height);
  }

  private body(scene: Scene, window: Window): void {
    const { layout, cross, chosen } = scene;
    for (const row of [chosen.row, cross?.row ?? -2])
      if (row >= 0) this.band("hover", 0, this.top(scene, row), layout.width, layout.line);
    for (const column of [chosen.column, cross?.column ?? -2])
      if (column >= 0) this.band("hover", this.left(scene, column), 0, layout.cell, layout.height);
    for (let row = window.firstRow; row < window.endRow; row++) {
      const y = this.snap(this.top(scene, row) + (layout.line - GLYPH) / 2);
      for (let column = window.firstColumn; column < window.endColumn; column++) {
        const x = this.snap(this.left(scene, column) + (layout.cell - GLYPH) / 2);
        this.cell(scene, scene.rows[row]!, scene.columns[column]!, x, y);
      }
    }
    this.frame(scene, chosen, "text");
    if (cross) this.frame(scene, cross, "accent");
  }

  private cell(scene: Scene, row: Row, run: number, x: number, y: number): void {
    const { matrix } = scene;
    const task = row.tasks[0]!;
    const state = row.isGroup ? matrix.stateOf(row.tasks, run) : matrix.stateAt(task, run);
    if (state === null) return;
    const isStack = row.isClosed || (row.isMapped && (matrix.instancesAt(task, run)?.[0] ?? 0) > 1);
    if (row.isGroup && !row.isClosed) this.context.globalAlpha = 0.45;
    if (isStack) {
      this.context.fillStyle = this.skin.ofState(state);
      this.context.globalAlpha = 0.45;
      this.context.fillRect(x + 4, y - 2, GLYPH - 2, GLYPH - 2);
      this.context.globalAlpha = 1;
    }
    this.context.drawImage(this.glyphs.get(state), x, y, GLYPH, GLYPH);
    this.context.globalAlpha = 1;
  }

  private frame(scene: Scene, spot: Spot, colour: string): void {
    if (spot.row < 0 || spot.column < 0) return;
    this.context.strokeStyle = this.skin.colour(colour);
    this.context.lineWidth = 2;
    this.context.strokeRect(this.left(scene, spot.column) + 1, this.top(scene, spot.row) + 1,
      scene.layout.cell - 2, scene.layout.line - 2);
  }

  private labels(scene: Scene, window: Window): void {
    const { context } = this;
    const { layout, cross, chosen } = scene;
    this.band("card", 0, layout.head, layout.labels, layout.height);
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (let row = window.firstRow; row < window.endRow; row++) {
      const y = this.top(scene, row);
      if (row === cross?.row || row === chosen.row) this.band("hover", 0, y, layout.labels, layout.line);
      this.label(scene, scene.rows[row]!, y + layout.line / 2 + 0.5, row === chosen.row);
    }
    this.band("line", layout.labels - 1, layout.head, 1, layout.height);
  }

  private label(scene: Scene, row: Row, y: number, isChosen: boolean): void {
    const { context, skin } = this;
    const x = 8 + row.depth * INDENT;
    const last = scene.columns.at(-1);
    const count = row.isGroup ? (row.isClosed ? row.tasks.length : 0)
      : row.isMapped && last !== undefined ? scene.matrix.instancesAt(row.tasks[0]!, last)?.[0] ?? 0 : 0;
    const more = row.isMapped ? `[${count || ""}]` : count ? `(${count})` : "";
    const room = scene.layout.labels - x - 8 - (more ? 34 : 0) - (row.isGroup ? INDENT : 0);
    context.font = `${row.isGroup ? 600 : 400} 13px ${skin.font}`;
    context.fillStyle = skin.colour(isChosen ? "accent" : row.isOld ? "dim" : "text");
    if (row.isGroup) this.arrow(x, y, row.isClosed);
    const from = row.isGroup ? x + INDENT : x;
    const text = this.texts.fit(context, row.name, room);
    context.fillText(text, from, y);
    if (!more) return;
    const width = context.measureText(text).width;
    context.font = `400 12px ${skin.font}`;
    context.fillStyle = skin.colour("dim");
    context.fillText(more, from + width + 6, y);
  }

  private arrow(x: number, y: number, isClosed: boolean): void {
    const { context } = this;
    context.beginPath();
    if (isClosed) [[2, -4], [7, 0], [2, 4]].forEach(([dx, dy]) => context.lineTo(x + dx!, y + dy!));
    else [[0, -2.5], [8, -2.5], [4, 2.5]].forEach(([dx, dy]) => context.lineTo(x + dx!, y + dy!));
    context.fill();
  }

  private head(scene: Scene, window: Window): void {
    const { context, skin } = this;
    const { layout, cross, chosen } = scene;
    this.band("card", layout.labels, 0, layout.width, layout.head);
    for (const column of [chosen.column, cross?.column ?? -2])
      if (column >= 0) this.band("hover", this.left(scene, column), 0, layout.cell, layout.head);
    for (let column = window.firstColumn; column < window.endColumn; column++) {
      const run = scene.matrix.answer.runs[scene.columns[column]!]!;
      const x = this.left(scene, column);
      const height = this.bars[column] ?? 3;
      context.fillStyle = skin.ofState(run.state);
      context.fillRect(this.snap(x + 5), BASE - height, this.snap(layout.cell - 10), height);
      context.drawImage(this.glyphs.get(run.state), this.snap(x + (layout.cell - GLYPH) / 2), BASE + 2, GLYPH, GLYPH);
      if (column === chosen.column && chosen.row < 0) {
        context.strokeStyle = skin.colour("text");
        context.lineWidth = 2;
        context.strokeRect(x + 1, BASE - BAR_ROOM, layout.cell - 2, BAR_ROOM + GLYPH + 4);
      }
    }
    this.dates(scene);
    this.band("line", layout.labels, layout.head - 1, layout.width, 1);
  }

  private dates(scene: Scene): void {
    const { context, skin } = this;
    context.font = `400 11px ${skin.font}`;
    context.textBaseline = "top";
    context.textAlign = "left";
    const { labels, width } = scene.layout;
    // The day of the first column one sees stays where it is.
    const first = this.marks.findLastIndex((mark) => this.left(scene, mark.column) < labels);
    const next = this.marks[first + 1];
    const push = next ? Math.min(0, this.left(scene, next.column) - labels - DATE_ROOM) : 0;
    this.marks.forEach((mark, i) => {
      const x = i === first ? labels + push : this.left(scene, mark.column);
      if (i < first || x > width) return;
      if (i !== first) this.band("line", this.snap(x), 2, 1, 18);
      context.fillStyle = skin.colour("dim");
      context.fillText(mark.text, x + 4, 4);
    });
  }

  private corner(scene: Scene): void {
    const { context, skin } = this;
    const { labels, head } = scene.layout;
    this.band("card", 0, 0, labels, head);
    this.band("line", labels - 1, 0, 1, head);
    this.band("line", 0, head - 1, labels, 1);
    if (this.longest > 0) this.band("line", labels - 5, BASE - BAR_ROOM, 4, 1);
    context.font = `400 11px ${skin.font}`;
    context.fillStyle = skin.colour("dim");
    context.textBaseline = "middle";
    context.textAlign = "right";
    if (this.longest > 0) context.fillText(durationText(this.longest), labels - 8, BASE - BAR_ROOM + 2);
    context.fillText("runs", labels - 8, BASE + 2 + GLYPH / 2);
  }
}
