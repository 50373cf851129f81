// One stream of events per tab. A page says what it looks at (its scope); parts of it listen.
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { apiUrl, type Query } from "./http";
import { loadMe, me } from "./session";

export interface LiveEvent {
  id?: string;
  at: string;
  kind: string;
  state?: string | null;
  namespace?: string | null;
  dag_id?: string | null;
  dag_run_id?: string | null;
  number?: string | null;
  task_id?: string | null;
  map_index?: number;
  attempt?: number;
  reason?: string | null;
}

export interface Scope {
  dag?: string;
  run?: string;
  /** With commas; a word stands for all that begin with it: "run", "dag". */
  kinds?: string;
}

export type Connection = "waiting" | "live" | "lost";
export const connection = signal<Connection>("waiting");
/** Counts up when what is shown may be old: a lost connection is back, or too much happened. */
export const comebacks = signal(0);
/** Counts up when a stream began from nowhere: what happened since the page asked and before this was not told. */
export const beginnings = signal(0);

/** Of pages that say nothing else: few, and enough for lists. */
const USUAL: Scope = { kinds: "run,dag" };
const scope = signal<Scope>(USUAL);
const listeners = new Set<(event: LiveEvent) => void>();
const RETRY_MS = [500, 1000, 2000, 5000];
/** Another stream goes on where the last one was, unless that is so long ago that it would have much to tell. */
const GOES_ON_MS = 60_000;

let source: EventSource | null = null;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
/** The newest id that was heard, and when. */
let heard = { id: "", at: 0 };

function note({ lastEventId: id }: MessageEvent): void {
  if (id && id !== heard.id) heard = { id, at: performance.now() };
}

function cursor(): string | null {
  return heard.id && performance.now() - heard.at < GOES_ON_MS ? heard.id : null;
}

function close(): void {
  clearTimeout(retry);
  source?.close();
  source = null;
}

function lose(): void {
  if (connection.value === "live") connection.value = "lost";
  else if (failures > 0) connection.value = "lost";
}

function isBack(): void {
  if (connection.value === "lost") comebacks.value++;
  failures = 0;
  connection.value = "live";
}

function hear(message: MessageEvent): void {
  note(message);
  const event = JSON.parse(message.data as string) as LiveEvent & { more?: boolean };
  if (event.more) comebacks.value++;
  else for (const listener of listeners) listener(event);
}

function open(wanted: Scope): void {
  close();
  const starts = wanted.dag || wanted.run ? true : null;
  const from = cursor();
  const opened = new EventSource(apiUrl("/events", { ...wanted, starts, cursor: from } as Query));
  source = opened;
  opened.onopen = isBack;
  opened.onmessage = hear;
  opened.addEventListener("task.started", hear);
  let isNew = from === null;
  opened.addEventListener("ready", (message) => {
    note(message);
    if (isNew) beginnings.value++;
    isNew = false; // the browser comes back by itself with the id
  });
  // What was missed is not told again: everything shown is asked for anew.
  opened.addEventListener("reset", (message) => {
    note(message);
    comebacks.value++;
  });
  opened.addEventListener("dropped", note);
  opened.onerror = () => {
    if (source !== opened) return;
    failures++;
    lose();
    // The browser comes back by itself unless the server refused.
    if (opened.readyState !== EventSource.CLOSED) return;
    heard = { id: "", at: 0 }; // perhaps it was this that was refused
    void loadMe();
    retry = setTimeout(() => open(wanted), RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]);
  };
}

let last = "";
effect(() => {
  const wanted = me.value ? scope.value : null;
  const text = JSON.stringify(wanted);
  if (text === last) return;
  last = text;
  if (wanted) return open(wanted);
  close();
  heard = { id: "", at: 0 };
});

/** Events of this are told from now on; null: those of pages that say nothing else. */
export function lookAt(wanted: Scope | null): void {
  scope.value = wanted ?? USUAL;
}

/** What this page is about; undefined members: all. Changes of others are not told. */
export function useScope(wanted: Scope): void {
  useEffect(() => {
    lookAt(wanted);
    return () => lookAt(null);
  }, [wanted.dag, wanted.run, wanted.kinds]);
}

export function useEvents(listener: (event: LiveEvent) => void, deps: unknown[] = []): void {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, deps);
}
