// Parameters of a DAG as fields of a form: which control, what a text means, and what is wrong with it. The rules
// are those of the server, so that most mistakes are seen while typing.

export interface ParamSchema {
  type?: string | string[];
  default?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  nullable?: boolean;
  secret?: boolean;
  title?: string;
  description?: string;
  doc?: string;
}

export type ParamSchemas = Record<string, ParamSchema>;
export type Control = "text" | "lines" | "number" | "switch" | "choice" | "json" | "date" | "secret";

/** What a text stands for: as the server wants it (a text), nothing at all, or a mistake. */
export interface Reading {
  text?: string;
  isNull?: boolean;
  problem?: string;
}

export function typeOf(schema: ParamSchema): string {
  const names = Array.isArray(schema.type) ? schema.type : [schema.type ?? "any"];
  return names.find((name) => name !== "null") ?? "any";
}

export function isNullable(schema: ParamSchema): boolean {
  return schema.nullable === true || schema.default === null ||
    (Array.isArray(schema.type) && schema.type.includes("null"));
}

const SECRET_NAME = /passw|passphrase|pwd|token|secret|key|credential/i;

/** Whether a value is not for others to see: it is said to be a secret, or its name sounds like one. */
export function isSecret(name: string, schemas: ParamSchemas): boolean {
  return !!schemas[name]?.secret || SECRET_NAME.test(name);
}

