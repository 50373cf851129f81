// What a task would be with the values of the form: its templates, filled in by the server.
import { useState } from "preact/hooks";
import { useAnswer } from "../../core/answer";
import { Problem } from "../../core/http";
import { useFew } from "../../parts/few";
import { Section } from "../../parts/page";
import type { Dag } from "../dag/DagFrame";

interface Rendered {
  task_id: string;
  fields: { field: string; value: unknown }[];
}

const PAUSE_MS = 250;

export function Preview({ dag, body, isReady }: { dag: Dag; body: Record<string, unknown>; isReady: boolean }) {
  const [task, setTask] = useState("");
  const few = useFew(dag.tasks, {
    nameOf: (row) => row.task_id, label: "Find a task to preview", isKept: (row) => row.task_id === task,
  });
  const { params, conf, logical_date } = body;
  const asked = { dag: dag.dag_id, task, params, conf, logical_date };
  const answer = useAnswer<Rendered>("/render", task && isReady ? asked : null, { pause: PAUSE_MS, keep: true });
  return (
    <Section title="Preview of a task" actions={<>
      {few.search}
      <select aria-label="Task to preview" value={task} onChange={(event) => setTask(event.currentTarget.value)}>
        <option value="">choose a task…</option>
        {few.rows.map((row) => <option key={row.task_id} value={row.task_id}>{row.task_id}</option>)}
      </select></>}>
      {few.rest}
      {!task ? <p class="dim">Its commands and values with the parameters above filled in.</p>
        : !isReady ? <p class="dim">As soon as the parameters above are right.</p>
        : answer instanceof Problem ? <p class="bad">{answer.detail || answer.title}</p>
        : answer?.task_id === task && <Fields rendered={answer} />}
    </Section>
  );
}

function Fields({ rendered }: { rendered: Rendered }) {
  if (rendered.fields.length === 0) return <p class="dim">Nothing in this task is a template.</p>;
  return (
    <>
      {rendered.fields.map(({ field, value }) => (
        <div key={field} class="rendered">
          <span class="field-label">{field}</span>
          <pre>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>
        </div>
      ))}
    </>
  );
}
