// The versions of a DAG: what changed between two, and the way back to one.
import { useLoad } from "../../core/load";
import { go, hrefWith, pathOf, place, type Params } from "../../core/route";
import { can } from "../../core/session";
import type { LiveEvent } from "../../core/stream";
import { Action } from "../../parts/action";
import { Ago, Empty, Instant, Tag } from "../../parts/basics";
import { ProblemBox, Section, Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { DagFrame, type Dag } from "./DagFrame";
import { pairsOf, parseDiff, type DiffRow } from "./diff";

export interface Version {
  version_number: number;
  hash: string;
  created_at: string;
  actor: string | null;
  file: string | null;
  is_current: boolean;
  is_filed: boolean;
}

interface Diff {
  from: number;
  to: number;
  changes: { what: string; task: string | null; keys?: string[] }[];
  text: string;
}

const isOfDag = (event: LiveEvent): boolean => event.kind.startsWith("dag");

export function VersionsPage({ params }: { params: Params }) {
  return <DagFrame dag={params["dag"]!}>{(dag, reload) => <Versions dag={dag} reload={reload} />}</DagFrame>;
}

function Versions({ dag, reload }: { dag: Dag; reload: () => void }) {
  const loaded = useLoad<{ versions: Version[] }>(pathOf("dags", dag.dag_id, "versions"), { live: isOfDag });
  const again = () => {
    loaded.reload();
    reload();
  };
  return <Show of={loaded}>{({ versions }) => <VersionList dag={dag} versions={versions} reload={again} />}</Show>;
}

function VersionList({ dag, versions, reload }: { dag: Dag; versions: Version[]; reload: () => void }) {
  const { query } = place.value;
  const current = versions.find((row) => row.is_current)?.version_number ?? versions[0]?.version_number ?? 0;
  const numbers = versions.map((row) => row.version_number).sort((a, b) => a - b);
  const to = Number(query.get("to")) || current;
  const before = numbers.findLast((number) => number < to) ?? numbers.find((number) => number !== to) ?? 0;
  const from = Number(query.get("from")) || before;
  const source = pathOf("dags", dag.dag_id, "source");
  const radio = (name: "from" | "to", row: Version) => (
    <input type="radio" name={name} checked={(name === "from" ? from : to) === row.version_number}
      aria-label={`${name === "from" ? "Compare from" : "Compare to"} version ${row.version_number}`}
      onChange={() => go(hrefWith({ from, to, [name]: row.version_number }), { replace: true })} />
  );
  const columns: Column<Version>[] = [
    { name: "From", cell: (row) => radio("from", row) },
    { name: "To", cell: (row) => radio("to", row) },
    {
      name: "Version",
      cell: (row) => (
        <>
          <a href={`${source}?version=${row.version_number}`}>{row.version_number}</a>{" "}
          {row.is_current && <Tag>current</Tag>}{row.is_filed && !row.is_current && <Tag>in the file</Tag>}
        </>
      ),
    },
    { name: "Created", cell: (row) => <span class="nowrap"><Ago at={row.created_at} /></span> },
    { name: "At", cell: (row) => <Instant at={row.created_at} isLong />, isExtra: true },
    { name: "By", cell: (row) => row.actor, isExtra: true },
    { name: "Hash", cell: (row) => <code title={row.hash}>{row.hash.slice(0, 12)}</code>, isExtra: true },
    {
      name: "", cell: (row) => !row.is_current && (
        <Action label="Roll back" isSmall isAllowed={can("editor", dag.namespace)} needs="editor" onDone={reload}
          question={`New runs get version ${row.version_number} until the file of the DAG is changed. ` +
            "Runs that are there keep theirs."}
          change={{ path: pathOf("dags", dag.dag_id, "rollback"), body: { version: row.version_number },
            cli: ["dags", "rollback", dag.dag_id, row.version_number] }}
          done={`Version ${row.version_number} of ${dag.dag_id} is the current one.`}>
          <Changes dag={dag} from={current} to={row.version_number} />
        </Action>
      ),
    },
  ];
  return (
    <>
      <Table label="Versions" rows={versions} columns={columns} keyOf={(row) => String(row.version_number)} />
      <div class="after-table">
        {versions.length < 2 ? <Empty>There is one version only; a change of the file makes another one.</Empty>
          : from === to ? <Empty>Choose two versions to see what changed between them.</Empty>
          : <DiffOf dag={dag} from={from} to={to} />}
      </div>
    </>
  );
}

const useDiff = (dag: Dag, from: number, to: number) =>
  useLoad<Diff>(`${pathOf("dags", dag.dag_id, "diff")}?from=${from}&to=${to}`, { keep: true });

const SIGN: Record<string, string> = { added: "+", removed: "−", changed: "~" };

function ChangeList({ diff }: { diff: Diff }) {
  if (diff.changes.length === 0) return <p class="dim">No task changed.</p>;
  return (
    <ul class="changes">
      {diff.changes.map((change, i) => (
        <li key={i} class={`is-${change.what}`}>
          <b>{SIGN[change.what] ?? "~"}</b> {change.task === null ? "the DAG" : <code>{change.task}</code>}{" "}
          <span class="dim">{change.what}{change.keys && change.keys.length > 0 && `: ${change.keys.join(", ")}`}</span>
        </li>
      ))}
    </ul>
  );
}

/** In the question before going back: what that would change. */
function Changes({ dag, from, to }: { dag: Dag; from: number; to: number }) {
  const loaded = useDiff(dag, from, to);
  if (loaded.problem) return <ProblemBox problem={loaded.problem} />;
  return loaded.data ? <ChangeList diff={loaded.data} /> : <p class="dim">…</p>;
}

function DiffOf({ dag, from, to }: { dag: Dag; from: number; to: number }) {
  const loaded = useDiff(dag, from, to);
  const isSplit = place.value.query.get("view") === "split";
  return (
    <Section title={`From version ${from} to ${to}`} actions={
      <>
        <a class={`tag ${isSplit ? "" : "is-on"}`} href={hrefWith({ view: null })}>one column</a>
        <a class={`tag ${isSplit ? "is-on" : ""}`} href={hrefWith({ view: "split" })}>side by side</a>
      </>}>
      <Show of={loaded}>{(diff) => (
        <>
          <ChangeList diff={diff} />
          {diff.text === "" ? <p class="dim">The sources are the same.</p>
            : isSplit ? <SplitDiff text={diff.text} /> : <UnifiedDiff text={diff.text} />}
        </>
      )}</Show>
    </Section>
  );
}

const MARK: Record<string, string> = { added: "+", removed: "−" };

function UnifiedDiff({ text }: { text: string }) {
  return (
    <div class="diff" role="region" aria-label="Difference" tabIndex={0}>
      <table>
        <tbody>
          {parseDiff(text).map((row, i) => (
            <tr key={i} class={`d-${row.kind}`}>
              <td class="d-number">{row.before}</td>
              <td class="d-number">{row.after}</td>
              <td class="d-mark">{MARK[row.kind]}</td>
              <td class="d-text">{row.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Half({ row, number }: { row: DiffRow | null; number: number | undefined }) {
  const kind = row ? `d-${row.kind}` : "d-gap";
  return (
    <>
      <td class={`d-number ${kind}`}>{number}</td>
      <td class={`d-mark ${kind}`}>{row && MARK[row.kind]}</td>
      <td class={`d-text ${kind}`}>{row?.text}</td>
    </>
  );
}

function SplitDiff({ text }: { text: string }) {
  return (
    <div class="diff is-split" role="region" aria-label="Difference, side by side" tabIndex={0}>
      <table>
        <colgroup>
          <col class="c-number" /><col class="c-mark" /><col /><col class="c-number" /><col class="c-mark" /><col />
        </colgroup>
        <tbody>
          {pairsOf(parseDiff(text)).map(({ left, right }, i) => (left?.kind === "hunk" || left?.kind === "file"
            ? <tr key={i} class={`d-${left.kind}`}><td colSpan={6} class="d-text">{left.text}</td></tr>
            : <tr key={i}><Half row={left} number={left?.before} /><Half row={right} number={right?.after} /></tr>))}
        </tbody>
      </table>
    </div>
  );
}
