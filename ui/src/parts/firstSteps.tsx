// What to do where there is no DAG yet: the folder, and a file to put there.
import { useLoad } from "../core/load";
import { Copy } from "./basics";

const EXAMPLE = `schedule: "0 6 * * *"
tasks:
  fetch: { run: echo fetched }
  store: { needs: [fetch], run: echo stored }
`;

export function FirstSteps() {
  const folder = useLoad<{ value: string | null }>("/config/dags").data?.value;
  return (
    <section class="card">
      <h2>There are no DAGs yet</h2>
      <p>
        A DAG is a YAML file in the folder of DAG files{folder && <>, <code>{folder}</code></>}. Save this one there
        as <code>first.yaml</code>: it shows up here within a second.
      </p>
      <div class="command"><code tabIndex={0}>{EXAMPLE}</code><Copy text={EXAMPLE} /></div>
    </section>
  );
}
