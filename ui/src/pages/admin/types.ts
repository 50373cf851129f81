// What the server says of what is kept, of people and of messages.

export interface Kept {
  name: string;
  namespace: string | null;
  source: string;
  place: string | null;
  problem: string | null;
  key_id: string | null;
  doc: string | null;
  updated_by: string | null;
  updated_at: string | null;
  /** Something before it has the same name. */
  hidden: boolean;
}

export interface Variable extends Kept {
  value: string | null;
}

export interface ConnectionParts {
  type?: string;
  host?: string;
  port?: number;
  login?: string;
  password?: string;
  schema?: string;
  extra?: Record<string, unknown>;
}

export interface Connection extends Kept {
  value?: ConnectionParts | null;
}

export interface User {
  name: string;
  grants: { namespace: string; role: string }[];
  has_password: boolean;
  disabled: boolean;
  created_by: string | null;
  created_at: string;
}

export interface Token {
  id: string;
  name: string;
  owner: string | null;
  kind: string;
  roles: string | null;
  queues: string[];
  created_by: string | null;
  created_at: string;
  expires_at: string | null;
  last_used: string | null;
}

export interface Namespace {
  name: string;
  dags: number;
  pools: number;
  variables: number;
  connections: number;
  secrets: number;
  doc: string | null;
  created_by: string | null;
  created_at: string | null;
}

export interface Notice {
  id: string;
  state: string;
  event: string;
  target: string;
  dag_id: string | null;
  number: string | null;
  task_id: string | null;
  map_index?: number;
  happened_at: string;
  next_try: string | null;
  ended_at: string | null;
  attempts: number;
  answer: string | null;
  has_sender?: boolean;
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: string | null;
  action: string;
  dag_id: string | null;
  number?: string | null;
  reason: string | null;
  objects: string[];
  count: number;
  object: string | null;
  change: string | null;
}
