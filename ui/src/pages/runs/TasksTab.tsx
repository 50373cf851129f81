// The tasks of a run: what failed first, with its error and what it printed last.
import { useLoad } from "../../core/load";
import { hrefWith, pathOf, place } from "../../core/route";
import { TASK_STATES, lookOf } from "../../core/states";
import { numberText } from "../../core/time";
import { Duration, Instant, State } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { Show } from "../../parts/page";
import { Pager, Table, type Column } from "../../parts/table";
import { LogTail } from "../logs/LogTail";
import { ClearAction, RetryAction } from "./actions";
import { logHref, taskApi, taskHref } from "./links";
import { everyWhile, ofThisRun } from "./RunFrame";
import { isFolder, isInstance, isRunOver, rankOf, taskName, type Run, type TaskInstance, type TaskList } from "./types";

const LIMIT = 100;
const INSTANCES = 50;
const CARDS = 3;

export function TasksTab({ run, onDone }: { run: Run; onDone: () => void }) {
  return (
    <>
      {((run.counts?.["failed"] ?? 0) > 0) && !place.value.query.get("state") && <Failures run={run} onDone={onDone} />}
      <TaskTable run={run} />
    </>
  );
}

/** What stands in the way, at once. */
function Failures({ run, onDone }: { run: Run; onDone: () => void }) {
  const path = pathOf("runs", run.number, "tasks") + `?state=failed&limit=${2 * CARDS}`;
  const failed = useLoad<TaskList>(path, { live: ofThisRun, every: everyWhile(!isRunOver(run.state)) });
  const real = failed.data?.task_instances.filter((task) => !isFolder(task)) ?? [];
  const total = run.counts?.["failed"] ?? 0;
  return (
    <>
      {real.slice(0, CARDS).map((task) => <Failure key={taskName(task) + task.try_number} run={run} task={task}
        onDone={onDone} />)}
      {total > CARDS && <p><a href={hrefWith({ state: "failed",
        offset: null })}>All {numberText(total)} that failed</a></p>}
    </>
  );
}

const howItEnded = (task: TaskInstance): string => [
  task.exit_code !== null && task.exit_code !== undefined && task.exit_code >= 0 ? `exit code ${task.exit_code}` : null,
  task.signal ? `signal ${task.signal}` : null,
  task.reason && task.reason !== "exit" ? task.reason.replaceAll("_", " ") : null,
].filter(Boolean).join(", ");

function Failure({ run, task, onDone }: { run: Run; task: TaskInstance; onDone: () => void }) {
  return (
    <section class="card failure" aria-label={`${taskName(task)} failed`}>
      <header>
        <h2><State state={task.state} /> <a href={taskHref(task)}>{taskName(task)}</a></h2>
        <div class="actions">
          <RetryAction run={run} task={task} onDone={onDone} isSmall isMain />
          <a class="button small" href={logHref(task)}>Log</a>
          <ClearAction run={run} task={task} onDone={onDone} isSmall />
        </div>
      </header>
      {task.message && <p class="error-line">{task.message}</p>}
      <p class="dim failure-facts">
        {howItEnded(task)} · try {task.try_number} of {task.max_tries + 1} · <Duration
          seconds={task.duration ?? null} />
        <span class="extra"> · ended <Instant at={task.end_date} />{task.hostname && ` on ${task.hostname}`}</span>
      </p>
      <LogTail path={taskApi(task, "lines")} isLive={false} hrefOf={(line) => logHref(task, { line })} />
    </section>
  );
}

/** How long it took; of what runs, so far. */
export function Took({ task }: { task: TaskInstance }) {
  const isRunning = task.state === "running";
  return <Duration seconds={isRunning ? null : task.duration ?? null}
    since={isRunning ? task.start_date ?? null : null} />;
}

interface Row {
  task: TaskInstance;
  /** The last row of an unfolded task: its pages. */
  pages?: { total: number; offset: number };
}

