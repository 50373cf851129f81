// Queues: what waits, who serves them, their bounds.
import { useLoad } from "../../core/load";
import { durationText, numberText } from "../../core/time";
import { StateIcon, Tag } from "../../parts/basics";
import { Meter } from "../../parts/meter";
import { Page, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { DeleteQueue, PauseQueue, SetQueue } from "./queueActions";
import type { Queue } from "./types";

export function QueuesPage() {
  const loaded = useLoad<{ queues: Queue[] }>("/queues", { every: 2000 });
  return (
    <Page title="Queues" actions={<SetQueue onDone={loaded.reload} />}>
      <Show of={loaded}>{(data) => <QueueTable queues={data.queues} onDone={loaded.reload} />}</Show>
      <p class="dim hint">Those with the highest priority are served first. A queue that nobody serves,
        or whose oldest job waits long, is late.</p>
    </Page>
  );
}

function QueueTable({ queues, onDone }: { queues: Queue[]; onDone: () => void }) {
  return (
    <Table isFolding label="Queues" rows={queues} keyOf={(queue) => queue.name}
      columns={[
        { name: "Queue", cell: (queue) => (
          <><a id={queue.name} class="kept-name"
            href={`/jobs?queue=${encodeURIComponent(queue.name)}`}><b>{queue.name}</b></a><br />
            <QueueState queue={queue} /></>) },
        { name: "Served", cell: (queue) => <PauseQueue queue={queue} onDone={onDone} /> },
        { name: "Work", cell: (queue) => <Work queue={queue} /> },
        { name: "Oldest waits", isNumber: true, cell: (queue) => (
          queue.oldest_wait === null ? <span class="dim">–</span>
            : <span class={queue.late ? "bad nowrap" : "nowrap"}>{durationText(queue.oldest_wait)}</span>) },
        { name: "Hosts", isNumber: true, cell: (queue) => queue.hosts },
        { name: "Priority", isNumber: true, isExtra: true, cell: (queue) => queue.priority },
        { name: "Bounds", isExtra: true, cell: (queue) => <Bounds queue={queue} /> },
        { name: "", cell: (queue) => (
          <div class="actions row-actions"><SetQueue queue={queue} onDone={onDone} />
            <DeleteQueue queue={queue} onDone={onDone} /></div>) },
      ]} />
  );
}

const LOOK: Record<string, string> = { READY: "active", PAUSED: "paused", LATE: "late" };

function QueueState({ queue }: { queue: Queue }) {
  return (
    <span class="state" data-state={queue.state}>
      <StateIcon state={LOOK[queue.state] ?? "late"} /> {queue.state.toLowerCase().replaceAll("_", " ")}
      {queue.late && queue.state !== "LATE" && <Tag>late</Tag>}
    </span>
  );
}

function Work({ queue }: { queue: Queue }) {
  const { running, pending, delayed } = queue;
  return (
    <div class="work-cell">
      <Meter label="Jobs and tasks" total={running + pending + delayed} parts={[
        { value: running, word: "running", colour: "running" },
        { value: pending, word: "waiting", colour: "queued" },
        { value: delayed, word: "for later", colour: "none", isWaiting: true },
      ]} />
      <small>{numberText(running)} running, {numberText(pending)} waiting{delayed > 0
        && `, ${numberText(delayed)} later`}</small>
    </div>
  );
}

function Bounds({ queue }: { queue: Queue }) {
  const words = [
    queue.max_running > 0 && `${numberText(queue.max_running)} run at once`,
    queue.max_share > 0 && `${queue.max_share} % of a host`,
    queue.soft_pending > 0 && `warns at ${numberText(queue.soft_pending)}`,
    queue.hard_pending > 0 && `refuses at ${numberText(queue.hard_pending)}`,
  ].filter(Boolean);
  return words.length > 0 ? <small>{words.join(", ")}</small> : <span class="dim">none</span>;
}
