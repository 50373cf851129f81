// Import errors as plain data: problems by file, and where the caret stands.

export interface ImportError {
  file: string;
  line: number;
  column: number;
  length: number;
  message: string;
  source: string | null;
  since: string | null;
  hostname: string | null;
  dags: string[];
}

export interface BrokenFile {
  file: string;
  hostname: string | null;
  since: string | null;
  dags: string[];
  /** It can be run all the same: said as a warning, of no single line. */
  isWarning: boolean;
  problems: ImportError[];
}

/** In the order of the answer; the same path on two hosts is two files. */
export function byFile(errors: ImportError[]): BrokenFile[] {
  const files = new Map<string, BrokenFile>();
  for (const error of errors) {
    const key = `${error.file}\n${error.hostname ?? ""}`;
    const file = files.get(key) ?? {
      file: error.file, hostname: error.hostname, since: error.since, dags: error.dags,
      isWarning: error.message.startsWith("warning: "), problems: [],
    };
    file.problems.push(error);
    files.set(key, file);
  }
  return [...files.values()];
}

/** What is wrong, and after it what to do, where a message says both. */
export function splitHint(message: string): { what: string; hint: string } {
  const at = message.indexOf("; ");
  const text = at < 0 ? message : message.slice(0, at);
  return { what: text.replace(/^warning: /, ""), hint: at < 0 ? "" : message.slice(at + 2) };
}

/** The blanks before the caret and the caret; tabs stay tabs, so that both lines are as wide. */
export function caretOf(error: ImportError): string {
  const source = [...(error.source ?? "")];
  const before = source.slice(0, Math.max(0, error.column - 1)).map((char) => (char === "\t" ? "\t" : " ")).join("");
  const left = Math.max(1, source.length - error.column + 1);
  return before + "^".repeat(Math.max(1, Math.min(error.length, left)));
}
