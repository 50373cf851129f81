// What a backfill would do, as the server says; asked again when the form changes.
import { useAnswer } from "../../core/answer";
import { Problem } from "../../core/http";
import { durationText, numberText } from "../../core/time";
import { State } from "../../parts/basics";
import { Facts, ProblemBox, Section } from "../../parts/page";
import type { Dag } from "../dag/DagFrame";
import { dateText, rangeText, type Plan, type Segment } from "./backfill";
import { Legend, PartsBar } from "./Progress";

const PAUSE_MS = 250;
const SHOWN = 60;

export function PlanBox({ dag, body, isReady }: { dag: Dag; body: Record<string, unknown>; isReady: boolean }) {
  const hasParams = Object.keys(dag.params).length > 0;
  const asked = { ...body, reason: undefined, note: undefined, dates: SHOWN };
  const answer = useAnswer<Plan>("/backfill-plan", isReady ? asked : null, { pause: PAUSE_MS, keep: true });
  return (
    <Section title="What it would do">
      <div aria-live="polite">
        {!isReady ? <p class="dim">Shown once the dates{hasParams && " and parameters"} are right.</p>
          : answer instanceof Problem
            ? <ProblemBox problem={new Problem(answer.status, "It would be refused", answer.detail)} />
          : answer ? <PlanView plan={answer} /> : <p class="dim">Planning…</p>}
      </div>
    </Section>
  );
}

function segmentsOfPlan(plan: Plan): Segment[] {
  return [
    { name: "new", state: "running", count: plan.to_create },
    { name: "again", state: "up_for_retry", count: plan.to_redo },
    { name: "left as they are", state: "skipped", count: plan.to_keep },
  ].filter((segment) => segment.count > 0);
}

function PlanView({ plan }: { plan: Plan }) {
  const runs = plan.to_create + plan.to_redo;
  const segments = segmentsOfPlan(plan);
  return (
    <div class="plan">
      <p>
        <b>{runs === 0 ? "Nothing to do" : `${numberText(runs)} ${runs === 1 ? "run" : "runs"}`}</b>
        {plan.size > 0 && <> on {numberText(plan.size)} dates, {rangeText(plan.from, plan.to)}</>}
        {runs > 0 && (plan.estimate === null ? "; how long is not known yet"
          : <>; about <b>{durationText(plan.estimate)}</b></>)}
      </p>
      <PartsBar label="Plan" segments={segments} />
      <Legend segments={segments} />
      {plan.needs_approval && (
        <div class="notice">It is larger than what starts by itself: an admin must approve it first.</div>
      )}
      {plan.left_out && <div class="notice">Left out: {plan.left_out}</div>}
      <Facts items={[
        ["Runs at once", plan.max_active],
        ["Tasks of a run", plan.tasks_total],
        ["A run usually takes", plan.usual_duration !== null ? durationText(plan.usual_duration) : null],
        ["Runs that are there", Object.keys(plan.existing).length > 0
          ? <>{Object.entries(plan.existing).map(([state, count]) => (
              <State key={state} state={state} count={count} />
            ))}</> : null],
      ]} />
      {plan.dates.length > 0 && (
        <details>
          <summary>{plan.size > plan.dates.length ? `The first ${plan.dates.length} dates` : "The dates"}</summary>
          <ul class="plan-dates">
            {plan.dates.map((date) => (
              <li key={date.logical_date}>
                <span class="mono">{dateText(date.logical_date)}</span>{" "}
                <span class={date.action === "keep" ? "dim" : ""}>{ACTION_WORDS[date.action] ?? date.action}</span>
                {date.state && <> <State state={date.state} /></>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const ACTION_WORDS: Record<string, string> = { create: "a new run", redo: "again", keep: "left" };
