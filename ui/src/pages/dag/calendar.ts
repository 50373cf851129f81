// A year as months of weeks, and what a day of it looks like.

export interface CalendarDay {
  date: string;
  counts: Record<string, number>;
  total: number;
  planned: number;
}

export interface Month {
  name: string;
  /** Weeks from Monday to Sunday in a row; null where the month has not begun or is over. */
  cells: (string | null)[];
}

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
  "November", "December"];
const DAY_MS = 86_400_000;
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export function monthsOf(year: number): Month[] {
  return MONTHS.map((name, month) => {
    const first = Date.UTC(year, month, 1);
    const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const before = (new Date(first).getUTCDay() + 6) % 7;
    const cells: (string | null)[] = Array.from({ length: before }, () => null);
    for (let day = 0; day < days; day++) cells.push(iso(first + day * DAY_MS));
    while (cells.length % 7 !== 0) cells.push(null);
    return { name, cells };
  });
}

/** Where one begins to look at a year: today, else at the newest day with a run, else at the first. */
export function startOf(year: number, days: CalendarDay[], today: string): string {
  if (today.startsWith(`${year}-`)) return today;
  return days.reduce((newest, day) => (day.total > 0 && day.date > newest ? day.date : newest), `${year}-01-01`);
}

/** The day that a key leads to from another one; null: none of this year, or no such key. */
export function dayAfterKey(date: string, key: string): string | null {
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };
  const at = Date.parse(date + "T00:00:00Z");
  const now = new Date(at);
  let next = NaN;
  if (steps[key] !== undefined) next = at + steps[key] * DAY_MS;
  else if (key === "PageUp" || key === "PageDown") {
    const month = now.getUTCMonth() + (key === "PageUp" ? -1 : 1);
    const days = new Date(Date.UTC(now.getUTCFullYear(), month + 1, 0)).getUTCDate();
    next = Date.UTC(now.getUTCFullYear(), month, Math.min(days, now.getUTCDate()));
  }
  if (Number.isNaN(next) || new Date(next).getUTCFullYear() !== now.getUTCFullYear()) return null;
  return iso(next);
}

// The one that wants most attention first.
const WORST = ["failed", "running", "queued", "cancelled", "success"];

export interface DayLook {
  /** The state that stands for the day; null: no run. */
  state: string | null;
  /** Share of failed runs of those that are over, 0 to 1. */
  failedShare: number;
}

export function lookOfDay(day: CalendarDay | undefined): DayLook {
  const counts = day?.counts ?? {};
  const state = [...WORST, ...Object.keys(counts)].find((name) => (counts[name] ?? 0) > 0) ?? null;
  const over = (counts["failed"] ?? 0) + (counts["success"] ?? 0) + (counts["cancelled"] ?? 0);
  return { state, failedShare: over > 0 ? (counts["failed"] ?? 0) / over : 0 };
}

/** "3 runs: 1 failed, 2 success; 1 planned". */
export function dayText(day: CalendarDay | undefined): string {
  if (!day || (day.total === 0 && day.planned === 0)) return "no run";
  const parts = Object.entries(day.counts).map(([state, count]) => `${count} ${state.replaceAll("_", " ")}`);
  const runs = day.total > 0 ? `${day.total} ${day.total === 1 ? "run" : "runs"}: ${parts.join(", ")}` : "";
  return [runs, day.planned > 0 && `${day.planned} planned`].filter(Boolean).join("; ");
}
