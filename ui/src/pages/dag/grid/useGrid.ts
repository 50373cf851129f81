// The matrix of a DAG, kept fresh: what events tell is drawn at once, an answer follows.
import { useRef } from "preact/hooks";
import type { Told } from "../../../core/live";
import { useLoad, type Loaded } from "../../../core/load";
import { usePicture } from "../../../core/picture";
import { pathOf } from "../../../core/route";
import { lookOf } from "../../../core/states";
import { useEvents, type LiveEvent } from "../../../core/stream";
import { Matrix, type GridAnswer } from "./model";

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
  const { picture: matrix, hear } = usePicture(dag, {
    loaded, apply: applyTold, onChange,
    make: (data) => {
      busy.current = data.runs.some((run) => !lookOf(run.state).isOver) ? BUSY_MS : 0;
      return new Matrix(data);
    },
  });
  useEvents((event) => {
    if (event.dag_id === dag && /^(run|task)_/.test(event.kind)) hear(event);
  }, [dag, query]);
  return { loaded, matrix };
}

function applyTold(matrix: Matrix, told: Told): boolean {
  if (told.task === null) return matrix.setRun(told.number, told.state);
  return matrix.setTask(told.number, told.task, told.state);
}
