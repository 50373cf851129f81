// Pools, who holds their slots and who waits; limits of namespaces, DAGs and tiers.
import { nameProblem } from "../../core/checks";
import { useLoad } from "../../core/load";
import { hrefWith, pathOf, place } from "../../core/route";
import { can, canSomewhere } from "../../core/session";
import { numberText } from "../../core/time";
import { Action } from "../../parts/action";
import { Duration, State } from "../../parts/basics";
import { given, Input, numberOf, Pair, useForm } from "../../parts/inputs";
import { Meter } from "../../parts/meter";
import { Page, Section, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { taskHref } from "../runs/links";
import { LimitsSection } from "./Limits";
import type { Pool } from "./types";

export function PoolsPage() {
  const loaded = useLoad<{ pools: Pool[] }>("/pools", { every: 2000 });
  const chosen = place.value.query.get("pool");
  return (
    <Page title="Pools and limits" actions={<SetPool onDone={loaded.reload} />}>
      <Show of={loaded}>{(data) => <PoolTable pools={data.pools} onDone={loaded.reload} />}</Show>
      {chosen && <Users key={chosen} pool={chosen} />}
      <LimitsSection />
    </Page>
  );
}

function PoolTable({ pools, onDone }: { pools: Pool[]; onDone: () => void }) {
  return (
    <Section title="Pools">
      <Table isFolding label="Pools" rows={pools} keyOf={(pool) => `${pool.namespace}/${pool.name}`}
        columns={[
          { name: "Pool", cell: (pool) => (
            <><a class="kept-name" href={hrefWith({ pool: pool.name })}><b>{pool.name}</b></a>{" "}
              {pool.namespace !== "default" && <span class="tag">{pool.namespace}</span>}<small class="dim clamp"
                title={pool.description}>{pool.description}</small></>) },
          { name: "Slots", cell: (pool) => <Slots pool={pool} /> },
          { name: "Open", isNumber: true, cell: (pool) => numberText(pool.open_slots) },
          { name: "Running", isNumber: true, isExtra: true, cell: (pool) => numberText(pool.running) },
          { name: "Waiting", isNumber: true, cell: (pool) => numberText(pool.waiting) },
          { name: "", cell: (pool) => (
            <div class="actions row-actions"><SetPool pool={pool} onDone={onDone} />
              <DeletePool pool={pool} onDone={onDone} /></div>) },
        ]} />
    </Section>
  );
}

function Slots({ pool }: { pool: Pool }) {
  return (
    <div class="work-cell">
      <Meter label="Slots" total={pool.slots} parts={[
        { value: pool.occupied_slots, word: "held", colour: "running" },
        { value: pool.queued_slots, word: "asked for", colour: "queued", isWaiting: true },
      ]} />
      <small>{numberText(pool.occupied_slots)} of {numberText(pool.slots)} held
        {pool.queued_slots > 0 && `, ${numberText(pool.queued_slots)} asked for`}</small>
    </div>
  );
}

interface Instance {
  number: string;
  dag_id: string;
  task_id: string;
  map_index: number;
  state: string;
  pool_slots: number;
  queued_when: string | null;
  start_date: string | null;
}

/** Who holds the slots of a pool, and who waits for one. */
function Users({ pool }: { pool: string }) {
  const query = new URLSearchParams({ pool, limit: "100" });
  for (const state of ["running", "queued", "scheduled"]) query.append("state", state);
  const loaded = useLoad<{ task_instances: Instance[] }>(`/api/v1/dags/~/dagRuns/~/taskInstances?${query}`,
    { every: 3000 });
  return (
    <Section title={<>Who uses {pool}</>} actions={<a class="button small" href={hrefWith({ pool: null })}>Close</a>}>
      <Show of={loaded}>{({ task_instances: rows }) => (
        <Table isFolding label={`Tasks of the pool ${pool}`} rows={rows}
          keyOf={(row) => `${row.number} ${row.task_id} ${row.map_index}`}
          empty="Nobody holds or waits for a slot."
          columns={[
            { name: "Task",
              cell: (row) => <a href={taskHref(row)}>{row.dag_id} / {row.task_id}
              {row.map_index >= 0 && ` [${row.map_index}]`}</a> },
            { name: "State", cell: (row) => <State state={row.state} /> },
            { name: "Slots", isNumber: true, cell: (row) => row.pool_slots },
            { name: "For", isNumber: true, cell: (row) => <Duration since={row.start_date ?? row.queued_when} /> },
          ]} />
      )}</Show>
    </Section>
  );
}

function SetPool({ pool, onDone }: { pool?: Pool; onDone: () => void }) {
  const form = useForm({
    name: pool?.name ?? "", namespace: pool?.namespace ?? "default", slots: String(pool?.slots ?? 4),
    description: pool?.description ?? "",
  });
  const { values } = form;
  const isElsewhere = values.namespace !== "default";
  return (
    <Action label={pool ? `Change ${pool.name}` : "Make a pool"} face={pool ? "Edit" : "New pool"} isSmall={!!pool}
      isMain={!pool}
      isAllowed={pool ? can("editor", pool.namespace) : canSomewhere("editor")} needs="editor" onOpen={form.reset}
      change={{
        method: "PATCH", path: pathOf("pools", values.name || "POOL"),
        body: { ...given({ namespace: isElsewhere ? values.namespace : "", slots: numberOf(values.slots) }),
          description: values.description },
        cli: ["pools", "set", values.name || "POOL", isElsewhere && "--namespace", isElsewhere && values.namespace,
          "--slots", values.slots,
          values.description && "--description", values.description],
      }}
      done={pool ? `The pool ${pool.name} is changed.` : `The pool ${values.name} is there.`} onDone={onDone}
      question="Fewer slots than are held take effect as tasks end; more let waiting tasks in at once.">
      <Pair>
        {!pool && <Input form={form} name="name" label="Name" isRequired check={nameProblem} />}
        {!pool && <Input form={form} name="namespace" label="Namespace" isRequired />}
        <Input form={form} name="slots" label="Slots" type="number" min={0} isRequired />
      </Pair>
      <Input form={form} name="description" label="What it is for" />
    </Action>
  );
}

function DeletePool({ pool, onDone }: { pool: Pool; onDone: () => void }) {
  const isElsewhere = pool.namespace !== "default";
  return (
    <Action label={`Delete ${pool.name}`} face="Delete" isSmall isDanger isAllowed={can("editor", pool.namespace)}
      needs="editor"
      question="What holds its slots runs on. Tasks that name it wait until it is there again."
      done={`The pool ${pool.name} is deleted.`}
      change={{
        method: "DELETE", path: pathOf("pools", pool.name), body: isElsewhere ? { namespace: pool.namespace } : {},
        cli: ["pools", "delete", pool.name, isElsewhere && "--namespace", isElsewhere && pool.namespace, "--yes"],
      }} onDone={onDone} />
  );
}
