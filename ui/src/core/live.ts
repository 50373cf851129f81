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

/**
 * The states that events tell, in the order in which they came to be. Starts are told late, after the end
 * of what was short; those are left out.
 */
export class Teller {
  private readonly ended = new Map<string, number>();
  private readonly recent: { told: Told; at: number }[] = [];

  /** null: the event says nothing that a cell shows. */
  hear(event: LiveEvent, now: number): Told | null {
    const told = this.read(event);
    if (!told) return null;
    this.recent.push({ told, at: now });
    return told;
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
    else if (lookOf(state).isOver || kind === "task_retry") this.ended.set(key, event.attempt ?? 0);
    return { number, task: event.task_id, state };
  }

  /** What was told within the time: an answer that was asked for before may not have it yet. */
  since(at: number): Told[] {
    while (this.recent[0] && this.recent[0].at < at) this.recent.shift();
    return this.recent.map((one) => one.told);
  }
}

function readRun(number: string, kind: string, state: string | null | undefined): Told | null {
  if (kind === "run_admitted" || kind === "run_reopened") return { number, task: null, state: "running" };
  return kind === "run_ended" && state ? { number, task: null, state } : null;
}
