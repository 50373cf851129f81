// Which lines of a log are at hand, and where one stands among them. Pure: no page, no requests.
//
// A place is a line and how many pixels of it are above the top. The scroll bar only says how one
// moves: its own height is bounded, and lines that are wrapped are as high as they need.

export interface Place {
  line: number; // from 1
  px: number;
}

const CHUNK = 250;
/** About 4 MB of text at most, however long the log is. */
const CHUNKS_MAX = 64;
const CHARS_MAX = 2_000_000;

export interface Wanted {
  line: number;
  count: number;
}

/** Lines by their numbers, in chunks; those that were not looked at for longest are let go. */
export class LineStore {
  private readonly chunks = new Map<number, (string | undefined)[]>();
  private chars = 0;
  total = 0;

  get size(): number {
    return this.chars;
  }

  get(line: number): string | undefined {
    return this.chunks.get(Math.floor((line - 1) / CHUNK))?.[(line - 1) % CHUNK];
  }

  put(first: number, lines: string[]): void {
    for (const [i, text] of lines.entries()) {
      const index = Math.floor((first + i - 1) / CHUNK);
      const chunk = this.chunks.get(index) ?? [];
      const at = (first + i - 1) % CHUNK;
      this.chars += text.length - (chunk[at]?.length ?? 0);
      chunk[at] = text;
      this.chunks.delete(index);
      this.chunks.set(index, chunk);
    }
    this.trim();
  }

  /** A line that may have grown. */
  forget(line: number): void {
    const chunk = this.chunks.get(Math.floor((line - 1) / CHUNK));
    const at = (line - 1) % CHUNK;
    if (!chunk || chunk[at] === undefined) return;
    this.chars -= chunk[at].length;
    chunk[at] = undefined;
  }

  clear(): void {
    this.chunks.clear();
    this.chars = 0;
    this.total = 0;
  }

  /** What of the lines from `first` to `last` is not at hand, as one wish; null: nothing. */
  missing(first: number, last: number): Wanted | null {
    const end = Math.min(last, this.total);
    let from = Math.max(1, first);
    while (from <= end && this.get(from) !== undefined) from++;
    if (from > end) return null;
    let to = Math.min(end, from + 2 * CHUNK - 1);
    while (to > from && this.get(to) !== undefined) to--;
    this.touch(first, end);
    return { line: from, count: to - from + 1 };
  }

  private touch(first: number, last: number): void {
    for (let index = Math.floor((first - 1) / CHUNK); index <= Math.floor((last - 1) / CHUNK); index++) {
      const chunk = this.chunks.get(index);
      if (!chunk) continue;
      this.chunks.delete(index);
      this.chunks.set(index, chunk);
    }
  }

  private trim(): void {
    while (this.chunks.size > CHUNKS_MAX || (this.chars > CHARS_MAX && this.chunks.size > 2)) {
      const oldest = this.chunks.keys().next();
      if (oldest.done) return;
      for (const text of this.chunks.get(oldest.value) ?? []) this.chars -= text?.length ?? 0;
      this.chunks.delete(oldest.value);
    }
  }
}

export interface Sheet {
  total: number;
  /** Of what one sees. */
  height: number;
  heightOf: (line: number) => number;
}

/** The place so many pixels further down (or up), within the log. */
export function walk(from: Place, pixels: number, sheet: Sheet): Place {
  let { line } = from;
  let px = from.px + pixels;
  while (px < 0 && line > 1) px += sheet.heightOf(--line);
  while (line < sheet.total && px >= sheet.heightOf(line)) px -= sheet.heightOf(line++);
  return clampPlace({ line, px: Math.max(0, px) }, sheet);
}

/** Where the last line is the lowest that one sees. */
export function endPlace(sheet: Sheet): Place {
  let line = Math.max(1, sheet.total);
  let left = sheet.height - (sheet.total > 0 ? sheet.heightOf(line) : 0);
  while (left > 0 && line > 1) left -= sheet.heightOf(--line);
  return { line, px: Math.max(0, -left) };
}

const isBehind = (one: Place, other: Place): boolean => one.line > other.line ||
  (one.line === other.line && one.px > other.px);

