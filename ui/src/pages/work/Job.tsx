// One job: what it is, what became of it, its last lines.
import { useLoad } from "../../core/load";
import { pathOf, type Params } from "../../core/route";
import { durationText } from "../../core/time";
import { Ago, Copy, Duration, Empty, Instant, State, Tag } from "../../parts/basics";
import { Json } from "../../parts/json";
import { Facts, Page, Section, Show } from "../../parts/page";
import { JobActions } from "./jobActions";
import type { Job } from "./types";

const LINES = 30;

export function JobPage({ params }: { params: Params }) {
  const id = params["job"] ?? "";
  const loaded = useLoad<Job>(pathOf("jobs", id), { every: 2000 });
  const job = loaded.data;
  return (
    <Page title={job ? <span class="handler">{job.handler}</span> : `Job ${id}`} name={`Job ${id}`}
      crumbs={[{ text: "Jobs", href: "/jobs" },
        ...(job ? [{ text: job.queue, href: `/jobs?queue=${encodeURIComponent(job.queue)}` }] : [])]}
      actions={job && <JobActions job={job} onDone={loaded.reload} />}>
      <Show of={loaded}>{(shown) => <Body job={shown} />}</Show>
    </Page>
  );
}

function Body({ job }: { job: Job }) {
  return (
    <>
      {job.dead && (
        <div class="problem"><b>This job is among the dead letters.</b>
          <p>It failed for good. <a href={`/dead?queue=${encodeURIComponent(job.queue)}`}>Look at the dead letters of
            its queue</a>, or run it again.</p></div>
      )}
      {job.error && <Section title="Error"><pre class="bad">{job.error}</pre></Section>}
      <LastLines job={job} />
      <Section title="Facts"><JobFacts job={job} /></Section>
      <div class="halves">
        <Section title="Payload">{job.payload === null ? <Empty>No payload.</Empty>
          : <Json value={job.payload} label="Payload" />}</Section>
        <Section title="Result">{job.result === null ? <Empty>No result.</Empty>
          : <Json value={job.result} label="Result" />}</Section>
      </div>
    </>
  );
}

function JobFacts({ job }: { job: Job }) {
  return (
    <Facts items={[
      ["Status",
        <><State state={job.status} /> {job.cancel_asked && job.status === "claimed"
          && <Tag>is being stopped</Tag>}</>],
      ["Number", <span><span class="mono">{job.id}</span> <Copy text={job.id} /></span>],
      ["Queue", <a href={`/queues#${encodeURIComponent(job.queue)}`}>{job.queue}</a>],
      ["Tries", `${job.attempts} of ${job.retries + 1}`],
      ["Created", <><Instant at={job.created_at} /> {job.actor && `by ${job.actor}`}</>],
      ["Not before", job.status === "delayed" && <><Instant at={job.run_after} /> (<Ago at={job.run_after} />)</>],
      ["Started", job.start_date && <Instant at={job.start_date} />],
      ["Ended", job.end_date && <Instant at={job.end_date} />],
      ["Took", job.start_date && (job.end_date ? <Duration seconds={job.duration} />
        : <Duration since={job.start_date} />)],
      ["Host", job.claimed_by && <a href="/hosts">{job.claimed_by}</a>],
      ["Exit code", job.exit_code ?? null],
      ["Reason", job.reason],
      ["Priority", job.priority],
      ["Timeout", job.timeout !== null && durationText(job.timeout)],
      ["Between tries", job.retry_delay !== null && durationText(job.retry_delay)],
      ["Dedupe key", job.dedupe],
      ["Namespace", job.namespace],
      ["If its host loses the store", job.on_lost_lease],
    ].filter(([, value]) => value !== false) as [string, preact.ComponentChildren][]} />
  );
}

interface LogPage {
  entries: { text?: string }[];
}

function LastLines({ job }: { job: Job }) {
  const path = pathOf("jobs", job.id);
  const isLive = job.status === "claimed";
  const log = useLoad<LogPage>(job.attempts > 0 ? `${path}/log?tail=${LINES}` : null, { every: isLive ? 2000 : 0 });
  const text = (log.data?.entries ?? []).map((entry) => entry.text ?? "").join("");
  return (
    <Section title="Last lines"
      actions={job.attempts > 0 && <a class="button small" href={`${path}/log`}>Log</a>}>
      {job.attempts === 0 ? <Empty>It has not started yet.</Empty>
        : text === "" ? <Empty>{log.isLoading ? "…" : "Nothing was printed."}</Empty>
        : <pre class="tail" aria-label="Last lines of the log" tabIndex={0}>{plainText(text)}</pre>}
    </Section>
  );
}

/** Without the codes of colours; the log's own page draws those. */
const plainText = (text: string): string => text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, "");
