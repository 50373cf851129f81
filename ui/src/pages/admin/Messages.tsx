// Messages to people and programs: sent, waiting, given up.
import { useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { can, canSomewhere } from "../../core/session";
import { Action } from "../../parts/action";
import { Ago, Instant, StateIcon } from "../../parts/basics";
import { Dialog } from "../../parts/dialog";
import { ChoiceFilter } from "../../parts/form";
import { Choose, Input, useForm } from "../../parts/inputs";
import { counted, limitOf, NameFilter, queryOf, ShowMore } from "../../parts/paging";
import { Page, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { runHref, taskHref } from "../runs/links";
import type { Notice } from "./types";

const STATES = ["pending", "sending", "sent", "failed", "dropped", "folded"];
const LOOK: Record<string, string> = {
  sent: "success", pending: "queued", sending: "running", failed: "failed", dropped: "cancelled", folded: "skipped",
};
const HAPPENED: Record<string, string> = { sla_miss: "late" };

interface Notices {
  notices: Notice[];
  total_entries: number;
  total_is_more?: boolean;
}

export function MessagesPage() {
  const limit = limitOf(50);
  const loaded = useLoad<Notices>(`/notifications${queryOf(["dag", "state"], { limit, with_total: true })}`,
    { every: 5000, keep: true });
  return (
    <Page title="Messages" actions={<TestMessage />}>
      <div class="filters">
        <NameFilter name="dag" label="Only of the DAG" />
        <ChoiceFilter name="state" label="State" choices={[{ value: "", text: "Any state" },
          ...STATES.map((state) => ({ value: state, text: state }))]} />
        {loaded.data
          && <span class="dim">{counted(loaded.data.total_entries, "message", loaded.data.total_is_more)}</span>}
      </div>
      <Show of={loaded}>{(data) => (
        <>
          <NoticeTable notices={data.notices} onDone={loaded.reload} />
          <ShowMore shown={data.notices.length} limit={limit} />
        </>
      )}</Show>
    </Page>
  );
}

export function NoticeState({ state }: { state: string }) {
  return <span class="state" data-state={state}><StateIcon state={LOOK[state] ?? "none"} /> {state}</span>;
}

function NoticeTable({ notices, onDone }: { notices: Notice[]; onDone: () => void }) {
  return (
    <Table isFolding label="Messages" rows={notices} keyOf={(notice) => notice.id}
      empty={<>No messages. <code>on_failure</code> and the like in a DAG, or <code>hooks</code> in eider.yaml,
        send them.</>}
      columns={[
        { name: "About", cell: (notice) => <About notice={notice} /> },
        { name: "To", cell: (notice) => notice.target },
        { name: "State", cell: (notice) => <NoticeState state={notice.state} /> },
        { name: "Tries", isNumber: true, isExtra: true, cell: (notice) => notice.attempts },
        { name: "Happened", isExtra: true, cell: (notice) => <Instant at={notice.happened_at} /> },
        { name: "Next try", isExtra: true, cell: (notice) => <Ago at={notice.next_try} /> },
        { name: "Answer", cell: (notice) => <span class={`said ${notice.state === "sent" ? "" : "bad"}`}
          title={notice.answer ?? ""}>{notice.answer}</span> },
        { name: "", cell: (notice) => notice.state !== "sent" && notice.state !== "folded" && (
          <Action label="Send it again" face="Send now" isSmall
            isAllowed={notice.dag_id ? canSomewhere("operator") : can("operator")}
            question="Now, with a day for further tries." done="The message is on its way." onDone={onDone}
            change={{ path: pathOf("notifications", notice.id, "retry"), cli: ["notify", "retry", notice.id] }} />) },
      ]} />
  );
}

function About({ notice }: { notice: Notice }) {
  const { number, task_id: task, map_index: map = -1 } = notice;
  const name = `${notice.dag_id ?? "?"}${number ? ` ${number}` : ""}${task ? ` / ${task}` : ""}` +
    (map >= 0 ? ` [${map}]` : "");
  const href = !number ? null : task ? taskHref({ number, task_id: task, map_index: map }) : runHref(number);
  return <>{href ? <a href={href}>{name}</a>
    : name} <span class="tag">{HAPPENED[notice.event] ?? notice.event}</span></>;
}

interface TestResult {
  target: string;
  event: string;
  connection: string | null;
  state: string;
  answer: string | null;
}

const KINDS = ["failure", "success", "retry", "skip", "sla_miss"];

function TestMessage() {
  const form = useForm({ target: "", kind: "failure" });
  const [results, setResults] = useState<TestResult[] | null>(null);
  const { target, kind } = form.values;
  return (
    <>
      <Action label="Send a test message" face="Test message" isMain isAllowed={canSomewhere("editor")} needs="editor"
        onOpen={form.reset}
        question="It goes out from the server, at once, and is not tried again." done="The test is over."
        onDone={(answer) => setResults((answer as { results: TestResult[] }).results)}
        change={{
          path: "/notifications", body: { target, kind }, takesKey: false, takesReason: false,
          cli: ["notify", "test", target || "TARGET", kind !== "failure" && "--kind", kind !== "failure" && kind],
        }}>
        <Input form={form} name="target" label="To" isRequired placeholder="slack:data-alerts"
          hint={<>A DAG, whose hooks of the kind are all tried; or slack:NAME, webhook:URL, pagerduty:NAME,
            email:ADDRESS, command:TEXT.</>} />
        <Choose form={form} name="kind" label="What is said to have happened" choices={KINDS} />
      </Action>
      {results && (
        <Dialog title="What the receivers answered" onClose={() => setResults(null)}>
          <Table isFolding label="Answers" rows={results}
            keyOf={(row) => `${row.target} ${row.connection} ${row.answer}`} empty="There is no hook of this kind."
            columns={[
              { name: "To", cell: (row) => <>{row.target} {row.connection}</> },
              { name: "State", cell: (row) => <NoticeState state={row.state} /> },
              { name: "Answer", cell: (row) => row.answer },
            ]} />
        </Dialog>
      )}
    </>
  );
}
