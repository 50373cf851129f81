// Secrets: names and where they come from, never values.
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { can, canSomewhere } from "../../core/session";
import { Action } from "../../parts/action";
import { Input, useForm } from "../../parts/inputs";
import { queryOf } from "../../parts/paging";
import { Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { chosen, DeleteKept, inNamespace, isStored, keptKey, nameColumn, NewName, sourceColumns } from "./kept";
import type { Kept } from "./types";

export function SecretsPart({ onDone }: { onDone: () => void }) {
  const loaded = useLoad<{ secrets: Kept[] }>(`/secrets${queryOf(["namespace"])}`, { every: 15_000, keep: true });
  return (
    <>
      <Show of={loaded}>{(data) => (
        <Table isFolding label="Secrets" rows={chosen(data.secrets)} keyOf={keptKey}
          empty={<>No secrets. Tasks get them as <code>{"{{ secrets.NAME }}"}</code>; nobody can read them back.</>}
          columns={[nameColumn, ...sourceColumns,
            { name: "Key", isExtra: true,
              cell: (row) => (row.key_id ? <code>{row.key_id}</code> : <span class="dim">–</span>) },
            { name: "", cell: (row) => isStored(row) && (
              <div class="actions row-actions"><SetSecret row={row} onDone={onDone} />
                <DeleteKept row={row} noun="secrets" command="secrets" onDone={onDone} /></div>) }] satisfies
                  Column<Kept>[]} />
      )}</Show>
      <p class="dim hint">
        After a new key was put in front of the old one on every host:{" "}
        <Action label="Seal everything anew" isSmall isAllowed={can("editor")} needs="editor in all namespaces"
          done="Everything is sealed with the first key."
          question="What cannot be opened stays as it is. It may be stopped and begun again." onDone={onDone}
          change={{ path: "/secrets", takesKey: false, cli: ["secrets", "rotate"] }} />
      </p>
    </>
  );
}

export function SetSecret({ row, onDone }: { row?: Kept; onDone: () => void }) {
  const form =
    useForm({ name: row?.name ?? "", namespace: row?.namespace ?? "default", value: "", doc: row?.doc ?? "" });
  const { name, namespace, value, doc } = form.values;
  const others = { doc, ...(namespace === "default" ? {} : { namespace }) };
  return (
    <Action label={row ? `Change ${row.name}` : "Keep a secret"} face={row ? "Change" : "New secret"} isSmall={!!row}
      isMain={!row}
      isAllowed={row ? can("editor", namespace) : canSomewhere("editor")} needs="editor" onOpen={form.reset}
      change={{
        method: "PUT", path: pathOf("secrets", name || "NAME"), takesKey: false, body: { value, ...others },
        shownBody: { value: "***", ...others },
        cli: ["secrets", "set", name || "NAME", ...inNamespace(namespace), doc && "--doc", doc],
      }}
      done={`${name} is kept.`} onDone={() => { form.reset(); onDone(); }}>
      {!row && <NewName form={form} />}
      <Input form={form} name="value" label="Value" type="password" isRequired
        hint="Sealed in the store, hidden in logs, never shown again." />
      <Input form={form} name="doc" label="What it is for" />
    </Action>
  );
}
