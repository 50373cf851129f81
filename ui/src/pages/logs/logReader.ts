// Asks for the lines that one sees, for what is added, and for what is searched.
import { signal, type Signal } from "@preact/signals";
import { get, Problem, type Query } from "../../core/http";
import type { Lines } from "./LogTail";
import { LineStore } from "./logWindow";

const TAIL = 200;
const LIVE_MS = 400;
/** Before the first try: that may be long, and its start is told. */
const WAITING_MS = 3000;
const RETRY_MS = 2000;
/** More hits than anybody steps through. */
const HITS_MAX = 100_000;

export interface SearchWish {
  find: string;
  isRegex: boolean;
  isSameCase: boolean;
}

export interface SearchState {
  wish: SearchWish;
  hits: number[];
  /** From 0 to 1. */
  progress: number;
  isDone: boolean;
  problem: Problem | null;
}

interface Found {
  hits: number[];
  reached: number;
  more: boolean;
  size: number;
}

export class LogReader {
  readonly store = new LineStore();
  /** Counts up whenever something else is to be shown. */
  readonly changes: Signal<number> = signal(0);
  readonly head: Signal<Omit<Lines, "text" | "cut"> | null> = signal(null);
  readonly problem: Signal<Problem | null> = signal(null);
  readonly search: Signal<SearchState | null> = signal(null);
  readonly cut = new Map<number, number>();
  isFollowing = true;
  private readonly abort = new AbortController();
  private searchAbort: AbortController | null = null;
  private isAsking = false;
  private again: { first: number; last: number } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private reached = 0;
  private wish: SearchWish | null = null;

  /** `base` as "/runs/12/tasks/load"; `query` says which instance and which try. */
  constructor(private readonly base: string, private readonly query: Query) {}

  begin(): void {
    void this.askTail();
    document.addEventListener("visibilitychange", this.wake);
  }

  end(): void {
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.wake);
    this.abort.abort();
    this.searchAbort?.abort();
  }

  private readonly wake = (): void => {
    if (!document.hidden && this.head.value?.live) this.askLater(0);
  };

  /** Something was heard of whose log it is: perhaps it began, or begins again. */
  look(): void {
    if (this.head.value || this.problem.value) this.askLater(0);
  }

  private askLater(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.askTail(), ms);
  }

  /** The end of the log, or only how long it is while one reads elsewhere. */
  private async askTail(): Promise<void> {
    const count = this.isFollowing || this.store.total === 0 ? TAIL : 0;
    try {
      this.take(await get<Lines>(this.base + "/lines", { ...this.query, count }, this.abort.signal));
      this.problem.value = null;
    } catch (error) {
      if (this.abort.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.problem.value = error;
      if (error.isUnreachable) this.askLater(RETRY_MS);
      return;
    }
    const head = this.head.value;
    if (head?.live && !document.hidden) this.askLater(head.try_number === 0 ? WAITING_MS : LIVE_MS);
  }

  private take(answer: Lines): void {
    const before = this.head.value;
    // Another try has begun: its log is another one.
    if (before && (before.try_number !== answer.try_number || answer.size < before.size)) {
      this.store.clear();
      this.cut.clear();
    }
    const grew = answer.size > (before?.size ?? 0);
    // Whoever does not follow has perhaps a last line that was not whole.
    if (grew && answer.count === 0 && this.store.total > 0) this.store.forget(this.store.total);
    this.store.total = answer.lines;
    if (answer.count > 0) this.store.put(answer.first, answer.text.split("\n"));
    for (const { line, bytes } of answer.cut) this.cut.set(line, bytes);
    const { text: _text, cut: _cut, ...head } = answer;
    this.head.value = head;
    if (grew || !before || before.try_number !== answer.try_number) this.changes.value++;
    if (grew && this.wish && this.search.value?.isDone) void this.goOn(this.wish);
  }

  /** Makes sure that these lines come. */
  want(first: number, last: number): void {
    const wanted = this.store.missing(first, last);
    if (!wanted) return;
    if (this.isAsking) {
      this.again = { first, last };
      return;
    }
    this.isAsking = true;
    get<Lines>(this.base + "/lines", { ...this.query, line: wanted.line, count: wanted.count }, this.abort.signal).then(
      (answer) => {
        const tryNumber = this.head.value?.try_number;
        if (answer.try_number === tryNumber && answer.count > 0) this.store.put(answer.first, answer.text.split("\n"));
        for (const { line, bytes } of answer.cut) this.cut.set(line, bytes);
        this.isAsking = false;
        this.changes.value++;
        const again = this.again ?? (answer.count > 0 ? { first, last } : null);
        this.again = null;
        if (again) this.want(again.first, again.last);
      },
      (error) => {
        this.isAsking = false;
        if (this.abort.signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        this.problem.value = error;
        setTimeout(() => this.changes.value++, RETRY_MS); // whoever still looks there asks again
      });
  }

  find(wish: SearchWish | null): void {
    this.searchAbort?.abort();
    this.wish = wish;
    this.reached = 0;
    this.search.value = wish ? { wish, hits: [], progress: 0, isDone: false, problem: null } : null;
    if (wish) void this.goOn(wish);
  }

  /** Piece by piece: the server searches for a moment at a time. */
  private async goOn(wish: SearchWish): Promise<void> {
    const abort = new AbortController();
    this.searchAbort?.abort();
    this.searchAbort = abort;
    const hits = this.search.value?.hits ?? [];
    try {
      for (let more = true; more && hits.length < HITS_MAX;) {
        const answer: Found = await get<Found>(this.base + "/find", {
          ...this.query, find: wish.find, regex: wish.isRegex || null, ignore_case: !wish.isSameCase || null,
            from: this.reached,
          limit: hits.length === 0 ? 1 : 5000,
        }, abort.signal);
        const last = hits.at(-1) ?? 0;
        for (const line of answer.hits) if (line > last) hits.push(line);
        more = answer.more && answer.reached > this.reached;
        this.reached = answer.reached;
        this.search.value = { wish, hits, progress: answer.size ? answer.reached / answer.size : 1, isDone: !more,
          problem: null };
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.search.value = { wish, hits, progress: 1, isDone: true, problem: error };
    }
  }
}
