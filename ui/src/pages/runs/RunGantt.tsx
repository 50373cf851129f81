// When each task of a run waited and ran; the chain that decided its end is marked.
import { useMemo, useRef, useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { pathOf, place, setQuery, type Params } from "../../core/route";
import { lookOf } from "../../core/states";
import { zone } from "../../core/prefs";
import { clockAt, durationText } from "../../core/time";
import { Empty, StateIcon, useEverySecond } from "../../parts/basics";
import { Show } from "../../parts/page";
import { barKey, criticalPath, rowWindow, segmentsOf, spanOf, ticksOf, type Bar, type Segment,
  type Span } from "./ganttModel";
import { taskHref } from "./links";
import { everyWhile, ofThisRun, RunFrame } from "./RunFrame";
import { isRunOver, taskName, type Run } from "./types";

interface GanttData {
  number: string;
  state: string;
  queued_at: string;
  now: string;
  bars: Bar[];
  left_out: number;
}

const ROW = 24;
const ticksMost = (): number => (innerWidth < 760 ? 2 : 7);

export function RunGanttPage({ params }: { params: Params }) {
  const number = params["run"] ?? "";
  return <RunFrame number={number}>{(run) => <Gantt run={run} />}</RunFrame>;
}

function Gantt({ run }: { run: Run }) {
  const isRunning = !isRunOver(run.state);
  const loaded = useLoad<GanttData>(pathOf("gantt", run.number) + "?limit=5000",
    { live: ofThisRun, every: everyWhile(isRunning) });
  const version = run.dag_version === null ? "" : `?version=${run.dag_version}`;
  const tasks = useLoad<{ tasks: { task_id: string; needs: string[] }[] }>(pathOf("dags", run.dag_id, "tasks")
    + version).data?.tasks;
  const needs = useMemo(() => new Map((tasks ?? []).map((task) => [task.task_id, task.needs])), [tasks]);
  return (
    <Show of={loaded}>
      {(data) => (data.bars.length === 0 ? <Empty>Nothing has started yet.</Empty>
        : <Chart data={data} needs={needs} isRunning={isRunning} />)}
    </Show>
  );
}

function Chart({ data, needs, isRunning }: { data: GanttData; needs: Map<string, string[]>; isRunning: boolean }) {
  const clock = useEverySecond(isRunning);
  // The server's clock counts; it goes on with ours.
  const asked = useRef({ data, at: Date.now() });
  if (asked.current.data !== data) asked.current = { data, at: Date.now() };
  const now = Date.parse(data.now) + (isRunning ? Math.max(0, clock - asked.current.at) : 0);
  const span = spanOf(data.bars, Date.parse(data.queued_at), now);
  const path = useMemo(() => criticalPath(data.bars, needs, now), [data, needs, now]);
  const isOnly = place.value.query.get("only") === "path";
  const bars = isOnly ? data.bars.filter((bar) => path.has(barKey(bar))) : data.bars;
  return (
    <>
      <div class="filters gantt-legend">
        <span><i class="key s-queued is-queued" /> waiting for a slot</span>
        <span><i class="key s-success" /> running</span>
        <span><i class="key s-failed is-earlier" /> an earlier try</span>
        <label class="check"><input type="checkbox" checked={isOnly}
          onChange={(event) => setQuery({ only: event.currentTarget.checked ? "path" : null })} />
          {" "}<b class="on-path">◆</b> only the critical path</label>
        <span class="dim">{zone.value}</span>
      </div>
      <Rows bars={bars} number={data.number} span={span} now={now} path={path} />
      {data.left_out > 0 && <p class="dim">{data.left_out} more are left out.</p>}
    </>
  );
}

function Axis({ span }: { span: Span }) {
  const isShort = span.to - span.from < 10_000;
  return (
    <div class="gantt-axis" aria-hidden="true">
      {ticksOf(span, ticksMost()).map((tick) => (
        <span key={tick} style={{ left: `${percent(span, tick)}%` }}>
          {clockAt(tick, zone.value).time}{isShort && `.${String(tick % 1000).padStart(3, "0").slice(0, 2)}`}
        </span>
      ))}
    </div>
  );
}

const percent = (span: Span, at: number): number => (100 * (at - span.from)) / (span.to - span.from);

const placeOf = (span: Span, { from, to }: Span) =>
  ({ left: `${percent(span, from)}%`, width: `max(2px, ${percent(span, to) - percent(span, from)}%)` });

interface RowsProps {
  bars: Bar[];
  number: string;
  span: Span;
  now: number;
  path: Set<string>;
}

/** Only rows in sight are in the page. */
function Rows({ bars, number, span, now, path }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const height = box.current?.clientHeight ?? 700;
  const { first, last } = rowWindow(top, height, ROW, bars.length);
  const ticks = ticksOf(span, ticksMost());
  return (
    <div class="gantt" role="group" aria-label="When tasks ran">
      <div class="gantt-head"><span>Task</span><Axis span={span} /></div>
      <div class="gantt-box" ref={box} tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div style={{ height: `${bars.length * ROW}px`, position: "relative" }}>
          {bars.slice(first, last).map((bar, i) => (
            <Row key={barKey(bar)} bar={bar} number={number} top={(first + i) * ROW} span={span} now={now} ticks={ticks}
              isOnPath={path.has(barKey(bar))} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  bar: Bar;
  number: string;
  top: number;
  span: Span;
  now: number;
  ticks: number[];
  isOnPath: boolean;
}

const factsOf = (segment: Segment): string => {
  const [from, to] = [segment.from, segment.to].map((instant) => clockAt(instant, zone.value).time);
  const times = `${from} – ${to}, ${durationText((segment.to - segment.from) / 1000)}`;
  if (segment.kind === "queued") return `waited ${times}`;
  return `try ${segment.tryNumber}: ${lookOf(segment.state).word}, ${times}`;
};

function Row({ bar, number, top, span, now, ticks, isOnPath }: RowProps) {
  const segments = segmentsOf(bar, now);
  const ran = segments.at(-1);
  const facts = [taskName(bar), ...segments.map(factsOf), isOnPath ? "on the critical path"
    : ""].filter(Boolean).join("\n");
  return (
    <a class={`gantt-row ${isOnPath ? "is-on-path" : ""}`} href={taskHref({ number, ...bar })} title={facts}
      aria-label={facts.replaceAll("\n", "; ")} style={{ top: `${top}px` }}>
      <span class="gantt-name">
        <StateIcon state={bar.state} /> <span>{taskName(bar)}</span>
        {isOnPath && <b class="on-path" aria-hidden="true">◆</b>}
      </span>
      <span class="gantt-track">
        {ticks.map((tick) => <i key={tick} class="tick" style={{ left: `${percent(span, tick)}%` }} />)}
        {segments.map((segment) => (
          <i key={segment.kind + segment.from} class={`bar is-${segment.kind} s-${lookOf(segment.state).colour}`}
            style={placeOf(span, segment)} />
        ))}
        {ran && ran.kind === "ran" && percent(span, ran.to) < 88 && (
          <span class="took"
            style={{ left: `${percent(span, ran.to)}%` }}>{durationText((ran.to - ran.from) / 1000)}</span>
        )}
      </span>
    </a>
  );
}
