// What the tasks of a run returned.
import { useLoad } from "../../core/load";
import { pathOf, type Params } from "../../core/route";
import { bytesText } from "../../core/time";
import { Copy } from "../../parts/basics";
import { Show } from "../../parts/page";
import { Table, type Column } from "../../parts/table";
import { taskHref } from "./links";
import { ofThisRun, RunFrame } from "./RunFrame";
import { taskName } from "./types";

interface Value {
  task_id: string;
  map_index: number;
  key: string;
  value: unknown;
  bytes: number;
  spilled?: boolean;
}

const columnsOf = (number: string): Column<Value>[] => [
  { name: "Task", cell: (value) => <a class="mono" href={taskHref({ number, ...value })}>{taskName(value)}</a> },
  { name: "Key", cell: (value) => <span class="mono">{value.key}</span> },
  { name: "Value", cell: (value) => <JsonText value={value.value} /> },
  { name: "Size", cell: (value) => bytesText(value.bytes), isNumber: true, isExtra: true },
];

/** A value as people read it; long ones fold. */
export function JsonText({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "";
  if (text.length < 400) return <pre class="json">{text} {text.length > 20 && <Copy text={text} />}</pre>;
  return (
    <details>
      <summary class="mono cut">{text.slice(0, 120)}…</summary><Copy text={text} /><pre class="json">{text}</pre>
    </details>
  );
}

export function ValueTable({ number, task, mapIndex }: { number: string; task?: string; mapIndex?: number }) {
  const asked = new URLSearchParams();
  if (task) asked.set("task", task);
  if (mapIndex !== undefined && mapIndex >= 0) asked.set("map_index", String(mapIndex));
  const values = useLoad<{ values: Value[] }>(pathOf("runs", number, "values") + "?" + asked.toString(),
    { live: ofThisRun });
  const columns = columnsOf(number).filter((column) => !task || column.name !== "Task");
  return (
    <Show of={values}>
      {(data) => (
        <Table label="Values" rows={data.values} columns={columns} keyOf={(value) => `${taskName(value)} ${value.key}`}
          empty={task ? "It returned nothing." : "No task of this run has returned anything."} />
      )}
    </Show>
  );
}

export function RunValuesPage({ params }: { params: Params }) {
  const number = params["run"] ?? "";
  return <RunFrame number={number}>{() => <ValueTable number={number} />}</RunFrame>;
}
