// Where the cells of a grid are: pure arithmetic, in CSS pixels.

export interface Layout {
  /** Of the part that one sees. */
  width: number;
  height: number;
  /** Names of tasks, at the left; they stay. */
  labels: number;
  /** Bars of runs, above; they stay. */
  head: number;
  cell: number;
  line: number;
  rows: number;
  columns: number;
}

export interface Scroll {
  left: number;
  top: number;
}

export const HEAD = 96;

export function layoutOf(width: number, height: number, rows: number, columns: number, longest: number): Layout {
  const isNarrow = width < 600;
  const cell = isNarrow ? 28 : 22;
  const labels = Math.round(Math.min(longest, isNarrow ? width * 0.45 : Math.max(200, width * 0.3)));
  return { width, height, labels, head: HEAD, cell, line: isNarrow ? 30 : 24, rows, columns };
}

export const wholeWidth = (layout: Layout): number => layout.labels + layout.columns * layout.cell + 8;
export const wholeHeight = (layout: Layout): number => layout.head + layout.rows * layout.line + 4;

export interface Window {
  firstRow: number;
  /** Not included. */
  endRow: number;
  firstColumn: number;
  endColumn: number;
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

/** What is at least partly visible. */
export function windowOf(layout: Layout, scroll: Scroll): Window {
  const { cell, line, rows, columns } = layout;
  return {
    firstRow: clamp(Math.floor(scroll.top / line), 0, rows),
    endRow: clamp(Math.ceil((scroll.top + layout.height - layout.head) / line), 0, rows),
    firstColumn: clamp(Math.floor(scroll.left / cell), 0, columns),
    endColumn: clamp(Math.ceil((scroll.left + layout.width - layout.labels) / cell), 0, columns),
  };
}

/** A cell; row -1 is the bar of the run, column -1 the name of the task. */
export interface Spot {
  row: number;
  column: number;
}

/** What is under a point of the visible part; null: nothing. */
export function hitOf(layout: Layout, scroll: Scroll, x: number, y: number): Spot | null {
  if (x < 0 || y < 0 || x >= layout.width || y >= layout.height) return null;
  const column = x < layout.labels ? -1 : Math.floor((x - layout.labels + scroll.left) / layout.cell);
  const row = y < layout.head ? -1 : Math.floor((y - layout.head + scroll.top) / layout.line);
  if (row >= layout.rows || column >= layout.columns || (row < 0 && column < 0)) return null;
  return { row, column };
}

/** The scroll at which a spot is seen whole, nearest to the one there is. */
export function scrollTo(layout: Layout, scroll: Scroll, spot: Spot): Scroll {
  const left = spot.column < 0 ? scroll.left
    : clamp(scroll.left, (spot.column + 1) * layout.cell - (layout.width - layout.labels), spot.column * layout.cell);
  const top = spot.row < 0 ? scroll.top
    : clamp(scroll.top, (spot.row + 1) * layout.line - (layout.height - layout.head), spot.row * layout.line);
  return { left, top };
}

/** Where a key leads; null: it is no key of the grid. */
export function moveBy(layout: Layout, from: Spot, key: string, isWhole: boolean): Spot | null {
  const page = Math.max(1, Math.floor((layout.height - layout.head) / layout.line) - 1);
  const { row, column } = from;
  const steps: Record<string, Spot> = {
    ArrowUp: { row: row - 1, column }, ArrowDown: { row: row + 1, column },
    ArrowLeft: { row, column: column - 1 }, ArrowRight: { row, column: column + 1 },
    PageUp: { row: Math.max(0, row - page), column }, PageDown: { row: row + page, column },
    Home: { row: isWhole ? 0 : row, column: isWhole ? -1 : 0 },
    End: { row: isWhole ? layout.rows - 1 : row, column: layout.columns - 1 },
  };
  const to = steps[key];
  if (!to) return null;
  const moved = { row: clamp(to.row, -1, layout.rows - 1), column: clamp(to.column, -1, layout.columns - 1) };
  return moved.row < 0 && moved.column < 0 ? from : moved;
}

/** Heights of bars: the longest is as high as there is room, and none is too small to be seen. */
export function barHeights(durations: (number | null)[], room: number): number[] {
  const longest = Math.max(0, ...durations.map((seconds) => seconds ?? 0));
  return durations.map((seconds) => longest > 0 ? Math.max(3, Math.round(((seconds ?? 0) / longest) * room)) : 3);
}

export interface DateMark {
  column: number;
  text: string;
}

/** Where a new day begins, as far as there is room for its name. */
export function dateMarks(dates: (string | null)[], cell: number, room: number): DateMark[] {
  const marks: DateMark[] = [];
  let before = "";
  let free = -Infinity;
  dates.forEach((date, column) => {
    if (date === null || date === before) return;
    before = date;
    if (column * cell < free) return;
    marks.push({ column, text: date.slice(5) });
    free = column * cell + room;
  });
  return marks;
}
