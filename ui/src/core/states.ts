// The states of tasks, runs and jobs: a word, a colour and a shape each, so that none is told by
// colour alone. Shapes are drawn on 16 x 16, by SVG as well as on a canvas.

export interface StateLook {
  word: string;
  /** CSS variable --s-NAME. */
  colour: string;
  /** Filled when `isFilled`, else a line. */
  shape: string;
  isFilled?: boolean;
  isOver: boolean;
}

const CHECK = "M3.5 8.5 6.5 11.5 12.5 4.5";
const CROSS = "M4 4 12 12M12 4 4 12";
const PLAY = "M5.5 3.5 12.5 8 5.5 12.5Z";
const RING = "M8 3.5A4.5 4.5 0 1 1 7.99 3.5";
const DOTS = "M3.5 8h.01M8 8h.01M12.5 8h.01";
const SKIP = "M3 8h7M7.5 5 10.5 8 7.5 11M13 4.5v7";
const AGAIN = "M12.5 6A5 5 0 1 0 13 9.5M12.8 2.8V6H9.6";
const PAUSE = "M5.5 4v8M10.5 4v8";
const STOP = "M4.5 4.5h7v7h-7Z";
const UP = "M8 13V4M4.5 7.5 8 4 11.5 7.5";
const HAND = "M8 3v6M8 12.5v.01";
const CLOCK = "M8 3.5A4.5 4.5 0 1 1 7.99 3.5M8 5.5V8.2L10 9.5";
const DASH = "M4.5 8h7";

const LOOKS: Record<string, StateLook> = {
  none: { word: "not decided", colour: "none", shape: DASH, isOver: false },
  scheduled: { word: "scheduled", colour: "queued", shape: CLOCK, isOver: false },
  queued: { word: "queued", colour: "queued", shape: DOTS, isOver: false },
  waiting: { word: "waiting", colour: "queued", shape: DOTS, isOver: false },
  running: { word: "running", colour: "running", shape: PLAY, isFilled: true, isOver: false },
  success: { word: "success", colour: "success", shape: CHECK, isOver: true },
  failed: { word: "failed", colour: "failed", shape: CROSS, isOver: true },
  skipped: { word: "skipped", colour: "skipped", shape: SKIP, isOver: true },
  upstream_failed: { word: "upstream failed", colour: "upstream", shape: UP, isOver: true },
  up_for_retry: { word: "up for retry", colour: "retry", shape: AGAIN, isOver: false },
  up_for_reschedule: { word: "looks again", colour: "retry", shape: CLOCK, isOver: false },
  deferred: { word: "deferred", colour: "deferred", shape: PAUSE, isOver: false },
  awaiting_input: { word: "awaits input", colour: "deferred", shape: HAND, isOver: false },
  cancelled: { word: "cancelled", colour: "cancelled", shape: STOP, isFilled: true, isOver: true },
  removed: { word: "removed", colour: "none", shape: DASH, isOver: true },
  // of jobs
  pending: { word: "pending", colour: "queued", shape: DOTS, isOver: false },
  delayed: { word: "delayed", colour: "retry", shape: CLOCK, isOver: false },
  claimed: { word: "running", colour: "running", shape: PLAY, isFilled: true, isOver: false },
  completed: { word: "completed", colour: "success", shape: CHECK, isOver: true },
  // of hosts, queues, backfills and checks
  active: { word: "active", colour: "success", shape: CHECK, isOver: false },
  draining: { word: "draining", colour: "retry", shape: PAUSE, isOver: false },
  lost: { word: "lost", colour: "failed", shape: CROSS, isOver: true },
  ended: { word: "ended", colour: "none", shape: STOP, isOver: true },
  awaiting_approval: { word: "awaits approval", colour: "deferred", shape: HAND, isOver: false },
  cancelling: { word: "cancelling", colour: "cancelled", shape: STOP, isOver: false },
  paused: { word: "paused", colour: "deferred", shape: PAUSE, isOver: false },
  late: { word: "late", colour: "failed", shape: CLOCK, isOver: false },
};

const UNKNOWN: StateLook = { word: "", colour: "none", shape: RING, isOver: false };

export function lookOf(state: string | null | undefined): StateLook {
  const name = state ?? "none";
  return LOOKS[name] ?? { ...UNKNOWN, word: name.replaceAll("_", " ") };
}

export const TASK_STATES = ["none", "scheduled", "queued", "running", "success", "failed", "skipped",
  "upstream_failed", "up_for_retry", "up_for_reschedule", "deferred", "awaiting_input", "cancelled"];
export const RUN_STATES = ["queued", "running", "success", "failed", "cancelled"];
