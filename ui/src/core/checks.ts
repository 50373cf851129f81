// What is wrong with a text that somebody typed, or null. The server decides; this only tells it sooner.

/** Durations as everywhere in Eider: 90s, 1h30m, 7d. */
export function durationProblem(text: string): string | null {
  return text === "" || /^(\d+(\.\d+)?(ms|s|m|h|d|w))+$/.test(text) ? null : "A time such as 30s, 5m, 2h or 7d.";
}

export function jsonProblem(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}`;
  }
}

export function jsonObjectProblem(text: string): string | null {
  const problem = jsonProblem(text);
  if (problem || text.trim() === "") return problem;
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? null
    : "This must be a JSON object: {…}.";
}

/** Names that are words of paths, of templates and of command lines. */
export function nameProblem(text: string): string | null {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(text) || text === "" ? null : "Letters, digits, and _ . - in between.";
}

export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
