// What can be done to a run and to its tasks; each with the same as a command.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../../core/answer";
import { Problem } from "../../core/http";
import { go, pathOf } from "../../core/route";
import { can } from "../../core/session";
import { lookOf } from "../../core/states";
import { Action } from "../../parts/action";
import { StateIcon } from "../../parts/basics";
import { Field } from "../../parts/form";
import { ProblemBox } from "../../parts/page";
import { runHref } from "./links";
import { isRunOver, taskName, type Run, type TaskInstance, type TaskList } from "./types";

interface RunProps {
  run: Run;
  onDone: () => void;
  isSmall?: boolean;
  isMain?: boolean;
}

export const mayOperate = (run: Run): boolean => can("operator", run.namespace);

/** What would be touched, as the server says it; asked again when the wish changes. */
function DryRun({ path, body, verb }: { path: string; body: Record<string, unknown>; verb: string }) {
  const answer = useAnswer<TaskList>(path, { ...body, dry_run: true });
  if (answer === null) return <p class="dim">Asking what would happen…</p>;
  if (answer instanceof Problem) return <ProblemBox problem={answer} />;
  const tasks = answer.task_instances;
  return (
    <div class="dry-run" aria-live="polite">
      <p><b>{tasks.length === 1 ? "1 task" : `${tasks.length} tasks`}</b> {tasks.length === 1 ? "is"
        : "are"} {verb}:</p>
      <ul>
        {tasks.slice(0, 100).map((task) => (
          <li key={taskName(task)}><StateIcon state={task.state} /> <span class="mono">{taskName(task)}</span>{" "}
            <span class="dim">{lookOf(task.state).word}</span></li>
        ))}
        {tasks.length > 100 && <li class="dim">and {tasks.length - 100} more</li>}
      </ul>
    </div>
  );
}

/** Lets run again what did not succeed; with `task` only that and what comes after it. */
export function RetryAction({ run, task, onDone, isSmall, isMain }: RunProps & { task?: TaskInstance }) {
  if (task && task.map_index >= 0) return <ClearAction run={run} task={task} onDone={onDone}
    label="Retry" {...pick({ isSmall, isMain })} />;
  const body = task ? { tasks: [task.task_id] } : {};
  const path = pathOf("runs", run.number, "retry");
  return (
    <Action label={task ? "Retry" : "Retry failed"} isMain={isMain ?? !task} {...pick({ isSmall })}
      isAllowed={mayOperate(run)}
      change={{ path, body, cli: ["retry", run.number, task?.task_id] }} onDone={onDone}
      done={task ? `${task.task_id} runs again` : `What did not succeed of run ${run.number} runs again`}>
      <DryRun path={path} body={body} verb="to run again" />
    </Action>
  );
}

const mapWords = (map: number | undefined) => (map === undefined ? [] : ["--map-index", map]);

/** Only those that are given: a property that is undefined is another thing than none. */
const pick = (given: { isSmall?: boolean | undefined; isMain?: boolean | undefined }) => ({
  ...(given.isSmall === undefined ? {} : { isSmall: given.isSmall }),
  ...(given.isMain === undefined ? {} : { isMain: given.isMain }),
});

export function CancelAction({ run, task, onDone, isSmall }: RunProps & { task?: TaskInstance }) {
  const [isKill, setKill] = useState(false);
  const map = task && task.map_index >= 0 ? task.map_index : undefined;
  return (
    <Action label={task ? "Stop" : "Cancel run"} isDanger {...pick({ isSmall })} isAllowed={mayOperate(run)}
      onDone={onDone}
      question={task ? `Stop ${taskName(task)}? What comes after it is decided as after a task that did not succeed.`
        : "Tasks that run are stopped; nothing more of this run starts but its finally tasks."}
      change={{
        path: pathOf("runs", run.number, "cancel"),
        body: { ...(task && { task: task.task_id }), ...(map !== undefined && { map_index: map }),
          ...(isKill && { kill: true }) },
        cli: ["stop", run.number, task?.task_id, ...mapWords(map), isKill && "--kill"],
      }}
      done={task ? `${taskName(task)} is being stopped` : `Run ${run.number} is being cancelled`}>
      {!task && (
        <label class="check"><input type="checkbox" checked={isKill}
          onChange={(event) => setKill(event.currentTarget.checked)} />
          {" "}Kill: leave out its <code>finally</code> tasks, too</label>
      )}
    </Action>
  );
}

export function RerunAction({ run, onDone, isSmall }: RunProps) {
  const [version, setVersion] = useState("original");
  return (
    <Action label="Rerun" {...pick({ isSmall })} isAllowed={mayOperate(run)}
      question="Makes a new run for the same date with the same parameters. This one stays as it is."
      change={{
        path: pathOf("runs", run.number, "rerun"), body: { version },
        cli: ["runs", "rerun", run.number, version !== "original" && "--version", version !== "original" && version],
      }}
      onDone={(answer) => { onDone(); go(runHref((answer as Run).number)); }} done="A new run was made">
      <Field label="Version of the DAG">
        <select value={version} onChange={(event) => setVersion(event.currentTarget.value)}>
          <option value="original">as this run had it{run.dag_version ? ` (version ${run.dag_version})` : ""}</option>
          <option value="current">the current one</option>
        </select>
      </Field>
    </Action>
  );
}

