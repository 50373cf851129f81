import { pathOf, type Params } from "../../core/route";
import { Empty } from "../../parts/basics";
import { RunFrame } from "./RunFrame";

export function RunGraphPage({ params }: { params: Params }) {
  const number = params["run"] ?? "";
  return (
    <RunFrame number={number}>
      {(run) => (
        <Empty><a href={`${pathOf("dags", run.dag_id, "graph")}?run=${encodeURIComponent(run.number)}`}>The graph with the states of this run</a></Empty>
      )}
    </RunFrame>
  );
}
