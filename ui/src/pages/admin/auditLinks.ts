// Where the things are that an entry of the audit is about. Pure.
import { pathOf } from "../../core/route";
import { runHref, taskHref } from "../runs/links";
import type { AuditEntry } from "./types";

const LISTS: Record<string, string> = {
  queue: "/queues", pool: "/pools", limit: "/pools", host: "/hosts", user: "/users", token: "/tokens",
  namespace: "/users",
  variable: "/variables", connection: "/connections", secret: "/connections?tab=secrets", message: "/messages",
  notice: "/messages",
};

/** "run 17 sales/manual__...", and " task[3]" where it is about a task. */
const RUN = /^run (\d+) ([^/]+)\/\S+(?: (\S+))?$/;

/** Runs are told by their number and DAG; their ids are long, and mostly dates. */
export function objectText(object: string): string {
  const run = RUN.exec(object);
  return run ? `run ${run[1]} of ${run[2]}${run[3] ? ` / ${run[3]}` : ""}` : object;
}

/** An object is told as "run 17 sales/...", "job 380...", "variable default/bucket". */
export function hrefOfObject(object: string, entry: Pick<AuditEntry, "dag_id" | "number">): string | null {
  const [kind = "", name = ""] = object.split(" ", 2);
  const task = /^([^[]*)(?:\[(\d+)\])?$/.exec(RUN.exec(object)?.[3] ?? "");
  if (kind === "run" && /^\d+$/.test(name))
    return task?.[1] ? taskHref({ number: name, task_id: task[1], map_index: Number(task[2] ?? -1) }) : runHref(name);
  if (kind === "job" && /^\d+$/.test(name)) return pathOf("jobs", name);
  if (kind === "backfill" && /^\d+$/.test(name)) return pathOf("backfills", name);
  if (kind === "dag" && name) return pathOf("dags", name);
  if (kind === "asset" || kind === "dataset") return pathOf("asset", object.slice(kind.length + 1));
  return LISTS[kind] ?? (entry.number ? pathOf("runs", entry.number) : null);
}
