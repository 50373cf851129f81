// All DAGs, loaded once, those on the screen first; then only those are asked for again that something was heard of.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../../core/http";
import { isKept, useLoad, type Loaded } from "../../core/load";
import { place } from "../../core/route";
import { useEvents, type LiveEvent } from "../../core/stream";
import {
  currentRows, lastState, NOTHING_KNOWN, withAnswer, withGuess, type DagRow, type DagRows, type Guess,
} from "./rows";

/** At once, and then not more often. */
const PAUSE_MS = 120;
/** A run that waits starts without an event of the run: it is looked at again. */
const WAITING_MS = 1000;
/** When more DAGs than that have changed, all are asked for. */
const MANY = 100;

class Changes {
  private names = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private askedAt = 0;
  private isBusy = false;
  private isOver = false;

  constructor(
    private readonly tell: (asked: string[], answer: DagRows, askedAt: number) => void,
    private readonly loadAll: () => void,
  ) {}

  add(name: string, wait = 0): void {
    this.names.add(name);
    this.plan(wait);
  }

  private plan(wait = 0): void {
    if (this.isBusy || this.isOver || this.names.size === 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), Math.max(wait, this.askedAt + PAUSE_MS - performance.now()));
  }

  private async ask(): Promise<void> {
    const asked = [...this.names];
    this.names.clear();
    const askedAt = (this.askedAt = performance.now());
    if (asked.length > MANY || asked.some((name) => name.includes(","))) return this.loadAll();
    this.isBusy = true;
    try {
      const answer = await get<DagRows>("/dag-rows", { dags: asked.join(","), all: true });
      const dags = answer.dags.filter((row) => row.status !== "inactive");
      if (!this.isOver) this.tell(asked, { ...answer, dags }, askedAt);
    } catch {
      // the connection tells; everything is loaded again when it is back
    }
    this.isBusy = false;
    this.plan();
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }
}

const ALL = "/dag-rows";
/** More than fit on a screen; asked for ahead of the page, too. */
const FIRST = "/dag-rows?limit=40";

/** What events tell is asked for DAG by DAG. */
const neverAll = (): boolean => false;

/** What is on the screen comes first; then all, unless those were all. */
function useFirstThenAll(): Loaded<DagRows> {
  const [isAll, setAll] = useState(() => place.value.query.size > 0 || isKept(ALL));
  const loaded = useLoad<DagRows>(isAll ? ALL : FIRST, { keep: true, live: neverAll });
  const { data, problem } = loaded;
  useEffect(() => {
    if (problem || (data && data.dags.length < data.total_entries)) setAll(true);
  }, [data, problem]);
  return loaded;
}

/** Shows a change while the server is asked for it; if it was refused, no longer. */
export type ShowChange = <T>(dag: string, part: Partial<DagRow>, change: Promise<T>) => Promise<T>;

export interface LiveRows {
  loaded: Loaded<DagRows>;
  rows: DagRow[];
  states: string[];
  showChange: ShowChange;
}

export function useDagRows(): LiveRows {
  const loaded = useFirstThenAll();
  const { data, askedAt } = loaded;
  const [known, setKnown] = useState(NOTHING_KNOWN);
  const rows = useMemo(() => currentRows(data?.dags ?? [], askedAt, known), [data, askedAt, known]);
  const reload = useRef(loaded.reload);
  reload.current = loaded.reload;
  const changes = useMemo(() => {
    const made: Changes = new Changes((asked, answer, at) => {
      setKnown((old) => withAnswer(old, asked, answer.dags, at));
      for (const row of answer.dags)
        if (lastState(row, answer.states) === "queued") made.add(row.dag_id, WAITING_MS);
    }, () => reload.current());
    return made;
  }, []);
  useEffect(() => () => changes.end(), []);
  useEvents((event: LiveEvent) => {
    if (event.dag_id) changes.add(event.dag_id);
  }, []);
  const showChange: ShowChange = async (dag, part, change) => {
    const guess: Guess = { dag, part, agreedAt: Infinity };
    setKnown((old) => withGuess(old, null, guess));
    try {
      const answer = await change;
      setKnown((old) => withGuess(old, guess, { ...guess, agreedAt: performance.now() }));
      return answer;
    } catch (error) {
      setKnown((old) => withGuess(old, guess, null));
      throw error;
    }
  };
  return { loaded, rows, states: data?.states ?? [], showChange };
}
