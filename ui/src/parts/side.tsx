// Beside a picture: the run or the task in it that was chosen, and what can be done about it.
import type { ComponentChildren } from "preact";
import { useCallback } from "preact/hooks";
import { useLoad } from "../core/load";
import { pathOf } from "../core/route";
import { can } from "../core/session";
import { lookOf } from "../core/states";
import type { LiveEvent } from "../core/stream";
import { Action, type Change } from "./action";
import { Ago, Duration, Instant, State } from "./basics";
import { Facts, Show } from "./page";
import { Told } from "./told";

/** Of GET /runs/N/tasks. */
export interface TaskInstance {
  number: string;
  task_id: string;
  map_index: number;
  label: string | null;
  state: string;
  try_number: number;
  max_tries: number;
  queued_when: string | null;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  next_retry: string | null;
  reason: string | null;
  message: string | null;
  exit_code?: number | null;
  operator: string;
  hostname?: string | null;
  note: string | null;
  is_mapped: boolean;
  instances?: { total: number; success: number; failed: number; skipped: number } | null;
}

interface Run {
  number: string;
  dag_id: string;
  dag_run_id: string;
  state: string;
  reason: string | null;
  waits_because: string | null;
  run_type: string;
  logical_date: string | null;
  queued_at: string;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  counts?: Record<string, number>;
  note: string | null;
  dag_version: number;
  actor?: string | null;
}

