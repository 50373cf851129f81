// A DAG as a graph, in the colours of its latest run or of another one.
import { useLoad } from "../../core/load";
import { zone } from "../../core/prefs";
import { place, type Params } from "../../core/route";
import { lookOf } from "../../core/states";
import type { LiveEvent } from "../../core/stream";
import { shortInstant } from "../../core/time";
import { ChoiceFilter } from "../../parts/form";
import { GraphView } from "../../parts/graph/GraphView";
import { DagFrame, type Dag, type DagRun } from "./DagFrame";

const NO_RUN = "none";
const isOfRuns = (event: LiveEvent): boolean => event.kind.startsWith("run_");

export function GraphPage({ params }: { params: Params }) {
  return <DagFrame dag={params["dag"]!} isBrief>{(dag) => <DagGraph dag={dag} />}</DagFrame>;
}

function DagGraph({ dag }: { dag: Dag }) {
  const given = place.value.query.get("run");
  const run = given === NO_RUN ? null : given ?? dag.last_run?.number ?? null;
  return (
    <GraphView dag={dag.dag_id} namespace={dag.namespace} run={run} tools={<RunChoice dag={dag} given={given} />} />
  );
}

function RunChoice({ dag, given }: { dag: Dag; given: string | null }) {
  const path = `/runs?limit=25&dag=${encodeURIComponent(dag.dag_id)}`;
  const runs = useLoad<{ dag_runs: DagRun[] }>(path, { live: isOfRuns }).data?.dag_runs ?? [];
  const wordOf = (run: DagRun) =>
    `run ${run.number}, ${lookOf(run.state).word}, ${shortInstant(run.logical_date ?? run.queued_at, zone.value)}`;
  const isOlder = given !== null && given !== NO_RUN && !runs.some((run) => run.number === given);
  return (
    <span class="run-choice">
      <ChoiceFilter name="run" label="States of this run" choices={[
        { value: "", text: dag.last_run ? `Latest: ${wordOf(dag.last_run)}` : "No run yet" },
        { value: NO_RUN, text: "No states: the current version" },
        ...(isOlder ? [{ value: given, text: `run ${given}` }] : []),
        ...runs.map((run) => ({ value: run.number, text: wordOf(run) })),
      ]} />
    </span>
  );
}
