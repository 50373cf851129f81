// What stands on the first page, as plain data: what is wrong, and words for it.

export interface HomeRun {
  number: string;
  dag_id: string;
  dag_run_id: string;
  namespace: string;
  state: string;
  run_type: string;
  queued_at: string;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  tasks_total: number;
  tasks_left: number;
}

export interface FailingRun extends HomeRun {
  task_id: string | null;
  map_index: number | null;
  label: string | null;
  try_number: number | null;
  exit_code: number | null;
  signal: number | null;
  reason: string | null;
  message: string | null;
}

export interface LateRun extends HomeRun {
  expected: string;
  misses: number;
}

export interface Host {
  id: string;
  name: string;
  status: string;
  slots: number;
  slots_used: number;
}

export interface Queue {
  name: string;
  state: string;
  late: boolean;
  pending: number;
  running: number;
  delayed: number;
  soft_pending: number;
  hard_pending: number;
}

export interface Pool {
  name: string;
  slots: number;
  occupied_slots: number;
  queued_slots: number;
}

export interface Hours {
  begin: string;
  waited: number[];
  ran: number[];
  success: number[];
  failed: number[];
  late: number[];
}

export interface Home {
  now: string;
  since: string;
  runs: Record<string, number>;
  hours: Hours;
  active: HomeRun[];
  failing: FailingRun[];
  late: LateRun[];
  dags: { total: number; active: number; paused: number };
  next: { dag_id: string; run_after: string }[];
  hosts: Host[];
  hosts_lost: string[];
  pools: Pool[];
  queues: Queue[];
  import_errors: number;
  dead_letters: number;
}

export interface Alert {
  kind: string;
  text: string;
  href: string;
  isBad: boolean;
}

const plural = (count: number, one: string, many = one + "s"): string => `${count} ${count === 1 ? one : many}`;
const named = (names: string[], most = 3): string =>
  names.slice(0, most).join(", ") + (names.length > most ? ` and ${names.length - most} more` : "");

/** How many lists of the server hold at most: then there may be more. */
const SHOWN = 20;
const atLeast = (count: number): string => (count >= SHOWN ? `${count} or more` : String(count));

function queueAlerts(queues: Queue[]): Alert[] {
  const alerts: Alert[] = [];
  const unserved = queues.filter((queue) => queue.state === "NOT_READY" && queue.pending > 0);
  const full = queues.filter((queue) => queue.hard_pending > 0 && queue.pending >= queue.hard_pending);
  const isLong = (queue: Queue): boolean => queue.soft_pending > 0 && queue.pending > queue.soft_pending;
  const long = queues.filter((queue) => isLong(queue) && !full.includes(queue));
  const slow = queues.filter((queue) => queue.late && !unserved.includes(queue));
  const add = (list: Queue[], what: string, isBad: boolean) => {
    const text = `${what}: ${named(list.map((queue) => queue.name))}`;
    if (list.length > 0) alerts.push({ kind: "queues", text, href: "/queues", isBad });
  };
  add(unserved, "no host serves", true);
  add(full, "full, new jobs are refused", true);
  add(long, "longer than their bound", false);
  add(slow, "work waits for long", false);
  return alerts;
}

/** What somebody should look at, the worst first. */
export function alertsOf(home: Home): Alert[] {
  const alerts: Alert[] = [];
  const lost = [...home.hosts_lost, ...home.hosts.filter((host) => host.status === "expired").map((host) => host.name)];
  const add = (kind: string, count: number, text: string, href: string, isBad = true) => {
    if (count > 0) alerts.push({ kind, text, href, isBad });
  };
  const failing = home.failing.length;
  add("failing", failing, failing === 1 ? "1 DAG fails" : `${atLeast(failing)} DAGs fail`, "/dags?state=failed");
  add("errors", home.import_errors, `${plural(home.import_errors, "DAG file")} with problems`, "/errors");
  add("hosts", lost.length, `${plural(lost.length, "host")} lost: ${named(lost)}`, "/hosts");
  alerts.push(...queueAlerts(home.queues));
  const late = home.late.length;
  add("late", late, late === 1 ? "1 run is late" : `${atLeast(late)} runs are late`, "/sla");
  add("dead", home.dead_letters, plural(home.dead_letters, "dead letter"), "/dead", false);
  return alerts;
}

export const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

/** Share of the whole in percent; something stays visible. */
export function shareOf(part: number, whole: number): number {
  if (whole <= 0 || part <= 0) return 0;
  return Math.max(2, Math.min(100, (100 * part) / whole));
}

// Colours and other orders to a terminal.
const ORDERS = /\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|.)/g;

/** Why a run failed, in the words of its task where there are any. */
export function whyText(run: FailingRun): string {
  if (run.message) return run.message.replace(ORDERS, "");
  if (!run.task_id) return "no task of it failed";
  if (run.reason === "exit") return `exit code ${run.exit_code}, without a word`;
  if (run.signal) return `ended by signal ${run.signal}, without a word`;
  return (run.reason ?? "it left no message").replaceAll("_", " ");
}

/** Where the task and its log are. */
export function taskPath(run: FailingRun, ...more: string[]): string {
  const names = ["runs", run.number, "tasks", run.task_id ?? "", ...more];
  const path = "/" + names.map(encodeURIComponent).join("/");
  return run.map_index !== null && run.map_index >= 0 ? `${path}?map=${run.map_index}` : path;
}
