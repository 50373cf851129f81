// Where one stands in a log: moved by the scroll bar, by the URL, and by what is added at the end.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { place as here, setQuery } from "../../core/route";
import type { LogReader } from "./logReader";
import {
  clampPlace, endPlace, isAtEnd, linesInSight, parseLines, placeAtTrack, placeOf, rowsOf, trackHeight, trackOf, walk,
  type Place, type Sheet,
} from "./logWindow";

export const ROW = 19;
/** The scroll bar is put right when one has not moved it for so long. */
const SETTLE_MS = 120;

interface Size {
  height: number;
  columns: number;
}

export interface LogWindow {
  box: RefObject<HTMLDivElement | null>;
  at: Place;
  first: number;
  last: number;
  height: number;
  track: number;
  /** The end is in sight, and stays there. */
  isEnd: boolean;
  chosen: { from: number; to: number } | null;
  /** Lines that came since one looks elsewhere. */
  fresh: number;
  onScroll: () => void;
  goToEnd: () => void;
}

/** How many rows and letters there is room for. */
function useSize(box: RefObject<HTMLDivElement | null>): Size {
  const [size, setSize] = useState<Size>({ height: 600, columns: 100 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const widthOf = (selector: string) => element.querySelector(selector)?.getBoundingClientRect().width ?? 0;
    const measure = () => {
      const letter = widthOf(".log-measure") / 100;
      const room = element.clientWidth - widthOf(".log-number") - 16;
      setSize({
        height: element.clientHeight, columns: letter > 0 ? Math.max(20, Math.floor(room / letter)) : 100,
      });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return size;
}

/** What moves within a drawing, and is drawn by hand. */
class Position {
  at: Place = { line: 1, px: 0 };
  /** A line that stays in sight, also when those above it turn out to be higher, until somebody moves. */
  kept: number | null = null;
  sheet: Sheet = { total: 0, height: 0, heightOf: () => ROW };
  private shownTop = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly box: RefObject<HTMLDivElement | null>) {}

  /** By the scroll bar: a little is walked, much is dragged. Gives how far; 0: it was not a person. */
  scrolled(): number {
    const element = this.box.current;
    if (!element) return 0;
    const moved = element.scrollTop - this.shownTop;
    if (moved === 0) return 0;
    this.shownTop = element.scrollTop;
    this.kept = null;
    const isDragged = Math.abs(moved) > 2 * this.sheet.height;
    const track = trackHeight(this.sheet.total, ROW);
    this.at = isDragged ? placeAtTrack(element.scrollTop, this.sheet, track) : walk(this.at, moved, this.sheet);
    const isAtEdge = element.scrollTop <= 0 || element.scrollTop >= element.scrollHeight - element.clientHeight - 1;
    this.settle(isAtEdge ? 0 : SETTLE_MS);
    return moved;
  }

  /** Lets the scroll bar show where one is. */
  settle(wait = 0): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const element = this.box.current;
      // Somebody has just moved it, and we shall hear of that: it is not to be taken back before.
      if (!element || element.scrollTop !== this.shownTop) return;
      const top = Math.round(trackOf(this.at, this.sheet, trackHeight(this.sheet.total, ROW)));
      if (Math.abs(element.scrollTop - top) < 1) return;
      element.scrollTop = top;
      this.shownTop = element.scrollTop;
    }, wait);
  }
}

export function useLogWindow(reader: LogReader, isWrapped: boolean): LogWindow {
  const changes = reader.changes.value; // drawn anew when lines come
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const position = useRef<Position | null>(null);
  const own = (position.current ??= new Position(box));
  const [, redraw] = useState(0);
  const [seenTotal, setSeenTotal] = useState(0);
  const { total } = reader.store;
  const { height, columns } = size;
  own.sheet = {
    total, height, heightOf: isWrapped ? (line) => ROW * rowsOf(reader.store.get(line), columns) : () => ROW,
  };
  const chosen = parseLines(here.value.query.get("line") ?? here.value.hash);
  const follow = (isOn: boolean) => {
    if (reader.isFollowing && !isOn) setSeenTotal(reader.store.total);
    reader.isFollowing = isOn;
  };
  const moveTo = (to: Place) => {
    own.at = clampPlace(to, own.sheet);
    follow(isAtEnd(own.at, own.sheet));
    redraw((count) => count + 1);
    own.settle();
  };
  // A line that the URL names; without one the end.
  useEffect(() => {
    own.kept = chosen?.from ?? null;
    if (chosen) moveTo(placeOf(chosen.from, own.sheet));
    else if (reader.isFollowing) moveTo(endPlace(own.sheet));
  }, [chosen?.from, chosen?.to, height, isWrapped]);
  const isEnd = reader.isFollowing && !chosen;
  if (isEnd) own.at = endPlace(own.sheet);
  else if (own.kept) own.at = placeOf(own.kept, own.sheet);
  useEffect(() => {
    if (reader.isFollowing) own.settle();
  }, [total]);
  const { first, last } = linesInSight(own.at, own.sheet);
  useEffect(() => reader.want(Math.max(1, first - 50), Math.min(total, last + 50)), [first, last, total, changes]);
  return {
    box, at: own.at, first, last, height, track: trackHeight(total, ROW), isEnd, chosen,
    fresh: reader.isFollowing ? 0 : Math.max(0, total - seenTotal),
    onScroll: () => {
      const moved = own.scrolled();
      if (moved === 0) return;
      follow(moved > 0 && isAtEnd(own.at, own.sheet));
      redraw((count) => count + 1);
    },
    goToEnd: () => {
      follow(true);
      own.kept = null;
      if (chosen) setQuery({ line: null });
      moveTo(endPlace(own.sheet));
    },
  };
}
