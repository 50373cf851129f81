// Starts a run: the parameters of the DAG as fields, and everything else that a run can be given.
import { useRef, useState } from "preact/hooks";
import { ChangeKey, post, Problem } from "../../core/http";
import { useLoad } from "../../core/load";
import { zone } from "../../core/prefs";
import { go, pathOf, type Params } from "../../core/route";
import { can } from "../../core/session";
import { instantFrom, localFrom } from "../../core/time";
import { Field } from "../../parts/form";
import { tell } from "../../parts/dialog";
import { Page, ProblemBox, Section, Show } from "../../parts/page";
import type { Dag } from "../dag/DagFrame";
import { PARAM, readParams, runIdProblem, triggerBody, triggerWords, withoutSecrets, type Draft } from "./draft";
import { ConfField, SameByCommand, TaskChoice, TextField, useDraft } from "./fields";
import { ParamFields, type FormProps } from "./ParamFields";
import { problemsByField, type ParamSchemas } from "./params";
import { Preview } from "./Preview";

const FIELDS = ["conf", "date", "run_id", "note", "tasks", "reason"];

export function TriggerPage({ params }: { params: Params }) {
  const id = params["dag"]!;
  const loaded = useLoad<Dag>(pathOf("dags", id));
  return (
    <Page title={`Trigger ${loaded.data?.title || id}`} name={`Trigger ${id}`}
      crumbs={[{ text: "DAGs", href: "/dags" }, { text: id, href: pathOf("dags", id) }]}>
      <Show of={loaded}>{(dag) => <TriggerForm dag={dag} />}</Show>
    </Page>
  );
}

/** What is wrong, but of fields that nobody touched only once somebody tried to send it. */
export function problemsToShow(all: Record<string, string>, draft: Draft, wasTried: boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => wasTried || draft[name] !== undefined));
}

export function focusFirstWrong(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>("[aria-invalid='true'], .is-wrong input")?.focus());
}

function TriggerForm({ dag }: { dag: Dag }) {
  const schemas = dag.params as ParamSchemas;
  const { draft, change, settle } = useDraft(FIELDS, schemas);
  const [wasTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ problem: Problem; draft: Draft } | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const key = useRef(new ChangeKey());

  const read = readParams(draft, schemas);
  const idProblem = runIdProblem(draft["run_id"]);
  if (idProblem) read.problems["run_id"] = idProblem;
  const own = problemsToShow(read.problems, draft, wasTried);
  // What the server said counts until something is changed.
  const said = refused && refused.draft === draft ? serverProblems(refused.problem, schemas) : null;
  const problems = { ...own, ...said?.fields };
  const body = triggerBody(draft, read);
  const shownBody = withoutSecrets(body, schemas);
  const path = pathOf("dags", dag.dag_id, "trigger");
  const isAllowed = can("operator", dag.namespace);

  const send = async (event: Event) => {
    event.preventDefault();
    settle();
    setTried(true);
    if (Object.keys(read.problems).length > 0) return focusFirstWrong(form.current);
    setBusy(true);
    try {
      const run = await key.current.use(body, (text) =>
        post<{ number: string; dag_run_id: string }>(path, body, text));
      tell(`Run ${run.number} of ${dag.dag_id} is made.`);
      go(pathOf("runs", run.number));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setRefused({ problem: error, draft });
      setBusy(false);
      focusFirstWrong(form.current);
    }
  };
  const fields: FormProps = { draft, problems, change };
  return (
    <form class="start-form" ref={form} noValidate onSubmit={(event) => void send(event)}>
      {dag.doc && <div class="notice doc">{dag.doc}</div>}
      <Section title="Parameters">
        {Object.keys(schemas).length > 0
          ? <ParamFields schemas={schemas} {...fields} />
          : <p class="dim">This DAG declares no parameters.</p>}
      </Section>
      <Section title="The run">
        <div class="form-grid">
          <DateField {...fields} />
          <TextField name="run_id" label="Run id" placeholder="made up for you" {...fields} />
          <TextField name="note" label="Note" {...fields} />
          <TextField name="reason" label="Reason, for the audit" {...fields} />
          <ConfField {...fields} />
          <div class="field"><span class="field-label">Tasks</span><TaskChoice tasks={dag.tasks} {...fields} /></div>
        </div>
      </Section>
      {said?.rest && <ProblemBox problem={new Problem(refused!.problem.status, "The run was not made", said.rest)} />}
      <div class="actions form-end">
        <button type="submit" class="main" disabled={!isAllowed || isBusy}
          title={isAllowed ? undefined : "needs the role operator"}>{isBusy ? "…" : "Trigger"}</button>
        <a class="button" href={pathOf("dags", dag.dag_id)}>Cancel</a>
        {!isAllowed && <span class="dim">You may look, but to trigger needs the role operator.</span>}
        {wasTried && Object.keys(read.problems).length > 0 && (
          <span class="bad" role="alert">{Object.keys(read.problems).length} to mend above</span>
        )}
      </div>
      <SameByCommand words={triggerWords(dag.dag_id, shownBody)} path={path} body={shownBody} />
      <Preview dag={dag} body={body} isReady={Object.keys(read.problems).length === 0} />
    </form>
  );
}

function serverProblems(problem: Problem, schemas: ParamSchemas): { fields: Record<string, string>; rest: string } {
  const detail = problem.detail || problem.title;
  const { fields, rest } = problemsByField(detail, Object.keys(schemas));
  const named = Object.fromEntries(Object.entries(fields).map(([name, text]) => [PARAM + name, text]));
  if (rest.includes("id of a run") || rest.includes("there is a run '")) named["run_id"] = rest;
  if (rest.includes("'logical_date'")) named["date"] = rest;
  return { fields: named, rest };
}

function DateField({ draft, problems, change }: FormProps) {
  const given = draft["date"] ?? "";
  return (
    <Field label="Logical date" problem={problems["date"] ?? null}
      hint={given ? `${given}; on clocks of ${zone.value} above` : `now, unless given; on clocks of ${zone.value}`}>
      <input type="datetime-local" step={1} value={localFrom(given, zone.value)}
        onChange={(event) => change("date", instantFrom(event.currentTarget.value, zone.value) || undefined)} />
    </Field>
  );
}
