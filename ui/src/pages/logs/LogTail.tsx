// The last lines of a log, in the midst of a page.
import { useLoad } from "../../core/load";
import { LineText } from "./LogLine";

export interface Lines {
  try_number: number;
  tries: number;
  live: boolean;
  removed: boolean;
  lines: number;
  first: number;
  count: number;
  size: number;
  text: string;
  cut: { line: number; bytes: number }[];
}

const LIVE_MS = 1000;

/** Why there is nothing to see. */
export const nothingText = ({ removed, live, try_number }: Pick<Lines, "removed" | "live" | "try_number">): string =>
  removed ? "What was printed is not kept any more."
    : !live ? "It printed nothing."
    : try_number === 0 ? "It has not started yet. What it prints comes here when it does."
    : "Nothing was printed yet.";

/** `path` of the API, without a count; `hrefOf` a line in the viewer. */
export function LogTail({ path, count = 10, isLive, hrefOf }: {
  path: string; count?: number; isLive: boolean; hrefOf: (line: number) => string;
}) {
  const loaded = useLoad<Lines>(`${path}${path.includes("?") ? "&" : "?"}count=${count}`,
    { every: isLive ? LIVE_MS : 0 });
  const lines = loaded.data;
  if (!lines) return <div class="log-tail is-empty">{loaded.problem ? loaded.problem.message : "…"}</div>;
  if (lines.count === 0)
    return <div class="log-tail is-empty">{nothingText(lines)}</div>;
  return (
    <div class="log-tail" role="log" aria-label="Last lines" tabIndex={0}>
      {lines.text.split("\n").map((text, i) => (
        <div key={lines.first + i} class="log-line">
          <a href={hrefOf(lines.first + i)} tabIndex={-1} aria-hidden="true">{lines.first + i}</a>
          <code><LineText text={text} /></code></div>
      ))}
    </div>
  );
}
