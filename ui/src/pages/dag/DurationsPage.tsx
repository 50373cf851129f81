// How long runs and tasks took: points by state, the median and p95 of the last ones, and the wait before.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAnswer } from "../../core/answer";
import { Problem } from "../../core/http";
import { useLoad } from "../../core/load";
import { isDark, zone } from "../../core/prefs";
import { go, pathOf, place, type Params } from "../../core/route";
import type { LiveEvent } from "../../core/stream";
import { durationText } from "../../core/time";
import { Duration, Empty, Instant, State } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { Facts, ProblemBox, Section } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { DagFrame, type Dag, type DagRun } from "./DagFrame";
import { columnsOf, summaryOf, type Timed } from "./quantiles";

const isEnd = (event: LiveEvent): boolean => event.kind.startsWith("run");

interface Instance {
  number: string;
  dag_run_id: string;
  logical_date: string | null;
  task_id: string;
  map_index: number;
  state: string | null;
  queued_when: string | null;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
}

const between = (from: string | null, to: string | null): number | null =>
  from && to ? Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000) : null;

const timeOf = (by: string, row: { logical_date: string | null; start_date: string | null }): string | null =>
  by === "logical" ? row.logical_date ?? row.start_date : row.start_date;

function timedRun(run: DagRun, by: string): Timed | null {
  const at = timeOf(by, run);
  if (!at) return null;
  return { number: run.number, label: run.dag_run_id, state: run.state, at,
    duration: run.end_date ? run.duration : null,
    wait: between(run.queued_at, run.start_date) };
}

function timedTask(task: Instance, by: string): Timed | null {
  const at = timeOf(by, task);
  if (!at || !task.start_date) return null;
  return { number: task.number, label: task.dag_run_id + (task.map_index >= 0 ? ` [${task.map_index}]` : ""),
    state: task.state ?? "none", at, duration: task.end_date ? task.duration : null,
      wait: between(task.queued_when, task.start_date) };
}

export function DurationsPage({ params }: { params: Params }) {
  return <DagFrame dag={params["dag"]!}>{(dag) => <Durations dag={dag} />}</DagFrame>;
}

const COUNTS = ["100", "25", "300", "1000"];

function useTimed(dag: Dag): { rows: Timed[] | undefined; problem: Problem | undefined } {
  const { query } = place.value;
  const task = query.get("task");
  const limit = COUNTS.includes(query.get("last") ?? "") ? query.get("last")! : COUNTS[0]!;
  const by = query.get("by") ?? "start";
  const runs = useLoad<{ dag_runs: DagRun[] }>(
    task ? null : `/runs?dag=${encodeURIComponent(dag.dag_id)}&limit=${limit}&brief=true`, { live: isEnd, keep: true });
  const tasks = useInstances(dag, task, Number(limit));
  const rows = useMemo(() => {
    if (task) return tasks.rows?.map((row) => timedTask(row, by)).filter((row) => row !== null);
    return runs.data?.dag_runs.map((run) => timedRun(run, by)).filter((row) => row !== null);
  }, [task, by, runs.data, tasks.rows]);
  return { rows, problem: task ? tasks.problem : runs.problem };
}

/** The last instances of a task; asked again when a run of the DAG ends. */
function useInstances(dag: Dag, task: string | null, limit: number): { rows?: Instance[]; problem?: Problem } {
  const wish = task ? { dag_ids: [dag.dag_id], task_ids: [task], page_limit: limit } : null;
  const answer = useAnswer<{ task_instances: Instance[] }>("/api/v1/dags/~/dagRuns/~/taskInstances/list", wish,
    { keep: true, again: `${dag.last_run?.number} ${dag.last_run?.state}` });
  if (answer === null) return {};
  return answer instanceof Problem ? { problem: answer } : { rows: answer.task_instances };
}

