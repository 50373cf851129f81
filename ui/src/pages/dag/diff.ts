// A unified difference, read into rows that can be shown in one column or in two.

export type DiffKind = "same" | "added" | "removed" | "hunk" | "file";

export interface DiffRow {
  kind: DiffKind;
  text: string;
  before?: number;
  after?: number;
}

/** Rows of a unified diff; numbers are those of the lines before and after. */
export function parseDiff(text: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let before = 0;
  let after = 0;
  // Lines that the hunk still has: within them "--- a" is a line that went, not a file.
  let left = { before: 0, after: 0 };
  for (const line of text.split("\n")) {
    const isInside = left.before > 0 || left.after > 0;
    const hunk = isInside ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      left = { before: Number(hunk[2] ?? 1), after: Number(hunk[4] ?? 1) };
      rows.push({ kind: "hunk", text: line });
    } else if (!isInside) {
      if (line !== "") rows.push({ kind: "file", text: line });
    } else if (line.startsWith("+")) {
      rows.push({ kind: "added", text: line.slice(1), after: after++ });
      left.after--;
    } else if (line.startsWith("-")) {
      rows.push({ kind: "removed", text: line.slice(1), before: before++ });
      left.before--;
    } else if (line.startsWith("\\")) rows.push({ kind: "file", text: line });
    else {
      rows.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
      left.before--;
      left.after--;
    }
  }
  return rows;
}

export interface Pair {
  left: DiffRow | null;
  right: DiffRow | null;
}

/** The same side by side: what went beside what came. */
export function pairsOf(rows: DiffRow[]): Pair[] {
  const pairs: Pair[] = [];
  let i = 0;
  while (i < rows.length) {
    const row = rows[i]!;
    if (row.kind !== "removed" && row.kind !== "added") {
      pairs.push({ left: row, right: row });
      i++;
      continue;
    }
    const removed: DiffRow[] = [];
    const added: DiffRow[] = [];
    while (rows[i]?.kind === "removed") removed.push(rows[i++]!);
    while (rows[i]?.kind === "added") added.push(rows[i++]!);
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      pairs.push({ left: removed[at] ?? null, right: added[at] ?? null });
  }
  return pairs;
}
