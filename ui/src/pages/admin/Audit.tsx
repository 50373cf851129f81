// Who changed what, when and why.
import { useLoad } from "../../core/load";
import { zone } from "../../core/prefs";
import { hrefWith, pathOf, place } from "../../core/route";
import { dayStart } from "../../core/time";
import { Instant } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { NameFilter, OlderPager, queryOf } from "../../parts/paging";
import { Page, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { hrefOfObject, objectText } from "./auditLinks";
import type { AuditEntry } from "./types";

const LIMIT = 50;
const FILTERS = ["actor", "dag", "run", "all", "before"];

/** The days of the URL as instants. */
function days(): Record<string, string> {
  const given = ["from", "to"].map((name) => [name, dayStart(place.value.query.get(name) ?? "", zone.value)]);
  return Object.fromEntries(given.filter(([, instant]) => instant)) as Record<string, string>;
}

export function AuditPage() {
  const loaded = useLoad<{ entries: AuditEntry[] }>(`/audit${queryOf(FILTERS, { ...days(), limit: LIMIT })}`,
    { every: 5000, keep: true });
  return (
    <Page title="Audit">
      <div class="filters">
        <NameFilter name="actor" label="Who" />
        <NameFilter name="dag" label="DAG" />
        <NameFilter name="run" label="Run" />
        <label class="date-filter">from <NameFilter name="from" label="From this day" type="date" /></label>
        <label class="date-filter">before <NameFilter name="to" label="Before this day" type="date" /></label>
        <ChoiceFilter name="all" label="By whom"
          choices={[{ value: "", text: "by people" }, { value: "true", text: "by the program, too" }]} />
      </div>
      <Show of={loaded}>{(data) => (
        <>
          <AuditTable entries={data.entries} />
          <OlderPager ids={data.entries.map((entry) => entry.id)} limit={LIMIT} />
        </>
      )}</Show>
    </Page>
  );
}

function AuditTable({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table isFolding label="Changes" rows={entries} keyOf={(entry) => entry.id}
      empty="Nobody changed anything that fits."
      columns={[
        { name: "When", cell: (entry) => <span class="nowrap"><Instant at={entry.at} isLong /></span> },
        { name: "Who", cell: (entry) => (entry.actor
          ? <a href={hrefWith({ actor: entry.actor, before: null })}>{entry.actor}</a> : <span class="dim">–</span>) },
        { name: "What", cell: (entry) => entry.action.replaceAll("_", " ") },
        { name: "Of what", cell: (entry) => <Objects entry={entry} /> },
        { name: "How", isExtra: true, cell: (entry) => <span class="clamp"
          title={entry.change ?? ""}>{entry.change ?? ""}</span> },
        { name: "Why", cell: (entry) => <span class="clamp" title={entry.reason ?? ""}>{entry.reason ?? ""}</span> },
      ]} />
  );
}

const MOST = 5;

function Objects({ entry }: { entry: AuditEntry }) {
  const objects = entry.objects ?? [];
  if (objects.length === 0) return entry.dag_id ? <a href={pathOf("dags", entry.dag_id)}>{entry.dag_id}</a>
    : <span class="dim">–</span>;
  return (
    <>
      {objects.slice(0, MOST).map((object) => {
        const href = hrefOfObject(object, entry);
        return <div key={object}
          class="clamp">{href ? <a href={href} title={object}>{objectText(object)}</a> : object}</div>;
      })}
      {entry.count > MOST && <small class="dim">and {entry.count - MOST} more</small>}
    </>
  );
}
