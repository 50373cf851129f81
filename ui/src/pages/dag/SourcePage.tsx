// The file of a DAG, as its author wrote it; any version.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useLoad } from "../../core/load";
import { go, hrefWith, pathOf, place, type Params } from "../../core/route";
import { Command, Copy } from "../../parts/basics";
import { Show } from "../../parts/page";
import { cliText } from "../../core/cli";
import { DagFrame, type Dag } from "./DagFrame";
import { type Version } from "./VersionsPage";
import { highlight, linesOfHash } from "./yaml";

interface Source {
  dag_id: string;
  file: string | null;
  text: string;
}

export function SourcePage({ params }: { params: Params }) {
  return <DagFrame dag={params["dag"]!}>{(dag) => <SourceOf dag={dag} />}</DagFrame>;
}

function SourceOf({ dag }: { dag: Dag }) {
  const version = place.value.query.get("version");
  // A new version of the DAG is another path: then it is asked for again.
  const path = pathOf("dags", dag.dag_id, "source") +
    (version ? `?version=${encodeURIComponent(version)}` : dag.dag_version ? `?version=${dag.dag_version}` : "");
  const loaded = useLoad<Source>(path, { keep: true });
  const versions = useLoad<{ versions: Version[] }>(pathOf("dags", dag.dag_id, "versions")).data?.versions ?? [];
  const chosen = version ?? String(dag.dag_version ?? "");
  return (
    <Show of={loaded}>{(source) => (
      <>
        <div class="filters">
          {versions.length > 0 && (
            <select aria-label="Version" value={chosen} onChange={(event) => {
              const picked = event.currentTarget.value;
              go(hrefWith({ version: picked === String(dag.dag_version) ? null : picked }));
            }}>
              {versions.map((row) => (
                <option key={row.version_number} value={String(row.version_number)}>
                  version {row.version_number}{row.is_current ? " (current)" : ""}
                </option>
              ))}
            </select>
          )}
          {source.file && <span class="mono dim">{source.file}</span>}
          <Copy text={source.text} label="Copy file" />
          <button type="button" class="small" onClick={() => download(source)}>Download</button>
        </div>
        <Lines text={source.text} />
        <Command label="CLI" text={cliText("dags", "source", dag.dag_id, version && "--version", version)} />
      </>
    )}</Show>
  );
}

function download(source: Source): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([source.text], { type: "text/plain" }));
  link.download = source.file?.split("/").at(-1) || source.dag_id + ".yaml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function Lines({ text }: { text: string }) {
  const lines = useMemo(() => highlight(text.replace(/\n$/, "")), [text]);
  const marked = linesOfHash(place.value.hash);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (marked) box.current?.querySelector(`#L${marked.first}`)?.scrollIntoView({ block: "center" });
  }, [text, marked?.first]);
  const pick = (event: MouseEvent, number: number) => {
    if (!event.shiftKey || !marked) return;
    event.preventDefault();
    go(`${place.value.path}${location.search}#L${marked.first}-L${number}`, { replace: true });
  };
  return (
    <div class="source" ref={box} tabIndex={0} role="region" aria-label="Source">
      {lines.map((tokens, i) => {
        const number = i + 1;
        const isMarked = marked !== null && number >= marked.first && number <= marked.last;
        return (
          <div key={number} id={`L${number}`} class={isMarked ? "line is-marked" : "line"}>
            <a href={`${place.value.path}${location.search}#L${number}`} aria-label={`Line ${number}`} tabIndex={-1}
              data-number={number} onClick={(event) => pick(event, number)} />
            <code>{tokens.map((token, at) => (token.kind === "plain" ? token.text
              : <span key={at} class={`y-${token.kind}`}>{token.text}</span>))}{tokens.length === 0 && "\n"}</code>
          </div>
        );
      })}
    </div>
  );
}
