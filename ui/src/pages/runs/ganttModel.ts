// When tasks of a run waited and ran, and which of them decided when it ended. Pure.

export interface Attempt {
  try_number: number;
  state: string;
  start_date?: string | null;
  end_date?: string | null;
}

export interface Bar {
  task_id: string;
  map_index: number;
  label?: string | null;
  state: string | null;
  try_number: number;
  queued_when?: string | null;
  start_date?: string | null;
  end_date?: string | null;
  attempts: Attempt[];
}

export interface Segment {
  kind: "queued" | "ran" | "earlier";
  state: string | null;
  from: number;
  to: number;
  tryNumber: number;
}

const at = (instant: string | null | undefined): number | null => (instant ? Date.parse(instant) : null);

/** The parts of a row, in the order of time: earlier tries, waiting, running. */
export function segmentsOf(bar: Bar, now: number): Segment[] {
  const segments: Segment[] = [];
  for (const attempt of bar.attempts) {
    const from = at(attempt.start_date);
    if (from === null || attempt.try_number >= bar.try_number) continue;
    segments.push({ kind: "earlier", state: attempt.state, from, to: at(attempt.end_date) ?? from,
      tryNumber: attempt.try_number });
  }
  const start = at(bar.start_date);
  const end = at(bar.end_date) ?? now;
  const queued = at(bar.queued_when);
  if (queued !== null && (start === null || start > queued))
    segments.push({ kind: "queued", state: "queued", from: queued, to: start ?? end, tryNumber: bar.try_number });
  if (start !== null) segments.push({ kind: "ran", state: bar.state, from: start, to: Math.max(start, end),
    tryNumber: bar.try_number });
  return segments;
}

export interface Span {
  from: number;
  to: number;
}

export function spanOf(bars: Bar[], began: number, now: number): Span {
  let to = began;
  for (const bar of bars) for (const segment of segmentsOf(bar, now)) to = Math.max(to, segment.to);
  // Room for what is written behind the last bar.
  return { from: began, to: began + 1.02 * Math.max(to - began, 1) };
}

const keyOf = (bar: { task_id: string; map_index: number }): string => `${bar.task_id}\n${bar.map_index}`;

/**
 * The chain that decided when the run ended: from what ended last back to that of what it needs
 * which ended last, and so on. Keys as `barKey` makes them.
 */
export function criticalPath(bars: Bar[], needs: Map<string, string[]>, now: number): Set<string> {
  const last = new Map<string, { bar: Bar; end: number }>();
  for (const bar of bars) {
    if (!bar.start_date) continue;
    const end = at(bar.end_date) ?? now;
    const known = last.get(bar.task_id);
    // An instance says more than the mapped task that it is of.
    if (!known || end > known.end || (end === known.end && bar.map_index > known.bar.map_index))
      last.set(bar.task_id, { bar, end });
  }
  const latest = (tasks: Iterable<string>): { bar: Bar; end: number } | null => {
    let best: { bar: Bar; end: number } | null = null;
    for (const task of tasks) {
      const one = last.get(task);
      if (one && (!best || one.end > best.end)) best = one;
    }
    return best;
  };
  const path = new Set<string>();
  for (let one = latest(last.keys()); one && !path.has(keyOf(one.bar)); one = latest(needs.get(one.bar.task_id) ?? []))
    path.add(keyOf(one.bar));
  return path;
}

export const barKey = keyOf;

const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3,
  1800e3, 3600e3,
  7200e3, 14400e3, 21600e3, 43200e3, 86400e3, 172800e3, 604800e3];

/** At most `most` marks at round instants. */
export function ticksOf(span: Span, most: number): number[] {
  const step = STEPS_MS.find((each) => (span.to - span.from) / each <= most) ?? 604800e3;
  const ticks: number[] = [];
  for (let tick = Math.ceil(span.from / step) * step; tick <= span.to && ticks.length <= most; tick += step)
    ticks.push(tick);
  return ticks;
}

/** The rows to draw of so many, with a few more on either side. */
export function rowWindow(
  scrollTop: number, height: number, rowHeight: number, count: number, more = 10,
): { first: number; last: number } {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - more);
  return { first, last: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + more) };
}
