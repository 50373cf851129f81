import type { Params } from "../../core/route";
import { GraphView } from "../../parts/graph/GraphView";
import { RunFrame } from "./RunFrame";

export function RunGraphPage({ params }: { params: Params }) {
  const number = params["run"] ?? "";
  return (
    <RunFrame number={number}>
      {(run) => <GraphView dag={run.dag_id} namespace={run.namespace ?? "default"} run={run.number} />}
    </RunFrame>
  );
}
