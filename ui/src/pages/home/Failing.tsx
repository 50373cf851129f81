// DAGs whose last run failed: where, what it said, and how to try again.
import { pathOf } from "../../core/route";
import { can } from "../../core/session";
import { Action } from "../../parts/action";
import { Ago, StateIcon } from "../../parts/basics";
import { Section } from "../../parts/page";
import { taskPath, whyText, type FailingRun } from "./home";

function Retry({ run }: { run: FailingRun }) {
  return (
    <Action label="Retry" isSmall isMain
      question={`Run ${run.number} of ${run.dag_id} goes on with the tasks that failed.`}
      change={{ path: pathOf("runs", run.number, "retry"), cli: ["retry", run.number] }}
      done={`Run ${run.number} of ${run.dag_id} is tried again`} isAllowed={can("operator", run.namespace)} />
  );
}

function FailingItem({ run }: { run: FailingRun }) {
  return (
    <li class="failing" data-dag={run.dag_id}>
      <div class="failing-head">
        <StateIcon state="failed" />
        <a class="failing-dag" href={pathOf("dags", run.dag_id)}>{run.dag_id}</a>
        {run.task_id && (
          <><span class="dim">at</span><a href={taskPath(run)}>{run.task_id}{run.label && ` [${run.label}]`}</a></>
        )}
        <span class="dim nowrap"><Ago at={run.end_date} /></span>
      </div>
      <pre class="failing-why" tabIndex={0} role="group" aria-label={`What ${run.dag_id} failed with`}>
        {whyText(run)}
      </pre>
      <div class="actions">
        <Retry run={run} />
        <a class="button small" href={pathOf("runs", run.number)}>Run {run.number}</a>
        {run.task_id && <a class="button small" href={taskPath(run, "log")}>Log</a>}
      </div>
    </li>
  );
}

export function Failing({ runs }: { runs: FailingRun[] }) {
  if (runs.length === 0) return null;
  return (
    <Section title={<>Failing now <span class="count is-bad">{runs.length}</span></>} id="failing"
      actions={<a href="/dags?state=failed">All DAGs that fail</a>}>
      <ul class="plain-list">{runs.map((run) => <FailingItem key={run.number} run={run} />)}</ul>
    </Section>
  );
}
