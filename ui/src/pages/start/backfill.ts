// A backfill as the server tells it, and what its bar is made of.

export interface Backfill {
  backfill: string;
  dag_id: string;
  dag_version: number;
  state: string;
  held_because?: string | null;
  from: string;
  to: string;
  order: string;
  redo: string;
  max_active: number;
  queue: string | null;
  params: Record<string, unknown>;
  conf: Record<string, unknown>;
  tasks: string[];
  note: string;
  reason: string;
  actor: string;
  size: number;
  left: number;
  active: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  created: number;
  redone: number;
  kept: number;
  created_at: string;
  start_date: string | null;
  end_date: string | null;
  estimate_left?: number | null;
  left_out?: string | null;
  dates?: BackfillDate[];
}

export interface BackfillDate {
  logical_date: string;
  action: string;
  run?: string | null;
  dag_run_id?: string | null;
  state: string | null;
}

export interface Plan {
  dag_id: string;
  size: number;
  from: string;
  to: string;
  max_active: number;
  tasks_total: number;
  left_out: string | null;
  to_create: number;
  to_redo: number;
  to_keep: number;
  existing: Record<string, number>;
  usual_duration: number | null;
  estimate: number | null;
  needs_approval: boolean;
  dates: { logical_date: string; action: string; state: string | null }[];
}

export const OVER = ["success", "failed", "cancelled"];
export const isOver = (backfill: Backfill): boolean => OVER.includes(backfill.state);

export interface Segment {
  name: string;
  /** Of lookOf. */
  state: string;
  count: number;
}

export function segmentsOf(backfill: Backfill): Segment[] {
  return [
    { name: "succeeded", state: "success", count: backfill.succeeded },
    { name: "failed", state: "failed", count: backfill.failed },
    { name: "cancelled", state: "cancelled", count: backfill.cancelled },
    { name: "left as they were", state: "skipped", count: backfill.kept },
    { name: "running", state: "running", count: backfill.active },
    { name: "to come", state: "none", count: backfill.left },
  ].filter((segment) => segment.count > 0);
}

/** How much is over, of 100. */
export function percentOf(backfill: Backfill): number {
  if (backfill.size === 0) return 100;
  const done = backfill.succeeded + backfill.failed + backfill.cancelled + backfill.kept;
  return Math.min(100, Math.floor((100 * done) / backfill.size));
}

/** Seconds until the end, at the pace so far; null: nothing is known. */
export function secondsLeft(backfill: Backfill, now: number): number | null {
  if (isOver(backfill) || backfill.state === "paused" || !backfill.start_date) return null;
  if (backfill.estimate_left) return backfill.estimate_left;
  const done = backfill.succeeded + backfill.failed + backfill.cancelled;
  if (done === 0) return null;
  return ((now - Date.parse(backfill.start_date)) / 1000 / done) * (backfill.active + backfill.left);
}

/** A logical date: the day alone at midnight. */
export function dateText(instant: string): string {
  return instant.replace("T00:00:00Z", "").replace("T", " ").replace(/(:00)?(\.\d+)?Z$/, "");
}

/** A range of dates, the days alone where they are whole days. */
export function rangeText(from: string, to: string): string {
  const day = (instant: string): string =>
    /T00:00:00(\.0+)?Z$|T23:59:59(\.9+)?Z$/.test(instant) ? instant.slice(0, 10)
      : instant.slice(0, 16).replace("T", " ");
  return `${day(from)} to ${day(to)}`;
}
