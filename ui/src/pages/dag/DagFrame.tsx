// What all pages of a DAG share: its name, what it is, whether it is paused, and the tabs.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Problem } from "../../core/http";
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { scheduleText } from "../../core/schedule";
import { can } from "../../core/session";
import { useScope, type LiveEvent } from "../../core/stream";
import { makeChange } from "../../parts/action";
import { Ago, Instant, State, Tag } from "../../parts/basics";
import { tell } from "../../parts/dialog";
import { Switch } from "../../parts/form";
import { Page, Show, Tabs } from "../../parts/page";
import { Told } from "../../parts/told";

export interface DagTask {
  task_id: string;
  operator: string;
  doc: string | null;
  group: string | null;
  needs: string[];
  dependants: string[];
  trigger_rule: string;
  is_mapped: boolean;
  is_finally: boolean;
  retries: number;
}

export interface DagRun {
  number: string;
  dag_id: string;
  dag_run_id: string;
  state: string;
  reason: string | null;
  run_type: string;
  logical_date: string | null;
  queued_at: string;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  note: string | null;
  dag_version: number;
}

/** GET /dags/X. */
export interface Dag {
  dag_id: string;
  title: string | null;
  description: string | null;
  doc: string | null;
  owner: string | null;
  namespace: string;
  tier: string;
  tags: string[];
  params: Record<string, unknown>;
  tasks_total: number;
  max_active_runs: number;
  max_active_tasks: number;
  timeout: number | null;
  schedule: string | Record<string, unknown> | null;
  file: string | null;
  dag_version: number | null;
  status: string | null;
  is_active: boolean;
  is_rolled_back: boolean;
  has_import_errors: boolean;
  is_paused: boolean;
  is_scheduled: boolean;
  next_run: string | null;
  runs_going: number;
  runs_waiting: number;
  last_run: DagRun | null;
  missed: { first: string; last: string; count: number; is_more: boolean; because: string }[];
  refused?: { at: string; what: string; why: string } | null;
  missing?: string | null;
  waits_for?: unknown;
  sla: unknown;
  /** None in a frame that is brief. */
  tasks: DagTask[];
}

interface ImportError {
  line: number | null;
  message: string;
}

const TABS: [string, string][] = [["", "Grid"], ["graph", "Graph"], ["runs", "Runs"], ["calendar", "Calendar"],
  ["durations", "Durations"], ["versions", "Versions"], ["source", "Source"], ["backfills", "Backfills"],
  ["settings", "Settings"]];

// What a task does says nothing about its DAG; that comes often.
const isOfDag = (event: LiveEvent): boolean => event.kind.startsWith("dag") || event.kind.startsWith("run");

interface FrameProps {
  dag: string;
  /** Without the tasks, of which there may be thousands. */
  isBrief?: boolean;
  children: (dag: Dag, reload: () => void) => ComponentChildren;
}

/** The frame sets the scope of events to this DAG: pages in it need not. */
export function DagFrame({ dag: id, isBrief, children }: FrameProps) {
  useScope({ dag: id });
  const loaded = useLoad<Dag>(pathOf("dags", id) + (isBrief ? "?brief=true" : ""), { live: isOfDag });
  const dag = loaded.data;
  if (dag) dag.tasks ??= [];
  return (
    <Page title={dag?.title || id} name={id} crumbs={[{ text: "DAGs", href: "/dags" }]}
      actions={dag && <DagButtons dag={dag} reload={loaded.reload} />}>
      <Show of={loaded}>{(shown) => (
        <>
          <DagFacts dag={shown} />
          <Notices dag={shown} />
          <Tabs label="Views of the DAG" items={tabsOf(id)} />
          {children(shown, loaded.reload)}
        </>
      )}</Show>
    </Page>
  );
}

/** What was chosen in one picture stays chosen in the other. */
function tabsOf(id: string) {
  const { query } = place.value;
  const kept = new URLSearchParams();
  for (const name of ["run", "task"]) if (query.has(name)) kept.set(name, query.get(name)!);
  const chosen = kept.toString();
  return TABS.map(([name, text]) => ({
    text,
    href: pathOf("dags", id) + (name && "/" + name) + (chosen && (name === "" || name === "graph") ? "?" + chosen : ""),
  }));
}