interface SideProps {
  title: ComponentChildren;
  label: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Side({ title, label, onClose, children }: SideProps) {
  return (
    <aside class="side card" aria-label={label}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet small" aria-label="Close" onClick={onClose}>✕</button>
      </header>
      {children}
    </aside>
  );
}

const useIsOfRun = (number: string) =>
  useCallback((event: LiveEvent) => event.number === number, [number]);

const durationOf = (it: { start_date: string | null; end_date: string | null; duration: number | null }) =>
  it.start_date && <Duration seconds={it.end_date ? it.duration : null} since={it.start_date} />;

interface OfRun {
  number: string;
  namespace: string;
  onClose: () => void;
}

export function RunSide({ number, namespace, onClose }: OfRun) {
  const loaded = useLoad<Run>(pathOf("runs", number), { live: useIsOfRun(number), keep: true });
  return (
    <Side title={<a href={pathOf("runs", number)}>Run {number}</a>} label={`Run ${number}`} onClose={onClose}>
      <Show of={loaded}>{(run) => (
        <>
          <p class="side-counts">
            <State state={run.state} /> {run.reason && <span class="dim"><Told text={run.reason} /></span>}
          </p>
          {run.waits_because && <p class="dim"><Told text={run.waits_because} /></p>}
          <Facts items={[
            ["Logical date", run.logical_date && <Instant at={run.logical_date} isLong />],
            ["Type", run.run_type],
            ["Started", run.start_date && <Ago at={run.start_date} />],
            ["Took", durationOf(run)],
            ["Version", run.dag_version],
            ["By", run.actor],
            ["Note", run.note],
          ]} />
          {run.counts && <p class="side-counts">{Object.entries(run.counts).map(([state, count]) => (
            <State key={state} state={state} count={count} />
          ))}</p>}
          <div class="actions">
            <a class="button small" href={pathOf("runs", number)}>Open run</a>
            <a class="button small" href={pathOf("runs", number, "gantt")}>Gantt</a>
            <a class="button small" href={pathOf("runs", number, "graph")}>Graph</a>
          </div>
          <RunActions run={run} namespace={namespace} />
        </>
      )}</Show>
    </Side>
  );
}

function RunActions({ run, namespace }: { run: Run; namespace: string }) {
  const isAllowed = can("operator", namespace);
  const isOver = lookOf(run.state).isOver;
  return (
    <div class="actions">
      {isOver && run.state !== "success" && (
        <Action label="Retry" isAllowed={isAllowed} isSmall isMain
          question="What did not succeed runs again; what did is kept."
          change={{ path: pathOf("runs", run.number, "retry"), cli: ["retry", run.number] }}
          done={`Run ${run.number} goes on.`} />
      )}
      {!isOver && (
        <Action label="Cancel run" isAllowed={isAllowed} isSmall isDanger question="Its tasks that run are stopped."
          change={{ path: pathOf("runs", run.number, "cancel"), cli: ["runs", "cancel", run.number] }}
          done={`Run ${run.number} is being stopped.`} />
      )}
    </div>
  );
}

interface OfTask extends OfRun {
  task: string;
  /** Links beside the others. */
  more?: ComponentChildren;
}

export function TaskSide({ number, task, namespace, onClose, more }: OfTask) {
  const loaded = useLoad<{ task_instances: TaskInstance[] }>(
    pathOf("runs", number, "tasks") + "?task=" + encodeURIComponent(task), { live: useIsOfRun(number), keep: true });
  const page = pathOf("runs", number, "tasks", task);
  return (
    <Side title={<a href={page}>{task}</a>} label={`Task ${task} of run ${number}`} onClose={onClose}>
      <p class="dim">in <a href={pathOf("runs", number)}>run {number}</a></p>
      <Show of={loaded}>{({ task_instances: all }) => {
        const whole = all.find((one) => one.map_index < 0) ?? all[0];
        if (!whole) return <p class="dim">This run's version of the DAG has no such task.</p>;
        return (
          <>
            <p><State state={whole.state} /></p>
            <TaskFacts instance={whole} />
            <div class="actions">
              <a class="button small" href={page}>Open task</a>
              <a class="button small" href={page + "/log"}>Log</a>
              {more}
            </div>
            <TaskActions instance={whole} namespace={namespace} />
            {whole.is_mapped && <Instances all={all.filter((one) => one.map_index >= 0)} page={page} />}
          </>
        );
      }}</Show>
    </Side>
  );
}

function TaskFacts({ instance: it }: { instance: TaskInstance }) {
  const counts = it.instances;
  return (
    <Facts items={[
      ["Because", it.message ?? (it.exit_code ? `exit code ${it.exit_code}` : null)],
      ["Try", it.try_number > 0 ? `${it.try_number} of ${it.max_tries + 1}` : null],
      ["Next try", it.next_retry && <Ago at={it.next_retry} />],
      ["Started", it.start_date && <Ago at={it.start_date} />],
      ["Duration", durationOf(it)],
      ["Host", it.hostname],
      ["Kind", it.operator],
      ["Instances", counts && `${counts.total}: ${counts.success} succeeded, ${counts.failed} failed`],
      ["Note", it.note],
    ]} />
  );
}

function TaskActions({ instance: it, namespace }: { instance: TaskInstance; namespace: string }) {
  const { number, task_id: task, state } = it;
  const isOver = lookOf(state).isOver;
  const has = { isAllowed: can("operator", namespace), isSmall: true };
  const ofRun = (verb: string, body: Record<string, unknown>, cli: Change["cli"]): Change =>
    ({ path: pathOf("runs", number, verb), body, cli });
  const mark = (as: string): Change =>
    ({ path: pathOf("runs", number, "tasks", task, "mark"), body: { state: as }, cli: ["mark", number, task, as] });
  return (
    <div class="actions">
      {isOver && state !== "success" && state !== "skipped" && (
        <Action {...has} label="Retry" isMain question={`${task} and what comes after it run again.`}
          change={ofRun("retry", { tasks: [task] }, ["retry", number, task])} done={`${task} runs again.`} />
      )}
      {isOver && (
        <Action {...has} label="Clear" done={`${task} is cleared.`}
          question={`The outcome of ${task} is forgotten, so that it runs again; so does what came after it.`}
          change={ofRun("clear", { tasks: [task] }, ["tasks", "clear", number, task])} />
      )}
      {state !== "success" && (
        <Action {...has} label="Mark success" question={`${task} counts as succeeded, whatever it did.`}
          change={mark("success")} done={`${task} counts as succeeded.`} />
      )}
      {state !== "failed" && (
        <Action {...has} label="Mark failed" isDanger question={`${task} counts as failed, whatever it did.`}
          change={mark("failed")} done={`${task} counts as failed.`} />
      )}
      {!isOver && (
        <Action {...has} label="Cancel" isDanger question={`${task} is stopped; the rest of the run goes on.`}
          change={ofRun("cancel", { task }, ["stop", number, task])} done={`${task} is being stopped.`} />
      )}
    </div>
  );
}

const SHOWN = 20;

/** What failed first, for that is what one looks for. */
function Instances({ all, page }: { all: TaskInstance[]; page: string }) {
  const isBad = (it: TaskInstance) => (it.state === "failed" ? 0 : lookOf(it.state).isOver ? 2 : 1);
  const shown = [...all].sort((a, b) => isBad(a) - isBad(b) || a.map_index - b.map_index).slice(0, SHOWN);
  return (
    <ul class="side-list" aria-label="Instances">
      {shown.map((it) => (
        <li key={it.map_index}>
          <a href={`${page}?map=${it.map_index}`}>[{it.map_index}] {it.label}</a> <State state={it.state} />
        </li>
      ))}
      {all.length > SHOWN && <li><a href={page}>and {all.length - SHOWN} more</a></li>}
    </ul>
  );
}
