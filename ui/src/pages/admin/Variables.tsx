// Variables of all sources.
import { useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { can, canSomewhere } from "../../core/session";
import { Action } from "../../parts/action";
import { Copy } from "../../parts/basics";
import { SearchField } from "../../parts/form";
import { Input, useForm } from "../../parts/inputs";
import { queryOf } from "../../parts/paging";
import { Page, Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import {
  chosen, DeleteKept, inNamespace, isStored, keptKey, nameColumn, NamespaceFilter, NewName, sourceColumns,
  SourceFilter,
} from "./kept";
import type { Variable } from "./types";

export function VariablesPage() {
  const loaded = useLoad<{ variables: Variable[] }>(`/variables${queryOf(["namespace"])}`,
    { every: 15_000, keep: true });
  return (
    <Page title="Variables" actions={<SetVariable onDone={loaded.reload} />}>
      <div class="filters"><SearchField name="q" label="Part of a name" /><NamespaceFilter /><SourceFilter /></div>
      <Show of={loaded}>{(data) => (
        <Table isFolding label="Variables" rows={chosen(data.variables)} keyOf={keptKey}
          empty={<>No variables. Tasks read them as <code>{"{{ var.value.NAME }}"}</code>.</>}
          columns={[nameColumn as Column<Variable>, { name: "Value", cell: (row) => <Value row={row} /> },
            ...(sourceColumns as Column<Variable>[]),
            { name: "", cell: (row) => isStored(row) && (
              <div class="actions row-actions"><SetVariable row={row} onDone={loaded.reload} />
                <DeleteKept row={row} noun="variables" command="vars" onDone={loaded.reload} /></div>) }]} />
      )}</Show>
      <p class="dim hint">Of several with one name the first counts: environment, variables.yaml,
        the store. What nobody should read is a
        {" "}<a href="/connections?tab=secrets">secret</a>.</p>
    </Page>
  );
}

const SOUNDS_SECRET = /passw|secret|token|private|credential|api_?key/i;

/** Names that sound like a secret are covered until somebody asks. */
function Value({ row }: { row: Variable }) {
  const [isShown, show] = useState(!SOUNDS_SECRET.test(row.name));
  if (row.value === null) return <span class="dim">–</span>;
  if (!isShown) return <><span aria-label="covered">••••••</span> <button type="button" class="small quiet"
    onClick={() => show(true)}>Show</button></>;
  return <span class="value"><code>{row.value}</code> <Copy text={row.value} /></span>;
}

function SetVariable({ row, onDone }: { row?: Variable; onDone: () => void }) {
  const form = useForm({
    name: row?.name ?? "", namespace: row?.namespace ?? "default", value: row?.value ?? "", doc: row?.doc ?? "",
  });
  const { name, namespace, value, doc } = form.values;
  return (
    <Action label={row ? `Change ${row.name}` : "Set a variable"} face={row ? "Edit" : "New variable"} isSmall={!!row}
      isMain={!row}
      isAllowed={row ? can("editor", namespace) : canSomewhere("editor")} needs="editor" onOpen={form.reset}
      done={`${name} is set.`} onDone={onDone}
      change={{
        method: "PUT", path: pathOf("variables", name || "NAME"), takesKey: false,
        body: { value, doc, ...(namespace === "default" ? {} : { namespace }) },
        cli: ["vars", "set", name || "NAME", value, ...inNamespace(namespace), doc && "--doc", doc],
      }}>
      {!row && <NewName form={form}
        hint={SOUNDS_SECRET.test(name) && "Variables are stored and shown as they are. Is this a secret?"} />}
      <Input form={form} name="value" label="Value" rows={4} hint="A text, or JSON that tasks read as var.json." />
      <Input form={form} name="doc" label="What it is for" />
    </Action>
  );
}
