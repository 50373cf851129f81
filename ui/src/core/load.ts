// What a page has asked for: the answer, the problem, and when to ask again.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem } from "./http";
import { comebacks, useEvents, type LiveEvent } from "./stream";

export interface Loaded<T> {
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  reload: () => void;
}

export interface LoadOptions {
  /** Ask again soon after an event for which this is true. */
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

/** Forget everything, for somebody else signs in. */
export function forgetAnswers(): void {
  kept.clear();
}

class Asker<T> {
  private abort: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private again = false;
  private askedAt = 0;
  isOver = false;

  constructor(
    readonly path: string,
    private readonly tell: (change: Partial<Loaded<T>>) => void,
    private readonly every: number,
  ) {}

  async ask(): Promise<void> {
    clearTimeout(this.timer);
    if (this.abort) {
      this.again = true;
      return;
    }
    this.abort = new AbortController();
    this.askedAt = performance.now();
    let wait = this.every;
    try {
      const data = await get<T>(this.path, {}, this.abort.signal);
      if (this.isOver) return;
      keepAnswer(this.path, data);
      this.tell({ data, problem: undefined, isLoading: false });
    } catch (error) {
      if (this.isOver) return;
      if (!(error instanceof Problem)) throw error;
      this.tell({ problem: error, isLoading: false });
      if (error.isUnreachable) wait = RETRY_MS;
    } finally {
      this.abort = null;
    }
    if (this.again) {
      this.again = false;
      this.askSoon();
    } else if (wait > 0) this.timer = setTimeout(() => void this.ask(), wait);
  }

  askSoon(): void {
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
    this.abort?.abort();
  }
}

/** The answer to a GET, kept fresh; a null path asks nothing. */
export function useLoad<T>(path: string | null, options: LoadOptions = {}): Loaded<T> {
  const [, redraw] = useState(0);
  const asker = useRef<Asker<T> | null>(null);
  const shown = useRef<{ path: string | null; state: Omit<Loaded<T>, "reload"> }>({
    path: null,
    state: { data: undefined, problem: undefined, isLoading: path !== null },
  });
  if (shown.current.path !== path) {
    const known = path === null ? undefined : (kept.get(path) as T | undefined);
    const old = options.keep ? shown.current.state.data : undefined;
    shown.current = { path, state: { data: known ?? old, problem: undefined, isLoading: path !== null } };
  }
  useEffect(() => {
    if (path === null) return;
    const made = new Asker<T>(path, (change) => {
      Object.assign(shown.current.state, change);
      redraw((count) => count + 1);
    }, options.every ?? 0);
    asker.current = made;
    void made.ask();
    const stop = comebacks.subscribe((count) => count > 0 && made.askSoon());
    return () => {
      stop();
      made.end();
    };
  }, [path, options.every]);
  useEvents((event) => {
    if (options.live?.(event)) asker.current?.askSoon();
  }, [path, options.live]);
  return { ...shown.current.state, reload: () => void asker.current?.ask() };
}
