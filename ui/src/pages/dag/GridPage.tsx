// Tasks by runs: which failed, since when, and whether they do so together.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { zone } from "../../core/prefs";
import { go, hrefWith, pathOf, place, setQuery, type Params } from "../../core/route";
import { lookOf, RUN_STATES, TASK_STATES } from "../../core/states";
import { clockAt, durationText, longInstant, numberText } from "../../core/time";
import { Empty, State } from "../../parts/basics";
import { ChoiceFilter, SearchField } from "../../parts/form";
import { Facts, Show } from "../../parts/page";
import { RunSide, Side, TaskSide } from "../../parts/side";
import { DagFrame, type Dag, type DagTask } from "./DagFrame";
import { Board } from "./grid/board";
import type { Spot } from "./grid/layout";
import { columnsOf, groupsOf, rowsOf, taskFilter, type GridAnswer, type Matrix, type Row } from "./grid/model";
import { useGrid } from "./grid/useGrid";

const COUNTS = ["25", "50", "100", "365"];
const NOWHERE = -2;

function gridQuery(): string {
  const { query } = place.value;
  const limit = query.get("limit");
  const before = query.get("before");
  const given = new URLSearchParams({ limit: COUNTS.includes(limit ?? "") ? limit! : COUNTS[0]! });
  if (before) given.set("before", before);
  return "?" + given;
}

export function GridPage({ params }: { params: Params }) {
  const id = params["dag"]!;
  const board = useRef<Board | null>(null);
  // Asked for beside the DAG itself, not after it.
  const { loaded, matrix } = useGrid(id, gridQuery(), () => board.current?.repaint());
  return (
    <DagFrame dag={id} isBrief>{(dag) => (
      <Show of={loaded}>{(answer) => (
        <>
          <Filters answer={answer} />
          {matrix && <GridWithSide dag={dag} matrix={matrix} board={board} />}
        </>
      )}</Show>
    )}</DagFrame>
  );
}

const named = (states: string[], all: string) =>
  [{ value: "", text: all }, ...states.map((state) => ({ value: state, text: lookOf(state).word }))];

function Filters({ answer }: { answer: GridAnswer }) {
  const groups = useMemo(() => groupsOf(answer.tasks), [answer.tasks]);
  const oldest = answer.runs.find((run) => run.logical_date)?.logical_date;
  const isOld = place.value.query.has("before");
  const chosenType = place.value.query.get("run_type") ?? "";
  const types = [...new Set([chosenType, ...answer.runs.map((run) => run.run_type)])].filter(Boolean).sort();
  return (
    <div class="filters grid-filters">
      <SearchField name="q" label="Task name" />
      <ChoiceFilter name="state" label="Tasks that have this state" choices={named(TASK_STATES, "Any task state")} />
      <ChoiceFilter name="run_state" label="Runs of this state" choices={named(RUN_STATES, "Any run state")} />
      <ChoiceFilter name="run_type" label="Runs of this type"
        choices={[{ value: "", text: "Any run type" }, ...types.map((type) => ({ value: type, text: type }))]} />
      <ChoiceFilter name="limit" label="How many runs"
        choices={COUNTS.map((count) => ({ value: count, text: `${count} runs` }))} />
      {groups.length > 0 && (
        <span class="actions grid-fold">
          <button type="button" class="small" onClick={() => setQuery({ closed: groups.join(",") })}>
            Collapse all
          </button>
          <button type="button" class="small" onClick={() => setQuery({ closed: null })}>Expand all</button>
        </span>
      )}
      <span class="actions grid-pages">
        {answer.has_more && oldest && <a class="button small" href={hrefWith({ before: oldest })}>← Older runs</a>}
        {isOld && <a class="button small" href={hrefWith({ before: null })}>Newest runs →</a>}
      </span>
    </div>
  );
}

interface BoardRef {
  current: Board | null;
}

