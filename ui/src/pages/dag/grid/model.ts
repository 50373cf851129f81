// The matrix of a grid: tasks by runs, its rows with groups, and what events change in it.
import { worst } from "../../../core/live";

export interface GridRun {
  number: string;
  dag_run_id: string;
  state: string;
  run_type: string;
  logical_date: string | null;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  dag_version: number;
  has_note: boolean;
}

export interface GridTask {
  task_id: string;
  group: string | null;
  operator: string;
  is_mapped: boolean;
  is_finally: boolean;
  /** Of the current version; else only older runs have it. */
  is_current: boolean;
  /** A letter per run. */
  states: string;
  /** Of a mapped task, per run: total, success, failed, skipped. */
  instances?: (number[] | null)[];
}

/** GET /grid/X. */
export interface GridAnswer {
  dag_id: string;
  dag_version: number;
  states: string[];
  runs: GridRun[];
  tasks: GridTask[];
  total_entries: number;
  has_more: boolean;
}

const ABSENT = 255;

/** States by task and run, quick to read and to change. */
export class Matrix {
  private readonly cells: Uint8Array;
  private readonly taskAt = new Map<string, number>();
  private readonly runAt = new Map<string, number>();
  readonly names: string[];

  constructor(readonly answer: GridAnswer) {
    const { tasks, runs } = answer;
    this.names = [...answer.states];
    this.cells = new Uint8Array(tasks.length * runs.length).fill(ABSENT);
    runs.forEach((run, i) => this.runAt.set(run.number, i));
    tasks.forEach((task, i) => {
      this.taskAt.set(task.task_id, i);
      for (let run = 0; run < runs.length; run++) {
        const letter = task.states.charCodeAt(run);
        // '.': this version had no such task; '0' to '9', then 'a' and so on.
        if (letter !== 46) this.cells[i * runs.length + run] = letter < 58 ? letter - 48 : letter - 87;
      }
    });
  }

  /** null: the run's version of the DAG had no such task. */
  stateAt(task: number, run: number): string | null {
    const cell = this.cells[task * this.answer.runs.length + run] ?? ABSENT;
    return cell === ABSENT ? null : this.names[cell] ?? null;
  }

  findTask(id: string | null): number {
    return id === null ? -1 : this.taskAt.get(id) ?? -1;
  }

  findRun(number: string | null): number {
    return number === null ? -1 : this.runAt.get(number) ?? -1;
  }

  /** Whether it shows something else now. */
  setTask(number: string, id: string, state: string): boolean {
    const task = this.findTask(id);
    const run = this.findRun(number);
    if (task < 0 || run < 0 || this.stateAt(task, run) === state) return false;
    let name = this.names.indexOf(state);
    if (name < 0) name = this.names.push(state) - 1;
    this.cells[task * this.answer.runs.length + run] = name;
    return true;
  }

  setRun(number: string, state: string): boolean {
    const run = this.answer.runs[this.findRun(number)];
    if (!run || run.state === state) return false;
    run.state = state;
    return true;
  }

  /** Of several tasks the one state that is most worth a look. */
  stateOf(tasks: number[], run: number): string | null {
    let shown: string | null = null;
    for (const task of tasks) {
      const state = this.stateAt(task, run);
      if (state !== null) shown = shown === null ? state : worst(shown, state);
    }
    return shown;
  }

  /** [total, success, failed, skipped] of a mapped task in a run. */
  instancesAt(task: number, run: number): number[] | null {
    return this.answer.tasks[task]?.instances?.[run] ?? null;
  }
}

export interface Row {
  id: string;
  /** Without the groups it is in. */
  name: string;
  depth: number;
  isGroup: boolean;
  isClosed: boolean;
  isOld: boolean;
  isMapped: boolean;
  /** Of a group all in it, else the one. */
  tasks: number[];
}

interface Branch {
  path: string;
  tasks: number[];
  parts: (Branch | number)[];
}

/** Groups stand where their first task stands; inner groups in outer ones. */
function treeOf(tasks: GridTask[], wanted: (task: number) => boolean): Branch {
  const top: Branch = { path: "", tasks: [], parts: [] };
  const known = new Map<string, Branch>([["", top]]);
  const branchOf = (path: string): Branch => {
    const found = known.get(path);
    if (found) return found;
    const dot = path.lastIndexOf(".");
    const made: Branch = { path, tasks: [], parts: [] };
    known.set(path, made);
    branchOf(dot < 0 ? "" : path.slice(0, dot)).parts.push(made);
    return made;
  };
  tasks.forEach((task, i) => {
    if (!wanted(i)) return;
    const group = task.group ?? "";
    branchOf(group).parts.push(i);
    for (let path = group; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf("."))))
      known.get(path)?.tasks.push(i);
  });
  return top;
}

const lastName = (path: string, above: string): string =>
  above !== "" && path.startsWith(above + ".") ? path.slice(above.length + 1) : path;

export function rowsOf(tasks: GridTask[], closed: Set<string>, wanted: (task: number) => boolean = () => true): Row[] {
  const rows: Row[] = [];
  const walk = (branch: Branch, depth: number) => {
    for (const part of branch.parts) {
      if (typeof part === "number") {
        const task = tasks[part]!;
        rows.push({ id: task.task_id, name: lastName(task.task_id, branch.path), depth, isGroup: false,
          isClosed: false, isOld: !task.is_current, isMapped: task.is_mapped, tasks: [part] });
        continue;
      }
      const isClosed = closed.has(part.path);
      rows.push({ id: part.path, name: lastName(part.path, branch.path), depth, isGroup: true, isClosed,
        isOld: false, isMapped: false, tasks: part.tasks });
      if (!isClosed) walk(part, depth + 1);
    }
  };
  walk(treeOf(tasks, wanted), 0);
  return rows;
}

/** All groups there are, outer ones too. */
export function groupsOf(tasks: { group: string | null }[]): string[] {
  const found = new Set<string>();
  for (const { group } of tasks)
    for (let path = group ?? ""; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf(".")))) found.add(path);
  return [...found].sort();
}

export interface GridFilter {
  text: string;
  state: string;
  runType: string;
  runState: string;
}

/** Which runs are columns. */
export function columnsOf(runs: GridRun[], filter: GridFilter): number[] {
  const isWanted = (run: GridRun): boolean =>
    (!filter.runType || run.run_type === filter.runType) && (!filter.runState || run.state === filter.runState);
  return runs.flatMap((run, i) => (isWanted(run) ? [i] : []));
}

/** Whether a task is a row: by its name, and by a state that it has in one of the columns. */
export function taskFilter(matrix: Matrix, columns: number[], filter: GridFilter): (task: number) => boolean {
  const text = filter.text.toLowerCase();
  return (task) =>
    (!text || matrix.answer.tasks[task]!.task_id.toLowerCase().includes(text)) &&
    (!filter.state || columns.some((run) => matrix.stateAt(task, run) === filter.state));
}
