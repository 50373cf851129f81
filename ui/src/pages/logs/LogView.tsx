// A log of any size: the lines that one sees, and no more.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { useShortcuts } from "../../core/keys";
import type { Query } from "../../core/http";
import { hrefWith, place as here, setQuery } from "../../core/route";
import { bytesText, numberText } from "../../core/time";
import { Empty } from "../../parts/basics";
import { ProblemBox } from "../../parts/page";
import { LineText } from "./LogLine";
import { LogReader, type SearchWish } from "./logReader";
import { LogSearch } from "./LogSearch";
import { nothingText } from "./LogTail";
import { useLogWindow, type LogWindow } from "./useLogWindow";

interface LogViewProps {
  /** Of the API, as "/runs/12/tasks/load". */
  base: string;
  query: Query;
  downloadHref: string;
  tools?: ComponentChildren;
  /** How it is with what prints: when that is another, there may be more. */
  state: string | undefined;
}

const isWrapped = (): boolean => here.value.query.get("wrap") === "1";
const toggleWrap = () => setQuery({ wrap: isWrapped() ? null : "1" });

function searchWish(): SearchWish | null {
  const given = here.value.query;
  const find = given.get("q");
  return find ? { find, isRegex: given.get("re") === "1", isSameCase: given.get("case") === "1" } : null;
}

export function LogView({ base, query, downloadHref, tools, state }: LogViewProps) {
  const key = base + JSON.stringify(query);
  const reader = useMemo(() => new LogReader(base, query), [key]);
  useEffect(() => {
    reader.begin();
    return () => reader.end();
  }, [reader]);
  useEffect(() => reader.look(), [reader, state]);
  const wish = searchWish();
  useEffect(() => reader.find(wish), [reader, JSON.stringify(wish)]);
  const head = reader.head.value;
  const problem = reader.problem.value;
  return (
    <div class="log-view">
      <div class="log-bar">
        <LogSearch reader={reader} />
        <label class="check"><input type="checkbox" checked={isWrapped()} onChange={toggleWrap} /> Wrap</label>
        {tools}
        <span class="dim log-size">{head && `${numberText(head.lines)} lines, ${bytesText(head.size)}`}</span>
        {head?.live && <span class="tag is-on">live</span>}
        <a class="button small" href={downloadHref} download>Download</a>
      </div>
      {problem && !problem.isUnreachable && <ProblemBox problem={problem} />}
      {head && (head.lines === 0 ? <Empty>{nothingText(head)}</Empty>
        : <Lines key={key + head.try_number} reader={reader} wish={wish} />)}
      {!head && !problem && <div class="loading" role="status" aria-label="Loading"><span /></div>}
    </div>
  );
}

const click = (selector: string) => document.querySelector<HTMLButtonElement>(selector)?.click();

function Lines({ reader, wish }: { reader: LogReader; wish: SearchWish | null }) {
  const wrapped = isWrapped();
  const window = useLogWindow(reader, wrapped);
  useShortcuts([
    { keys: "n", what: "next hit in the log", run: () => click("[data-hit=next]") },
    { keys: "N", what: "previous hit in the log", run: () => click("[data-hit=previous]") },
    { keys: "G", what: "end of the log", run: () => click(".log-end") },
    { keys: "w", what: "wrap long lines of the log", run: toggleWrap },
  ], []);
  const { total } = reader.store;
  // How high wrapped lines are is only guessed: at the end the last one counts.
  const isFromEnd = window.isEnd && wrapped && total * 19 > window.height;
  const { fresh } = window;
  return (
    <div class="log-outer">
      <div class={`log-box ${wrapped ? "is-wrapped" : ""}`} ref={window.box} tabIndex={0} role="log" aria-label="Log"
        onScroll={window.onScroll} data-first={window.first} data-total={total}>
        <span class="log-measure" aria-hidden="true">{"0".repeat(100)}</span>
        <div class="log-track" style={{ height: `${Math.max(window.track, window.height)}px` }}>
          <div class={`log-sheet ${isFromEnd ? "is-end" : ""}`} style={{ height: `${window.height}px` }}>
            <div class="log-lines" style={{ transform: isFromEnd ? "none" : `translateY(${-window.at.px}px)` }}>
              <LinesInSight reader={reader} window={window} wish={wish} />
            </div>
          </div>
        </div>
      </div>
      {!reader.isFollowing && (
        <button type="button" class="log-end small main" onClick={window.goToEnd}>
          {fresh > 0 ? `${numberText(fresh)} new line${fresh === 1 ? "" : "s"}, go to end` : "Go to end"} ↓
        </button>
      )}
    </div>
  );
}

interface SightProps {
  reader: LogReader;
  window: LogWindow;
  wish: SearchWish | null;
}

function LinesInSight({ reader, window: { first, last, chosen }, wish }: SightProps) {
  const width = `${String(reader.store.total).length + 1}ch`;
  const find = wish && !wish.isRegex ? wish.find : "";
  const choose = (event: MouseEvent, line: number) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const isRange = event.shiftKey && chosen;
    setQuery({ line: isRange ? `${Math.min(chosen.from, line)}-${Math.max(chosen.from, line)}` : line });
  };
  const lines = [];
  for (let line = first; line <= last; line++) {
    const text = reader.store.get(line);
    const cut = reader.cut.get(line);
    const isChosen = !!chosen && line >= chosen.from && line <= chosen.to;
    lines.push(
      <div key={line} id={`L${line}`} class={`log-line ${isChosen ? "is-chosen" : ""}`}>
        <a class="log-number" href={hrefWith({ line })} style={{ width }} aria-label={`Line ${line}`}
          onClick={(event) => choose(event, line)}>{line}</a>
        <code>
          {text !== undefined && <LineText text={text} find={find} isSameCase={wish?.isSameCase ?? true} />}
          {cut !== undefined && <span class="tag">{bytesText(cut)} more of this line: download to see them</span>}
        </code>
      </div>,
    );
  }
  return <>{lines}</>;
}
