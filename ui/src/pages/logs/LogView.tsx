// A log of any size: the lines that one sees, and no more.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useShortcuts } from "../../core/keys";
import type { Query } from "../../core/http";
import { hrefWith, place as here, setQuery } from "../../core/route";
import { bytesText, numberText } from "../../core/time";
import { ProblemBox } from "../../parts/page";
import { LineText } from "./LogLine";
import { LogReader, type SearchWish } from "./logReader";
import { LogSearch } from "./LogSearch";
import {
  clampPlace, endPlace, isAtEnd, linesInSight, parseLines, placeAtTrack, placeOf, rowsOf, trackHeight, trackOf, walk, type Place, type Sheet,
} from "./logWindow";

const ROW = 19;
const SETTLE_MS = 120;

interface LogViewProps {
  /** Of the API, as "/runs/12/tasks/load". */
  base: string;
  query: Query;
  downloadHref: string;
  tools?: preact.ComponentChildren;
}

export function LogView({ base, query, downloadHref, tools }: LogViewProps) {
  const key = base + JSON.stringify(query);
  const reader = useMemo(() => new LogReader(base, query), [key]);
  useEffect(() => {
    reader.begin();
    return () => reader.end();
  }, [reader]);
  const wish = searchWish();
  const wishKey = JSON.stringify(wish);
  useEffect(() => reader.find(wish), [reader, wishKey]);
  const head = reader.head.value;
  const isWrapped = here.value.query.get("wrap") === "1";
  return (
    <div class="log-view">
      <div class="log-bar">
        <LogSearch reader={reader} />
        <label class="check"><input type="checkbox" checked={isWrapped} onChange={(event) => setQuery({ wrap: event.currentTarget.checked ? "1" : null })} /> Wrap</label>
        {tools}
        <span class="dim log-size">{head && `${numberText(head.lines)} lines, ${bytesText(head.size)}`}</span>
        {head?.live && <span class="tag is-on">live</span>}
        <a class="button small" href={downloadHref} download>Download</a>
      </div>
      {reader.problem.value && !head && <ProblemBox problem={reader.problem.value} />}
      {head && head.lines === 0
        ? <p class="empty">{head.removed ? "What was printed is not kept any more." : head.live ? "Nothing was printed yet." : "It printed nothing."}</p>
        : head && <Lines key={key + head.try_number} reader={reader} isWrapped={isWrapped} wish={wish} />}
      {!head && !reader.problem.value && <div class="loading" role="status" aria-label="Loading"><span /></div>}
    </div>
  );
}

function searchWish(): SearchWish | null {
  const given = here.value.query;
  const find = given.get("q");
  return find ? { find, isRegex: given.get("re") === "1", isSameCase: given.get("case") === "1" } : null;
}

const chosenLines = () => parseLines(here.value.query.get("line") ?? here.value.hash);