function TaskTable({ run }: { run: Run }) {
  const query = place.value.query;
  const state = query.get("state") ?? "";
  const open = query.get("open");
  const isRunning = !isRunOver(run.state);
  const asked = new URLSearchParams({ limit: String(LIMIT), offset: query.get("offset") ?? "0" });
  if (state) asked.set("state", state);
  else asked.set("folded", "true");
  const options = { live: ofThisRun, every: everyWhile(isRunning), keep: true };
  const path = pathOf("runs", run.number, "tasks");
  const tasks = useLoad<TaskList>(path + "?" + asked.toString(), options);
  const at = Number(query.get("at") ?? 0) || 0;
  const instances = useLoad<TaskList>(open
    ? `${path}?task=${encodeURIComponent(open)}&folded=false&limit=${INSTANCES}&offset=${at}` : null, options);
  const states = [{ value: "", text: "All tasks" }, ...TASK_STATES.map((name) => ({
    value: name, text: `${lookOf(name).word}${run.counts?.[name] ? ` (${numberText(run.counts[name])})` : ""}`,
  }))];
  return (
    <>
      <div class="filters"><ChoiceFilter name="state" label="State of tasks" choices={states} /></div>
      <Show of={tasks}>
        {(data) => (
          <>
            <Table label="Tasks" rows={rowsOf(data.task_instances, open, instances.data, at)} columns={COLUMNS}
              keyOf={(row) => taskName(row.task) + (row.pages ? "+" : "")}
                hrefOf={(row) => (row.pages ? null : taskHref(row.task))}
              empty={state ? "No task is in that state." : "This run has no tasks yet."} />
            <Pager total={data.total_entries} limit={LIMIT} />
          </>
        )}
      </Show>
    </>
  );
}

function rowsOf(tasks: TaskInstance[], open: string | null, instances: TaskList | undefined, offset: number): Row[] {
  const sorted = [...tasks].sort((a, b) => rankOf(a.state) - rankOf(b.state));
  return sorted.flatMap((task): Row[] => {
    if (task.task_id !== open || !isFolder(task) || !instances) return [{ task }];
    const pages = instances.total_entries > INSTANCES ? [{ task, pages: { total: instances.total_entries, offset } }]
      : [];
    return [{ task }, ...instances.task_instances.map((instance) => ({ task: instance })), ...pages];
  });
}

const COLUMNS: Column<Row>[] = [
  { name: "Task", cell: ({ task, pages }) => (pages ? <InstancePages {...pages} /> : <Name task={task} />) },
  { name: "State", cell: ({ task, pages }) => !pages && (
    <>
      <State state={task.state} />
      {task.next_retry && task.state === "up_for_retry" && <div class="dim">again <Instant
        at={task.next_retry} /></div>}
    </>
  ) },
  { name: "Took", cell: ({ task, pages }) => !pages && (
    <Took task={task} />
  ), isNumber: true },
  { name: "Tries", cell: ({ task, pages }) => !pages && !isFolder(task) &&
    (task.try_number || <span class="dim">–</span>), isNumber: true, isExtra: true },
  { name: "Host", cell: ({ task, pages }) => !pages && task.hostname, isExtra: true },
  { name: "Message", cell: ({ task, pages }) => !pages && (
    <><span class="cut message" title={task.message ?? ""}>{task.message}</span>
      {task.note && <span class="dim cut" title={task.note}>Note: {task.note}</span>}</>
  ), isExtra: true },
  { name: "Log", cell: ({ task, pages }) => !pages && !isFolder(task) && task.try_number > 0 &&
    <a href={logHref(task)} aria-label={`Log of ${taskName(task)}`}>Log</a> },
];

/** Longer than this a name takes several lines. */
const LONG = 30;
const idClass = (task: TaskInstance): string =>
  `mono task-id ${isInstance(task) ? "is-instance" : ""} ${taskName(task).length > LONG ? "is-long" : ""}`;

function Name({ task }: { task: TaskInstance }) {
  const isOpen = place.value.query.get("open") === task.task_id;
  if (!isFolder(task))
    return <a class={idClass(task)} href={taskHref(task)}>{taskName(task)}</a>;
  const counts = task.instances;
  return (
    <>
      <a class={idClass(task)} href={taskHref(task)}>{task.task_id}</a>{" "}
      <a class="tag" role="button" aria-expanded={isOpen}
        href={hrefWith({ open: isOpen ? null : task.task_id, at: null })}>
        {isOpen ? "▾" : "▸"} {numberText(counts?.total ?? 0)} instances
        {!!counts?.failed && <span class="bad">, {numberText(counts.failed)} failed</span>}
        {!!counts && counts.success > 0 && `, ${numberText(counts.success)} success`}
      </a>
    </>
  );
}

function InstancePages({ total, offset }: { total: number; offset: number }) {
  return (
    <span class="is-instance dim">
      {offset > 0 && <a href={hrefWith({ at: offset - INSTANCES || null })}>Previous</a>}{" "}
      {numberText(offset + 1)}–{numberText(Math.min(total, offset + INSTANCES))} of {numberText(total)}{" "}
      {offset + INSTANCES < total && <a href={hrefWith({ at: offset + INSTANCES })}>Next</a>}
    </span>
  );
}
