// Fields that both forms have, and how a form is kept in the URL.
import { useEffect, useRef, useState } from "preact/hooks";
import { cliText, curlText } from "../../core/cli";
import { go, place } from "../../core/route";
import { Command } from "../../parts/basics";
import { useFew } from "../../parts/few";
import { Field } from "../../parts/form";
import { draftFrom, listOf, queryOf, type Draft } from "./draft";
import type { FormProps } from "./ParamFields";
import type { ParamSchemas } from "./params";

const TYPING_MS = 200;

interface DraftHook {
  draft: Draft;
  change: FormProps["change"];
  /** Brings the URL to the draft at once: before the page is left. */
  settle: () => void;
}

/** The draft of a form; the URL follows it, so that a link fills it in. */
export function useDraft(fields: string[], schemas: ParamSchemas): DraftHook {
  const [draft, setDraft] = useState(() => draftFrom(place.value.query, fields));
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const path = useRef(place.value.path);
  useEffect(() => () => clearTimeout(timer.current), []);
  const follow = (to: Draft) => {
    clearTimeout(timer.current);
    if (place.value.path !== path.current) return;
    const query = queryOf(to, place.value.query, schemas, fields).toString();
    go(path.current + (query ? "?" + query : ""), { replace: true });
  };
  const change = (name: string, text: string | undefined) => setDraft((before) => {
    const after = { ...before };
    if (text === undefined) delete after[name];
    else after[name] = text;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => follow(after), TYPING_MS);
    return after;
  });
  return { draft, change, settle: () => follow(draft) };
}

interface TextFieldProps extends FormProps {
  name: string;
  label: string;
  hint?: string;
  placeholder?: string;
  isDate?: boolean;
}

export function TextField({ name, label, hint, placeholder, isDate, draft, problems, change }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problems[name] ?? null}>
      {isDate
        ? <input type="date" value={draft[name] ?? ""} aria-invalid={!!problems[name]}
            onInput={(event) => change(name, event.currentTarget.value)} />
        : <input type="text" value={draft[name] ?? ""} placeholder={placeholder} autocomplete="off"
            aria-invalid={!!problems[name]} onInput={(event) => change(name, event.currentTarget.value)} />}
    </Field>
  );
}

export function ConfField({ draft, problems, change }: FormProps) {
  const text = draft["conf"] ?? "";
  return (
    <Field label="Conf, as JSON" problem={problems["conf"] ?? null}
      hint="More values for the run, kept with it. A key named like a parameter sets it.">
      <textarea rows={Math.min(10, Math.max(3, text.split("\n").length))} value={text} placeholder={'{"key": "value"}'}
        spellcheck={false} aria-invalid={!!problems["conf"]}
        onInput={(event) => change("conf", event.currentTarget.value)} />
    </Field>
  );
}

const MANY = 12;

/** Which tasks; none chosen: all. */
export function TaskChoice({ tasks, draft, change }: FormProps & { tasks: { task_id: string; operator: string }[] }) {
  const chosen = listOf(draft["tasks"]);
  const few = useFew(tasks, {
    nameOf: (task) => task.task_id, label: "Filter tasks", many: MANY,
    isKept: (task) => chosen.includes(task.task_id),
  });
  const toggle = (task: string) => {
    const after = chosen.includes(task) ? chosen.filter((name) => name !== task) : [...chosen, task];
    change("tasks", after.join(",") || undefined);
  };
  return (
    <details class="tasks-choice" open={chosen.length > 0}>
      <summary>{chosen.length > 0 ? `Only ${chosen.length} of ${tasks.length}` : "All"} tasks</summary>
      <div class="filters">
        {few.search}
        {chosen.length > 0 && (
          <button type="button" class="small" onClick={() => change("tasks", undefined)}>All tasks</button>
        )}
      </div>
      <div class="task-boxes">
        {few.rows.map((task) => (
          <label key={task.task_id}>
            <input type="checkbox" checked={chosen.includes(task.task_id)} onChange={() => toggle(task.task_id)} />
            <span>{task.task_id}</span>
          </label>
        ))}
      </div>
      {few.rest}
    </details>
  );
}

/** The same as a command and as a request, as it is filled in now. */
export function SameByCommand({ words, path, body }: { words: string[]; path: string; body: unknown }) {
  return (
    <section class="card same-now" aria-label="The same by command">
      <header><h2>The same by command</h2></header>
      <Command label="CLI" text={cliText(...words)} />
      <Command label="curl" text={curlText("POST", path, body)} />
    </section>
  );
}
