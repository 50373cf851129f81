// What a task was told to do, its templates filled in. Secrets are masked by the server.
import { useAnswer } from "../../core/answer";
import { Problem } from "../../core/http";
import { Copy } from "../../parts/basics";
import { ProblemBox, Section } from "../../parts/page";
import type { Run, TaskInstance } from "./types";

interface RenderedField {
  field: string;
  value: unknown;
}

export function Rendered({ run, task }: { run: Run; task: TaskInstance }) {
  const answer = useAnswer<{ fields: RenderedField[] }>("/render", {
    dag: run.dag_id, task: task.task_id, params: run.params ?? {},
    ...(run.conf && Object.keys(run.conf).length > 0 && { conf: run.conf }),
    ...(run.logical_date && { logical_date: run.logical_date }),
  });
  if (answer === null) return null;
  return (
    <Section title="Rendered">
      <p class="dim">Templates filled in as they are now, with the parameters and the date of this run.</p>
      {answer instanceof Problem ? <ProblemBox problem={answer} />
        : answer.fields.map(({ field, value }) => {
          const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
          return (
            <div key={field} class="rendered">
              <span class="dim mono">{field}</span><pre class="code">{text}</pre><Copy text={text}
                label={`Copy ${field}`} />
            </div>
          );
        })}
    </Section>
  );
}
