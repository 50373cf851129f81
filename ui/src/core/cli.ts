// The same action elsewhere: as a command line, and as curl.

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

export function cliText(...words: (string | number | null | undefined | false)[]): string {
  return ["eider", ...words.filter((word) => word !== null && word !== undefined && word !== false && word !== "")]
    .map((word) => shellWord(String(word))).join(" ");
}

export function curlText(method: string, path: string, body?: unknown): string {
  const words = ["curl", "-H", '"$AUTH"'];
  if (method !== "GET" && body === undefined) words.push("-X", method);
  if (body !== undefined) {
    if (method !== "POST") words.push("-X", method);
    words.push("--json", shellWord(JSON.stringify(body)));
  }
  words.push(shellWord(location.origin + (path.startsWith("/api/") ? path : "/api/v1/x" + path)));
  return words.join(" ");
}
