// What happened to a run, and who did it; newest first.
import { useLoad } from "../../core/load";
import { pathOf, type Params } from "../../core/route";
import { Instant, State } from "../../parts/basics";
import { Section, Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { taskHref } from "./links";
import { everyWhile, ofThisRun, RunFrame } from "./RunFrame";
import { isRunOver, taskName } from "./types";

interface Happened {
  id: string;
  at: string;
  kind: string;
  state?: string | null;
  actor?: string | null;
  task_id?: string | null;
  map_index?: number;
  attempt?: number;
  reason?: string | null;
  details?: Record<string, unknown>;
}

interface Audited {
  id: string;
  at: string;
  actor: string;
  action: string;
  object: string;
  reason?: string | null;
}

const columnsOf = (number: string): Column<Happened>[] => [
  { name: "When", cell: (event) => <Instant at={event.at} /> },
  { name: "What", cell: (event) => event.kind.replaceAll("_", " ") },
  { name: "Task", cell: (event) => event.task_id && (
    <a class="mono" href={taskHref({ number, task_id: event.task_id, map_index: event.map_index ?? -1 })}>
      {taskName({ task_id: event.task_id, map_index: event.map_index ?? -1 })}</a>
  ) },
  { name: "State", cell: (event) => event.state && <State state={event.state} /> },
  { name: "Try", cell: (event) => event.attempt, isNumber: true, isExtra: true },
  { name: "By", cell: (event) => event.actor, isExtra: true },
  { name: "Why", cell: (event) => event.reason, isExtra: true },
];

const AUDIT: Column<Audited>[] = [
  { name: "When", cell: (entry) => <Instant at={entry.at} isLong /> },
  { name: "Who", cell: (entry) => entry.actor },
  { name: "What", cell: (entry) => entry.action.replaceAll("_", " ") },
  { name: "Of", cell: (entry) => entry.object, isExtra: true },
  { name: "Why", cell: (entry) => entry.reason },
];

function Events({ number, isRunning }: { number: string; isRunning: boolean }) {
  const options = { live: ofThisRun, every: everyWhile(isRunning) };
  const events = useLoad<{ events: Happened[] }>(`/events?run=${encodeURIComponent(number)}&limit=500`, options);
  const audit = useLoad<{ entries: Audited[] }>(`/audit?run=${encodeURIComponent(number)}&limit=100`, options);
  return (
    <>
      <Section title="What people did">
        <Show of={audit}>
          {(data) => <Table label="Audit" rows={data.entries} columns={AUDIT} keyOf={(entry) => entry.id}
            empty="Nobody did anything to it." />}
        </Show>
      </Section>
      <Section title="What happened">
        <Show of={events}>
          {(data) => <Table label="Events" rows={[...data.events].reverse()} columns={columnsOf(number)}
            keyOf={(event) => event.id ?? event.at + event.kind} />}
        </Show>
        <p><a href={pathOf("audit")}>All that people did</a></p>
      </Section>
    </>
  );
}

export function RunEventsPage({ params }: { params: Params }) {
  const number = params["run"] ?? "";
  return <RunFrame number={number}>{(run) => <Events number={number} isRunning={!isRunOver(run.state)} />}</RunFrame>;
}