function Durations({ dag }: { dag: Dag }) {
  const { rows, problem } = useTimed(dag);
  const task = place.value.query.get("task");
  return (
    <>
      <div class="filters">
        <ChoiceFilter name="task" label="Runs or a task" choices={[{ value: "", text: "whole runs" },
          ...dag.tasks.map((row) => ({ value: row.task_id, text: row.task_id }))]} />
        <ChoiceFilter name="last" label="How many"
          choices={COUNTS.map((value) => ({ value, text: `last ${value}` }))} />
        <ChoiceFilter name="by" label="Along"
          choices={[{ value: "start", text: "by start" }, { value: "logical", text: "by logical date" }]} />
        <ChoiceFilter name="scale" label="Scale"
          choices={[{ value: "linear", text: "linear scale" }, { value: "log", text: "logarithmic scale" }]} />
      </div>
      {problem && <ProblemBox problem={problem} />}
      {rows && rows.length === 0 && <Empty>{task ? `No run of ${task} yet.` : "No run yet."}</Empty>}
      {rows && rows.length > 0 && <Timeline rows={rows} />}
    </>
  );
}

function shareText(share: number | null): string | null {
  return share === null ? null : `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

function Timeline({ rows }: { rows: Timed[] }) {
  const summary = summaryOf(rows);
  return (
    <>
      <Section title="In numbers">
        <Facts items={[
          ["Shown", summary.count],
          ["Failed", shareText(summary.failedShare)],
          ["Median of successes", summary.median === null ? null : durationText(summary.median)],
          ["p95 of successes", summary.p95 === null ? null : durationText(summary.p95)],
          ["Median queue wait", summary.medianWait === null ? null : durationText(summary.medianWait)],
        ]} />
      </Section>
      <Section title="Over time">
        <Chart rows={rows} />
      </Section>
      <details class="card">
        <summary>As a table</summary>
        <Table label="Durations" rows={rows} columns={COLUMNS} keyOf={(row) => row.number + row.label} />
      </details>
    </>
  );
}

const COLUMNS: Column<Timed>[] = [
  { name: "Run", cell: (row) => <a href={pathOf("runs", row.number)}>{row.label}</a> },
  { name: "State", cell: (row) => <State state={row.state} /> },
  { name: "At", cell: (row) => <Instant at={row.at} isLong />, isExtra: true },
  { name: "Duration", cell: (row) => <Duration seconds={row.duration} />, isNumber: true },
  { name: "Queue wait", cell: (row) => <Duration seconds={row.wait} />, isNumber: true },
];

function Chart({ rows }: { rows: Timed[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<Timed | null>(null);
  const isLog = place.value.query.get("scale") === "log";
  const columns = useMemo(() => columnsOf(rows), [rows]);
  useEffect(() => {
    let chart: { end: () => void } | null = null;
    let isOver = false;
    const show = async () => {
      const { makeChart } = await import("./DurationChart");
      if (isOver || !box.current) return;
      chart = makeChart(box.current, {
        ...columns, isLog, zone: zone.value, onPoint: setPointed, onOpen: (row) => go(pathOf("runs", row.number)),
      });
    };
    void show();
    return () => {
      isOver = true;
      chart?.end();
    };
    // Colours are read when the chart is made: another theme makes another one.
  }, [columns, isLog, zone.value, isDark.value]);
  return (
    <>
      <p class="chart-key">
        <span class="s-success"><i class="dot" /> success</span>
        <span class="s-failed"><i class="cross">✕</i> failed</span>
        <span class="s-queued"><i class="square" /> other</span>
        <span><i class="line is-median" /> median of 20</span>
        <span><i class="line is-p95" /> p95 of 20</span>
        <span><i class="line is-wait" /> queue wait</span>
      </p>
      <div class="chart" ref={box} role="img" aria-label="Durations over time; the table below has the same numbers" />
      <p class="dim chart-told">
        {pointed
          ? <><State state={pointed.state} /> <a href={pathOf("runs", pointed.number)}>{pointed.label}</a>{" "}
            <Instant at={pointed.at} isLong />: {pointed.duration === null ? "" : durationText(pointed.duration)}
            {pointed.wait !== null && `, waited ${durationText(pointed.wait)}`}</>
          : "Drag to zoom, double click to see all again, click a point to open its run."}
      </p>
    </>
  );
}
