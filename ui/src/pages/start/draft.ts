// What is filled into the forms that start runs: to and from the URL, as a request, and as words of a command.
import { isSecret, readParam, type ParamSchemas } from "./params";

/** Texts by field; parameters are under "p.NAME". Fields that nobody touched are missing. */
export type Draft = Record<string, string>;

export const PARAM = "p.";

export function draftFrom(query: URLSearchParams, fields: string[]): Draft {
  const draft: Draft = {};
  for (const [name, value] of query)
    if (name.startsWith(PARAM) || fields.includes(name)) draft[name] = value;
  return draft;
}

/** The changes of the URL that bring it to the draft; secrets stay out of it. */
export function queryOf(draft: Draft, before: URLSearchParams, schemas: ParamSchemas,
  fields: string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of before)
    if (!name.startsWith(PARAM) && !fields.includes(name)) query.append(name, value);
  for (const [name, value] of Object.entries(draft)) {
    const isParam = name.startsWith(PARAM);
    if (isParam && isSecret(name.slice(PARAM.length), schemas)) continue;
    const shown = name === "conf" ? confForUrl(value, schemas) : value;
    if (shown !== "" || isParam) query.set(name, shown);
  }
  return query;
}

/** The text of a conf without its secrets; as it was typed when there are none. */
function confForUrl(text: string, schemas: ParamSchemas): string {
  let hasSecrets = false;
  const known = (name: string, value: unknown): unknown => {
    if (name === "" || !isSecret(name, schemas)) return value;
    hasSecrets = true;
    return undefined;
  };
  try {
    const kept = JSON.stringify(JSON.parse(text, known));
    return !hasSecrets ? text : kept === "{}" ? "" : kept;
  } catch {
    // Not yet, or no more, JSON: whatever it becomes, a name in it may be that of a secret.
    const names = Object.keys(schemas).filter((name) => schemas[name]?.secret);
    return isSecret(text, schemas) || names.some((name) => text.includes(name)) ? "" : text;
  }
}

export interface ReadParams {
  /** As texts, converted by the server. */
  params: Record<string, string>;
  /** As values: what was written as such, and nulls. */
  conf: Record<string, unknown>;
  problems: Record<string, string>;
}

/** The parameters and the conf of a draft, or what is wrong with them by field. */
export function readParams(draft: Draft, schemas: ParamSchemas): ReadParams {
  const read: ReadParams = { params: {}, conf: {}, problems: {} };
  readConf(draft["conf"] ?? "", read);
  for (const [name, schema] of Object.entries(schemas)) {
    const text = draft[PARAM + name];
    if (text === undefined && Object.hasOwn(read.conf, name)) continue; // the server looks at it
    const { text: sent, isNull, problem } = readParam(schema, text);
    if (problem !== undefined) read.problems[PARAM + name] = problem;
    else if (sent !== undefined) read.params[name] = sent;
    else if (isNull) read.conf[name] = null;
  }
  return read;
}

function readConf(text: string, read: ReadParams): void {
  if (text.trim() === "") return;
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      Object.assign(read.conf, value);
    else read.problems["conf"] = "must be a JSON object, as {\"key\": 1}";
  } catch (error) {
    read.problems["conf"] = `is no JSON: ${(error as Error).message}`;
  }
}

export function listOf(text: string | undefined): string[] {
  return (text ?? "").split(",").filter((item) => item !== "");
}

const RUN_ID = /^[A-Za-z0-9_][A-Za-z0-9_.:+~@-]{0,249}$/;

export function runIdProblem(text: string | undefined): string | null {
  if (!text || RUN_ID.test(text)) return null;
  return "letters, digits and any of _ - . : + ~ @, starting with a letter, digit or '_', at most 250";
}

type Body = Record<string, unknown>;

function put(body: Body, name: string, value: unknown): void {
  const isEmpty = value === undefined || value === "" || value === false ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  if (!isEmpty) body[name] = value;
}

export function triggerBody(draft: Draft, read: ReadParams): Body {
  const body: Body = {};
  put(body, "params", read.params);
  put(body, "conf", read.conf);
  put(body, "logical_date", draft["date"]);
  put(body, "run_id", draft["run_id"]);
  put(body, "note", draft["note"]);
  put(body, "tasks", listOf(draft["tasks"]));
  put(body, "reason", draft["reason"]);
  return body;
}

export function backfillBody(dag: string, draft: Draft, read: ReadParams): Body {
  const body: Body = { dag, from: draft["from"] ?? "", to: draft["to"] ?? "" };
  put(body, "order", draft["order"]);
  put(body, "redo", draft["redo"]);
  put(body, "max_active", draft["max_active"] ? Number(draft["max_active"]) : undefined);
  put(body, "queue", draft["queue"]);
  put(body, "params", read.params);
  put(body, "conf", read.conf);
  put(body, "tasks", listOf(draft["tasks"]));
  put(body, "upstream", draft["upstream"] === "true");
  put(body, "downstream", draft["downstream"] === "true");
  put(body, "version", draft["version"]);
  put(body, "note", draft["note"]);
  put(body, "reason", draft["reason"]);
  return body;
}

const HIDDEN = "***";

/** The same for the eyes of others: without secrets. */
export function withoutSecrets(body: Body, schemas: ParamSchemas): Body {
  const hide = (given: unknown): unknown => given && Object.fromEntries(
    Object.entries(given as Body).map(([name, value]) => [name, schemas[name]?.secret ? HIDDEN : value]));
  const made: Body = { ...body };
  put(made, "params", hide(body["params"]));
  put(made, "conf", hide(body["conf"]));
  return made;
}

function sharedWords(body: Body): string[] {
  const words: string[] = [];
  for (const [name, value] of Object.entries((body["params"] ?? {}) as Record<string, string>))
    words.push("-p", `${name}=${value}`);
  if (body["conf"]) words.push("-c", JSON.stringify(body["conf"]));
  for (const task of (body["tasks"] ?? []) as string[]) words.push("-t", task);
  return words;
}

function flagWords(body: Body, flags: [string, string][]): string[] {
  return flags.flatMap(([name, flag]) => {
    const value = body[name];
    if (value === undefined) return [];
    return value === true ? [flag] : [flag, String(value)];
  });
}

export function triggerWords(dag: string, body: Body): string[] {
  return ["dags", "trigger", dag, ...sharedWords(body), ...flagWords(body, [["logical_date", "--date"],
    ["run_id", "--run-id"], ["note", "--note"], ["reason", "--reason"]])];
}

export function backfillWords(body: Body, verb = "create"): string[] {
  return ["backfill", verb, String(body["dag"]), ...flagWords(body, [["from", "--from"], ["to", "--to"],
    ["order", "--order"], ["redo", "--redo"], ["max_active", "--max-active"], ["queue", "--queue"]]),
  ...sharedWords(body), ...flagWords(body, [["upstream", "--with-upstream"], ["downstream", "--with-downstream"],
    ["version", "--dag-version"], ["note", "--note"], ["reason", "--reason"]])];
}
