// Logs of tasks and of jobs.
import { useLoad } from "../../core/load";
import { apiUrl, type Query } from "../../core/http";
import { hrefWith, pathOf, place, setQuery, type Params } from "../../core/route";
import { useScope } from "../../core/stream";
import { State } from "../../parts/basics";
import { Page } from "../../parts/page";
import { LogView } from "./LogView";

interface TaskHead {
  task_instances: { dag_id: string; state: string | null; try_number: number }[];
}

const ofThisRun = (): boolean => true;

export function TaskLogPage({ params }: { params: Params }) {
  const run = params["run"] ?? "";
  const task = params["task"] ?? "";
  const given = place.value.query;
  const map = given.get("map");
  const attempt = given.get("try");
  useScope({ run });
  const which = map === null ? "folded=true" : `folded=false&limit=1&offset=${Number(map) || 0}`;
  const head = useLoad<TaskHead>(`${pathOf("runs", run, "tasks")}?task=${encodeURIComponent(task)}&${which}`,
    { live: ofThisRun, every: 5000 })
    .data?.task_instances[0];
  const name = map === null ? task : `${task} [${map}]`;
  const base = pathOf("runs", run, "tasks", task);
  return (
    <Page name={`Log of ${name}`} title={<span class="run-title"><span
      class="mono">{name}</span> {head && <State state={head.state} />}</span>}
      crumbs={[{ text: "DAGs", href: "/dags" },
        ...(head ? [{ text: head.dag_id, href: pathOf("dags", head.dag_id) }] : []),
        { text: `#${run}`, href: pathOf("runs", run) },
        { text: name, href: base + (map === null ? "" : `?map=${map}`) }]}>
      <LogView base={base} query={queryOf(map, attempt)} state={head && `${head.state} ${head.try_number}`}
        tools={<Tries newest={head?.try_number ?? 0} chosen={attempt} />}
        downloadHref={apiUrl(base + "/log", { download: true, map_index: map, try: attempt })} />
    </Page>
  );
}

const queryOf = (map: string | null, attempt: string | null): Query => ({ map_index: map, try_number: attempt });

export function JobLogPage({ params }: { params: Params }) {
  const job = params["job"] ?? "";
  const attempt = place.value.query.get("try");
  const head = useLoad<{ handler: string; status: string; attempts: number }>(pathOf("jobs", job),
    { every: 3000 }).data;
  const base = pathOf("jobs", job);
  return (
    <Page name={`Log of job ${job}`} crumbs={[{ text: "Jobs", href: "/jobs" }, { text: job, href: base }]}
      title={<span class="run-title"><span class="mono">{head?.handler ?? job}</span> {head && <State
        state={head.status} />}</span>}>
      <LogView base={base} query={queryOf(null, attempt)} state={head && `${head.status} ${head.attempts}`}
        tools={<Tries newest={head?.attempts ?? 0} chosen={attempt} />}
        downloadHref={apiUrl(base + "/log", { download: true, try: attempt })} />
    </Page>
  );
}

/** Few as links, many to choose from. */
function Tries({ newest, chosen }: { newest: number; chosen: string | null }) {
  if (newest < 2) return null;
  const numbers = Array.from({ length: newest }, (_, i) => i + 1);
  const shown = chosen ? Number(chosen) : newest;
  if (newest > 6)
    return (
      <select aria-label="Try" value={String(shown)} onChange={(event) =>
        setQuery({ try: event.currentTarget.value, line: null })}>
        {numbers.map((number) => <option key={number} value={String(number)}>try {number}</option>)}
      </select>
    );
  return (
    <nav class="log-tries" aria-label="Tries">
      {numbers.map((number) => (
        <a key={number} class={`tag ${number === shown ? "is-on" : ""}`}
          aria-current={number === shown ? "page" : undefined}
          href={hrefWith({ try: number, line: null })}>try {number}</a>
      ))}
    </nav>
  );
}
