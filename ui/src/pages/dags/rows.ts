// The list of DAGs as plain data: what is in it, what is shown of it, and in which order.

export interface DagRow {
  dag_id: string;
  title: string | null;
  owner: string | null;
  namespace: string;
  tags: string[];
  schedule: unknown;
  status: "active" | "broken" | "rolled_back" | "inactive";
  is_paused: boolean;
  is_scheduled: boolean;
  next_run: string | null;
  last_at: string | null;
  /** Of the last runs, the oldest first: a digit, a number and tenths of a second each. */
  states: string;
  numbers: number[];
  durations: number[];
}

export interface DagRows {
  states: string[];
  dags: DagRow[];
  /** Of those there are, of which perhaps only the first were asked for. */
  total_entries: number;
}

/** As the URL has them. */
export interface DagFilter {
  q: string;
  tag: string;
  owner: string;
  namespace: string;
  state: string;
  sort: string;
}

export const NEVER_RAN = "none";

/** Of the last run. */
export function lastState(row: DagRow, states: string[]): string {
  const digit = row.states[row.states.length - 1];
  return digit === undefined ? NEVER_RAN : (states[Number(digit)] ?? NEVER_RAN);
}

function hasState(row: DagRow, state: string, states: string[]): boolean {
  switch (state) {
    case "": return true;
    case "paused": return row.is_paused;
    case "scheduled": return row.is_scheduled;
    case "broken": return row.status === "broken";
    default: return lastState(row, states) === state;
  }
}

function hasText(row: DagRow, words: string[]): boolean {
  const text = `${row.dag_id} ${row.title ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

const byName = (a: DagRow, b: DagRow): number => (a.dag_id < b.dag_id ? -1 : a.dag_id > b.dag_id ? 1 : 0);

/** Those without an instant come last, whichever way it is sorted. */
function byInstant(a: string | null, b: string | null, sign: number): number {
  if (a === b) return 0;
  if (!a || !b) return a ? -1 : 1;
  return a < b ? -sign : sign;
}

const ORDERS: Record<string, (a: DagRow, b: DagRow) => number> = {
  "": byName,
  "-name": (a, b) => byName(b, a),
  last: (a, b) => byInstant(a.last_at, b.last_at, -1) || byName(a, b),
  next: (a, b) => byInstant(a.next_run, b.next_run, 1) || byName(a, b),
};

export function shownRows(rows: DagRow[], filter: DagFilter, states: string[]): DagRow[] {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) =>
    hasText(row, words) && (!filter.tag || row.tags.includes(filter.tag)) &&
    (!filter.owner || row.owner === filter.owner) && (!filter.namespace || row.namespace === filter.namespace) &&
    hasState(row, filter.state, states));
  return found.sort(ORDERS[filter.sort] ?? byName);
}

/** Which of them a change for all of them would change: not those that are so already, nor those of others. */
export function toPause(rows: DagRow[], isPause: boolean, isAllowed: (row: DagRow) => boolean): DagRow[] {
  return rows.filter((row) => row.is_paused !== isPause && isAllowed(row));
}

/** What can be chosen, with how many have it, by name. */
export function facets(rows: DagRow[], of: (row: DagRow) => (string | null)[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows)
    for (const value of of(row)) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Something that is shown before the server has told it. */
export interface Guess {
  dag: string;
  part: Partial<DagRow>;
  /** When the server had agreed: what is asked for later has it. */
  agreedAt: number;
}

/** What is known of DAGs beside the list of all of them. */
export interface Known {
  /** Asked for one by one, and when; no row: it is gone. */
  fresh: ReadonlyMap<string, { row: DagRow | undefined; askedAt: number }>;
  guesses: readonly Guess[];
}

export const NOTHING_KNOWN: Known = { fresh: new Map(), guesses: [] };

/** An answer about some DAGs came. */
export function withAnswer(known: Known, asked: string[], answer: DagRow[], askedAt: number): Known {
  const rows = new Map(answer.map((row) => [row.dag_id, row]));
  const fresh = new Map(known.fresh);
  for (const dag of asked) fresh.set(dag, { row: rows.get(dag), askedAt });
  return { fresh, guesses: known.guesses.filter(({ dag, agreedAt }) => agreedAt >= (fresh.get(dag)?.askedAt ?? 0)) };
}

/** A guess instead of an earlier one; nothing instead: it was wrong. */
export function withGuess(known: Known, old: Guess | null, guess: Guess | null): Known {
  const others = known.guesses.filter((one) => one !== old);
  return { ...known, guesses: guess ? [...others, guess] : others };
}

/** Of each DAG what was asked for last, whichever answer came last, with what is guessed of it. */
export function currentRows(all: DagRow[], askedAt: number, known: Known): DagRow[] {
  const fresh = new Map([...known.fresh].filter(([, one]) => one.askedAt > askedAt));
  const ageOf = (dag: string): number => fresh.get(dag)?.askedAt ?? askedAt;
  const guesses = known.guesses.filter((guess) => guess.agreedAt >= ageOf(guess.dag));
  if (fresh.size === 0 && guesses.length === 0) return all;
  const old = new Set(all.map((row) => row.dag_id));
  const added = [...fresh.values()].flatMap(({ row }) => (row && !old.has(row.dag_id) ? [row] : []));
  const rows = all.flatMap((row) => {
    const other = fresh.get(row.dag_id);
    return !other ? [row] : other.row ? [other.row] : [];
  }).concat(added);
  for (const { dag, part } of guesses) {
    const at = rows.findIndex((row) => row.dag_id === dag);
    if (at >= 0) rows[at] = { ...rows[at]!, ...part };
  }
  return added.length > 0 ? rows.sort(byName) : rows;
}

export interface Window {
  first: number;
  last: number;
}

/** Which of `count` rows of one height are to be drawn; `top` is where the list begins on the screen. */
export function windowOf(count: number, height: number, top: number, screen: number, spare: number): Window {
  const first = Math.max(0, Math.floor(-top / height) - spare);
  const last = Math.min(count, Math.ceil((screen - top) / height) + spare);
  return { first: Math.min(first, count), last: Math.max(last, Math.min(first, count)) };
}

/** Whether what is drawn may stay: it has what is wanted, and not much more. */
export function isEnough(drawn: Window, wanted: Window): boolean {
  const spare = drawn.last - drawn.first - (wanted.last - wanted.first);
  return drawn.first <= wanted.first && drawn.last >= wanted.last && spare <= wanted.last - wanted.first;
}

/** Heights of bars in percent, by how long each run took; short ones stay visible. */
export function barHeights(durations: number[]): number[] {
  const most = Math.max(1, ...durations);
  return durations.map((tenths) => (tenths < 0 ? 12 : Math.round(20 + 80 * Math.sqrt(tenths / most))));
}
