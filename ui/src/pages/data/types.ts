// What the server says of datasets.

export interface AssetEvent {
  id: string;
  timestamp: string;
  source_dag_id: string | null;
  source_run: string | null;
  source_task_id: string | null;
  source_map_index: number;
  actor: string | null;
  extra: Record<string, unknown>;
}

export interface WaitingDag {
  dag_id: string;
  paused: boolean;
  /** Updates that came and wait for the others. */
  waiting: number;
  missing: string | null;
}

export interface Asset {
  id: string;
  uri: string;
  updates: number;
  last_update: string | null;
  waiters: number;
  events: AssetEvent[];
  waiting_dags: WaitingDag[];
}

export interface Assets {
  assets: Asset[];
  total_entries: number;
  total_is_more?: boolean;
}
