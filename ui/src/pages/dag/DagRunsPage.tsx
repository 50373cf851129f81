// The runs of one DAG.
import type { Params } from "../../core/route";
import { RunList } from "../runs/RunList";
import { DagFrame } from "./DagFrame";

export function DagRunsPage({ params }: { params: Params }) {
  return <DagFrame dag={params["dag"]!}>{(dag) => <RunList dag={dag.dag_id} />}</DagFrame>;
}
