// Namespaces and what is in them.
import { nameProblem } from "../../core/checks";
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { can } from "../../core/session";
import { Action } from "../../parts/action";
import { Input, useForm } from "../../parts/inputs";
import { Section, Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import type { Namespace } from "./types";

const COUNTS = [["dags", "DAGs"], ["pools", "Pools"], ["variables", "Variables"],
  ["connections", "Connections"], ["secrets", "Secrets"]] as const;

export function NamespacesSection() {
  const loaded = useLoad<{ namespaces: Namespace[] }>("/namespaces", { every: 15_000 });
  const counts: Column<Namespace>[] = COUNTS.map(([name, title]) => (
    { name: title, isNumber: true, isExtra: name !== "dags", cell: (row: Namespace) => row[name] }));
  return (
    <Section title="Namespaces" actions={<AddNamespace onDone={loaded.reload} />}>
      <Show of={loaded}>{(data) => (
        <Table isFolding label="Namespaces" rows={data.namespaces} keyOf={(row) => row.name}
          columns={[
            { name: "Name",
              cell: (row) => <><b class="kept-name">{row.name}</b>{row.doc
                && <div><small class="dim">{row.doc}</small></div>}</> },
            ...counts,
            { name: "", cell: (row) => row.name !== "default" && <DeleteNamespace row={row} onDone={loaded.reload} /> },
          ]} />
      )}</Show>
    </Section>
  );
}

function AddNamespace({ onDone }: { onDone: () => void }) {
  const form = useForm({ name: "", doc: "" });
  const { name, doc } = form.values;
  return (
    <Action label="Make a namespace" face="New namespace" isSmall isAllowed={can("admin")} needs="admin"
      onOpen={form.reset}
      question="One is there as well once something is in it: a DAG with namespace: sales, a pool, …"
      change={{ path: "/namespaces", body: { name, ...(doc ? { doc } : {}) },
        cli: ["namespaces", "add", name || "NAME", doc && "--doc", doc] }}
      done={`The namespace ${name} is there.`} onDone={onDone}>
      <Input form={form} name="name" label="Name" isRequired check={nameProblem} />
      <Input form={form} name="doc" label="What it is for" />
    </Action>
  );
}

function DeleteNamespace({ row, onDone }: { row: Namespace; onDone: () => void }) {
  return (
    <div class="actions row-actions">
      <Action label={`Delete the namespace ${row.name}`} face="Delete" isSmall isDanger isAllowed={can("admin")}
        needs="admin"
        question="Only an empty one can go." done={`The namespace ${row.name} is deleted.`} onDone={onDone}
        change={{ method: "DELETE", path: pathOf("namespaces", row.name), cli: ["namespaces", "remove", row.name] }} />
    </div>
  );
}
