// What goes on, what comes next, and how full everything is.
import { pathOf } from "../../core/route";
import { numberText } from "../../core/time";
import { Ago, Duration, Empty, Instant, StateIcon } from "../../parts/basics";
import { Section } from "../../parts/page";
import { lookOf } from "../../core/states";
import { shareOf, type Home, type HomeRun, type Host, type Pool, type Queue } from "./home";

interface BarProps {
  label: string;
  part: number;
  whole: number;
  colour?: string;
  title?: string;
}

/** How much of something is used; the numbers stand beside it. */
export function Bar({ label, part, whole, colour = "running", title }: BarProps) {
  return (
    <span class={`use-bar s-${colour}`} role="meter" aria-label={label} title={title}
      aria-valuemin={0} aria-valuemax={Math.max(whole, part)} aria-valuenow={part}>
      <i style={{ width: `${shareOf(part, whole)}%` }} />
    </span>
  );
}

function RunLink({ run }: { run: HomeRun }) {
  return (
    <>
      <a href={pathOf("runs", run.number)} title={run.dag_run_id}>{run.dag_id}</a>{" "}
      <span class="dim nowrap">run {run.number}</span>
    </>
  );
}

function ActiveRun({ run }: { run: HomeRun }) {
  const done = Math.max(0, run.tasks_total - run.tasks_left);
  return (
    <li class="line-item" data-run={run.number}>
      <span class="line-name">
        <StateIcon state={run.state} /><span class="sr">{lookOf(run.state).word}</span>
        <RunLink run={run} />
      </span>
      <Bar label={`Tasks of run ${run.number} that are done`} part={done} whole={run.tasks_total} />
      <span class="line-number nowrap">{numberText(done)}/{numberText(run.tasks_total)}</span>
      <span class="line-number dim nowrap">
        {run.start_date ? <Duration since={run.start_date} /> : <>waits <Duration since={run.queued_at} /></>}
      </span>
    </li>
  );
}

export function Active({ home }: { home: Home }) {
  const going = (home.runs["running"] ?? 0) + (home.runs["queued"] ?? 0);
  return (
    <Section title={<>Active runs {going > 0 && <span class="count">{numberText(going)}</span>}</>}
      actions={going > home.active.length && <a href="/runs?state=running">All of them</a>}>
      {home.active.length === 0 ? <Empty>Nothing runs at the moment.</Empty>
        : <ul class="plain-list">{home.active.map((run) => <ActiveRun key={run.number} run={run} />)}</ul>}
    </Section>
  );
}

export function Late({ home }: { home: Home }) {
  if (home.late.length === 0) return null;
  return (
    <Section title={<>Late <span class="count is-bad">{home.late.length}</span></>}
      actions={<a href="/sla">All deadlines</a>}>
      <ul class="plain-list">{home.late.map((run) => (
        <li key={run.number} class="line-item">
          <span class="line-name"><StateIcon state="late" /><RunLink run={run} /></span>
          <span class="line-number nowrap">due <Ago at={run.expected} /></span>
        </li>
      ))}</ul>
    </Section>
  );
}

export function Next({ next }: { next: Home["next"] }) {
  return (
    <Section title="Next runs" actions={<a href="/dags?sort=next">All</a>}>
      {next.length === 0 ? <Empty>Nothing is scheduled.</Empty>
        : <ul class="plain-list">{next.map((entry) => (
          <li key={entry.dag_id} class="line-item">
            <span class="line-name"><a href={pathOf("dags", entry.dag_id)}>{entry.dag_id}</a></span>
            <span class="line-number dim nowrap"><Instant at={entry.run_after} /></span>
            <span class="line-number nowrap next-in"><Ago at={entry.run_after} /></span>
          </li>
        ))}</ul>}
    </Section>
  );
}

const fullColour = (part: number, whole: number): string => (part >= whole && whole > 0 ? "retry" : "running");

function PoolLine({ pool }: { pool: Pool }) {
  return (
    <li class="line-item">
      <span class="line-name" title={pool.name}>{pool.name}</span>
      <Bar label={`Used slots of pool ${pool.name}`} part={pool.occupied_slots} whole={pool.slots}
        colour={fullColour(pool.occupied_slots, pool.slots)} />
      <span class="line-number nowrap">
        {numberText(pool.occupied_slots)}/{numberText(pool.slots)}
        {pool.queued_slots > 0 && <span class="warn"> +{numberText(pool.queued_slots)} wait</span>}
      </span>
    </li>
  );
}

function HostLine({ host }: { host: Host }) {
  const { word } = lookOf(host.status);
  return (
    <li class="line-item">
      <span class="line-name" title={host.name}>
        <StateIcon state={host.status} /><span class="sr">{word}</span> {host.name}
      </span>
      <Bar label={`Used slots of host ${host.name}`} part={host.slots_used} whole={host.slots}
        colour={fullColour(host.slots_used, host.slots)} />
      <span class="line-number nowrap">{host.status === "active" ? `${host.slots_used}/${host.slots}` : word}</span>
    </li>
  );
}

function QueueLine({ queue, most }: { queue: Queue; most: number }) {
  const isBad = queue.state === "NOT_READY" && queue.pending > 0;
  return (
    <li class="line-item">
      <span class="line-name" title={queue.name}>{queue.name}</span>
      <Bar label={`Waiting in queue ${queue.name}`} colour={isBad || queue.late ? "failed" : "queued"}
        part={queue.pending} whole={queue.hard_pending || queue.soft_pending || most} />
      <span class="line-number nowrap">{numberText(queue.pending)} wait{isBad && <b class="bad"> unserved</b>}</span>
    </li>
  );
}

const MOST = 8;

export function Fullness({ home }: { home: Home }) {
  const longest = Math.max(1, ...home.queues.map((queue) => queue.pending));
  const queues = [...home.queues].sort((a, b) => b.pending - a.pending);
  const { hosts } = home;
  return (
    <>
      <Section title="Pools" actions={<a href="/pools">All</a>}>
        <ul class="plain-list">{home.pools.slice(0, MOST).map((pool) => <PoolLine key={pool.name} pool={pool} />)}</ul>
      </Section>
      <Section title="Hosts" actions={<a href="/hosts">All</a>}>
        {hosts.length === 0 ? <Empty>No host is up.</Empty>
          : <ul class="plain-list">{hosts.slice(0, MOST).map((host) => <HostLine key={host.id} host={host} />)}</ul>}
      </Section>
      <Section title="Queues" actions={<a href="/queues">All</a>}>
        <ul class="plain-list">
          {queues.slice(0, MOST).map((queue) => <QueueLine key={queue.name} queue={queue} most={longest} />)}
        </ul>
      </Section>
    </>
  );
}
