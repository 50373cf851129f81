// What the server says of jobs, queues, pools and hosts.

export interface Job {
  id: string;
  status: string;
  queue: string;
  handler: string;
  namespace: string;
  priority: number;
  payload: unknown;
  result: unknown;
  error: string | null;
  message: string | null;
  reason: string | null;
  exit_code?: number | null;
  claimed_by: string | null;
  actor: string | null;
  attempts: number;
  retries: number;
  retry_delay: number | null;
  timeout: number | null;
  on_lost_lease: string;
  dedupe: string | null;
  created_at: string;
  run_after: string;
  last_update: string;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  cancel_asked: boolean;
  dead: boolean;
}

export interface Letter {
  id: string;
  kind: string;
  name: string;
  queue: string;
  died_at: string;
  reason: string;
  attempts: number;
  message: string | null;
  payload: unknown;
  /** Of a task. */
  run?: string;
  task_id?: string | null;
  map_index?: number;
}

export interface Queue {
  name: string;
  state: string;
  late: boolean;
  paused: boolean;
  priority: number;
  pending: number;
  delayed: number;
  running: number;
  oldest_wait: number | null;
  hosts: number;
  max_running: number;
  max_share: number;
  soft_pending: number;
  hard_pending: number;
}

export interface Pool {
  name: string;
  namespace: string;
  slots: number;
  occupied_slots: number;
  open_slots: number;
  queued_slots: number;
  running: number;
  waiting: number;
  description: string;
}

export interface Limit {
  kind: string;
  name: string;
  max_running: number;
  running: number;
  waiting: number;
}

export interface Host {
  id: string;
  name: string;
  status: string;
  leader: boolean;
  kind: string;
  machine: string | null;
  version: string | null;
  pid: number;
  birth: string;
  last_heartbeat: string | null;
  heartbeat_age: number | null;
  ended_at: string | null;
  slots: number;
  slots_used: number;
  labels: string[];
  queues: string[];
  roles: string[];
}

export const JOB_STATES = ["pending", "delayed", "claimed", "completed", "failed", "cancelled"];
