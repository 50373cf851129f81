// One task of a run: its tries, why it waits, what it was told to do, what it returned and printed.
import { useLoad } from "../../core/load";
import { pathOf, place, type Params } from "../../core/route";
import { lookOf } from "../../core/states";
import { bytesText, durationText, numberText } from "../../core/time";
import { Instant, State, StateIcon } from "../../parts/basics";
import { Facts, Page, Section, Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { Told } from "../../parts/told";
import { LogTail } from "../logs/LogTail";
import { CancelAction, ClearAction, MarkAction, NoteAction, RetryAction } from "./actions";
import { logHref, runHref, taskApi, taskHref } from "./links";
import { Rendered } from "./Rendered";
import { everyWhile, ofThisRun, useRun } from "./RunFrame";
import { ValueTable } from "./RunValues";
import { TaskHistory } from "./TaskHistory";
import { Took } from "./TasksTab";
import { isFolder, isRunOver, taskName, type Run, type TaskInstance, type TaskList } from "./types";

export function TaskPage({ params }: { params: Params }) {
  const number = params["run"] ?? "";
  const taskId = params["task"] ?? "";
  const map = place.value.query.get("map");
  const loaded = useRun(number);
  const run = loaded.data;
  const which = map === null ? "folded=true" : `folded=false&offset=${Number(map) || 0}&limit=1`;
  const path = pathOf("runs", number, "tasks") + `?task=${encodeURIComponent(taskId)}&${which}`;
  const tasks = useLoad<TaskList>(path, { live: ofThisRun, every: everyWhile(!!run && !isRunOver(run.state)) });
  const task = tasks.data?.task_instances[0];
  const reload = () => {
    loaded.reload();
    tasks.reload();
  };
  const name = task ? taskName(task) : taskId;
  const crumbs = [
    { text: "DAGs", href: "/dags" },
    ...(run ? [{ text: run.dag_id, href: pathOf("dags", run.dag_id) }] : []),
      { text: `#${number}`, href: runHref(number) },
    ...(map !== null ? [{ text: taskId, href: pathOf("runs", number, "tasks", taskId) }] : []),
  ];
  return (
    <Page name={`${name} of #${number}`} crumbs={crumbs}
      title={<span class="run-title"><span class="mono">{name}</span> {task && <State state={task.state} />}</span>}
      actions={run && task && <TaskActions run={run} task={task} onDone={reload} />}>
      <Show of={tasks}>
        {() => (task && run ? <TaskBody run={run} task={task} onDone={reload} /> : <p
          class="empty">There is no such task in this run.</p>)}
      </Show>
    </Page>
  );
}

interface BodyProps {
  run: Run;
  task: TaskInstance;
  onDone: () => void;
}

function TaskActions({ run, task, onDone }: BodyProps) {
  const isBad = task.state === "failed" || task.state === "upstream_failed" || task.state === "cancelled";
  const isGoing = task.state === "running" || task.state === "up_for_retry" || task.state === "deferred";
  return (
    <>
      {isBad && <RetryAction run={run} task={task} onDone={onDone} isMain />}
      {isGoing && <CancelAction run={run} task={task} onDone={onDone} />}
      <ClearAction run={run} task={task} onDone={onDone} />
      <MarkAction run={run} task={task} onDone={onDone} />
      {!isFolder(task) && <NoteAction run={run} task={task} onDone={onDone} />}
      {!isFolder(task) && task.try_number > 0 && <a class="button" href={logHref(task)}>Log</a>}
    </>
  );
}

function TaskBody({ run, task, onDone }: BodyProps) {
  const isRunning = task.state === "running";
  const waited = task.queued_when && task.start_date
    ? (Date.parse(task.start_date) - Date.parse(task.queued_when)) / 1000 : null;
  return (
    <>
      {task.message && <p
        class={`error-line ${lookOf(task.state).colour === "failed" ? "" : "is-calm"}`}>{task.message}</p>}
      {task.note && <p class="notice run-note">{task.note}</p>}
      {!isFolder(task) && task.try_number > 0 && (
        <Section title="Last lines" actions={<a class="button small" href={logHref(task)}>Log</a>}>
          <LogTail path={taskApi(task, "lines")} count={12} isLive={isRunning}
            hrefOf={(line) => logHref(task, { line })} />
        </Section>
      )}
      <div class="two">
        <Section title="Timing">
          <Facts items={[
            ["Queued", <Instant at={task.queued_when} isLong />],
            ["Waited", waited !== null && durationText(Math.max(0, waited))],
            ["Started", <Instant at={task.start_date} isLong />],
            ["Ended", <Instant at={task.end_date} isLong />],
            ["Took", <Took task={task} />],
            ["Again", task.next_retry && <Instant at={task.next_retry} isLong />],
            ["Tries", !isFolder(task) && `${task.try_number} of ${task.max_tries + 1}`],
            ["Host", task.hostname], ["Queue", task.queue], ["Pool", task.pool],
            ["Instances", task.instances && <Instances task={task} />],
          ]} />
        </Section>
        <WhyBlocked task={task} />
      </div>
      {!isFolder(task) && task.try_number > 0 && <Tries task={task} />}
      <Around run={run} task={task} />
      <Section title="Values"><ValueTable number={run.number} task={task.task_id} mapIndex={task.map_index} /></Section>
      <Rendered run={run} task={task} />
      <TaskHistory run={run} task={task} onDone={onDone} />
    </>
  );
}

function Instances({ task }: { task: TaskInstance }) {
  const counts = task.instances;
  return (
    <a href={`${runHref(task.number)}?open=${encodeURIComponent(task.task_id)}`}>
      {numberText(counts?.total ?? 0)}: {numberText(counts?.success ?? 0)} success,
        {numberText(counts?.failed ?? 0)} failed
    </a>
  );
}

interface Explained {
  summary: string;
  tasks: { conditions: { code: string; because: string; change?: string | null }[]; waits_for: string[];
    because: string; change?: string | null }[];
}

/** Every condition, and what would change it. */
function WhyBlocked({ task }: { task: TaskInstance }) {
  const map = task.map_index >= 0 ? `?map_index=${task.map_index}` : "";
  const isOver = lookOf(task.state).isOver;
  const told = useLoad<Explained>(pathOf("explain", "runs", task.number, "tasks", task.task_id) + map,
    { live: ofThisRun, every: isOver ? 0 : 3000 });
  return (
    <Section title={isOver ? "Why it ended so" : task.state === "running" ? "What it does" : "Why it does not run"}>
      <Show of={told}>
        {(data) => {
          const one = data.tasks[0];
          if (!one) return <p><Told text={data.summary} /></p>;
          return (
            <ul class="conditions">
              {one.conditions.map((each) => (
                <li key={each.because}><b><Told text={each.because} /></b>{each.change && <p
                  class="dim">To change it: <Told text={each.change} /></p>}</li>
              ))}
              {one.conditions.length === 0 && <li><Told text={one.because || data.summary} /></li>}
            </ul>
          );
        }}
      </Show>
    </Section>
  );
}

/** Each try with what it took; the server keeps them with the history of the task. */
function Tries({ task }: { task: TaskInstance }) {
  const path = "/api/v1" + pathOf("dags", task.dag_id, "dagRuns", task.dag_run_id, "taskInstances", task.task_id) +
    (task.map_index >= 0 ? `/${task.map_index}` : "") + "/tries?limit=100";
  const tries = useLoad<TaskList>(path, { live: ofThisRun, every: task.state === "running" ? 3000 : 0 });
  return (
    <Section title="Tries">
      <Show of={tries}>
        {(data) => (
          <Table label="Tries" rows={[...data.task_instances].sort((a, b) => b.try_number - a.try_number)}
            columns={TRIES}
            keyOf={(each) => String(each.try_number)} hrefOf={(each) => logHref(each, { try: each.try_number })}
              empty="It has not been tried yet." />
        )}
      </Show>
    </Section>
  );
}

const TRIES: Column<TaskInstance>[] = [
  { name: "Try", cell: (each) => <a href={logHref(each, { try: each.try_number })}>{each.try_number}</a> },
  { name: "State", cell: (each) => <State state={each.state} /> },
  { name: "Started", cell: (each) => <Instant at={each.start_date} /> },
  { name: "Took", cell: (each) => <Took task={each} />, isNumber: true },
  { name: "Exit code", cell: (each) => (each.exit_code !== null && each.exit_code !== undefined && each.exit_code >= 0
    ? each.exit_code : each.signal), isNumber: true },
  { name: "Why", cell: (each) => <span class="cut" title={each.message ?? ""}>{each.message ?? each.reason}</span>,
    isExtra: true },
  { name: "Host", cell: (each) => each.hostname, isExtra: true },
  { name: "CPU", cell: (each) => (each.cpu_ms ? durationText(each.cpu_ms / 1000) : <span class="dim">–</span>),
    isNumber: true, isExtra: true },
  { name: "Memory", cell: (each) => (each.rss_kb ? bytesText(each.rss_kb * 1024) : <span class="dim">–</span>),
    isNumber: true, isExtra: true },
  { name: "Log", cell: (each) => <a href={logHref(each, { try: each.try_number })}>Log{each.log_bytes
    ? ` (${bytesText(each.log_bytes)})` : ""}</a> },
];

interface TaskOfDag {
  doc?: string | null;
  group?: string | null;
  needs: string[];
  dependants: string[];
  trigger_rule: string;
}

const SHOWN = 12;

/** What it needs and what needs it, with their states. */
function Around({ run, task }: { run: Run; task: TaskInstance }) {
  const known = useLoad<TaskOfDag>(pathOf("dags", run.dag_id, "tasks", task.task_id)).data;
  if (!known) return null;
  const graph = `${runHref(run.number, "graph")}?task=${encodeURIComponent(task.task_id)}&up=1&down=1`;
  return (
    <Section title="Around it" actions={<a class="button small" href={graph}>Graph</a>}>
      {known.doc && <p class="doc">{known.doc}</p>}
      <div class="around">
        <Neighbours title="Needs" run={run} tasks={known.needs} none="nothing: it starts with the run" />
        <Neighbours title="Needed by" run={run} tasks={known.dependants} none="nothing" />
      </div>
      {known.trigger_rule !== "all_success" && <p class="dim">It starts by the rule {known.trigger_rule}.</p>}
    </Section>
  );
}

function Neighbours({ title, run, tasks, none }: { title: string; run: Run; tasks: string[]; none: string }) {
  return (
    <div>
      <h3>{title}</h3>
      {tasks.length === 0 && <p class="dim">{none}</p>}
      <ul>{tasks.slice(0, SHOWN).map((task) => <Neighbour key={task} run={run} task={task} />)}</ul>
      {tasks.length > SHOWN && <p class="dim">and {tasks.length - SHOWN} more</p>}
    </div>
  );
}

function Neighbour({ run, task }: { run: Run; task: string }) {
  const path = pathOf("runs", run.number, "tasks") + `?task=${encodeURIComponent(task)}&folded=true`;
  const found = useLoad<TaskList>(path, { live: ofThisRun }).data?.task_instances[0];
  return (
    <li>
      <StateIcon state={found?.state ?? null} /> <a class="mono"
        href={taskHref({ number: run.number, task_id: task, map_index: -1 })}>{task}</a>{" "}
      {found && <span class="dim">{lookOf(found.state).word}</span>}
    </li>
  );
}

