// The parameters of a DAG as controls, each with what is wrong with it below.
import { Switch } from "../../parts/form";
import { PARAM, type Draft } from "./draft";
import { choicesOf, controlOf, isNullable, isRequired, orderedNames, rulesOf, textOf, type ParamSchema,
  type ParamSchemas } from "./params";

export interface FormProps {
  draft: Draft;
  problems: Record<string, string>;
  /** undefined takes the field back to its default. */
  change: (name: string, text: string | undefined) => void;
}

export function ParamFields({ schemas, ...form }: FormProps & { schemas: ParamSchemas }) {
  return (
    <div class="form-grid">
      {orderedNames(schemas).map((name) => <ParamField key={name} name={name} schema={schemas[name]!} {...form} />)}
    </div>
  );
}

function ParamField({ name, schema, draft, problems, change }: FormProps & { name: string; schema: ParamSchema }) {
  const field = PARAM + name;
  const given = draft[field];
  const problem = problems[field];
  const id = "param-" + name;
  const control = controlOf(schema);
  const isLarge = control === "json" || control === "lines";
  return (
    <div class={`field ${problem ? "is-wrong" : ""} ${isLarge ? "is-large" : ""}`} data-param={name}>
      <span class="field-label">
        <label for={id}>{schema.title || name}</label>
        {schema.title && <code class="dim"> {name}</code>}
        {isRequired(schema) && <span class="need" title="must be given"> required</span>}
        {given !== undefined && schema.default !== undefined && (
          <button type="button" class="small quiet" onClick={() => change(field, undefined)}
            aria-label={`${name}: back to the default`}>default</button>
        )}
      </span>
      <Control id={id} name={name} schema={schema} text={given ?? textOf(schema, schema.default)} problem={problem}
        change={(text) => change(field, text)} />
      {(schema.description || schema.doc) && <small>{schema.description || schema.doc}</small>}
      <small class="rules">{rulesOf(schema)}</small>
      {problem && <small class="wrong" role="alert" id={id + "-wrong"}>{problem}</small>}
    </div>
  );
}

interface ControlProps {
  id: string;
  name: string;
  schema: ParamSchema;
  text: string;
  problem: string | undefined;
  change: (text: string) => void;
}

function Control({ id, name, schema, text, problem, change }: ControlProps) {
  const control = controlOf(schema);
  const shared = {
    id, value: text, "aria-invalid": !!problem, "aria-describedby": problem ? id + "-wrong" : undefined,
    onInput: (event: Event) => change((event.currentTarget as HTMLInputElement).value),
  };
  if (control === "switch")
    return (
      <span class="switch-line">
        <Switch isOn={text === "true"} label={name} onChange={(isOn) => change(String(isOn))} /> {text}
      </span>
    );
  if (control === "choice") {
    const isOpen = isNullable(schema) || isRequired(schema);
    return (
      <select {...shared}>
        {isOpen && <option value="">{isNullable(schema) ? "none" : "choose…"}</option>}
        {choicesOf(schema).map((choice) => <option key={choice} value={choice}>{choice}</option>)}
      </select>
    );
  }
  if (control === "json" || control === "lines")
    return <textarea {...shared} rows={Math.min(12, Math.max(3, text.split("\n").length))} spellcheck={false} />;
  if (control === "secret") return <input {...shared} type="password" autocomplete="off" />;
  if (control === "date") return <input {...shared} type="date" />;
  return (
    <input {...shared} type="text" autocomplete="off" spellcheck={false}
      inputMode={control === "number" ? "decimal" : undefined} />
  );
}
