// The matrix of a DAG, kept fresh: what events tell is drawn at once, an answer follows.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Teller, type Told } from "../../../core/live";
import { useLoad, type Loaded } from "../../../core/load";
import { pathOf } from "../../../core/route";
import { lookOf } from "../../../core/states";
import { useEvents, type LiveEvent } from "../../../core/stream";
import { Matrix, type GridAnswer } from "./model";

/** How old the state of an answer may be when it comes. */
const BEHIND_MS = 1500;
const SETTLE_MS = 1000;
const BUSY_MS = 5000;

/** Other columns or rows: nothing that could be drawn at once. */
const isOther = (event: LiveEvent): boolean =>
  event.kind === "run_created" || event.kind === "run_deleted" || event.kind === "dag_version" ||
  (event.kind.startsWith("task_clear") && !event.state);

export interface LiveGrid {
  loaded: Loaded<GridAnswer>;
  matrix: Matrix | null;
}

/** `onChange` is called when a state in the matrix has changed. */
export function useGrid(dag: string, query: string, onChange: () => void): LiveGrid {
  const busy = useRef(0);
  const loaded = useLoad<GridAnswer>(pathOf("grid", dag) + query, { live: isOther, keep: true, every: busy.current });
  const teller = useMemo(() => new Teller(), [dag]);
  const { data } = loaded;
  const matrix = useMemo(() => {
    if (!data) return null;
    busy.current = data.runs.some((run) => !lookOf(run.state).isOver) ? BUSY_MS : 0;
    const made = new Matrix(data);
    for (const told of teller.since(performance.now() - BEHIND_MS)) applyTold(made, told);
    return made;
  }, [data]);
  // The one that was made last, also while the page is not yet drawn with it.
  const newest = useRef(matrix);
  newest.current = matrix;
  const settle = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(settle.current), []);
  useEvents((event) => {
    if (event.dag_id !== dag || !/^(run|task)_/.test(event.kind)) return;
    const told = teller.hear(event, performance.now());
    if (told && newest.current && applyTold(newest.current, told)) onChange();
    settle.current ??= setTimeout(() => {
      settle.current = undefined;
      loaded.reload();
    }, SETTLE_MS);
  }, [dag, query]);
  return { loaded, matrix };
}

function applyTold(matrix: Matrix, told: Told): boolean {
  if (told.task === null) return matrix.setRun(told.number, told.state);
  return matrix.setTask(told.number, told.task, told.state);
}
