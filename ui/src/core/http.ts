// Requests to our own server: JSON in, JSON out, problems as one kind of error.

/** What went wrong, as the server says it (problem+json), or that there was no answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly body: Record<string, unknown> = {},
  ) {
    super(detail || title);
  }
  get isUnreachable(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503;
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** Of the session; sent with what changes something. */
let csrfToken = "";
export function setCsrfToken(token: string | null | undefined): void {
  csrfToken = token ?? "";
}

let onSignedOut: () => void = () => {};
export function whenSignedOut(call: () => void): void {
  onSignedOut = call;
}

/** Below /api/v1/x, where everything of ours is. */
export function apiUrl(path: string, query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== "") given.set(name, String(value));
  const text = given.toString();
  const base = path.startsWith("/api/") ? path : "/api/v1/x" + path;
  return text ? base + (base.includes("?") ? "&" : "?") + text : base;
}

async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text().catch(() => "");
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    return new Problem(response.status, String(body["title"] ?? response.statusText),
      String(body["detail"] ?? ""), { ...body, retry_after: Number(response.headers.get("Retry-After")) || null });
  } catch {
    return new Problem(response.status, response.statusText || "an error", text.slice(0, 500));
  }
}

const noAnswer = (): Problem => new Problem(0, "no answer", "The server does not answer. Trying again.");

const PATIENCE_MS = 30_000;

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  /** Makes a change safe to send again. */
  key?: string;
}

/** The page says while it waits for answers: for those who watch it, and for tests. */
let waiting = 0;
function count(change: 1 | -1): void {
  waiting += change;
  document.documentElement.toggleAttribute("data-waiting", waiting > 0);
}

async function answerOf(method: string, path: string, options: RequestOptions): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && csrfToken) headers["X-CSRF-Token"] = csrfToken;
  if (options.key) headers["Idempotency-Key"] = options.key;
  const limit = new AbortController();
  options.signal?.addEventListener("abort", () => limit.abort());
  // A server that vanished says nothing, for ever.
  const timer = method === "GET" ? setTimeout(() => limit.abort(), PATIENCE_MS) : undefined;
  let response: Response;
  try {
    response = await fetch(apiUrl(path, options.query), {
      method,
      headers,
      credentials: "same-origin",
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: limit.signal,
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw noAnswer();
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status === 401 && path !== "/login") onSignedOut();
  throw problem;
}

export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  count(1);
  try {
    const response = await answerOf(method, path, options);
    const text = await response.text().catch(() => {
      throw noAnswer(); // the connection broke in the middle
    });
    return (text === "" ? undefined : JSON.parse(text)) as T;
  } finally {
    // After whoever asked has drawn the answer, and perhaps asked for more.
    setTimeout(() => count(-1));
  }
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  request<T>("GET", path, { query, signal });
export const post = <T>(path: string, body: unknown = {}, key?: string): Promise<T> =>
  request<T>("POST", path, { body, key });

/** A key for a change that may be sent twice. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Of answers that leave open whether something was done: none at all, or one of somebody in between. */
const UNDECIDED = [0, 502, 503, 504];

/**
 * The key of what a form sends. While nobody knows whether it was done, the same contents are sent again with
 * the same key; after an answer, or with other contents, it is another change.
 */
export class ChangeKey {
  private contents = "";
  private key = "";

  async use<T>(contents: unknown, send: (key: string) => Promise<T>): Promise<T> {
    const text = JSON.stringify(contents);
    if (this.contents !== text) {
      this.contents = text;
      this.key = newKey();
    }
    try {
      const answer = await send(this.key);
      this.contents = "";
      return answer;
    } catch (error) {
      if (!(error instanceof Problem && UNDECIDED.includes(error.status))) this.contents = "";
      throw error;
    }
  }
}
