// Everything that a DAG is set to, when it runs next, why it does not run now, who may start it from outside.
import { useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { go, pathOf, type Params } from "../../core/route";
import { scheduleText } from "../../core/schedule";
import { can } from "../../core/session";
import type { LiveEvent } from "../../core/stream";
import { durationText } from "../../core/time";
import { Action } from "../../parts/action";
import { Ago, Copy, Instant, Tag } from "../../parts/basics";
import { useFew } from "../../parts/few";
import { Field } from "../../parts/form";
import { Facts, Section, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { Told } from "../../parts/told";
import { isRequired, rulesOf, typeOf, type ParamSchema } from "../start/params";
import { DagFrame, type Dag } from "./DagFrame";

/** What the answer has beyond what all pages use. */
interface WholeTask {
  task_id: string;
  operator: string;
  trigger_rule: string;
  retries: number;
  retry_delay?: number;
  timeout: number | null;
  pool: string | null;
  pool_slots: number;
  queue: string;
  priority_weight: number;
}

interface WholeDag extends Omit<Dag, "tasks"> {
  tasks: WholeTask[];
  verdict?: string;
  /** The other keys of its file. */
  keys?: Record<string, unknown>;
  finally_total?: number;
}

const isOfDag = (event: LiveEvent): boolean => event.kind.startsWith("dag") || event.kind.startsWith("run");

export function DagSettingsPage({ params }: { params: Params }) {
  return (
    <DagFrame dag={params["dag"]!}>{(dag) => {
      const whole = dag as unknown as WholeDag;
      return (
        <div class="settings">
          <Why dag={dag} />
          <NextTicks dag={dag} />
          <AllFacts dag={whole} />
          <ParamsTable dag={dag} />
          <TasksTable dag={whole} />
          <Webhooks dag={dag} />
          <Section title="Delete">
            <p>Deletes the DAG with its versions, runs and logs. Its file must be gone from all daemons first,
              and its runs over.</p>
            <Action label="Delete DAG" isDanger isAllowed={can("editor", dag.namespace)} needs="editor"
              question={`Delete ${dag.dag_id} with everything that is kept of it? This cannot be undone.`}
              change={{ method: "DELETE", path: pathOf("dags", dag.dag_id),
                cli: ["dags", "delete", dag.dag_id, "--yes"], takesKey: false }}
              done={`${dag.dag_id} is deleted.`} onDone={() => go("/dags")} />
          </Section>
        </div>
      );
    }}</DagFrame>
  );
}

const seconds = (value: number | null | undefined) =>
  (value === null || value === undefined ? null : durationText(value));

/** A key of a DAG file as the other labels are: depends_on_past is "Depends on past". */
const labelOf = (key: string): string => key.slice(0, 1).toUpperCase() + key.slice(1).replaceAll("_", " ");

/** Any value of a DAG file, as text. */
function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function AllFacts({ dag }: { dag: WholeDag }) {
  const schedule = typeof dag.schedule === "object" && dag.schedule ? Object.entries(dag.schedule) : [];
  return (
    <Section title="Settings" actions={<a href={pathOf("dags", dag.dag_id, "source")}>In its file</a>}>
      <Facts items={[
        ["Schedule", scheduleText(dag.schedule)],
        ...schedule.map(([name, value]): [string, string] => [`Schedule: ${name}`, valueText(value)]),
        ["Runs at once", dag.max_active_runs || "no bound"],
        ["Tasks at once", dag.max_active_tasks || "no bound"],
        ["Timeout of a run", seconds(dag.timeout)],
        ...Object.entries(dag.keys ?? {}).map(([name, value]): [string, string] =>
          [labelOf(name), valueText(value)]),
        ["A run succeeds by", dag.verdict && dag.verdict !== "all" ? valueText(dag.verdict) : null],
        ["Namespace", dag.namespace],
        ["Tier", dag.tier],
        ["Owner", dag.owner],
        ["Tags", dag.tags.length > 0 ? <>{dag.tags.map((tag) => <Tag key={tag}>{tag}</Tag>)}</> : null],
        ["File", dag.file && <span class="mono">{dag.file}</span>],
        ["Version", dag.dag_version],
        ["Tasks", dag.tasks_total],
        ["Description", dag.description],
      ]} />
      {dag.doc && <pre class="doc">{dag.doc}</pre>}
    </Section>
  );
}

function ParamsTable({ dag }: { dag: Dag }) {
  const rows = Object.entries(dag.params as Record<string, ParamSchema>);
  if (rows.length === 0) return null;
  return (
    <Section title="Parameters" actions={<a href={pathOf("dags", dag.dag_id, "trigger")}>Fill them in</a>}>
      <Table label="Parameters" rows={rows} keyOf={([name]) => name} columns={[
        { name: "Name", cell: ([name, schema]) =>
          <><code>{name}</code>{isRequired(schema) && <span class="need"> required</span>}</> },
        { name: "Default", cell: ([, schema]) => (schema.default === undefined ? <span class="dim">–</span>
          : schema.secret ? "***" : <code>{JSON.stringify(schema.default)}</code>) },
        { name: "Type", cell: ([, schema]) => typeOf(schema), isExtra: true },
        { name: "Rules", cell: ([, schema]) =>
          schema.enum ? `one of ${schema.enum.map(valueText).join(", ")}` : rulesOf(schema), isExtra: true },
        { name: "What", cell: ([, schema]) => schema.description || schema.doc || schema.title, isExtra: true },
      ]} />
    </Section>
  );
}

function TasksTable({ dag }: { dag: WholeDag }) {
  const dash = <span class="dim">–</span>;
  const few = useFew(dag.tasks, { nameOf: (row) => row.task_id, label: "Find a task" });
  return (
    <details class="card">
      <summary><b>Tasks</b> <span class="dim">retries, pools, queues, timeouts</span></summary>
      {few.search}
      <Table label="Tasks" rows={few.rows} keyOf={(row) => row.task_id} columns={[
        { name: "Task", cell: (row) => row.task_id },
        { name: "Kind", cell: (row) => row.operator, isExtra: true },
        { name: "Runs when", cell: (row) => row.trigger_rule.replaceAll("_", " "), isExtra: true },
        { name: "Retries", cell: (row) => row.retries, isNumber: true },
        { name: "Timeout", cell: (row) => seconds(row.timeout) ?? dash },
        { name: "Pool", cell: (row) => row.pool ?? dash },
        { name: "Slots", cell: (row) => row.pool_slots, isNumber: true, isExtra: true },
        { name: "Queue", cell: (row) => row.queue, isExtra: true },
        { name: "Priority", cell: (row) => row.priority_weight, isNumber: true, isExtra: true },
      ]} />
      {few.rest}
    </details>
  );
}

interface Explained {
  summary: string;
  conditions: { code: string; because: string; change: string | null }[];
}

function Why({ dag }: { dag: Dag }) {
  const loaded = useLoad<Explained>(`/explain${pathOf("dags", dag.dag_id)}`, { live: isOfDag });
  return (
    <Section title="Why no run starts now">
      <Show of={loaded}>{(answer) => (answer.conditions.length === 0 ? <p><Told text={answer.summary} /></p> : (
        <ul class="why">
          {answer.conditions.map((condition) => (
            <li key={condition.code}>
              <Told text={condition.because} />
              {condition.change && <small class="dim"><Told text={condition.change} /></small>}
            </li>
          ))}
        </ul>
      ))}</Show>
    </Section>
  );
}

interface Tick {
  run_after: string;
  logical_date: string;
  data_interval_start: string;
  data_interval_end: string;
  local?: string;
  note?: string | null;
}

function NextTicks({ dag }: { dag: Dag }) {
  const path = pathOf("dags", dag.dag_id, "next") + "?count=5";
  const loaded = useLoad<{ ticks: Tick[] }>(dag.is_scheduled ? path : null, { live: isOfDag });
  if (!dag.is_scheduled) return null;
  return (
    <Section title="Next runs">
      {dag.is_paused && <div class="notice">The DAG is paused: none of these starts until somebody lets it go on.</div>}
      <Show of={loaded}>{({ ticks }) => (
        <Table label="Next runs" rows={ticks} keyOf={(tick) => tick.run_after}
          empty="Its schedule has no further ticks." columns={[
          { name: "Starts", cell: (tick) => <Instant at={tick.run_after} isLong /> },
          { name: "In", cell: (tick) => <Ago at={tick.run_after} /> },
          { name: "On its own clock", cell: (tick) => <span class="mono">{tick.local ?? tick.run_after}</span>,
            isExtra: true },
          { name: "Data from", cell: (tick) => <Instant at={tick.data_interval_start} isLong />, isExtra: true },
          { name: "Data to", cell: (tick) => <Instant at={tick.data_interval_end} isLong />, isExtra: true },
        ]} />
      )}</Show>
    </Section>
  );
}

interface Webhook {
  id: string;
  name: string;
  created_by: string;
  created_at: string;
  last_used: string | null;
  calls: number;
}

/** The names that the schedule waits for; "" is the one without. */
function hookNames(dag: Dag): string[] {
  const given = typeof dag.schedule === "object" && dag.schedule ? dag.schedule["webhook"] : undefined;
  if (given === undefined || given === false || given === null) return [];
  if (given === true) return [""];
  return (Array.isArray(given) ? given : [given]).map(String);
}

function Webhooks({ dag }: { dag: Dag }) {
  const [token, setToken] = useState<string | null>(null);
  const names = hookNames(dag);
  const [name, setName] = useState(names[0] ?? "");
  const loaded = useLoad<{ webhooks: Webhook[] }>(`/webhooks?dag=${encodeURIComponent(dag.dag_id)}`);
  const isAllowed = can("editor", dag.namespace);
  return (
    <Section title="Webhooks" actions={names.length > 0 && (
      <Action label="New token" isSmall isAllowed={isAllowed} needs="editor" done="The token is made."
        question="Whoever has the token can start this DAG. It is shown once."
        change={{ path: "/webhooks", body: { dag: dag.dag_id, ...(name ? { name } : {}) }, takesKey: false,
          cli: ["webhooks", "create", dag.dag_id, name && "--name", name] }}
        onDone={(answer) => {
          setToken((answer as { token?: string }).token ?? null);
          loaded.reload();
        }}>
        {names.length > 1 && (
          <Field label="Name">
            <select value={name} onChange={(event) => setName(event.currentTarget.value)}>
              {names.map((one) => <option key={one} value={one}>{one}</option>)}
            </select>
          </Field>
        )}
      </Action>)}>
      {token && (
        <div class="notice" role="status">
          The token is shown only now; keep it like a password: <code class="token">{token}</code> <Copy text={token} />
        </div>
      )}
      {names.length === 0 && (
        <p class="dim">The schedule of this DAG waits for no webhook (its key is <code>webhook</code>).</p>
      )}
      <Show of={loaded}>{({ webhooks }) => (webhooks.length === 0 && names.length === 0 ? null : (
        <Table label="Webhooks" rows={webhooks} keyOf={(row) => row.id} empty="No token yet." columns={[
          { name: "Id", cell: (row) => row.id },
          { name: "Name", cell: (row) => row.name || <span class="dim">–</span> },
          { name: "Created", cell: (row) => <><Ago at={row.created_at} /> by {row.created_by}</>, isExtra: true },
          { name: "Calls", cell: (row) => row.calls, isNumber: true },
          { name: "Last used", cell: (row) => <Ago at={row.last_used} />, isExtra: true },
          { name: "", cell: (row) => (
            <Action label="Delete" isSmall isDanger isAllowed={isAllowed} needs="editor" onDone={loaded.reload}
              question="The token becomes useless at once." done="The token is useless now."
              change={{ method: "DELETE", path: pathOf("webhooks", row.id),
                cli: ["webhooks", "delete", row.id, "--yes"], takesKey: false }} />
          ) },
        ]} />
      ))}</Show>
    </Section>
  );
}
