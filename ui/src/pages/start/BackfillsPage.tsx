// All backfills, with their progress.
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { numberText } from "../../core/time";
import { apiUrl } from "../../core/http";
import type { LiveEvent } from "../../core/stream";
import { useScope } from "../../core/stream";
import { Ago, Duration } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { Page, Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { OVER, rangeText, secondsLeft, type Backfill } from "./backfill";
import { BackfillProgress, BackfillState } from "./Progress";

export const isOfBackfill = (event: LiveEvent): boolean =>
  event.kind.startsWith("backfill") || event.kind.startsWith("run");

interface Answer {
  backfills: Backfill[];
  total_entries: number;
}

const LIMIT = 100;
const STATES = ["running", "awaiting_approval", "paused", "cancelling", ...OVER];

/** Of one DAG, or of all. */
export function BackfillList({ dag }: { dag?: string }) {
  const state = place.value.query.get("state");
  const path = apiUrl("/backfills", { dag, state, limit: LIMIT }).replace("/api/v1/x", "");
  const loaded = useLoad<Answer>(path, { live: isOfBackfill, keep: true });
  return (
    <>
      <div class="filters">
        <ChoiceFilter name="state" label="State" choices={[{ value: "", text: "Any state" },
          ...STATES.map((value) => ({ value, text: value.replaceAll("_", " ") }))]} />
      </div>
      <Show of={loaded}>{({ backfills, total_entries: total }) => (
        <>
          <Table label="Backfills" rows={backfills}
            columns={dag ? COLUMNS.filter((column) => column.name !== "DAG") : COLUMNS}
            keyOf={(row) => row.backfill} hrefOf={(row) => pathOf("backfills", row.backfill)}
            empty={state ? "No backfill is in this state."
              : "No backfill yet: one runs a DAG for dates of the past."} />
          {total > backfills.length && <p class="dim">The newest {numberText(backfills.length)} are shown.</p>}
        </>
      )}</Show>
    </>
  );
}

const COLUMNS: Column<Backfill>[] = [
  { name: "Backfill", cell: (row) => <a href={pathOf("backfills", row.backfill)}>{row.backfill}</a> },
  { name: "DAG", cell: (row) => <a class="backfill-dag" href={pathOf("dags", row.dag_id)}>{row.dag_id}</a> },
  { name: "State", cell: (row) => <BackfillState backfill={row} /> },
  { name: "Progress", cell: (row) => <BackfillProgress backfill={row} /> },
  { name: "Dates", cell: (row) => numberText(row.size), isNumber: true, isExtra: true },
  { name: "Range", cell: (row) => <span class="nowrap">{rangeText(row.from, row.to)}</span>, isExtra: true },
  { name: "Left", cell: (row) => <Duration seconds={secondsLeft(row, Date.now())} />, isExtra: true },
  { name: "By", cell: (row) => row.actor, isExtra: true },
  { name: "Created", cell: (row) => <span class="nowrap"><Ago at={row.created_at} /></span>, isExtra: true },
];

export function BackfillsPage() {
  useScope({ kinds: "backfill,run" });
  return <Page title="Backfills"><BackfillList /></Page>;
}
