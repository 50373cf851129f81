// What events say about tasks and runs that are on the screen.
import type { LiveEvent } from "./stream";
import { lookOf } from "./states";

/** From what is least worth a look; of several tasks the last of these is shown. */
const RANKS = ["removed", "skipped", "success", "cancelled", "none", "scheduled", "queued", "up_for_reschedule",
  "deferred", "running", "up_for_retry", "awaiting_input", "upstream_failed", "failed"];

export function worst(one: string, other: string): string {
  return RANKS.indexOf(other) > RANKS.indexOf(one) ? other : one;
}

export interface Told {
  number: string;
  /** null: of the run itself. */
  task: string | null;
  state: string;
}

/** Of a tab that stays open for days; a start comes seconds after what it is about, not thousands of ends later. */
const KEPT_ENDS = 5000;
const KEPT_TOLD = 5000;

/**
 * The states that events tell, in the order in which they came to be. Starts are told late, after the end
 * of what was short; those are left out.
 */
export class Teller {
  private readonly ended = new Map<string, number>();
  private recent: { told: Told; at: number }[] = [];

  /** null: the event says nothing that a cell shows. */
  hear(event: LiveEvent, now: number): Told | null {
    const told = this.read(event);
    if (!told) return null;
    this.recent.push({ told, at: now });
    if (this.recent.length >= 2 * KEPT_TOLD) this.recent = this.recent.slice(-KEPT_TOLD);
    return told;
  }

  private end(key: string, attempt: number): void {
    this.ended.delete(key); // what is told again is the newest
    this.ended.set(key, attempt);
    const oldest = this.ended.size > KEPT_ENDS ? this.ended.keys().next() : undefined;
    if (oldest && !oldest.done) this.ended.delete(oldest.value);
  }

  private read(event: LiveEvent): Told | null {
    const { number, state, kind } = event;
    if (!number) return null;
    if (kind.startsWith("run_")) return readRun(number, kind, state);
    if (!event.task_id || (event.map_index ?? -1) >= 0 || !kind.startsWith("task_")) return null;
    const key = number + " " + event.task_id;
    if (kind === "task_started") {
      if ((event.attempt ?? 0) <= (this.ended.get(key) ?? -1)) return null;
      return { number, task: event.task_id, state: state ?? "running" };
    }
    if (!state) return null;
    if (kind === "task_cleared") this.ended.delete(key);
    else if (lookOf(state).isOver || kind === "task_retry") this.end(key, event.attempt ?? 0);
    return { number, task: event.task_id, state };
  }

  /** How much is remembered. */
  get size(): number {
    return this.ended.size + this.recent.length;
  }

  /** What was told within the time: an answer that was asked for before may not have it yet. */
  since(at: number): Told[] {
    const first = this.recent.findIndex((one) => one.at >= at);
    this.recent = first < 0 ? [] : this.recent.slice(first);
    return this.recent.map((one) => one.told);
  }
}

function readRun(number: string, kind: string, state: string | null | undefined): Told | null {
  if (kind === "run_admitted" || kind === "run_reopened") return { number, task: null, state: "running" };
  return kind === "run_ended" && state ? { number, task: null, state } : null;
}
