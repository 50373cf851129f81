import type { Params } from "../../core/route";
import { DagFrame } from "./DagFrame";

export function DurationsPage({ params }: { params: Params }) {
  return <DagFrame dag={params["dag"]!}>{(dag) => <p>{dag.dag_id}: not yet</p>}</DagFrame>;
}
