// A list of runs with its filters: of all DAGs, or of one.
import { useLoad } from "../../core/load";
import { zone } from "../../core/prefs";
import { go, place, setQuery } from "../../core/route";
import { RUN_STATES, lookOf } from "../../core/states";
import type { LiveEvent } from "../../core/stream";
import { clockAt, dayEnd, dayStart, numberText } from "../../core/time";
import { plainTold } from "../../core/told";
import { Ago, Duration, Instant, State, StateIcon } from "../../parts/basics";
import { ChoiceFilter, SearchField } from "../../parts/form";
import { Show } from "../../parts/page";
import { Pager, Table, type Column } from "../../parts/table";
import { Told } from "../../parts/told";
import { runHref } from "./links";
import type { Run } from "./types";

interface RunPageData {
  dag_runs: Run[];
  total_entries: number;
  total_is_more?: boolean;
}

const LIMIT = 50;
/** Types are told apart here: the server has no list by them. */
const LOOKED_AT = 500;
const RUN_TYPES = ["scheduled", "manual", "backfill", "event"];
const isOfRuns = (event: LiveEvent): boolean => event.kind.startsWith("run");

/** Filters as the URL has them, as the API takes them. */
function listPath(dag: string | undefined): string {
  const given = place.value.query;
  const asked = new URLSearchParams({ limit: String(given.has("type") ? LOOKED_AT : LIMIT), with_total: "true" });
  const copy = (from: string, to: string, change = (value: string) => value) => {
    const value = given.get(from);
    if (value) asked.set(to, change(value));
  };
  if (dag) asked.set("dag", dag);
  else copy("dag", "dag");
  copy("state", "state");
  copy("from", "logical_from", (from) => dayStart(from, zone.value));
  copy("to", "logical_to", (to) => dayEnd(to, zone.value));
  copy("order", "order_by");
  copy("offset", "offset");
  return "/runs?" + asked.toString();
}

/** `dag`: only of this one, and without a column that says so. */
export function RunList({ dag }: { dag?: string }) {
  const wanted = place.value.query.get("q")?.trim() ?? "";
  return (
    <>
      <Filters dag={dag} />
      {wanted ? <Found text={wanted} dag={dag} /> : <Listed dag={dag} />}
    </>
  );
}

function Listed({ dag }: { dag?: string | undefined }) {
  const runs = useLoad<RunPageData>(listPath(dag), { live: isOfRuns, keep: true, every: 15_000 });
  const type = place.value.query.get("type");
  const isFiltered = ["dag", "state", "type", "from", "to"].some((name) => place.value.query.has(name));
  return (
    <Show of={runs}>
      {(data) => (
        <>
          {type && <TypeHint type={type} data={data} />}
          <Table label="Runs" rows={data.dag_runs.filter((run) => !type || run.run_type === type)}
            columns={columnsOf(dag)} keyOf={(run) => run.number}
            hrefOf={(run) => runHref(run.number)}
            empty={isFiltered ? "No run matches these filters."
              : "There are no runs yet. Trigger a DAG to make one."} />
          <Pager total={data.total_entries} limit={type ? LOOKED_AT : LIMIT} isMore={data.total_is_more ?? false} />
        </>
      )}
    </Show>
  );
}

/** How far it was looked for the type: others of it may be on other pages. */
function TypeHint({ type, data }: { type: string; data: RunPageData }) {
  const offset = Number(place.value.query.get("offset") ?? 0) || 0;
  const looked = data.dag_runs.length;
  const found = data.dag_runs.filter((run) => run.run_type === type).length;
  const isAll = offset === 0 && looked >= data.total_entries;
  const which = isAll ? `all ${numberText(looked)} runs`
    : `runs ${numberText(offset + 1)}–${numberText(offset + looked)} of ${numberText(data.total_entries)}` +
      (data.total_is_more ? "+" : "");
  return (
    <p class="dim" role="status">
      Looked at {which}: {numberText(found)} {found === 1 ? "is" : "are"} {type}.
      {!isAll && " For others go to the next page, or choose dates."}
    </p>
  );
}

interface Hit {
  kind: string;
  name: string;
  dag_id?: string | null;
  number: string;
  state?: string | null;
}

