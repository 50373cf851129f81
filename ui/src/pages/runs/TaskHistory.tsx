// The same task in the last runs: a bar each, as high as it took long.
import { useAnswer } from "../../core/answer";
import { Problem } from "../../core/http";
import { useLoad } from "../../core/load";
import { lookOf } from "../../core/states";
import { durationText } from "../../core/time";
import { Section } from "../../parts/page";
import { taskHref } from "./links";
import type { Run, TaskInstance, TaskList } from "./types";

const RUNS = 30;
const HEIGHT = 64;

export function TaskHistory({ run, task }: { run: Run; task: TaskInstance; onDone?: () => void }) {
  const path = `/runs?brief=true&limit=${RUNS}&dag=${encodeURIComponent(run.dag_id)}`;
  const runs = useLoad<{ dag_runs: Run[] }>(path).data?.dag_runs;
  const ids = (runs ?? []).map((each) => each.dag_run_id);
  const wish = { dag_ids: [run.dag_id], task_ids: [task.task_id], dag_run_ids: ids, page_limit: 10 * RUNS };
  const answer = useAnswer<TaskList>("/api/v1/dags/~/dagRuns/~/taskInstances/list", ids.length > 0 ? wish : null,
    { keep: true, again: task.state ?? "" });
  const told = answer === null || answer instanceof Problem ? [] : answer.task_instances;
  const known = told.filter((each) => each.map_index === task.map_index);
  if (known.length < 2) return null;
  const sorted = known.sort((a, b) => Number(a.number) - Number(b.number)).slice(-RUNS);
  const longest = Math.max(...sorted.map((each) => each.duration ?? 0), 0.001);
  return (
    <Section title={`In the last ${sorted.length} runs`}>
      <div class="history">
        {sorted.map((each) => {
          const look = lookOf(each.state);
          const text = `#${each.number}: ${look.word}${each.duration ? `, ${durationText(each.duration)}` : ""}`;
          return (
            <a key={each.number} href={taskHref(each)} title={text} aria-label={text}
              class={`s-${look.colour} ${each.number === run.number ? "is-this" : ""}`}
              aria-current={each.number === run.number ? "true" : undefined}>
              <i style={{ height: `${Math.max(4, (HEIGHT * (each.duration ?? 0)) / longest)}px` }} />
            </a>
          );
        })}
        <span class="dim">{durationText(longest)} at most</span>
      </div>
    </Section>
  );
}