export function isRequired(schema: ParamSchema): boolean {
  return schema.default === undefined && !isNullable(schema);
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_PATTERNS = ["^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "[0-9]{4}-[0-9]{2}-[0-9]{2}"];

export function controlOf(schema: ParamSchema): Control {
  if (schema.enum) return "choice";
  if (schema.secret) return "secret";
  const type = typeOf(schema);
  if (type === "boolean") return isRequired(schema) || isNullable(schema) ? "choice" : "switch";
  if (type === "integer" || type === "number") return "number";
  if (type === "array" || type === "object") return "json";
  const usual = schema.default;
  if (typeof usual === "string" && usual.includes("\n")) return "lines";
  const isDate = typeof usual === "string" ? DATE.test(usual) : DATE_PATTERNS.includes(schema.pattern ?? "");
  return type === "string" && isDate ? "date" : "text";
}

/** The texts to choose from, as the server takes them. */
export function choicesOf(schema: ParamSchema): string[] {
  const values = schema.enum ?? [true, false];
  return values.filter((value) => value !== null).map((value) => textOf(schema, value));
}

/** A value as the text of its control. */
export function textOf(schema: ParamSchema, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" && (typeOf(schema) === "string" || !isJson(value))) return value;
  const short = JSON.stringify(value);
  return short.length > 60 && controlOf(schema) === "json" ? JSON.stringify(value, null, 2) : short;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const article = (type: string): string => (/^[aio]/.test(type) ? "an" : "a");

function valueOf(type: string, text: string): { value: unknown } | { problem: string } {
  if (type === "string") return { value: text };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (type === "any") return { value: text };
    if (type === "array" || type === "object") return { problem: `is no JSON: ${(error as Error).message}` };
    return { problem: `expected ${article(type)} ${type}, got '${text.slice(0, 60)}'` };
  }
}

function fits(type: string, value: unknown, text: string): boolean {
  if (type === "any") return true;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  // 1.0 is a number with a point to the server, not an integer.
  if (type === "integer") return /^-?\d+$/.test(text.trim());
  return typeof value === type;
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "";
  return text.length > 40 ? text.slice(0, 40) + ".." : text;
};

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function lengthProblem(size: number, what: string, least = 0, most = Infinity): string | null {
  if (size < least) return `has ${size} ${what}, at least ${least} are needed`;
  if (size > most) return `has ${size} ${what}, at most ${most} are allowed`;
  return null;
}

const CLASSES: Record<string, string> = {
  alpha: "A-Za-z", digit: "0-9", alnum: "A-Za-z0-9", upper: "A-Z", lower: "a-z", xdigit: "0-9A-Fa-f",
  space: " \\t\\n\\r\\f\\v", blank: " \\t",
};

/** A POSIX pattern for this language; null where both may not mean the same: then the server alone decides. */
export function patternOf(expression: string): RegExp | null {
  if (/\\[A-Za-z0-9<>`']|\[[^\]]*\\|\[\.|\[=|\(\?/.test(expression)) return null;
  const known = expression.replace(/\[:(\w+):\]/g, (all, name: string) => CLASSES[name] ?? all);
  if (/\[:/.test(known)) return null;
  try {
    return new RegExp(known, "u");
  } catch {
    return null;
  }
}

/** What the server would say about a value; null: it is good. */
export function checkValue(schema: ParamSchema, value: unknown): string | null {
  if (schema.enum && !schema.enum.some((choice) => same(choice, value)))
    return `${shown(value)} is not one of ${JSON.stringify(schema.enum).slice(0, 120)}`;
  if (typeof value === "number") {
    if (schema.minimum !== undefined && value < schema.minimum)
      return `${shown(value)} is less than the minimum ${schema.minimum}`;
    if (schema.maximum !== undefined && value > schema.maximum)
      return `${shown(value)} is more than the maximum ${schema.maximum}`;
  }
  if (Array.isArray(value)) return lengthProblem(value.length, "items", schema.minItems, schema.maxItems);
  if (typeof value !== "string") return null;
  const pattern = schema.pattern === undefined ? null : patternOf(schema.pattern);
  return lengthProblem([...value].length, "characters", schema.minLength, schema.maxLength) ??
    (pattern && !pattern.test(value) ? `${shown(value)} does not match the pattern '${schema.pattern}'` : null);
}

/** What is meant by the text of a control; undefined is one that nobody touched. */
export function readParam(schema: ParamSchema, text: string | undefined): Reading {
  const type = typeOf(schema);
  if (text === undefined) return isRequired(schema) ? { problem: "is required" } : {};
  if (text.trim() === "" && (type !== "string" || isNullable(schema))) {
    if (isNullable(schema)) return schema.default === null || schema.default === undefined ? {} : { isNull: true };
    return { problem: isRequired(schema) ? "is required" : "must not be empty" };
  }
  if (text === "" && isRequired(schema)) return { problem: "is required" };
  const read = valueOf(type, text);
  if ("problem" in read) return read;
  if (read.value === null && isNullable(schema)) return { text };
  if (!fits(type, read.value, text)) return { problem: `expected ${article(type)} ${type}, got ${shown(read.value)}` };
  const problem = checkValue(schema, read.value);
  return problem ? { problem } : { text };
}

/** "a: is required; b: no" as problems of fields; what belongs to none is the rest. */
export function problemsByField(detail: string, names: string[]): { fields: Record<string, string>; rest: string } {
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  let last: string | null = null;
  for (const part of detail.split("; ")) {
    const name = names.find((known) => part.startsWith(known + ": "));
    if (name !== undefined) {
      last = name;
      const text = part.slice(name.length + 2);
      fields[name] = fields[name] ? `${fields[name]}; ${text}` : text;
    } else if (last !== null) fields[last] += "; " + part; // a message with a semicolon of its own
    else rest.push(part);
  }
  return { fields, rest: rest.join("; ") };
}

/** What stands in a hint: the rules that one cannot see. */
export function rulesOf(schema: ParamSchema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema;
  const between = (low: number | undefined, high: number | undefined, what: string): string | false =>
    low !== undefined && high !== undefined ? `${low} to ${high}${what}`
      : low !== undefined ? `at least ${low}${what}` : high !== undefined && `at most ${high}${what}`;
  return [
    controlOf(schema) !== "choice" && !["any", "string", "boolean"].includes(typeOf(schema)) && typeOf(schema),
    between(minimum, maximum, ""), between(minLength, maxLength, " characters"), between(minItems, maxItems, " items"),
    pattern !== undefined && `pattern ${pattern}`,
    isNullable(schema) && "may be empty",
  ].filter(Boolean).join(", ");
}

/** Those that must be given first, those with large controls last, else by name. */
export function orderedNames(schemas: ParamSchemas): string[] {
  const rank = (name: string): number => {
    const control = controlOf(schemas[name]!);
    return (isRequired(schemas[name]!) ? 0 : 2) + (control === "json" || control === "lines" ? 1 : 0);
  };
  return Object.keys(schemas).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
