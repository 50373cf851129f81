// One DAG of the list.
import { cliText } from "../../core/cli";
import { Problem } from "../../core/http";
import { hrefWith, pathOf } from "../../core/route";
import { scheduleText } from "../../core/schedule";
import { can } from "../../core/session";
import { makeChange } from "../../parts/action";
import { Ago, State } from "../../parts/basics";
import { tell } from "../../parts/dialog";
import { Switch } from "../../parts/form";
import { lastState, type DagRow } from "./rows";
import { RunBars } from "./RunBars";
import type { ShowChange } from "./useDagRows";

async function setPaused(row: DagRow, isPaused: boolean, showChange: ShowChange): Promise<void> {
  const verb = isPaused ? "pause" : "unpause";
  try {
    await showChange(row.dag_id, { is_paused: isPaused },
      makeChange({ path: pathOf("dags", row.dag_id, verb), cli: ["dags", verb, row.dag_id] },
        isPaused ? `${row.dag_id} is paused` : `${row.dag_id} starts by itself again`));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    tell(error.message, "bad");
  }
}

function PauseSwitch({ row, showChange }: { row: DagRow; showChange: ShowChange }) {
  const isAllowed = can("operator", row.namespace);
  const same = cliText("dags", row.is_paused ? "unpause" : "pause", row.dag_id);
  return (
    <span title={isAllowed ? `${row.is_paused ? "Paused" : "Active"}; ${same}` : "needs the role operator"}>
      <Switch isOn={!row.is_paused} label={`${row.dag_id} starts by itself`} isDisabled={!isAllowed}
        onChange={(isOn) => void setPaused(row, !isOn, showChange)} />
    </span>
  );
}

const TAGS_SHOWN = 3;

function Name({ row }: { row: DagRow }) {
  return (
    <>
      <div class="dag-name">
        <a href={pathOf("dags", row.dag_id)} title={row.dag_id}>{row.dag_id}</a>
        {row.status === "broken" && (
          <a class="tag is-bad" href="/errors" title="its file has problems; what it had before counts">broken file</a>
        )}
        {row.status === "rolled_back" && <span class="tag" title="its version is an earlier one">rolled back</span>}
        {row.is_paused && <span class="tag">paused</span>}
      </div>
      <div class="dag-about">
        {row.title && <span class="dim dag-title" title={row.title}>{row.title}</span>}
        {row.owner && (
          <a class="dag-owner" href={hrefWith({ owner: row.owner })} title={`owner ${row.owner}`}>{row.owner}</a>
        )}
        {row.tags.slice(0, TAGS_SHOWN).map((tag) => <a key={tag} class="tag" href={hrefWith({ tag })}>{tag}</a>)}
        {row.tags.length > TAGS_SHOWN && (
          <span class="dim" title={row.tags.join(", ")}>+{row.tags.length - TAGS_SHOWN}</span>
        )}
      </div>
    </>
  );
}

function Schedule({ row }: { row: DagRow }) {
  const words = scheduleText(row.schedule);
  if (!words) return <span class="dim">by hand</span>;
  return (
    <>
      <div class="dag-when dag-words" title={words}>{words}</div>
      {row.next_run && !row.is_paused && (
        <div class="dim dag-when">
          {Date.parse(row.next_run) < Date.now() ? "was due" : "next"} <Ago at={row.next_run} />
        </div>
      )}
    </>
  );
}

export interface LineProps {
  row: DagRow;
  states: string[];
  showChange: ShowChange;
  /** There are several namespaces, so each line says its own. */
  isSpaced: boolean;
}

export function DagLine({ row, states, showChange, isSpaced }: LineProps) {
  return (
    <tr class="dag-line" data-dag={row.dag_id}>
      <td class="dag-switch"><PauseSwitch row={row} showChange={showChange} /></td>
      <td class="dag-who"><Name row={row} /></td>
      {isSpaced && <td class="extra"><a href={hrefWith({ namespace: row.namespace })}>{row.namespace}</a></td>}
      <td class="dag-runs"><RunBars row={row} states={states} /></td>
      <td class="dag-last">
        {row.last_at && <><State state={lastState(row, states)} /><div class="dim"><Ago at={row.last_at} /></div></>}
      </td>
      <td class="dag-schedule"><Schedule row={row} /></td>
      <td class="dag-act">
        <a class="button small" href={pathOf("dags", row.dag_id, "trigger")} aria-label={`Trigger ${row.dag_id}`}>
          Trigger
        </a>
      </td>
    </tr>
  );
}
