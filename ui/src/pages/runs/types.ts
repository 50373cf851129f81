// What the server tells of runs and their tasks.

export interface Run {
  number: string;
  dag_id: string;
  dag_run_id: string;
  state: string;
  reason?: string | null;
  stopped_by?: string | null;
  stop_reason?: string | null;
  replaced_by?: string | null;
  waits_because?: string | null;
  run_type: string;
  late?: boolean | null;
  logical_date?: string | null;
  data_interval_start?: string | null;
  data_interval_end?: string | null;
  queued_at: string;
  start_date?: string | null;
  end_date?: string | null;
  duration?: number | null;
  tasks_total?: number;
  counts?: Record<string, number>;
  params?: Record<string, unknown>;
  conf?: Record<string, unknown>;
  note?: string | null;
  dag_version: number | null;
  namespace?: string;
  file?: string | null;
  actor?: string | null;
  caused_by?: { uri?: string; dag_id?: string; number?: string }[] | null;
}

export interface TaskInstance {
  number: string;
  dag_id: string;
  dag_run_id: string;
  task_id: string;
  map_index: number;
  label?: string | null;
  state: string | null;
  try_number: number;
  max_tries: number;
  retries_left: number;
  queued_when?: string | null;
  start_date?: string | null;
  end_date?: string | null;
  duration?: number | null;
  next_retry?: string | null;
  operator: string;
  reason?: string | null;
  message?: string | null;
  exit_code?: number | null;
  signal?: string | number | null;
  queue: string;
  pool?: string | null;
  hostname?: string | null;
  pid?: number | null;
  note?: string | null;
  is_mapped: boolean;
  instances?: { total: number; success: number; failed: number; skipped: number };
  log_bytes: number;
  cpu_ms: number;
  rss_kb: number;
}

export interface TaskList {
  task_instances: TaskInstance[];
  total_entries: number;
}

export const isRunOver = (state: string): boolean => state === "success" || state === "failed" || state === "cancelled";

/** An instance of a mapped task, not the task itself. */
export const isInstance = (task: TaskInstance): boolean => task.map_index >= 0;
/** A mapped task: it has no log and no outcome of its own. */
export const isFolder = (task: TaskInstance): boolean => task.is_mapped && task.map_index < 0;

export const taskName = (task: { task_id: string; map_index: number; label?: string | null }): string =>
  task.map_index < 0 ? task.task_id : `${task.task_id} [${task.label ?? task.map_index}]`;

/** Worst first, then what goes on, then what is to come; stable otherwise. */
const RANK: Record<string, number> = { failed: 0, up_for_retry: 1, awaiting_input: 2, running: 3, upstream_failed: 4 };
export const rankOf = (state: string | null): number => RANK[state ?? "none"] ?? 9;
