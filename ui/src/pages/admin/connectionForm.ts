// What was typed of a connection, as the server takes it. Pure.
import type { Connection, ConnectionParts } from "./types";

export interface ConnectionValues {
  [name: string]: string;
  name: string;
  namespace: string;
  type: string;
  host: string;
  port: string;
  login: string;
  password: string;
  schema: string;
  extra: string;
  doc: string;
}

export interface ConnectionType {
  type: string;
  port?: number;
  schema?: string;
}

/** Any other type may be typed as well. */
export const TYPES: ConnectionType[] = [
  { type: "postgres", port: 5432, schema: "Database" }, { type: "mysql", port: 3306, schema: "Database" },
  { type: "http", port: 80, schema: "Path" }, { type: "https", port: 443, schema: "Path" }, { type: "smtp", port: 587 },
  { type: "slack" }, { type: "pagerduty" }, { type: "ssh", port: 22 }, { type: "sftp", port: 22 },
    { type: "redis", port: 6379, schema: "Database" },
  { type: "mongo", port: 27017, schema: "Database" }, { type: "aws" }, { type: "google_cloud_platform" },
    { type: "snowflake", schema: "Schema" },
];

export const typeOf = (name: string): ConnectionType => TYPES.find(({ type }) => type === name) ?? { type: name };

const HIDDEN = "***";

/** Members of `extra` that are secrets come covered, and are left out: what is not sent stays as it is. */
export function valuesOf(row: Connection | undefined): ConnectionValues {
  const value: ConnectionParts = row?.value ?? {};
  const extra = Object.entries(value.extra ?? {}).filter(([, member]) => member !== HIDDEN);
  return {
    name: row?.name ?? "", namespace: row?.namespace ?? "default", type: value.type ?? (row ? "" : "postgres"),
    host: value.host === HIDDEN ? "" : value.host ?? "", port: value.port ? String(value.port)
      : "", login: value.login ?? "", password: "",
    schema: value.schema === HIDDEN ? "" : value.schema ?? "",
    extra: extra.length > 0 ? JSON.stringify(Object.fromEntries(extra), null, 2) : "", doc: row?.doc ?? "",
  };
}

/** The parts of a new one, or those that differ from what is there. */
export function partsOf(values: ConnectionValues, row: Connection | undefined): Record<string, unknown> {
  const before = valuesOf(row);
  const parts: Record<string, unknown> = {};
  for (const name of ["type", "host", "login", "schema"] as const)
    if (row ? values[name] !== before[name] : values[name] !== "") parts[name] = values[name];
  if (values.port !== before.port && values.port !== "") parts["port"] = Number(values.port);
  if (values.password !== "") parts["password"] = values.password;
  if (values.extra !== before.extra && values.extra.trim() !== "") parts["extra"] = extraOf(values.extra);
  return parts;
}

function extraOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {}; // the form is not sent then
  }
}

/** The same for others to see: without what is secret. */
export function shownParts(parts: Record<string, unknown>): Record<string, unknown> {
  return { ...parts, ...("password" in parts ? { password: HIDDEN } : {}),
    ...("extra" in parts ? { extra: { "…": "…" } } : {}) };
}
