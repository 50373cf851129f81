// Jobs of the queues, newest first.
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { lookOf } from "../../core/states";
import { Ago, Duration, State } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { counted, OlderPager, queryOf } from "../../parts/paging";
import { Page, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { EnqueueJob, PurgeJobs } from "./jobActions";
import { JOB_STATES, type Job, type Queue } from "./types";

const LIMIT = 50;

interface Jobs {
  jobs: Job[];
  total_entries: number;
  total_is_more?: boolean;
}

export function QueueFilter() {
  const queues = useLoad<{ queues: Queue[] }>("/queues").data?.queues ?? [];
  const chosen = place.value.query.get("queue");
  const names = new Set([...queues.map((queue) => queue.name), ...(chosen ? [chosen] : [])]);
  return <ChoiceFilter name="queue" label="Queue"
    choices={[{ value: "", text: "All queues" }, ...[...names].sort().map((name) => ({ value: name, text: name }))]} />;
}

export function JobsPage() {
  const loaded = useLoad<Jobs>(`/jobs${queryOf(["queue", "status", "before"], { limit: LIMIT, with_total: true })}`,
    { every: 2000, keep: true });
  return (
    <Page title="Jobs"
      actions={<><PurgeJobs onDone={loaded.reload} /><EnqueueJob queue={place.value.query.get("queue")} /></>}>
      <div class="filters">
        <QueueFilter />
        <ChoiceFilter name="status" label="Status" choices={[{ value: "", text: "Any status" },
          ...JOB_STATES.map((state) => ({ value: state, text: lookOf(state).word }))]} />
        {loaded.data && <span class="dim">{counted(loaded.data.total_entries, "job", loaded.data.total_is_more)}</span>}
      </div>
      <Show of={loaded}>{(data) => (
        <>
          <JobTable jobs={data.jobs} />
          <OlderPager ids={data.jobs.map((job) => job.id)} limit={LIMIT} />
        </>
      )}</Show>
    </Page>
  );
}

function JobTable({ jobs }: { jobs: Job[] }) {
  return (
    <Table isFolding label="Jobs" rows={jobs} keyOf={(job) => job.id} hrefOf={(job) => pathOf("jobs", job.id)}
      empty={<>No jobs here. <code>eider enqueue QUEUE HANDLER</code> makes one.</>}
      columns={[
        { name: "Job", cell: (job) => <a href={pathOf("jobs", job.id)} class="handler">{job.handler}</a> },
        { name: "Status", cell: (job) => <State state={job.status} /> },
        { name: "Queue", cell: (job) => <a href={"/jobs?queue=" + encodeURIComponent(job.queue)}>{job.queue}</a> },
        { name: "Tries", isNumber: true, isExtra: true, cell: (job) => job.attempts },
        { name: "Created", isExtra: true, cell: (job) => <Ago at={job.created_at} /> },
        { name: "Took", isNumber: true, cell: (job) => <Took job={job} /> },
        { name: "Host", isExtra: true, cell: (job) => job.claimed_by ?? <span class="dim">–</span> },
        { name: "Error", isExtra: true, cell: (job) => <span class="said bad">{job.error ?? ""}</span> },
      ]} />
  );
}

function Took({ job }: { job: Job }) {
  if (job.status === "delayed") return <Ago at={job.run_after} />;
  return job.status === "claimed" ? <Duration since={job.start_date} /> : <Duration seconds={job.duration} />;
}
