// All DAGs: found, filtered and sorted in the browser, drawn as far as they are on the screen.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useShortcuts } from "../../core/keys";
import { hrefWith, place } from "../../core/route";
import { numberText } from "../../core/time";
import { Empty } from "../../parts/basics";
import { FirstSteps } from "../../parts/firstSteps";
import { ChoiceFilter, SearchField, type Choice } from "../../parts/form";
import { Page, Show } from "../../parts/page";
import { DagLine, type LineProps } from "./DagLine";
import { PauseShown } from "./PauseShown";
import { facets, isEnough, NEVER_RAN, shownRows, windowOf, type DagFilter, type DagRow } from "./rows";
import { useDagRows } from "./useDagRows";

const FEW = 24;
const SPARE = 6;
const HEIGHT = 61;
const PHONE_HEIGHT = 132;
const phone = matchMedia("(max-width: 760px)");

const STATES: Choice[] = [
  { value: "", text: "Any state" }, { value: "failed", text: "last run failed" }, { value: "running", text: "running" },
  { value: "queued", text: "queued" }, { value: "success", text: "last run succeeded" },
  { value: "cancelled", text: "last run cancelled" }, { value: NEVER_RAN, text: "never ran" },
  { value: "scheduled", text: "scheduled" }, { value: "paused", text: "paused" },
  { value: "broken", text: "file has problems" },
];

function filterOfPlace(): DagFilter {
  const query = place.value.query;
  const of = (name: string): string => query.get(name) ?? "";
  return {
    q: of("q"), tag: of("tag"), owner: of("owner"), namespace: of("namespace"), state: of("state"), sort: of("sort"),
  };
}

/** Which rows of the list are near the screen; all, when they are few. */
function useWindow(count: number) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [isPhone, setPhone] = useState(phone.matches);
  const height = isPhone ? PHONE_HEIGHT : HEIGHT;
  const [range, setRange] = useState(() => windowOf(count, height, 0, innerHeight, SPARE));
  const look = () => {
    const top = body.current?.getBoundingClientRect().top ?? 0;
    const next = count <= FEW ? { first: 0, last: count } : windowOf(count, height, top, innerHeight, SPARE);
    setRange((old) => (isEnough(old, next) ? old : next));
  };
  useLayoutEffect(look, [count, height]);
  useEffect(() => {
    let isAsked = false;
    const later = () => {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(() => {
        isAsked = false;
        look();
      });
    };
    const fold = () => setPhone(phone.matches);
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    phone.addEventListener("change", fold);
    return () => {
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
      phone.removeEventListener("change", fold);
    };
  }, [count, height]);
  const first = Math.min(range.first, count);
  return { body, height, first, last: Math.min(Math.max(range.last, first), count) };
}

function SortLink({ text, value, back }: { text: string; value: string; back?: string }) {
  const sort = place.value.query.get("sort") ?? "";
  const isOn = sort === value || sort === back;
  const arrow = sort.startsWith("-") || value === "last" ? " ▾" : " ▴";
  return (
    <a href={hrefWith({ sort: back !== undefined && sort === value ? back : value })} class={isOn ? "is-on" : ""}>
      {text}{isOn && <span aria-hidden="true">{arrow}</span>}
    </a>
  );
}

const sortOf = (value: string, back?: string): "ascending" | "descending" | undefined => {
  const sort = place.value.query.get("sort") ?? "";
  if (sort === back) return "descending";
  return sort !== value ? undefined : value === "last" ? "descending" : "ascending";
};

interface TableProps extends Omit<LineProps, "row"> {
  rows: DagRow[];
  missing: number;
}