function GridWithSide({ dag, matrix, board }: { dag: Dag; matrix: Matrix; board: BoardRef }) {
  const { query } = place.value;
  const closed = query.get("closed") ?? "";
  const filter = {
    text: query.get("q") ?? "", state: query.get("state") ?? "",
    runType: query.get("run_type") ?? "", runState: query.get("run_state") ?? "",
  };
  const columns = useMemo(() => columnsOf(matrix.answer.runs, filter), [matrix, filter.runType, filter.runState]);
  const rows = useMemo(
    () => rowsOf(matrix.answer.tasks, new Set(closed.split(",")), taskFilter(matrix, columns, filter)),
    [matrix, columns, closed, filter.text, filter.state]);
  const run = query.get("run");
  const task = query.get("task");
  const close = () => setQuery({ run: null, task: null });
  const isChosen = run !== null || task !== null;
  return (
    <div class={isChosen ? "with-side" : ""}>
      <div>
        {matrix.answer.runs.length === 0
          ? <Empty>There are no runs yet. Trigger one, or wait for its schedule.</Empty>
          : columns.length === 0 ? <Empty>No run is as the filters want it.</Empty>
          : rows.length === 0 ? <Empty>No task is as the filters want it.</Empty>
          : <Grid matrix={matrix} rows={rows} columns={columns} board={board} run={run} task={task} />}
        <Legend matrix={matrix} rows={rows} columns={columns} />
      </div>
      {run !== null && task !== null && (
        <TaskSide number={run} task={task} namespace={dag.namespace} onClose={close}
          more={<AroundLink dag={dag.dag_id} task={task} run={run} />} />
      )}
      {run !== null && task === null && <RunSide number={run} namespace={dag.namespace} onClose={close} />}
      {run === null && task !== null && (
        <WholeTaskSide dag={dag} task={task} matrix={matrix} columns={columns} onClose={close} />
      )}
    </div>
  );
}

function AroundLink({ dag, task, run }: { dag: string; task: string; run?: string }) {
  const given = new URLSearchParams({ task, up: "1", down: "1", ...(run ? { run } : {}) });
  return <a class="button small" href={`${pathOf("dags", dag, "graph")}?${given}`}>In the graph</a>;
}

