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
export const nothingText = ({ removed, live }: { removed: boolean; live: boolean }): string =>
  removed ? "What was printed is not kept any more." : live ? "Nothing was printed yet." : "It printed nothing.";

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
