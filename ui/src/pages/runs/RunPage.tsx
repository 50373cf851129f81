import type { Params } from "../../core/route";
import { RunFrame } from "./RunFrame";
import { TasksTab } from "./TasksTab";

export function RunPage({ params }: { params: Params }) {
  return (
    <RunFrame number={params["run"] ?? ""}>{(run, reload) => <TasksTab run={run} onDone={reload} />}</RunFrame>
  );
}