/** `missing`: rows that are still on the way; the list is as long as if they were there. */
function DagTable({ rows, missing, states, showChange, isSpaced }: TableProps) {
  const { body, height, first, last } = useWindow(rows.length);
  const columns = isSpaced ? 7 : 6;
  const gap = (lines: number) => lines > 0 && (
    <tr aria-hidden="true" class="dag-gap"><td colSpan={columns} style={{ height: `${lines * height}px` }} /></tr>
  );
  return (
    <div class="table-box">
      <table class="dag-table" aria-label="DAGs" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col" class="dag-switch"><span class="sr">Starts by itself</span></th>
            <th scope="col" aria-sort={sortOf("", "-name")}><SortLink text="DAG" value="" back="-name" /></th>
            {isSpaced && <th scope="col" class="extra">Namespace</th>}
            <th scope="col">Recent runs</th>
            <th scope="col" aria-sort={sortOf("last")}><SortLink text="Last run" value="last" /></th>
            <th scope="col" aria-sort={sortOf("next")}><SortLink text="Schedule and next run" value="next" /></th>
            <th scope="col"><span class="sr">Actions</span></th>
          </tr>
        </thead>
        <tbody ref={body}>
          {gap(first)}
          {rows.slice(first, last).map((row) => (
            <DagLine key={row.dag_id} row={row} states={states} showChange={showChange} isSpaced={isSpaced} />
          ))}
          {gap(rows.length - last + missing)}
        </tbody>
      </table>
    </div>
  );
}

function choicesOf(all: string, found: [string, number][], chosen: string): Choice[] {
  const choices = found.map(([value, count]) => ({ value, text: `${value} (${count})` }));
  if (chosen && !found.some(([value]) => value === chosen)) choices.push({ value: chosen, text: chosen });
  return [{ value: "", text: all }, ...choices];
}

/** Name in the URL, label, and how many there must be for a choice. */
const FACETS = [["tag", "Tag", 1], ["owner", "Owner", 1], ["namespace", "Namespace", 2]] as const;

interface FiltersProps {
  rows: DagRow[];
  filter: DagFilter;
  /** What can be done with all that they leave. */
  actions: ComponentChildren;
}

function Filters({ rows, filter, actions }: FiltersProps) {
  const choices = useMemo(() => ({
    tag: facets(rows, (row) => row.tags), owner: facets(rows, (row) => [row.owner]),
    namespace: facets(rows, (row) => [row.namespace]),
  }), [rows]);
  const isFiltered = !!(filter.q || filter.tag || filter.owner || filter.namespace || filter.state);
  return (
    <div class="filters dag-filters" role="search">
      <SearchField name="q" label="Search by name or title" />
      <ChoiceFilter name="state" label="State" choices={STATES} />
      {FACETS.map(([name, label, least]) => (choices[name].length >= least || filter[name]) && (
        <ChoiceFilter key={name} name={name} label={label}
          choices={choicesOf(`Any ${name}`, choices[name], filter[name])} />
      ))}
      {isFiltered && (
        <a href={hrefWith({ q: null, tag: null, owner: null, namespace: null, state: null })}>Clear filters</a>
      )}
      {isFiltered && actions}
    </div>
  );
}

const focusSearch = () => document.querySelector<HTMLElement>("[data-search]")?.focus();

export function DagsPage() {
  const { loaded, rows, states, showChange } = useDagRows();
  const filter = filterOfPlace();
  const shown = useMemo(() => shownRows(rows, filter, states), [rows, states, JSON.stringify(filter)]);
  const isSpaced = useMemo(() => new Set(rows.map((row) => row.namespace)).size > 1, [rows]);
  useShortcuts([{ keys: "s", what: "search among the DAGs", run: focusSearch }]);
  const onTheWay = loaded.data ? loaded.data.total_entries - loaded.data.dags.length : 0;
  const missing = shown.length === rows.length ? onTheWay : 0;
  const all = numberText(rows.length + onTheWay);
  const count = shown.length === rows.length ? all : `${numberText(shown.length)} of ${all}`;
  const title = <>DAGs {loaded.data && <span class="count" role="status" title={`${count} DAGs`}>{count}</span>}</>;
  return (
    <Page title={title} name="DAGs">
      {rows.length > 0 && (
        <Filters rows={rows} filter={filter}
          actions={<PauseShown rows={shown} isPart={onTheWay > 0} showChange={showChange} />} />
      )}
      <Show of={loaded}>
        {() => rows.length === 0 ? <FirstSteps />
          : shown.length === 0 ? <Empty>No DAG is like that.</Empty>
          : <DagTable rows={shown} missing={missing} states={states} showChange={showChange} isSpaced={isSpaced} />}
      </Show>
    </Page>
  );
}
