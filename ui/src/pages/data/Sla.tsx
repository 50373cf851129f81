// Deadlines: what was late, and how DAGs keep theirs.
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { durationText } from "../../core/time";
import { Ago, Duration, Instant, State } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { limitOf, queryOf, ShowMore } from "../../parts/paging";
import { Page, Section, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { taskHref } from "../runs/links";

interface Miss {
  number: string;
  dag_id: string;
  dag_run_id: string;
  task_id: string | null;
  map_index: number;
  sla: string;
  expected: string;
  actual: string | null;
  duration: number | null;
  open: boolean;
  noticed_at: string;
  notified: boolean;
}

interface DagRecord {
  dag_id: string;
  runs: number;
  late: number;
  on_time_rate: number | null;
  misses: number;
  open: number;
  worst: number | null;
  next_deadline: string | null;
}

const WORDS: Record<string, string> = {
  within: "done in time after its start", start_within: "started in time",
  of_schedule: "done in time after its schedule",
  finish_by: "done by its time of day",
};

export function SlaPage() {
  const limit = limitOf(50);
  const misses = useLoad<{ misses: Miss[] }>(`/sla${queryOf(["dag", "open"], { limit })}`, { every: 5000, keep: true });
  const report = useLoad<{ dags: DagRecord[] }>(`/sla/report${queryOf(["dag", "last"])}`,
    { every: 15_000, keep: true });
  return (
    <Page title="Deadlines">
      <div class="filters">
        <DagFilter />
        <ChoiceFilter name="open" label="Which"
          choices={[{ value: "", text: "All misses" }, { value: "true", text: "late now" }]} />
        <ChoiceFilter name="last" label="Runs that count" choices={[{ value: "", text: "last 20 runs" },
          ...["50", "100"].map((value) => ({ value, text: `last ${value} runs` }))]} />
      </div>
      <Section title="How they are kept">
        <Show of={report}>{(data) => <Report rows={data.dags} />}</Show>
      </Section>
      <Section title="Missed">
        <Show of={misses}>{(data) => (
          <>
            <Misses rows={data.misses} />
            <ShowMore shown={data.misses.length} limit={limit} />
          </>
        )}</Show>
      </Section>
    </Page>
  );
}

/** The DAGs that have deadlines. */
function DagFilter() {
  const names = useLoad<{ dags: DagRecord[] }>("/sla/report").data?.dags.map((row) => row.dag_id) ?? [];
  const chosen = place.value.query.get("dag");
  return <ChoiceFilter name="dag" label="DAG" choices={[{ value: "", text: "All DAGs" },
    ...[...new Set([...names, ...(chosen ? [chosen] : [])])].map((name) => ({ value: name, text: name }))]} />;
}

function Report({ rows }: { rows: DagRecord[] }) {
  return (
    <Table isFolding label="Deadlines by DAG" rows={rows} keyOf={(row) => row.dag_id}
      empty={<>No DAG with a deadline has run. <code>sla: 2h</code> in a DAG or a task sets one.</>}
      columns={[
        { name: "DAG", cell: (row) => <a href={pathOf("dags", row.dag_id)}>{row.dag_id}</a> },
        { name: "On time", cell: (row) => <Rate row={row} /> },
        { name: "Late now", isNumber: true, cell: (row) => (row.open > 0 ? <b class="bad">{row.open}</b> : 0) },
        { name: "Misses", isNumber: true, isExtra: true, cell: (row) => row.misses },
        { name: "Worst", isNumber: true, isExtra: true,
          cell: (row) => (row.worst === null ? "–" : durationText(row.worst)) },
        { name: "Next deadline", isExtra: true, cell: (row) => <Ago at={row.next_deadline} /> },
      ]} />
  );
}

function Rate({ row }: { row: DagRecord }) {
  if (row.runs === 0 || row.on_time_rate === null) return <span class="dim">no runs yet</span>;
  const percent = Math.floor(row.on_time_rate * 100);
  const text = `${percent} % on time: ${row.runs - row.late} of ${row.runs} runs`;
  return (
    <div class="work-cell">
      <span class="meter" role="img" aria-label={text} title={text}>
        <i class="s-success" style={{ width: `${percent}%` }} /><i class="s-failed is-waiting"
          style={{ width: `${100 - percent}%` }} />
      </span>
      <small>{text}</small>
    </div>
  );
}

function Misses({ rows }: { rows: Miss[] }) {
  return (
    <Table isFolding label="Missed deadlines" rows={rows}
      keyOf={(row) => `${row.number} ${row.task_id} ${row.map_index} ${row.sla} ${row.expected}`}
      empty="Nothing was late."
      columns={[
        { name: "What", cell: (row) => <What row={row} /> },
        { name: "State", cell: (row) => (row.open ? <State state="late" /> : <span class="dim">over</span>) },
        { name: "Was to be", cell: (row) => WORDS[row.sla] ?? row.sla },
        { name: "Expected", cell: (row) => <Instant at={row.expected} /> },
        { name: "Actual", isExtra: true, cell: (row) => <Instant at={row.actual} /> },
        { name: "Late by", isNumber: true,
          cell: (row) => (row.open ? <Duration since={row.expected} /> : <Duration seconds={row.duration} />) },
        { name: "Told", isExtra: true, cell: (row) => (row.notified ? "yes" : "no") },
      ]} />
  );
}

function What({ row }: { row: Miss }) {
  const name = `${row.dag_id} ${row.number}`;
  return row.task_id
    ? <a href={taskHref({ ...row, task_id: row.task_id })}>{name} / {row.task_id}{row.map_index >= 0
      && ` [${row.map_index}]`}</a>
    : <a href={pathOf("runs", row.number)}>{name}</a>;
}