function Lines({ reader, isWrapped, wish }: { reader: LogReader; isWrapped: boolean; wish: SearchWish | null }) {
  void reader.changes.value; // drawn anew when lines come
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ height: 600, columns: 100 });
  const at = useRef<Place>({ line: 1, px: 0 });
  const shownTop = useRef(0);
  const settle = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [, redraw] = useState(0);
  const [seenTotal, setSeenTotal] = useState(0);
  const draw = () => redraw((count) => count + 1);
  const total = reader.store.total;
  const sheet: Sheet = {
    total, height: size.height,
    heightOf: isWrapped ? (line) => ROW * rowsOf(reader.store.get(line), size.columns) : () => ROW,
  };
  const track = trackHeight(total, ROW);
  const chosen = chosenLines();
  const chosenKey = chosen ? `${chosen.from}-${chosen.to}` : "";

  const follow = (isOn: boolean) => {
    if (reader.isFollowing && !isOn) setSeenTotal(total);
    reader.isFollowing = isOn;
  };
  const moveTo = (place: Place) => {
    at.current = clampPlace(place, sheet);
    follow(isAtEnd(at.current, sheet));
    draw();
    settleBar();
  };
  /** The scroll bar shows where one is, once one has stopped moving it. */
  const settleBar = (wait = 0) => {
    clearTimeout(settle.current);
    settle.current = setTimeout(() => {
      const element = box.current;
      if (!element) return;
      const top = Math.round(trackOf(at.current, sheetNow.current, trackHeight(sheetNow.current.total, ROW)));
      if (Math.abs(element.scrollTop - top) < 1) return;
      shownTop.current = top;
      element.scrollTop = top;
      shownTop.current = element.scrollTop;
    }, wait);
  };
  const sheetNow = useRef(sheet);
  sheetNow.current = sheet;

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const moved = element.scrollTop - shownTop.current;
    if (moved === 0) return;
    shownTop.current = element.scrollTop;
    const isDragged = Math.abs(moved) > 2 * size.height;
    at.current = isDragged ? placeAtTrack(element.scrollTop, sheet, track) : walk(at.current, moved, sheet);
    follow(moved > 0 && isAtEnd(at.current, sheet));
    draw();
    const isAtEdge = element.scrollTop <= 0 || element.scrollTop >= element.scrollHeight - element.clientHeight - 1;
    settleBar(isAtEdge ? 0 : SETTLE_MS);
  };

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const letter = element.querySelector(".log-measure")?.getBoundingClientRect().width ?? 0;
      const room = element.clientWidth - (element.querySelector(".log-number")?.getBoundingClientRect().width ?? 60) - 16;
      setSize({ height: element.clientHeight, columns: letter > 0 ? Math.max(20, Math.floor(room / (letter / 100))) : 100 });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  // A line that the URL names; without one the end.
  useEffect(() => {
    if (chosen) moveTo(placeOf(chosen.from, sheetNow.current));
    else if (reader.isFollowing) moveTo(endPlace(sheetNow.current));
  }, [chosenKey, size.height, isWrapped]);
  if (reader.isFollowing && !chosen) at.current = endPlace(sheet);
  const isEnd = reader.isFollowing && !chosen;
  useEffect(() => {
    if (reader.isFollowing) settleBar();
  }, [total]);

  const { first, last } = linesInSight(at.current, sheet);
  useEffect(() => reader.want(Math.max(1, first - 50), Math.min(total, last + 50)), [first, last, total, reader.changes.value]);

  const goToEnd = () => {
    follow(true);
    if (chosen) setQuery({ line: null });
    moveTo(endPlace(sheetNow.current));
  };
  useShortcuts([
    { keys: "n", what: "next hit in the log", run: () => document.querySelector<HTMLButtonElement>("[data-hit=next]")?.click() },
    { keys: "N", what: "previous hit in the log", run: () => document.querySelector<HTMLButtonElement>("[data-hit=previous]")?.click() },
    { keys: "G", what: "end of the log", run: goToEnd },
    { keys: "w", what: "wrap long lines", run: () => setQuery({ wrap: here.value.query.get("wrap") === "1" ? null : "1" }) },
  ], []);
  const fresh = reader.isFollowing ? 0 : Math.max(0, total - seenTotal);
  const digits = String(total).length;
  const numbers = [];
  for (let line = first; line <= last; line++) numbers.push(line);
  const choose = (event: MouseEvent, line: number) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    setQuery({ line: event.shiftKey && chosen ? `${Math.min(chosen.from, line)}-${Math.max(chosen.from, line)}` : line });
  };
  return (
    <div class="log-outer">
      <div class={`log-box ${isWrapped ? "is-wrapped" : ""}`} ref={box} tabIndex={0} role="log" aria-label="Log" onScroll={onScroll}
        data-first={first} data-total={total}>
        <span class="log-measure" aria-hidden="true">{"0".repeat(100)}</span>
        <div class="log-track" style={{ height: `${Math.max(track, size.height)}px` }}>
          <div class={`log-sheet ${isEnd && isWrapped && total > 20 ? "is-end" : ""}`} style={{ height: `${size.height}px` }}>
            <div class="log-lines" style={{ transform: isEnd && isWrapped && total > 20 ? "none" : `translateY(${-at.current.px}px)` }}>
              {numbers.map((line) => {
                const text = reader.store.get(line);
                const isChosen = !!chosen && line >= chosen.from && line <= chosen.to;
                const cut = reader.cut.get(line);
                return (
                  <div key={line} id={`L${line}`} class={`log-line ${isChosen ? "is-chosen" : ""}`}>
                    <a class="log-number" href={hrefWith({ line })} style={{ width: `${digits + 1}ch` }} onClick={(event) => choose(event, line)}
                      aria-label={`Line ${line}`}>{line}</a>
                    <code>{text === undefined ? "" : <LineText text={text} find={wish && !wish.isRegex ? wish.find : ""} isSameCase={wish?.isSameCase ?? true} />}
                      {cut !== undefined && <span class="tag">{bytesText(cut)} more of this line: download to see them</span>}</code>
                  </div>
                );
              })}
            </div>
          </div>
        </div>
      </div>
      {!reader.isFollowing && (
        <button type="button" class="log-end small main" onClick={goToEnd}>
          {fresh > 0 ? `${numberText(fresh)} new line${fresh === 1 ? "" : "s"}, go to end` : "Go to end"} ↓
        </button>
      )}
    </div>
  );
}
