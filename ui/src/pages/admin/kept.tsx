// What variables, connections and secrets have in common: a name in a namespace, from a source.
import type { ComponentChildren } from "preact";
import { nameProblem } from "../../core/checks";
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { can } from "../../core/session";
import { Action } from "../../parts/action";
import { Ago, Tag } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { Input, Pair, Suggestions, type Form, type Values } from "../../parts/inputs";
import type { Column } from "../../parts/table";
import type { Kept, Namespace } from "./types";

export function useNamespaces(): string[] {
  const loaded = useLoad<{ namespaces: Namespace[] }>("/namespaces").data;
  return (loaded?.namespaces ?? []).map((namespace) => namespace.name);
}

export function NamespaceFilter() {
  const names = useNamespaces();
  const chosen = place.value.query.get("namespace");
  return <ChoiceFilter name="namespace" label="Namespace" choices={[{ value: "", text: "All namespaces" },
    ...[...new Set([...names, ...(chosen ? [chosen] : [])])].map((name) => ({ value: name, text: name }))]} />;
}

export function SourceFilter() {
  return <ChoiceFilter name="source" label="Source" choices={[{ value: "", text: "All sources" },
    ...["environment", "file", "store"].map((source) => ({ value: source, text: source }))]} />;
}

/** Rows that the filters of the page let through; the namespace is asked of the server. */
export function chosen<T extends Kept>(rows: T[]): T[] {
  const { query } = place.value;
  const text = (query.get("q") ?? "").toLowerCase();
  const source = query.get("source");
  return rows.filter((row) => (!source || row.source === source)
    && (row.name + " " + (row.doc ?? "")).toLowerCase().includes(text));
}

export function NamespaceNames() {
  return <Suggestions id="namespace-names" names={useNamespaces()} />;
}

interface NewNameProps<V extends Values> {
  form: Form<V>;
  /** Of the name. */
  hint?: ComponentChildren;
}

/** Of something new: its name, and where that counts. */
export function NewName<V extends Values & { name: string; namespace: string }>({ form, hint }: NewNameProps<V>) {
  return (
    <>
      <NamespaceNames />
      <Pair>
        <Input form={form} name="name" label="Name" isRequired check={nameProblem} hint={hint} />
        <Input form={form} name="namespace" label="Namespace" isRequired list="namespace-names"
          hint="What is in default serves all." />
      </Pair>
    </>
  );
}

export const keptKey = (row: Kept): string => `${row.source} ${row.namespace ?? ""} ${row.place ?? ""} ${row.name}`;

export const nameColumn: Column<Kept> = {
  name: "Name", cell: (row) => (
    <div class={row.hidden ? "is-hidden-row" : ""}>
      <b class="kept-name">{row.name}</b> {row.hidden && <span class="tag"
        title="Something before it has the same name">does not count</span>}
      {row.doc && <small class="dim clamp" title={row.doc}>{row.doc}</small>}
      {row.problem && <div class="bad"><small>{row.problem}</small></div>}
    </div>),
};

export const sourceColumns: Column<Kept>[] = [
  { name: "Namespace", isExtra: true,
    cell: (row) => (row.namespace ? <Tag>{row.namespace}</Tag> : <span class="dim">all</span>) },
  { name: "Source",
    cell: (row) => <>{row.source}{row.place && <div><small class="dim kept-name">{row.place}</small></div>}</> },
  { name: "Changed", isExtra: true, cell: (row) => (
    row.updated_at ? <><Ago at={row.updated_at} /> <small class="dim">by {row.updated_by}</small></>
      : <span class="dim">–</span>) },
];

/** Words of a command for what is not in the namespace `default`. */
export const inNamespace = (namespace: string | null): string[] =>
  namespace && namespace !== "default" ? ["--namespace", namespace] : [];

export function DeleteKept({ row, noun, command,
  onDone }: { row: Kept; noun: string; command: string; onDone: () => void }) {
  const namespace = row.namespace ?? "default";
  return (
    <Action label={`Delete ${row.name}`} face="Delete" isSmall isDanger isAllowed={can("editor", namespace)}
      needs="editor"
      question="Tasks that name it fail when they are prepared, unless another source has it."
      done={`${row.name} is deleted.`} onDone={onDone}
      change={{
        method: "DELETE", path: pathOf(noun, row.name), takesKey: false, body: namespace === "default" ? {}
          : { namespace },
        cli: [command, "delete", row.name, ...inNamespace(namespace), "--yes"],
      }} />
  );
}

/** What comes from the environment or a file is changed there. */
export const isStored = (row: Kept): boolean => row.source === "store";
