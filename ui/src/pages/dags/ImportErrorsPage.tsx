// DAG files with problems: where, what, and what to do.
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { Ago, Command, Copy } from "../../parts/basics";
import { Page, Show } from "../../parts/page";
import { cliText } from "../../core/cli";
import { byFile, caretOf, splitHint, type BrokenFile, type ImportError } from "./errors";

/** Files are read again without an event when only their problems change. */
const EVERY_MS = 1000;

function Source({ error }: { error: ImportError }) {
  if (error.source === null || error.line < 1) return null;
  const number = String(error.line);
  return (
    <pre class="error-source" tabIndex={0} role="group" aria-label={`Line ${number} of the file`}>
      <span class="dim">{number} │ </span>{error.source}{"\n"}
      <span class="dim">{" ".repeat(number.length)} │ </span><b class="bad" aria-hidden="true">{caretOf(error)}</b>
    </pre>
  );
}

function ProblemLine({ error }: { error: ImportError }) {
  const { what, hint } = splitHint(error.message);
  return (
    <li>
      <p class="error-what">
        {error.line > 0 && <span class="mono dim">{error.line}:{error.column} </span>}
        <b>{what}</b>
      </p>
      <Source error={error} />
      {hint && <p class="error-hint">→ {hint}</p>}
    </li>
  );
}

function FileCard({ file }: { file: BrokenFile }) {
  return (
    <section class={`card error-file ${file.isWarning ? "is-warning" : ""}`} data-file={file.file}>
      <header>
        <h2 class="mono">{file.file}</h2>
        <Copy text={file.file} label="Copy path" />
      </header>
      <p class="dim">
        {file.isWarning ? "A warning: it can be run all the same."
          : file.problems.length === 1 ? "1 problem" : `${file.problems.length} problems`}
        {file.hostname && <> on {file.hostname}</>}
        {file.since && <>, first seen <Ago at={file.since} /></>}
      </p>
      {file.dags.length > 0 && !file.isWarning && (
        <p>Until it is mended, what the file said before counts: {file.dags.map((dag, i) => (
          <span key={dag}>{i > 0 && ", "}<a href={pathOf("dags", dag)}>{dag}</a></span>
        ))}</p>
      )}
      <ol class="error-list">
        {file.problems.map((error, i) => <ProblemLine key={i} error={error} />)}
      </ol>
      {!file.isWarning && <Command label="The same by command" text={cliText("validate", file.file)} />}
    </section>
  );
}

export function ImportErrorsPage() {
  const loaded = useLoad<{ errors: ImportError[] }>("/import-errors", { every: EVERY_MS });
  return (
    <Page title="Import errors">
      <Show of={loaded}>
        {({ errors }) => errors.length === 0
          ? <div class="notice good" role="status">Every DAG file can be read.</div>
          : (
            <>
              <p class="dim">Mend a file and save it: it is read again within a second, and goes away from here.</p>
              {byFile(errors).map((file) => <FileCard key={file.file + file.hostname} file={file} />)}
            </>
          )}
      </Show>
    </Page>
  );
}
