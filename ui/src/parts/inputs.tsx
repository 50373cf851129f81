// Forms in dialogs: what was typed, and controls that say what is wrong before anything is sent.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Field } from "./form";

export type Values = Record<string, string>;

export interface Form<V extends Values> {
  values: V;
  set: (changes: Partial<V>) => void;
  /** As it was at first; for a dialog that opens again. */
  reset: () => void;
}

export function useForm<V extends Values>(initial: V): Form<V> {
  const [values, setValues] = useState(initial);
  return {
    values,
    set: (changes) => setValues((old) => ({ ...old, ...changes })),
    reset: () => setValues(initial),
  };
}

interface InputProps<V extends Values> {
  form: Form<V>;
  name: keyof V & string;
  label: string;
  hint?: ComponentChildren;
  type?: "text" | "number" | "password" | "datetime-local" | "email";
  placeholder?: string;
  isRequired?: boolean;
  isFixed?: boolean;
  min?: number;
  max?: number;
  /** A text of several lines. */
  rows?: number;
  /** The id of a datalist. */
  list?: string;
  check?: (text: string) => string | null;
}

export function Input<V extends Values>(props: InputProps<V>) {
  const { form, name, label, hint, check } = props;
  const control = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const value = form.values[name] ?? "";
  const problem = check?.(value) ?? null;
  useLayoutEffect(() => control.current?.setCustomValidity(problem ?? ""), [problem]);
  const shared = {
    ref: control, value, required: props.isRequired, readOnly: props.isFixed, placeholder: props.placeholder,
    spellcheck: false,
    onInput: (event: { currentTarget: { value: string } }) =>
      form.set({ [name]: event.currentTarget.value } as unknown as Partial<V>),
  };
  return (
    <Field label={label} hint={hint} problem={problem}>
      {props.rows ? <textarea {...shared} rows={props.rows} /> : (
        <input {...shared} {...{ type: props.type ?? "text", list: props.list } as { type: "text"; list?: string }}
          min={props.min} max={props.max} autocomplete={props.type === "password" ? "new-password" : "off"} />
      )}
    </Field>
  );
}

export function Choose<V extends Values>({ form, name, label, hint, choices }: {
  form: Form<V>; name: keyof V & string; label: string; hint?: ComponentChildren; choices: (string | [string,
    string])[];
}) {
  return (
    <Field label={label} hint={hint}>
      <select value={form.values[name]}
        onChange={(event) => form.set({ [name]: event.currentTarget.value } as unknown as Partial<V>)}>
        {choices.map((choice) => {
          const [value, text] = typeof choice === "string" ? [choice, choice] : choice;
          return <option key={value} value={value}>{text}</option>;
        })}
      </select>
    </Field>
  );
}

/** Names to choose from while typing; any other may be typed as well. */
export function Suggestions({ id, names }: { id: string; names: string[] }) {
  return <datalist id={id}>{[...new Set(names)].map((name) => <option key={name} value={name} />)}</datalist>;
}

/** Fields beside each other where there is room. */
export function Pair({ children }: { children: ComponentChildren }) {
  return <div class="pair">{children}</div>;
}

/** Members that have a text; the others are left to the server. */
export function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "" && value !== undefined));
}

export const numberOf = (text: string): number | undefined => (text === "" ? undefined : Number(text));
