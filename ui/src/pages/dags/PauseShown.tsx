// Pauses, or lets go on, all DAGs that the filters leave.
import { useRef, useState } from "preact/hooks";
import { cliText } from "../../core/cli";
import { post, Problem } from "../../core/http";
import { pathOf } from "../../core/route";
import { can } from "../../core/session";
import { numberText } from "../../core/time";
import { Command } from "../../parts/basics";
import { Dialog, tell } from "../../parts/dialog";
import { Field } from "../../parts/form";
import { counted } from "../../parts/paging";
import { toPause, type DagRow } from "./rows";
import type { ShowChange } from "./useDagRows";

interface PauseProps {
  /** Those that are shown. */
  rows: DagRow[];
  /** Some that would be shown are still on the way. */
  isPart: boolean;
  showChange: ShowChange;
}

const isMine = (row: DagRow): boolean => can("operator", row.namespace);
const labelOf = (isPause: boolean): string => (isPause ? "Pause all shown" : "Unpause all shown");
const doneText = (count: number, isPause: boolean): string =>
  `${counted(count, "DAG")} ${count === 1 ? "is" : "are"} ${isPause ? "paused" : "unpaused"}`;

export function PauseShown(props: PauseProps) {
  return (
    <span class="actions">
      <PauseButton isPause {...props} />
      <PauseButton isPause={false} {...props} />
    </span>
  );
}

function PauseButton({ rows, isPart, showChange, isPause }: PauseProps & { isPause: boolean }) {
  // As they were when the question came up: what happens meanwhile does not change what was agreed to.
  const [asked, setAsked] = useState<{ rows: DagRow[]; others: number } | null>(null);
  const chosen = toPause(rows, isPause, isMine);
  const title = rows.length === 0 ? "No DAG is shown"
    : !rows.some(isMine) ? "needs the role operator"
    : chosen.length === 0 ? `All are ${isPause ? "paused" : "active"} already` : counted(chosen.length, "DAG");
  return (
    <>
      <button type="button" class="small" title={title} disabled={isPart || chosen.length === 0}
        onClick={() => setAsked({ rows: chosen, others: rows.length - chosen.length })}>{labelOf(isPause)}</button>
      {asked && <PauseDialog {...asked} isPause={isPause} showChange={showChange} onClose={() => setAsked(null)} />}
    </>
  );
}

interface Failure {
  row: DagRow;
  why: string;
}

interface DialogProps {
  rows: DagRow[];
  /** How many are shown and stay as they are. */
  others: number;
  isPause: boolean;
  showChange: ShowChange;
  onClose: () => void;
}

/** One after the other, whatever becomes of each; what could not be done can be tried again. */
function usePausing({ rows, isPause, showChange, onClose }: DialogProps, reason: string) {
  const [left, setLeft] = useState(rows);
  const [done, setDone] = useState<number | null>(null);
  const [failures, setFailures] = useState<Failure[]>([]);
  const isOver = useRef(false);
  const verb = isPause ? "pause" : "unpause";
  const run = async () => {
    const failed: Failure[] = [];
    let tried = 0;
    setFailures([]);
    for (const row of left) {
      if (isOver.current) break;
      setDone(tried++);
      try {
        await showChange(row.dag_id, { is_paused: isPause },
          post(pathOf("dags", row.dag_id, verb), reason ? { reason } : {})); // twice is as once
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        failed.push({ row, why: error.message });
      }
    }
    if (tried > failed.length) tell(doneText(tried - failed.length, isPause));
    if (failed.length === 0 || isOver.current) return onClose();
    setDone(null);
    setFailures(failed);
    setLeft(failed.map(({ row }) => row));
  };
  const close = () => {
    isOver.current = true; // what is under way ends, nothing more begins
    onClose();
  };
  return { left, done, failures, run, close, cli: cliText("dags", verb, ...left.map((row) => row.dag_id),
    reason && "--reason", reason) };
}

function PauseDialog(props: DialogProps) {
  const [reason, setReason] = useState("");
  const { left, done, failures, run, close, cli } = usePausing(props, reason);
  const { isPause, others } = props;
  const isBusy = done !== null;
  return (
    <Dialog title={labelOf(isPause)} onClose={close}>
      <form onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}>
        <p>
          {isPause ? `Nothing of ${counted(left.length, "DAG")} starts by itself any more. Runs that exist go on.`
            : `Runs of ${counted(left.length, "DAG")} start by themselves again, as each schedule says.`}
          {others > 0 && ` What is not changed of those shown: ${numberText(others)}.`}
        </p>
        <Names rows={left} />
        <Field label="Reason, for the audit (optional)">
          <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </Field>
        {failures.length > 0 && <Failures of={failures} isPause={isPause} />}
        <details class="same">
          <summary>The same by command</summary>
          <Command label="CLI" text={cli} />
        </details>
        <footer class="actions">
          {isBusy && <span role="status">{numberText(done)} of {numberText(left.length)}</span>}
          <button type="button" onClick={close}>{isBusy ? "Stop" : failures.length > 0 ? "Close" : "Cancel"}</button>
          <button type="submit" class="main" disabled={isBusy} autofocus>
            {failures.length > 0 ? "Try again" : `${isPause ? "Pause" : "Unpause"} ${counted(left.length, "DAG")}`}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const NAMED = 12;

function Names({ rows }: { rows: DagRow[] }) {
  const more = rows.length - NAMED;
  return (
    <p class="dim pause-names">
      {rows.slice(0, NAMED).map((row) => row.dag_id).join(", ")}{more > 0 && `, and ${numberText(more)} more`}
    </p>
  );
}

function Failures({ of, isPause }: { of: Failure[]; isPause: boolean }) {
  return (
    <div class="problem pause-failures" role="alert">
      <b>{counted(of.length, "DAG")} could not be {isPause ? "paused" : "unpaused"}</b>
      <ul>{of.map(({ row, why }) => <li key={row.dag_id}><b>{row.dag_id}</b>: {why}</li>)}</ul>
    </div>
  );
}
