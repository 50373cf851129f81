// What failed for good or was put aside.
import { durationProblem } from "../../core/checks";
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { can, canSomewhere } from "../../core/session";
import { Action } from "../../parts/action";
import { Ago, Tag } from "../../parts/basics";
import { given, Input, useForm } from "../../parts/inputs";
import { Json } from "../../parts/json";
import { counted, limitOf, queryOf, ShowMore } from "../../parts/paging";
import { Page, Show } from "../../parts/page";
import { DryRun } from "../../parts/dryRun";
import { logHref, taskHref } from "../runs/links";
import { optionsOf } from "./jobActions";
import { QueueFilter } from "./Jobs";
import type { Letter } from "./types";

interface Letters {
  letters: Letter[];
  total_entries: number;
  total_is_more?: boolean;
}

export function DeadPage() {
  const limit = limitOf(50);
  const loaded = useLoad<Letters>(`/dlq${queryOf(["queue"], { limit, with_total: true })}`,
    { every: 5000, keep: true });
  return (
    <Page title="Dead letters" actions={<><Purge onDone={loaded.reload} /><RequeueAll onDone={loaded.reload} /></>}>
      <div class="filters">
        <QueueFilter />
        {loaded.data
          && <span class="dim">{counted(loaded.data.total_entries, "dead letter", loaded.data.total_is_more)}</span>}
      </div>
      <Show of={loaded}>{(data) => (
        <>
          {data.letters.length === 0
            && <p class="empty">No dead letters. What fails after its last retry comes here.</p>}
          {data.letters.map((letter) => <LetterCard key={letter.id} letter={letter} onDone={loaded.reload} />)}
          <ShowMore shown={data.letters.length} limit={limit} />
        </>
      )}</Show>
    </Page>
  );
}

/** Where the job is, or the instance of a task, and its log. */
function placesOf(letter: Letter): { href: string; log: string } | null {
  if (letter.kind === "job") return { href: pathOf("jobs", letter.id), log: pathOf("jobs", letter.id, "log") };
  if (!letter.run || !letter.task_id) return null;
  const task = { number: letter.run, task_id: letter.task_id, map_index: letter.map_index ?? -1 };
  return { href: taskHref(task), log: logHref(task) };
}

function LetterCard({ letter, onDone }: { letter: Letter; onDone: () => void }) {
  const places = placesOf(letter);
  const name = letter.name + ((letter.map_index ?? -1) >= 0 ? ` [${letter.map_index}]` : "");
  return (
    <section class="card letter" aria-label={name}>
      <header>
        <h2 class="handler">{places ? <a href={places.href}>{name}</a> : name}</h2>
        <div class="actions">
          {places && <a class="button small" href={places.log}>Log</a>}
          <Action label="Run it again" face="Requeue" isSmall isAllowed={canSomewhere("operator")}
            done="It is in its queue again."
            question="Its tries begin anew, with the same payload."
            change={{
              path: `/dlq/${encodeURIComponent(letter.id)}/requeue`, takesKey: false,
              cli: ["dlq", "requeue", letter.id],
            }} onDone={onDone} />
        </div>
      </header>
      <p class="dim">
        <Tag>{letter.reason}</Tag> in <a href={`/dead?queue=${encodeURIComponent(letter.queue)}`}>{letter.queue}</a>,
        {" "}<Ago at={letter.died_at} />, after {letter.attempts} {letter.attempts === 1 ? "try" : "tries"}
      </p>
      {letter.message && <pre class="bad">{letter.message}</pre>}
      {letter.payload !== null && <details><summary>Payload</summary><Json value={letter.payload}
        label="Payload" /></details>}
    </section>
  );
}

/** Of the queue that the list is about, or all. */
function ofQueue(): Record<string, string> {
  const queue = place.value.query.get("queue");
  return queue ? { queue } : {};
}

function RequeueAll({ onDone }: { onDone: () => void }) {
  const filters = ofQueue();
  const body = { all: true, ...filters };
  return (
    <Action label="Requeue all" isMain isAllowed={can("operator")} done="They are in their queues again."
      question={`All dead letters${filters["queue"] ? ` of the queue ${filters["queue"]}` : ""} run again.`}
      change={{ path: "/requeue", body, takesKey: false, cli: ["dlq", "requeue", "--all", ...optionsOf(filters)] }}
      onDone={onDone}>
      <DryRun method="POST" path="/requeue" body={body}
        tell={(answer) => `${String(answer["total_entries"])} would run again.`} />
    </Action>
  );
}

function Purge({ onDone }: { onDone: () => void }) {
  const filters = ofQueue();
  const form = useForm({ older: "30d" });
  const body = { ...filters, ...(given(form.values) as Record<string, string>) };
  return (
    <Action label="Forget dead letters" face="Forget…" isDanger isAllowed={can("editor")} needs="editor"
      onOpen={form.reset}
      question={<>They run no more{filters["queue"] && `: those of the queue ${filters["queue"]}`}.
        {" "}The jobs themselves stay.</>}
      change={{ method: "DELETE", path: "/dlq", body, takesKey: false,
        cli: ["dlq", "purge", ...optionsOf(body), "--yes"] }}
      done="They are forgotten." onDone={onDone}>
      <Input form={form} name="older" label="Older than" check={durationProblem} hint="Empty: all of them." />
      <DryRun method="DELETE" path="/dlq" body={body}
        tell={(answer) => `${String(answer["purged"])} would be forgotten.`} />
    </Action>
  );
}
