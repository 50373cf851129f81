// What all tabs of a run have in common: its head, its actions and the tabs.
import type { ComponentChildren } from "preact";
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { lookOf } from "../../core/states";
import { useScope } from "../../core/stream";
import { durationText } from "../../core/time";
import { Ago, Copy, Duration, Instant, State } from "../../parts/basics";
import { Facts, Page, Show, Tabs } from "../../parts/page";
import { Told } from "../../parts/told";
import { Changed } from "./Changed";
import { CancelAction, MoreActions, NoteAction, RerunAction, RetryAction } from "./actions";
import { runHref } from "./links";
import { CountsBar } from "./RunList";
import { isRunOver, type Run } from "./types";

/** Everything of the run that the page is about, for the stream has its scope. */
export const ofThisRun = (): boolean => true;
const RUNNING_MS = 2000;
export const everyWhile = (isRunning: boolean): number => (isRunning ? RUNNING_MS : 0);

/** A run, kept fresh. */
export function useRun(number: string) {
  useScope({ run: number });
  return useLoad<Run>(pathOf("runs", number), { live: ofThisRun, every: 5000 });
}

interface FrameProps {
  number: string;
  children: (run: Run, reload: () => void) => ComponentChildren;
}

export function RunFrame({ number, children }: FrameProps) {
  const loaded = useRun(number);
  const run = loaded.data;
  const crumbs = run
    ? [{ text: "DAGs", href: "/dags" }, { text: run.dag_id, href: pathOf("dags", run.dag_id) },
      { text: "Runs", href: pathOf("dags", run.dag_id, "runs") }]
    : [{ text: "Runs", href: "/runs" }];
  return (
    <Page name={run ? `${run.dag_id} #${run.number}: ${lookOf(run.state).word}` : `Run ${number}`} crumbs={crumbs}
      title={run ? <span class="run-title">#{run.number} <State state={run.state} /></span> : `Run ${number}`}
      actions={run && <RunActions run={run} onDone={loaded.reload} />}>
      <Show of={loaded}>
        {(data) => (
          <>
            <Head run={data} onDone={loaded.reload} />
            <Changed run={data} />
            <Tabs label="Of this run" items={[
              { href: runHref(number), text: "Tasks", ...(data.tasks_total !== undefined &&
                { count: data.tasks_total }) },
              { href: runHref(number, "graph"), text: "Graph" },
              { href: runHref(number, "gantt"), text: "Gantt" },
              { href: runHref(number, "values"), text: "Values" },
              { href: runHref(number, "events"), text: "Events" },
            ]} />
            {children(data, loaded.reload)}
          </>
        )}
      </Show>
    </Page>
  );
}

function RunActions({ run, onDone }: { run: Run; onDone: () => void }) {
  const bad = (run.counts?.["failed"] ?? 0) + (run.counts?.["upstream_failed"] ?? 0) + (run.counts?.["cancelled"] ?? 0);
  const tasks = useLoad<{ tasks: { task_id: string }[] }>(pathOf("dags", run.dag_id, "tasks")).data?.tasks ?? [];
  return (
    <>
      {(bad > 0 || run.state === "cancelled") && <RetryAction run={run} onDone={onDone} />}
      {!isRunOver(run.state) && <CancelAction run={run} onDone={onDone} />}
      {run.state === "success" && <RerunAction run={run} onDone={onDone} />}
      <MoreActions run={run} tasks={tasks.map((task) => task.task_id)} onDone={onDone} />
    </>
  );
}

function Head({ run, onDone }: { run: Run; onDone: () => void }) {
  const began = run.start_date ?? run.queued_at;
  return (
    <div class="run-head">
      <p class="run-line">
        <span><Duration seconds={isRunOver(run.state) ? run.duration ?? null : null}
          since={run.start_date ?? null} /></span>
        <span>{run.start_date ? "started" : "queued"} <Ago at={began} /></span>
        <span>{run.run_type}{run.actor && <> by <b>{run.actor}</b></>}</span>
        {run.logical_date && <span class="extra">for <Instant at={run.logical_date} isLong /></span>}
        {run.late && <span class="tag bad">late</span>}
      </p>
      <CountsBar run={run} isWide />
      <p class="run-counts">
        {Object.entries(run.counts ?? {}).filter(([, count]) => count > 0).map(([state, count]) => (
          <a key={state} href={`${runHref(run.number)}?state=${state}`}><State state={state} count={count} /></a>
        ))}
      </p>
      <Why run={run} />
      {run.note && <p class="notice run-note">{run.note} <NoteAction run={run} onDone={onDone} isSmall
        face="Edit" /></p>}
      <More run={run} />
    </div>
  );
}

interface Explained {
  summary: string;
  conditions: { because: string; change?: string | null }[];
}

/** Why it waits, or why it ended as it did. */
function Why({ run }: { run: Run }) {
  const waits = run.state === "queued" || !!run.waits_because;
  const told = useLoad<Explained>(waits ? pathOf("explain", "runs", run.number) : null, { every: 5000 }).data;
  // That tasks failed is told better by the tasks.
  const words = run.waits_because ?? (run.counts?.["failed"] ? null : run.reason);
  if (run.stop_reason || run.stopped_by)
    return <p class="notice">Stopped by {run.stopped_by ?? "somebody"}{run.stop_reason && `: ${run.stop_reason}`}</p>;
  if (!words && !told?.conditions.length) return null;
  return (
    <div class="notice" role="status">
      {told?.conditions.length
        ? told.conditions.map((each) => (
          <p key={each.because}>
            <b><Told text={each.because} /></b>
            {" "}{each.change && <span class="dim">To change it: <Told text={each.change} /></span>}
          </p>
        ))
        : words && <Told text={words} />}
    </div>
  );
}

const hasMembers = (value: Record<string, unknown> | undefined): boolean => !!value && Object.keys(value).length > 0;

function More({ run }: { run: Run }) {
  const waited = run.start_date ? (Date.parse(run.start_date) - Date.parse(run.queued_at)) / 1000 : null;
  return (
    <details class="run-more">
      <summary>About this run</summary>
      <Facts items={[
        ["Run id", <><span class="mono">{run.dag_run_id}</span> <Copy text={run.dag_run_id} /></>],
        ["DAG", <a href={pathOf("dags", run.dag_id)}>{run.dag_id}</a>],
        ["Version", run.dag_version !== null && <a href={pathOf("dags", run.dag_id, "versions")}>{run.dag_version}</a>],
        ["Logical date", <Instant at={run.logical_date} isLong />],
        ["Interval", run.data_interval_start !== run.data_interval_end &&
          <><Instant at={run.data_interval_start} isLong /> – <Instant at={run.data_interval_end} isLong /></>],
        ["Queued", <Instant at={run.queued_at} isLong />],
        ["Waited", waited !== null && durationText(Math.max(0, waited))],
        ["Started", <Instant at={run.start_date} isLong />],
        ["Ended", <Instant at={run.end_date} isLong />],
        ["Namespace", run.namespace],
        ["Replaced by", run.replaced_by],
      ]} />
      {hasMembers(run.params) && <><h3>Parameters</h3><pre class="code">{JSON.stringify(run.params, null, 2)}</pre></>}
      {hasMembers(run.conf) && <><h3>Conf</h3><pre class="code">{JSON.stringify(run.conf, null, 2)}</pre></>}
    </details>
  );
}