function DagButtons({ dag, reload }: { dag: Dag; reload: () => void }) {
  const isAllowed = can("operator", dag.namespace);
  return (
    <>
      <PauseSwitch dag={dag} reload={reload} isAllowed={isAllowed} />
      {isAllowed && <a class="button" href={pathOf("dags", dag.dag_id, "backfill")}>Backfill</a>}
      {isAllowed && <a class="button main" href={pathOf("dags", dag.dag_id, "trigger")}>Trigger</a>}
    </>
  );
}

function PauseSwitch({ dag, reload, isAllowed }: { dag: Dag; reload: () => void; isAllowed: boolean }) {
  const [isBusy, setBusy] = useState(false);
  const change = async (isOn: boolean) => {
    const verb = isOn ? "unpause" : "pause";
    setBusy(true);
    try {
      await makeChange({ path: pathOf("dags", dag.dag_id, verb), cli: ["dags", verb, dag.dag_id] },
        isOn ? `${dag.dag_id} starts by itself again.` : `${dag.dag_id} is paused: it starts nothing by itself.`);
      reload();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      tell(error.message, "bad");
    }
    setBusy(false);
  };
  const command = `eider dags ${dag.is_paused ? "unpause" : "pause"} ${dag.dag_id}`;
  return (
    <span class="dag-pause">
      <span class={dag.is_paused ? "warn" : "dim"}>{dag.is_paused ? "Paused" : "Active"}</span>
      <Switch isOn={!dag.is_paused} label={`${dag.dag_id} starts by itself (${command})`}
        isDisabled={!isAllowed || isBusy} onChange={(isOn) => void change(isOn)} />
    </span>
  );
}

function DagFacts({ dag }: { dag: Dag }) {
  const schedule = typeof dag.schedule === "string" ? dag.schedule : dag.schedule && JSON.stringify(dag.schedule);
  return (
    <div class="dag-facts">
      {dag.title && <span class="mono">{dag.dag_id}</span>}
      <span title={schedule || "no schedule"}>{scheduleText(dag.schedule) || "no schedule"}</span>
      {dag.next_run && <span>next run <Ago at={dag.next_run} />, <Instant at={dag.next_run} /></span>}
      {dag.missing && <span>waits for {dag.missing}</span>}
      {dag.last_run && (
        <a href={pathOf("runs", dag.last_run.number)}>last run <State state={dag.last_run.state} /></a>
      )}
      {dag.runs_going + dag.runs_waiting > 0 && (
        <span>{dag.runs_going} going{dag.runs_waiting > 0 && `, ${dag.runs_waiting} waiting`}</span>
      )}
      {dag.owner && <a href={"/dags?owner=" + encodeURIComponent(dag.owner)}>{dag.owner}</a>}
      {dag.namespace !== "default" && <span>namespace {dag.namespace}</span>}
      {dag.dag_version && <a href={pathOf("dags", dag.dag_id, "versions")}>version {dag.dag_version}</a>}
      {dag.tags.length > 0 && (
        <span>{dag.tags.map((tag) => (
          <a key={tag} class="tag" href={"/dags?tag=" + encodeURIComponent(tag)}>{tag}</a>
        ))}</span>
      )}
      {dag.status === "inactive" && <Tag>no longer offered</Tag>}
      {dag.description && <span class="dag-about dim">{dag.description}</span>}
    </div>
  );
}

function Notices({ dag }: { dag: Dag }) {
  return (
    <>
      {dag.has_import_errors && <ImportErrors dag={dag} />}
      {dag.is_rolled_back && (
        <div class="notice">
          This is version {dag.dag_version}, to which somebody went back: the file has a newer
          one. <a href={pathOf("dags", dag.dag_id, "versions")}>See the versions</a>
        </div>
      )}
      {dag.refused && (
        <div class="problem" role="status">
          <b>No run could be made of {dag.refused.what} (<Ago at={dag.refused.at} />)</b>
          <p><Told text={dag.refused.why} /></p>
        </div>
      )}
    </>
  );
}

function ImportErrors({ dag }: { dag: Dag }) {
  const loaded = useLoad<{ errors: ImportError[] }>("/import-errors?dag=" + encodeURIComponent(dag.dag_id));
  const first = loaded.data?.errors[0];
  return (
    <div class="problem" role="alert">
      <b>The file of this DAG has problems; its last good version is in use.</b>
      <p>
        {first && `${first.line ? `line ${first.line}: ` : ""}${first.message} `}
        <a href="/errors">See all import errors</a>
      </p>
    </div>
  );
}
