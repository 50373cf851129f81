// A run keeps the version of its DAG; whoever mended the file since wants the new one.
import { useLoad } from "../../core/load";
import { go, pathOf } from "../../core/route";
import { Action } from "../../parts/action";
import { mayOperate } from "./actions";
import { runHref } from "./links";
import type { Run } from "./types";

interface Versions {
  versions: { version_number: number; is_current: boolean }[];
}

const LOOK_MS = 2000;

/** Says that the DAG has another version than a run that went wrong, and offers a run of that one. */
export function Changed({ run }: { run: Run }) {
  const wentWrong = run.state === "failed" || run.state === "cancelled";
  const path = wentWrong && run.dag_version ? pathOf("dags", run.dag_id, "versions") : null;
  const current = useLoad<Versions>(path, { every: LOOK_MS }).data?.versions.find((one) => one.is_current);
  if (!current || !wentWrong || current.version_number === run.dag_version) return null;
  const { version_number: version } = current;
  const diff = `${pathOf("dags", run.dag_id, "versions")}?from=${run.dag_version}&to=${version}`;
  return (
    <div class="notice changed" role="status">
      <p>
        The file of this DAG was changed since: this run had version {run.dag_version}, the current one
        is <b>version {version}</b>. A retry uses the old one. <a href={diff}>What changed</a>
      </p>
      <Action label={`Run again with version ${version}`} isMain isAllowed={mayOperate(run)}
        question="Makes a new run for the same date with the same parameters, by the current version of the file."
        change={{
          path: pathOf("runs", run.number, "rerun"), body: { version: "current" },
          cli: ["runs", "rerun", run.number, "--version", "current"],
        }}
        done="A new run was made" onDone={(answer) => go(runHref((answer as Run).number))} />
    </div>
  );
}