/** Runs by a part of their id, or by their number. */
function Found({ text, dag }: { text: string; dag?: string | undefined }) {
  const found = useLoad<{ results: Hit[] }>(`/search?kinds=run&limit=100&q=${encodeURIComponent(text)}`,
    { keep: true });
  const columns: Column<Hit>[] = [
    { name: "Run", cell: (hit) => <a href={runHref(hit.number)}>#{hit.number}</a> },
    { name: "State", cell: (hit) => <State state={hit.state} /> },
    { name: "DAG", cell: (hit) => hit.dag_id },
    { name: "Run id", cell: (hit) => <span class="mono">{hit.name}</span>, isExtra: true },
  ];
  return (
    <Show of={found}>
      {(data) => (
        <Table label="Runs" rows={data.results.filter((hit) => !dag || hit.dag_id === dag)} columns={columns}
          keyOf={(hit) => hit.number} hrefOf={(hit) => runHref(hit.number)} empty="No run has that in its id." />
      )}
    </Show>
  );
}

/** Enter behind a number goes to that run. */
function openNumber(event: KeyboardEvent): void {
  const field = event.target as HTMLInputElement;
  if (event.key === "Enter" && field.matches("[data-search]:first-child") &&
    /^\d+$/.test(field.value)) go(runHref(field.value));
}

function Filters({ dag }: { dag?: string | undefined }) {
  const states = [{ value: "", text: "Any state" }, ...RUN_STATES.map((state) =>
    ({ value: state, text: lookOf(state).word }))];
  const types = [{ value: "", text: "Any type" }, ...RUN_TYPES.map((type) => ({ value: type, text: type }))];
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()} onKeyDown={openNumber}>
      <SearchField name="q" label="Number or run id" />
      {!dag && <SearchField name="dag" label="Id of a DAG" />}
      <ChoiceFilter name="state" label="State" choices={states} />
      <ChoiceFilter name="type" label="Type" choices={types} />
      <Day name="from" label="Logical date from" />
      <Day name="to" label="Logical date to" />
      {place.value.query.toString() !== "" && <a href={place.value.path}>Clear filters</a>}
    </form>
  );
}

function Day({ name, label }: { name: string; label: string }) {
  const given = place.value.query.get(name) ?? "";
  const isInstant = given.includes("T") && !Number.isNaN(Date.parse(given));
  return (
    <label class="day"><span class="dim">{name}</span>
      <input type="date" aria-label={label} value={isInstant ? clockAt(given, zone.value).date : given}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value, offset: null })} />
    </label>
  );
}

function columnsOf(dag: string | undefined): Column<Run>[] {
  const columns: Column<Run>[] = [
    { name: "Run", cell: (run) => (
      <><a class="run-number" href={runHref(run.number)}><StateIcon state={run.state} /> #{run.number}</a>
        {run.note && <div class="dim cut" title={run.note}>{run.note}</div>}</>
    ) },
    { name: "DAG", cell: (run) => (
      <>
        <a class="cut" title={run.dag_id} href={`/dags/${encodeURIComponent(run.dag_id)}`}>{run.dag_id}</a>
        <div class="dim on-phone"><Ago at={run.queued_at} /></div>
      </>
    ) },
    { name: "State", cell: (run) => <><span
      class={`state s-${lookOf(run.state).colour}`}>{lookOf(run.state).word}</span>
      {run.late && <> <span class="tag bad">late</span></>}
      {run.waits_because && (
        <div class="dim cut" title={plainTold(run.waits_because, zone.value)}><Told text={run.waits_because} /></div>
      )}</> },
    { name: "Logical date", cell: (run) => <Instant at={run.logical_date} isLong />, isExtra: true,
      order: "logical_date" },
    { name: "Type", cell: (run) => run.run_type, isExtra: true },
    { name: "By", cell: (run) => run.actor ?? <span class="dim">–</span>, isExtra: true },
    // On a phone it stands below the DAG.
    { name: "Queued", cell: (run) => <Ago at={run.queued_at} />, isExtra: !dag },
    { name: "Took", cell: (run) => (
      <Duration seconds={run.end_date ? run.duration ?? null : null} since={run.start_date ?? null} />
    ), isNumber: true, order: "duration" },
    { name: "Tasks", cell: (run) => <CountsBar run={run} />, isExtra: true },
  ];
  return dag ? columns.filter((column) => column.name !== "DAG") : columns;
}

/** How many tasks are in which state, as a bar of so many parts. */
export function CountsBar({ run, isWide }: { run: Run; isWide?: boolean }) {
  const counts = Object.entries(run.counts ?? {}).filter(([, count]) => count > 0);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return <span class="dim">–</span>;
  const words = counts.map(([state, count]) => `${count} ${lookOf(state).word}`).join(", ");
  return (
    <div class={`counts-bar ${isWide ? "is-wide" : ""}`} role="img" aria-label={`Tasks: ${words}`} title={words}>
      {counts.map(([state, count]) => (
        <span key={state} class={`s-${lookOf(state).colour}`} style={{ flexGrow: count }} />
      ))}
    </div>
  );
}
