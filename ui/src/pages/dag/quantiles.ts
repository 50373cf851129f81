// Durations in numbers: quantiles, over all and over the last few.

/** Of values in any order, between the two nearest; null of none. */
export function quantile(values: number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)]!;
  const high = sorted[Math.ceil(at)]!;
  return low + (high - low) * (at - Math.floor(at));
}

/** At each place the quantile of the `count` values until there; null is no value. */
export function rollingQuantile(values: (number | null)[], share: number, count: number): (number | null)[] {
  const last: number[] = [];
  return values.map((value) => {
    if (value !== null) {
      last.push(value);
      if (last.length > count) last.shift();
    }
    return quantile(last, share);
  });
}

export interface Timed {
  number: string;
  /** Of the run, or of a task in it. */
  label: string;
  state: string;
  at: string;
  duration: number | null;
  wait: number | null;
}

export interface Summary {
  count: number;
  failedShare: number | null;
  median: number | null;
  p95: number | null;
  medianWait: number | null;
}

const known = (values: (number | null)[]): number[] => values.filter((value) => value !== null);

export function summaryOf(rows: Timed[]): Summary {
  const over = rows.filter((row) => row.state === "success" || row.state === "failed");
  const failed = over.filter((row) => row.state === "failed").length;
  const good = rows.filter((row) => row.state === "success");
  const durations = known(good.map((row) => row.duration));
  return {
    count: rows.length,
    failedShare: over.length > 0 ? failed / over.length : null,
    median: quantile(durations, 0.5),
    p95: quantile(durations, 0.95),
    medianWait: quantile(known(rows.map((row) => row.wait)), 0.5),
  };
}

export const WINDOW = 20;

/** Columns for a chart, oldest first: instants in seconds, durations, median, p95, waits. */
export function columnsOf(rows: Timed[]): { rows: Timed[]; data: (number | null)[][] } {
  const sorted = rows.filter((row) => row.duration !== null).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const good = sorted.map((row) => (row.state === "success" ? row.duration : null));
  return {
    rows: sorted,
    data: [
      sorted.map((row) => Date.parse(row.at) / 1000),
      sorted.map((row) => row.duration),
      rollingQuantile(good, 0.5, WINDOW),
      rollingQuantile(good, 0.95, WINDOW),
      sorted.map((row) => row.wait),
    ],
  };
}
