// Makes a backfill; what it would do is shown while it is filled in.
import { useRef, useState } from "preact/hooks";
import { ChangeKey, post, Problem } from "../../core/http";
import { useLoad } from "../../core/load";
import { zone } from "../../core/prefs";
import { go, pathOf, type Params } from "../../core/route";
import { can } from "../../core/session";
import { lastDays } from "../../core/time";
import { tell } from "../../parts/dialog";
import { Field } from "../../parts/form";
import { Page, ProblemBox, Section, Show } from "../../parts/page";
import type { Dag } from "../dag/DagFrame";
import { backfillBody, backfillWords, listOf, readParams, withoutSecrets, type Draft } from "./draft";
import { ConfField, SameByCommand, TaskChoice, TextField, useDraft } from "./fields";
import { ParamFields, type FormProps } from "./ParamFields";
import type { ParamSchemas } from "./params";
import { PlanBox } from "./PlanBox";
import { focusFirstWrong, problemsToShow } from "./TriggerPage";

const FIELDS = ["from", "to", "order", "redo", "max_active", "queue", "conf", "tasks", "upstream", "downstream",
  "version", "note", "reason"];

export function BackfillFormPage({ params }: { params: Params }) {
  const id = params["dag"]!;
  const loaded = useLoad<Dag>(pathOf("dags", id));
  return (
    <Page title={`Backfill ${loaded.data?.title || id}`} name={`Backfill ${id}`}
      crumbs={[{ text: "DAGs", href: "/dags" }, { text: id, href: pathOf("dags", id) },
        { text: "Backfills", href: pathOf("dags", id, "backfills") }]}>
      <Show of={loaded}>{(dag) => <BackfillForm dag={dag} />}</Show>
    </Page>
  );
}

/** What is wrong with the fields that are of backfills alone. */
function rangeProblems(draft: Draft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft["from"]) problems["from"] = "is required";
  if (!draft["to"]) problems["to"] = "is required";
  if (draft["from"] && draft["to"] && draft["to"] < draft["from"]) problems["to"] = "is before the first date";
  const most = draft["max_active"];
  if (most && !/^[1-9]\d{0,5}$/.test(most)) problems["max_active"] = "must be a whole number above 0";
  if (draft["version"] && !/^(current|newest|original|[1-9]\d*)$/.test(draft["version"]))
    problems["version"] = "is current, newest, original or a number";
  return problems;
}

function BackfillForm({ dag }: { dag: Dag }) {
  const schemas = dag.params as ParamSchemas;
  const { draft, change, settle } = useDraft(FIELDS, schemas);
  const [wasTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const key = useRef(new ChangeKey());
  const read = readParams(draft, schemas);
  Object.assign(read.problems, rangeProblems(draft));
  const isReady = Object.keys(read.problems).length === 0;
  const body = backfillBody(dag.dag_id, draft, read);
  const shownBody = withoutSecrets(body, schemas);
  const fields: FormProps = { draft, problems: problemsToShow(read.problems, draft, wasTried), change };
  const isAllowed = can("operator", dag.namespace);
  const send = async (event: Event) => {
    event.preventDefault();
    settle();
    setTried(true);
    setProblem(null);
    if (!isReady) return focusFirstWrong(form.current);
    setBusy(true);
    try {
      const made = await key.current.use(body, (text) => post<{ backfill: string }>("/backfills", body, text));
      tell(`Backfill ${made.backfill} of ${dag.dag_id} is made.`);
      go(pathOf("backfills", made.backfill));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <form class="start-form" ref={form} noValidate onSubmit={(event) => void send(event)}>
      <Section title="Dates">
        <QuickDays {...fields} />
        <RangeFields {...fields} />
      </Section>
      <PlanBox dag={dag} body={body} isReady={isReady} />
      {Object.keys(schemas).length > 0 && (
        <Section title="Parameters"><ParamFields schemas={schemas} {...fields} /></Section>
      )}
      <Section title="The runs"><RunFields dag={dag} {...fields} /></Section>
      {problem && <ProblemBox problem={problem} />}
      <div class="actions form-end">
        <button type="submit" class="main" disabled={!isAllowed || isBusy}
          title={isAllowed ? undefined : "needs the role operator"}>{isBusy ? "…" : "Create backfill"}</button>
        <a class="button" href={pathOf("dags", dag.dag_id, "backfills")}>Cancel</a>
        {!isAllowed && <span class="dim">You may plan, but to create one needs the role operator.</span>}
        {wasTried && !isReady && (
          <span class="bad" role="alert">{Object.keys(read.problems).length} to mend above</span>
        )}
      </div>
      <SameByCommand words={backfillWords(shownBody)} path="/backfills" body={shownBody} />
    </form>
  );
}

const QUICK: [string, number][] = [["Yesterday", 1], ["Last 7 days", 7], ["Last 30 days", 30]];

/** The days before today, of the zone that is chosen above. */
function QuickDays({ draft, change }: FormProps) {
  return (
    <div class="actions quick-days" role="group" aria-label={`Days before today, in ${zone.value}`}>
      {QUICK.map(([text, count]) => {
        const { from, to } = lastDays(count, Date.now(), zone.value);
        const choose = () => {
          change("from", from);
          change("to", to);
        };
        return (
          <button key={count} type="button" class="small" onClick={choose}
            title={from === to ? from : `${from} to ${to}`}
            aria-pressed={draft["from"] === from && draft["to"] === to}>{text}</button>
        );
      })}
      <span class="dim">whole days before today, {zone.value}</span>
    </div>
  );
}

function RangeFields(fields: FormProps) {
  const { draft, change } = fields;
  return (
    <div class="form-grid">
      <TextField name="from" label="First date" isDate hint="logical dates, in UTC" {...fields} />
      <TextField name="to" label="Last date" isDate hint="this day included" {...fields} />
      <Field label="Order">
        <select value={draft["order"] ?? "asc"} onChange={(event) => change("order", event.currentTarget.value)}>
          <option value="asc">oldest date first</option>
          <option value="desc">newest date first</option>
        </select>
      </Field>
      <Field label="Dates that have a run">
        <select value={draft["redo"] ?? "none"} onChange={(event) => change("redo", event.currentTarget.value)}>
          <option value="none">leave all as they are</option>
          <option value="failed">do those again that failed</option>
          <option value="all">do all again</option>
        </select>
      </Field>
    </div>
  );
}

function RunFields({ dag, ...fields }: FormProps & { dag: Dag }) {
  const { draft, change } = fields;
  const hasTasks = listOf(draft["tasks"]).length > 0;
  const box = (name: string, text: string) => (
    <label>
      <input type="checkbox" checked={draft[name] === "true"}
        onChange={(event) => change(name, event.currentTarget.checked ? "true" : undefined)} /> {text}
    </label>
  );
  return (
    <div class="form-grid">
      <TextField name="max_active" label="Runs at once" placeholder={String(dag.max_active_runs || "as the DAG says")}
        {...fields} />
      <TextField name="queue" label="Queue" placeholder="those of the tasks" {...fields} />
      <TextField name="version" label="Version of the DAG" placeholder="current"
        hint="current, newest, original or a number"
        {...fields} />
      <TextField name="note" label="Note, kept with every run" {...fields} />
      <TextField name="reason" label="Reason, for the audit" {...fields} />
      <div class="field">
        <span class="field-label">Tasks</span>
        <TaskChoice tasks={dag.tasks} {...fields} />
        {hasTasks && box("upstream", "and what they need")}
        {hasTasks && box("downstream", "and what comes after them")}
      </div>
      <ConfField {...fields} />
    </div>
  );
}