/** A task over all the runs that are shown. */
function WholeTaskSide({ dag, task, matrix, columns, onClose }: {
  dag: Dag; task: string; matrix: Matrix; columns: number[]; onClose: () => void;
}) {
  const loaded = useLoad<DagTask>(pathOf("dags", dag.dag_id, "tasks", task));
  const about = loaded.data;
  const at = matrix.findTask(task);
  const counts = new Map<string, number>();
  for (const run of columns) {
    const state = at < 0 ? null : matrix.stateAt(at, run);
    if (state) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return (
    <Side title={task} label={`Task ${task}`} onClose={onClose}>
      {about?.doc && <p>{about.doc}</p>}
      <p class="side-counts">
        {[...counts].map(([state, count]) => <State key={state} state={state} count={count} />)}
      </p>
      {about ? <Facts items={[
        ["Kind", about.operator], ["Needs", about.needs.join(", ")], ["Needed by", about.dependants.join(", ")],
        ["Rule", about.trigger_rule], ["Retries", about.retries], ["Group", about.group],
      ]} /> : loaded.problem && <p class="dim">The current version of the DAG has no such task.</p>}
      <div class="actions">
        <AroundLink dag={dag.dag_id} task={task} />
        <a class="button small" href={`${pathOf("dags", dag.dag_id, "durations")}?task=${encodeURIComponent(task)}`}>
          Durations
        </a>
      </div>
    </Side>
  );
}

interface GridProps {
  matrix: Matrix;
  rows: Row[];
  columns: number[];
  board: BoardRef;
  run: string | null;
  task: string | null;
}

/** What is at a cell, in words: for the hint beside the mouse, and for those who hear it. */
function wordsOf({ matrix, rows, columns }: GridProps, spot: Spot): string[] {
  const row = rows[spot.row];
  const at = columns[spot.column];
  const run = at === undefined ? undefined : matrix.answer.runs[at];
  const words: string[] = [];
  if (row?.isGroup) words.push(`group ${row.id}, ${row.isClosed ? "closed" : "open"}, ${row.tasks.length} tasks`);
  else if (row) words.push(row.id);
  if (run && at !== undefined) {
    const state = !row ? run.state : row.isGroup ? matrix.stateOf(row.tasks, at) : matrix.stateAt(row.tasks[0]!, at);
    words.push(state ? lookOf(state).word : "not in this run's version");
    const counts = row && !row.isGroup ? matrix.instancesAt(row.tasks[0]!, at) : null;
    if (counts) words.push(`${counts[0]} instances: ${counts[1]} succeeded, ${counts[2]} failed, ${counts[3]} skipped`);
    const date = run.logical_date && `, ${longInstant(run.logical_date, zone.value)}`;
    words.push(`run ${run.number}, ${run.run_type}${date ?? ""}`);
    if (!row && run.duration !== null) words.push(durationText(run.duration));
  }
  return words;
}

function Grid(props: GridProps) {
  const { matrix, rows, columns, board, run, task } = props;
  const box = useRef<HTMLDivElement>(null);
  const [cross, setCross] = useState<{ spot: Spot; at: { x: number; y: number } | null } | null>(null);
  const dates = useMemo(() => columns.map((at) => {
    const date = matrix.answer.runs[at]?.logical_date;
    return date ? clockAt(date, zone.value).date : null;
  }), [matrix, columns, zone.value]);
  const chosen = useMemo(() => ({
    row: task === null ? NOWHERE : rows.findIndex((row) => row.id === task && !row.isGroup),
    column: run === null ? NOWHERE : columns.indexOf(matrix.findRun(run)),
  }), [rows, columns, run, task]);
  useEffect(() => {
    const made = new Board(box.current!);
    board.current = made;
    return () => {
      made.end();
      board.current = null;
    };
  }, []);
  useEffect(() => {
    board.current!.calls = {
      onCross: (spot, at) => setCross(spot && { spot, at }),
      onChoose: (spot) => choose(props, spot),
      onOpen: (spot, isNewTab) => open(props, spot, isNewTab),
      onCancel: () => setQuery({ run: null, task: null }),
    };
    board.current!.show({ matrix, rows, columns, dates, chosen });
  }, [matrix, rows, columns, dates, chosen]);
  const words = cross ? wordsOf(props, cross.spot) : [];
  return (
    <div class="grid-frame">
      <div ref={box} class="grid-box card" role="grid" tabIndex={0}
        aria-label="Tasks by runs; arrow keys move, Enter opens, Space shows details"
        aria-rowcount={rows.length + 1} aria-colcount={columns.length + 1}
        aria-activedescendant={cross ? "grid-at" : undefined}>
        <div class="unseen" role="row" aria-rowindex={(cross?.spot.row ?? -1) + 2}>
          <div role="gridcell" id="grid-at" aria-colindex={(cross?.spot.column ?? -1) + 2}>{words.join(", ")}</div>
        </div>
        <div class="grid-room"><canvas aria-hidden="true" /></div>
      </div>
      {cross?.at && (
        <div class="grid-hint" aria-hidden="true" style={hintStyle(cross.at, box.current)}>
          {words.map((word, i) => i === 0 ? <b key={i}>{word}</b> : <span key={i}>{word}</span>)}
        </div>
      )}
    </div>
  );
}

/** Beside the cell, at the side where there is room. */
function hintStyle(at: { x: number; y: number }, box: HTMLElement | null): Record<string, string> {
  const width = box?.clientWidth ?? 0;
  const y = `${at.y + 6}px`;
  return at.x > width / 2 ? { right: `${width - at.x + 30}px`, top: y } : { left: `${at.x + 8}px`, top: y };
}

function choose({ matrix, rows, columns }: GridProps, spot: Spot): void {
  const row = rows[spot.row];
  const run = matrix.answer.runs[columns[spot.column] ?? -1];
  if (row?.isGroup) {
    const closed = new Set((place.value.query.get("closed") ?? "").split(",").filter(Boolean));
    if (!closed.delete(row.id)) closed.add(row.id);
    setQuery({ closed: [...closed].join(",") });
    return;
  }
  // From nothing chosen to something is a step back; from one to the next is none.
  const { query } = place.value;
  go(hrefWith({ run: run?.number ?? null, task: row?.id ?? null }), { replace: query.has("run") || query.has("task") });
}

function open(props: GridProps, spot: Spot, isNewTab: boolean): void {
  const row = props.rows[spot.row];
  const run = props.matrix.answer.runs[props.columns[spot.column] ?? -1];
  if (!run || row?.isGroup) return isNewTab ? undefined : choose(props, spot);
  const href = row ? pathOf("runs", run.number, "tasks", row.id) : pathOf("runs", run.number);
  if (isNewTab) window.open(href, "_blank", "noopener");
  else go(href);
}

/** The states that are there, so that shapes and colours need not be learnt. */
function Legend({ matrix, rows, columns }: { matrix: Matrix; rows: Row[]; columns: number[] }) {
  const tasks = rows.filter((row) => !row.isGroup).length;
  const states = useMemo(() => {
    const found = new Set<string>();
    for (const task of matrix.answer.tasks)
      for (const letter of new Set(task.states)) found.add(matrix.names[parseInt(letter, 36)] ?? "");
    return TASK_STATES.filter((state) => found.has(state));
  }, [matrix]);
  return (
    <p class="grid-legend dim">
      <span>{numberText(tasks)} tasks, {numberText(columns.length)} {columns.length === 1 ? "run" : "runs"}</span>
      {states.map((state) => <State key={state} state={state} />)}
    </p>
  );
}
