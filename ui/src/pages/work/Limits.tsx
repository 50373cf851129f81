// How many tasks of a namespace, a DAG or a tier run at once.
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { can, canSomewhere } from "../../core/session";
import { numberText } from "../../core/time";
import { Action } from "../../parts/action";
import { Choose, Input, numberOf, Pair, useForm } from "../../parts/inputs";
import { Meter } from "../../parts/meter";
import { Section, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import type { Limit } from "./types";

export function LimitsSection() {
  const loaded = useLoad<{ limits: Limit[]; warning?: string | null }>("/limits", { every: 3000 });
  return (
    <Section title="Limits" actions={<SetLimit onDone={loaded.reload} />}>
      <Show of={loaded}>{(data) => (
        <>
          {data.warning && <p class="notice">{data.warning}</p>}
          <Table isFolding label="Limits" rows={data.limits} keyOf={(limit) => `${limit.kind} ${limit.name}`}
            empty="No limits: as many tasks run as there is room for."
            columns={[
              { name: "Of",
                cell: (limit) => <><span class="dim">{limit.kind === "dag" ? "DAG"
                  : limit.kind}</span> <NameOf limit={limit} /></> },
              { name: "Running", cell: (limit) => (
                <div class="work-cell">
                  <Meter label="Running" total={limit.max_running} parts={[
                    { value: limit.running, word: "running", colour: "running" },
                    { value: limit.waiting, word: "waiting", colour: "queued", isWaiting: true }]} />
                  <small>{numberText(limit.running)} of {numberText(limit.max_running)}
                    {limit.waiting > 0 && `, ${numberText(limit.waiting)} waiting`}</small>
                </div>) },
              { name: "", cell: (limit) => (
                <div class="actions row-actions"><SetLimit limit={limit} onDone={loaded.reload} />
                  <DeleteLimit limit={limit} onDone={loaded.reload} /></div>) },
            ]} />
        </>
      )}</Show>
    </Section>
  );
}

const NameOf = ({ limit }: { limit: Limit }) =>
  limit.kind === "dag" ? <a href={pathOf("dags", limit.name)}><b>{limit.name}</b></a> : <b>{limit.name}</b>;

const mayChange = (limit: Limit): boolean =>
  limit.kind === "namespace" ? can("editor", limit.name) : limit.kind === "dag" ? canSomewhere("editor")
    : can("editor");

function SetLimit({ limit, onDone }: { limit?: Limit; onDone: () => void }) {
  const form =
    useForm({ kind: limit?.kind ?? "namespace", name: limit?.name ?? "",
      max_running: String(limit?.max_running ?? 10) });
  const { kind, name, max_running } = form.values;
  return (
    <Action label={limit ? `Change the limit of ${limit.name}` : "Set a limit"}
      face={limit ? "Edit" : "New limit"} isSmall
      isAllowed={limit ? mayChange(limit) : canSomewhere("editor")} needs="editor" onOpen={form.reset}
      question="On all hosts and over all runs together."
      change={{
        method: "PUT", path: pathOf("limits", kind, name || "NAME"), body: { max_running: numberOf(max_running) },
        cli: ["limits", "set", kind, name || "NAME", "--max-running", max_running],
      }}
      done="The limit is set." onDone={onDone}>
      <Pair>
        {!limit && <Choose form={form} name="kind" label="Of a"
          choices={[["namespace", "namespace"], ["dag", "DAG"], ["tier", "tier"]]} />}
        {!limit && <Input form={form} name="name" label="Name" isRequired />}
        <Input form={form} name="max_running" label="At most running" type="number" min={0} isRequired />
      </Pair>
    </Action>
  );
}

function DeleteLimit({ limit, onDone }: { limit: Limit; onDone: () => void }) {
  return (
    <Action label={`Remove the limit of ${limit.name}`} face="Delete" isSmall isDanger isAllowed={mayChange(limit)}
      needs="editor"
      question="As many of its tasks run then as there is room for." done="The limit is removed." onDone={onDone}
      change={{
        method: "DELETE", path: pathOf("limits", limit.kind, limit.name),
        cli: ["limits", "delete", limit.kind, limit.name, "--yes"],
      }} />
  );
}
