// The backfills of one DAG.
import { pathOf, type Params } from "../../core/route";
import { can } from "../../core/session";
import { BackfillList } from "../start/BackfillsPage";
import { DagFrame } from "./DagFrame";

export function DagBackfillsPage({ params }: { params: Params }) {
  return (
    <DagFrame dag={params["dag"]!}>{(dag) => (
      <>
        {can("operator", dag.namespace) && (
          <p><a class="button" href={pathOf("dags", dag.dag_id, "backfill")}>New backfill</a></p>
        )}
        <BackfillList dag={dag.dag_id} />
      </>
    )}</DagFrame>
  );
}