export function DeleteRunAction({ run, isSmall }: RunProps) {
  return (
    <Action label="Delete run" isDanger {...pick({ isSmall })} isAllowed={can("editor", run.namespace)} needs="editor"
      question={`Run ${run.number} of ${run.dag_id} is deleted with its logs and values. This cannot be undone.`}
      change={{ method: "DELETE", path: pathOf("runs", run.number), takesKey: false,
        cli: ["runs", "delete", run.number, "--yes"] }}
      onDone={() => go("/runs")} done={`Run ${run.number} is deleted`} />
  );
}

export function NoteAction({ run, task, onDone, isSmall, face }: RunProps & { task?: TaskInstance;
  face?: ComponentChildren }) {
  const [note, setNote] = useState((task ?? run).note ?? "");
  const map = task && task.map_index >= 0 ? task.map_index : undefined;
  const path = task ? pathOf("runs", run.number, "tasks", task.task_id, "note") : pathOf("runs", run.number, "note");
  return (
    <Action label={(task ?? run).note ? "Edit note" : "Add note"} {...pick({ isSmall })} isAllowed={mayOperate(run)}
      face={face} onDone={onDone}
      change={{
        path, body: { note, ...(map !== undefined && { map_index: map }) },
        cli: task ? ["tasks", "note", run.number, task.task_id, note || "''", ...mapWords(map)]
          : ["runs", "note", run.number, note || "''"],
      }} done="The note is kept">
      <Field label="Note"><textarea rows={3} value={note}
        onInput={(event) => setNote(event.currentTarget.value)} /></Field>
    </Action>
  );
}

interface TaskProps extends RunProps {
  /** Without one it is asked for. */
  task?: TaskInstance | undefined;
  tasks?: string[];
  label?: string;
}

function TaskChoice({ tasks, value, onChange }: { tasks: string[]; value: string; onChange: (task: string) => void }) {
  return (
    <Field label="Task">
      <input value={value} list="task-choices" required onInput={(event) => onChange(event.currentTarget.value)} />
      <datalist id="task-choices">{tasks.map((task) => <option key={task} value={task} />)}</datalist>
    </Field>
  );
}

/** Forgets outcomes, so that tasks run again; what would be is shown before. */
export function ClearAction({ run, task, tasks = [], onDone, isSmall, isMain, label = "Clear" }: TaskProps) {
  const [chosen, setChosen] = useState(task?.task_id ?? "");
  const [wish, setWish] = useState({ upstream: false, downstream: !task, failed: false });
  const map = task && task.map_index >= 0 ? task.map_index : undefined;
  const path = pathOf("runs", run.number, "clear");
  const words = Object.entries(wish).filter(([, isOn]) => isOn).map(([name]) => name);
  const body = {
    tasks: [chosen], ...Object.fromEntries(words.map((name) => [name, true])),
      ...(map !== undefined && { map_index: map }),
  };
  const boxes = { upstream: "also what it needs", downstream: "also all that comes after it",
    failed: "of all those only what did not succeed" };
  return (
    <Action label={label} {...pick({ isSmall, isMain })} isAllowed={mayOperate(run)} onDone={onDone}
      question={`The outcome is forgotten, and ${task ? taskName(task) : "the task"} runs again. ` +
        "What came after it and has started runs again in any case."}
      change={{
        path, body,
        cli: ["tasks", "clear", run.number, chosen, ...words.map((name) => "--" + name), ...mapWords(map)],
      }} done={`${task ? taskName(task) : chosen} runs again`}>
      {!task && <TaskChoice tasks={tasks} value={chosen} onChange={setChosen} />}
      <fieldset class="checks"><legend class="dim">Which</legend>
        {(Object.keys(boxes) as (keyof typeof boxes)[]).map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={wish[name]}
              onChange={(event) => setWish({ ...wish, [name]: event.currentTarget.checked })} />
            {" "}{boxes[name]}
          </label>
        ))}
      </fieldset>
      {(task || tasks.includes(chosen)) && <DryRun path={path} body={body} verb="to run again" />}
    </Action>
  );
}

/** Sets a state by hand. */
export function MarkAction({ run, task, tasks = [], onDone, isSmall }: TaskProps) {
  const [chosen, setChosen] = useState(task?.task_id ?? "");
  const [state, setState] = useState("success");
  const map = task && task.map_index >= 0 ? task.map_index : undefined;
  return (
    <Action label="Mark" {...pick({ isSmall })} isAllowed={mayOperate(run)} onDone={onDone}
      question="The state is set by hand, and the run goes on from there. What runs is stopped first."
      change={{
        path: pathOf("runs", run.number, "tasks", chosen || "?", "mark"),
        body: { state, ...(map !== undefined && { map_index: map }) },
        cli: ["mark", run.number, chosen, state, ...mapWords(map)],
      }} done={`${task ? taskName(task) : chosen} is marked ${lookOf(state).word}`}>
      {!task && <TaskChoice tasks={tasks} value={chosen} onChange={setChosen} />}
      <Field label="State">
        <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
          {["success", "failed", "skipped"].map((name) => <option key={name}>{name}</option>)}
        </select>
      </Field>
    </Action>
  );
}

/** The actions of a run that are not needed every day. */
export function MoreActions({ run, tasks, onDone }: RunProps & { tasks: string[] }) {
  return (
    <details class="menu more">
      <summary class="button" aria-label="More actions">More ▾</summary>
      <div class="menu-body">
        <RerunAction run={run} onDone={onDone} />
        <ClearAction run={run} tasks={tasks} onDone={onDone} label="Clear a task" />
        <MarkAction run={run} tasks={tasks} onDone={onDone} />
        <NoteAction run={run} onDone={onDone} />
        {isRunOver(run.state) && <DeleteRunAction run={run} onDone={onDone} />}
      </div>
    </details>
  );
}