export function clampPlace(at: Place, sheet: Sheet): Place {
  const end = endPlace(sheet);
  return isBehind(at, end) ? end : { line: Math.max(1, Math.min(at.line, Math.max(1, sheet.total))), px: at.px };
}

export function isAtEnd(at: Place, sheet: Sheet): boolean {
  const end = endPlace(sheet);
  return !isBehind(end, at) || (at.line === end.line && end.px - at.px < 4);
}

/** A line somewhat below the top. */
export function placeOf(line: number, sheet: Sheet): Place {
  return walk({ line: Math.max(1, Math.min(line, sheet.total)), px: 0 }, -Math.floor(sheet.height / 3), sheet);
}

/** Lines that one sees, and a few more. */
export function linesInSight(at: Place, sheet: Sheet): { first: number; last: number } {
  let left = sheet.height + at.px;
  let last = at.line;
  while (left > 0 && last < sheet.total) left -= sheet.heightOf(last++);
  return { first: at.line, last: Math.min(sheet.total, last + 1) };
}

/** Browsers know no scroll bar longer than this. */
export const TRACK_MAX = 4_000_000;

/** How high the thing is that the scroll bar scrolls. */
export const trackHeight = (total: number, rowHeight: number): number =>
  Math.min(TRACK_MAX, Math.max(1, total) * rowHeight);

/** Lines above a place, parts of one included. */
const linesTo = (at: Place, sheet: Sheet): number => at.line - 1 + at.px / Math.max(1, sheet.heightOf(at.line));

export function trackOf(at: Place, sheet: Sheet, track: number): number {
  const end = endPlace(sheet);
  const room = Math.max(0, track - sheet.height);
  if (end.line <= 1 && end.px === 0) return 0;
  return Math.max(0, Math.min(room, (room * linesTo(at, sheet)) / Math.max(1e-9, linesTo(end, sheet))));
}

/** Where the handle of the scroll bar was dragged to. */
export function placeAtTrack(scrollTop: number, sheet: Sheet, track: number): Place {
  const end = endPlace(sheet);
  const room = Math.max(1, track - sheet.height);
  const exact = Math.min(1, scrollTop / room) * linesTo(end, sheet);
  const line = 1 + Math.floor(exact);
  return clampPlace({ line, px: (exact - Math.floor(exact)) * sheet.heightOf(line) }, sheet);
}

const isWide = (code: number): boolean => code >= 0x1100 &&
  (code <= 0x115f || (code >= 0x2e80 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xff60));

/** How many rows of so many letters a line takes when it is wrapped. */
export function rowsOf(text: string | undefined, columns: number): number {
  if (!text || columns <= 0) return 1;
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 9) width += 8 - (width % 8);
    else if (code === 0x1b) i += skipped(text, i);
    else width += isWide(code) ? 2 : 1;
  }
  return Math.max(1, Math.ceil(width / columns));
}

/** Letters of a colour behind its ESC. */
function skipped(text: string, at: number): number {
  const match = /^\x1b\[[0-?]*[ -/]*[@-~]/.exec(text.slice(at, at + 40));
  return match ? match[0].length - 1 : 0;
}

/** "12" or "12-30", as the URL has it. */
export function parseLines(text: string | null | undefined): { from: number; to: number } | null {
  const match = /^L?(\d{1,15})(?:-L?(\d{1,15}))?$/.exec(text ?? "");
  if (!match || Number(match[1]) < 1) return null;
  const [from, to] = [Number(match[1]), Number(match[2] ?? match[1])];
  return from <= to ? { from, to } : { from: to, to: from };
}

/** The hit after `line` (or before it), around the end; null: there is none. */
export function nextHit(hits: number[], line: number, step: 1 | -1): number | null {
  if (hits.length === 0) return null;
  let low = 0;
  let high = hits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((hits[middle] ?? 0) < (step > 0 ? line + 1 : line)) low = middle + 1;
    else high = middle;
  }
  return (step > 0 ? hits[low] ?? hits[0] : hits[low - 1] ?? hits.at(-1)) ?? null;
}
