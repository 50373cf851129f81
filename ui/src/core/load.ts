// What a page has asked for: the answer, the problem, and when to ask again.
import type { Signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, Problem } from "./http";
import { beginnings, comebacks, useEvents, type LiveEvent } from "./stream";

export interface Loaded<T> {
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  /** When the data was asked for, as performance.now() tells; 0: before this page. */
  askedAt: number;
  reload: () => void;
}

export interface LoadOptions {
  /** Ask again soon after an event for which this is true, and when events begin to be told. */
  live?: (event: LiveEvent) => boolean;
  /** Ask again after so many milliseconds; 0: never. */
  every?: number;
  /** Keep showing the old answer while another path is asked for. */
  keep?: boolean;
}

/** After an event at once, and then not more often than this. */
const PAUSE_MS = 150;
const RETRY_MS = 2000;
const KEPT = 60;

// What was shown last, so that going back shows something at once.
const kept = new Map<string, unknown>();

function keepAnswer(path: string, answer: unknown): void {
  kept.delete(path);
  kept.set(path, answer);
  const oldest = kept.size > KEPT ? kept.keys().next() : undefined;
  if (oldest && !oldest.done) kept.delete(oldest.value);
}

/** Whether something can be shown at once. */
export const isKept = (path: string): boolean => kept.has(path);

/** Forget everything, for somebody else signs in. */
export function forgetAnswers(): void {
  kept.clear();
  early.clear();
}

// Asked for before the page that shows it was there.
const early = new Map<string, { answer: Promise<unknown>; askedAt: number }>();

/** Ask for what a page will show while its code is still on the way. */
export function askAhead(path: string): void {
  const askedAt = performance.now();
  const answer = get(path);
  early.set(path, { answer, askedAt });
  // Of a failure the page tells, which asks again.
  answer.then((data) => keepAnswer(path, data), () => early.delete(path));
}

function takeEarly<T>(path: string): { answer: Promise<T>; askedAt: number } | undefined {
  const taken = early.get(path) as { answer: Promise<T>; askedAt: number } | undefined;
  early.delete(path);
  return taken;
}

/** One path, asked for again and again; each answer is told until it is over. */
export class Asker<T> {
  private abort: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private again = false;
  private askedAt = 0;
  /** It was time to ask, but nobody looked. */
  private isDue = false;
  /** It is not there, or not for us: asking again is of no use until something happens. */
  private isRefused = false;
  private isOver = false;

  constructor(
    readonly path: string,
    private readonly tell: (change: Partial<Loaded<T>>) => void,
    private readonly every: number,
  ) {
    document.addEventListener("visibilitychange", this.look);
  }

  /** Somebody looks at the tab again. */
  private readonly look = (): void => {
    if (!document.hidden && !this.isRefused && (this.isDue || this.every > 0)) this.askSoon();
  };

  async ask(): Promise<void> {
    clearTimeout(this.timer);
    if (this.isOver) return;
    if (this.abort) {
      this.again = true;
      return;
    }
    this.abort = new AbortController();
    this.askedAt = performance.now();
    this.isDue = false;
    let wait = this.every;
    try {
      const taken = takeEarly<T>(this.path);
      const askedAt = taken?.askedAt ?? this.askedAt;
      const data = await (taken?.answer ?? get<T>(this.path, {}, this.abort.signal));
      if (this.isOver) return;
      this.isRefused = false;
      keepAnswer(this.path, data);
      this.tell({ data, problem: undefined, isLoading: false, askedAt });
    } catch (error) {
      if (this.isOver) return;
      if (!(error instanceof Problem)) throw error;
      this.isRefused = error.status === 403 || error.status === 404;
      this.tell({ problem: error, isLoading: false });
      if (error.isUnreachable) wait = RETRY_MS;
      else if (this.isRefused) wait = 0;
    } finally {
      this.abort = null;
    }
    if (this.again) {
      this.again = false;
      this.askSoon();
    } else if (wait > 0) this.timer = setTimeout(() => this.poll(), wait);
  }

  /** A tab that nobody sees asks nothing by itself. */
  private poll(): void {
    if (document.hidden) this.isDue = true;
    else void this.ask();
  }

  askSoon(): void {
    if (this.isOver) return;
    if (this.abort) {
      this.again = true;
      return;
    }
    const wait = Math.max(0, this.askedAt + PAUSE_MS - performance.now());
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), wait);
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.look);
    this.abort?.abort();
  }
}

/** Calls when the count goes up, not for what it is already. */
function whenMore(count: Signal<number>, call: () => void): () => void {
  const before = count.peek();
  return count.subscribe((now) => now > before && call());
}

/** The answer to a GET, kept fresh; a null path asks nothing. */
export function useLoad<T>(path: string | null, options: LoadOptions = {}): Loaded<T> {
  const [, redraw] = useState(0);
  const asker = useRef<Asker<T> | null>(null);
  const shown = useRef<{ path: string | null; state: Omit<Loaded<T>, "reload"> }>({
    path: null,
    state: { data: undefined, problem: undefined, isLoading: path !== null, askedAt: 0 },
  });
  if (shown.current.path !== path) {
    const known = path === null ? undefined : (kept.get(path) as T | undefined);
    const old = options.keep ? shown.current.state : undefined;
    const askedAt = known ? 0 : (old?.askedAt ?? 0);
    const data = known ?? old?.data;
    shown.current = { path, state: { data, problem: undefined, isLoading: path !== null, askedAt } };
  }
  // Not after the frame that has nothing to show yet.
  useLayoutEffect(() => {
    if (path === null) return;
    const made = new Asker<T>(path, (change) => {
      // Drawn for another path meanwhile, it would be shown as the answer to that.
      if (shown.current.path !== path) return;
      Object.assign(shown.current.state, change);
      redraw((count) => count + 1);
    }, options.every ?? 0);
    asker.current = made;
    void made.ask();
    const stops = [whenMore(comebacks, () => made.askSoon())];
    if (options.live) stops.push(whenMore(beginnings, () => made.askSoon()));
    return () => {
      for (const stop of stops) stop();
      made.end();
      if (asker.current === made) asker.current = null;
    };
  }, [path, options.every, !options.live]);
  useEvents((event) => {
    if (options.live?.(event)) asker.current?.askSoon();
  }, [path, options.live]);
  return { ...shown.current.state, reload: () => void asker.current?.ask() };
}
