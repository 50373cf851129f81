// Connections without their secrets; secrets without their values.
import { useState } from "preact/hooks";
import { jsonObjectProblem } from "../../core/checks";
import { Problem, post } from "../../core/http";
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { can, canSomewhere } from "../../core/session";
import { durationText } from "../../core/time";
import { Action } from "../../parts/action";
import { cliText } from "../../core/cli";
import { SearchField } from "../../parts/form";
import { Input, Pair, Suggestions, useForm } from "../../parts/inputs";
import { queryOf } from "../../parts/paging";
import { Page, Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { partsOf, shownParts, typeOf, TYPES, valuesOf } from "./connectionForm";
import {
  chosen, DeleteKept, inNamespace, isStored, keptKey, nameColumn, NamespaceFilter, NewName, sourceColumns,
  SourceFilter,
} from "./kept";
import { SecretsPart, SetSecret } from "./Secrets";
import type { Connection } from "./types";

export function ConnectionsPage() {
  const isSecrets = place.value.query.get("tab") === "secrets";
  const [round, again] = useState(0);
  const reload = () => again((count) => count + 1);
  return (
    <Page title={isSecrets ? "Secrets" : "Connections"}
      actions={isSecrets ? <SetSecret onDone={reload} /> : <SetConnection onDone={reload} />}>
      <nav class="tabs" aria-label="Kinds">
        <a href="/connections" aria-current={isSecrets ? undefined : "page"}>Connections</a>
        <a href="/connections?tab=secrets" aria-current={isSecrets ? "page" : undefined}>Secrets</a>
      </nav>
      <div class="filters"><SearchField name="q" label="Part of a name" /><NamespaceFilter /><SourceFilter /></div>
      {isSecrets ? <SecretsPart key={`s${round}`} onDone={reload} />
        : <ConnectionsPart key={`c${round}`} onDone={reload} />}
    </Page>
  );
}

function ConnectionsPart({ onDone }: { onDone: () => void }) {
  const loaded = useLoad<{ connections: Connection[] }>(`/connections${queryOf(["namespace"])}`,
    { every: 15_000, keep: true });
  return (
    <Show of={loaded}>{(data) => (
      <Table isFolding label="Connections" rows={chosen(data.connections)} keyOf={keptKey}
        empty={<>No connections. Tasks read them as <code>{"{{ conn.NAME.host }}"}</code>.</>}
        columns={[nameColumn as Column<Connection>,
          { name: "Type", cell: (row) => row.value?.type ?? <span class="dim">–</span> },
          { name: "Where", cell: (row) => <Where row={row} /> },
          ...(sourceColumns as Column<Connection>[]),
          { name: "", cell: (row) => (
            <div class="actions row-actions">
              <TestConnection row={row} />
              {isStored(row) && <SetConnection row={row} onDone={onDone} />}
              {isStored(row) && <DeleteKept row={row} noun="connections" command="conns" onDone={onDone} />}
            </div>) }]} />
    )}</Show>
  );
}

function Where({ row }: { row: Connection }) {
  const { host, port, login, schema, password } = row.value ?? {};
  return (
    <span class="kept-name">
      {login && <>{login}{password && <span class="dim">:***</span>}@</>}{host ?? (login ? ""
        : <span class="dim">–</span>)}{port ? `:${port}` : ""}
      {schema && <span class="dim"> / {schema}</span>}
    </span>
  );
}

interface Tested {
  detail: string;
  duration: number;
}

function TestConnection({ row }: { row: Connection }) {
  const [told, setTold] = useState<{ isGood: boolean; text: string } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const namespace = row.namespace ?? "default";
  const isAllowed = can("operator", namespace);
  const test = async () => {
    setBusy(true);
    try {
      const answer = await post<Tested>(pathOf("connections", row.name) + "/test", namespace === "default" ? {}
        : { namespace });
      setTold({ isGood: true, text: `${answer.detail}, after ${durationText(answer.duration)}` });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setTold({ isGood: false, text: error.detail || error.title });
    }
    setBusy(false);
  };
  const cli = cliText("conns", "test", row.name, ...inNamespace(namespace));
  return (
    <>
      {told && <small class={told.isGood ? "good tested" : "bad tested"}
        role="status">{told.isGood ? "✓" : "✕"} {told.text}</small>}
      <button type="button" class="small" disabled={!isAllowed || isBusy} onClick={() => void test()}
        title={isAllowed ? cli : "needs the role operator"}
        aria-label={`Test ${row.name}`}>{isBusy ? "…" : "Test"}</button>
    </>
  );
}

function SetConnection({ row, onDone }: { row?: Connection; onDone: () => void }) {
  const form = useForm(valuesOf(row));
  const { values } = form;
  const kind = typeOf(values.type);
  const parts = partsOf(values, row);
  const isElsewhere = values.namespace !== "default";
  const body = { value: parts, doc: values.doc, ...(row ? { merge: true } : {}),
    ...(isElsewhere ? { namespace: values.namespace } : {}) };
  return (
    <Action label={row ? `Change ${row.name}` : "Keep a connection"} face={row ? "Edit" : "New connection"}
      isSmall={!!row} isMain={!row}
      isAllowed={row ? can("editor", values.namespace) : canSomewhere("editor")} needs="editor" onOpen={form.reset}
      question={row && "A password that is not typed stays as it is."}
      change={{
        method: "PUT", path: pathOf("connections", values.name || "NAME"), takesKey: false, body,
        shownBody: { ...body, value: shownParts(parts) },
        cli: ["conns", "set", values.name || "NAME", ...inNamespace(values.namespace), values.doc && "--doc",
          values.doc],
      }}
      done={`${values.name} is kept.`} onDone={() => { form.reset(); onDone(); }}>
      <Suggestions id="connection-types" names={TYPES.map(({ type }) => type)} />
      {!row && <NewName form={form} />}
      <Pair>
        <Input form={form} name="type" label="Type" isRequired list="connection-types" />
        <Input form={form} name="host" label="Host" placeholder="db.example.com" />
        <Input form={form} name="port" label="Port" type="number" min={1} max={65535}
          {...(kind.port ? { placeholder: String(kind.port) } : {})} />
        <Input form={form} name="schema" label={kind.schema ?? "Schema"} />
        <Input form={form} name="login" label="Login" />
        <Input form={form} name="password" label="Password" type="password"
          hint={row?.value?.password ? "There is one; it is never shown." : "It is never shown again."} />
      </Pair>
      <Input form={form} name="extra" label="More, as JSON" rows={3}
        check={jsonObjectProblem} placeholder='{"sslmode": "require"}' />
      <Input form={form} name="doc" label="What it is for" />
    </Action>
  );
}
