// Fields of forms and filters.
import type { ComponentChildren } from "preact";
import { place, setQuery } from "../core/route";
import { useTyped } from "./typed";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  problem?: string | null;
  children: ComponentChildren;
}

/** A labelled control. */
export function Field({ label, hint, problem, children }: FieldProps) {
  return (
    <label class={`field ${problem ? "is-wrong" : ""}`}>
      <span class="field-label">{label}</span>
      {children}
      {hint && <small>{hint}</small>}
      {problem && <small class="wrong" role="alert">{problem}</small>}
    </label>
  );
}

/** A text that filters, kept in the URL under `name`. */
export function SearchField({ name, label }: { name: string; label: string }) {
  const { text, type } = useTyped(name, (value) => setQuery({ [name]: value, offset: null }));
  return (
    <input type="search" value={text} placeholder={label} aria-label={label} data-search
      onInput={(event) => type(event.currentTarget.value)} />
  );
}

export interface Choice {
  value: string;
  text: string;
}

/** One of a few, kept in the URL under `name`; the first one is the default and not in the URL. */
export function ChoiceFilter({ name, label, choices }: { name: string; label: string; choices: Choice[] }) {
  const value = place.value.query.get(name) ?? choices[0]?.value ?? "";
  return (
    <select value={value} aria-label={label}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        setQuery({ [name]: chosen === choices[0]?.value ? null : chosen, offset: null });
      }}>
      {choices.map((choice) => <option key={choice.value} value={choice.value}>{choice.text}</option>)}
    </select>
  );
}

interface SwitchProps {
  isOn: boolean;
  label: string;
  isDisabled?: boolean;
  onChange: (isOn: boolean) => void;
}

export function Switch({ isOn, label, isDisabled, onChange }: SwitchProps) {
  return (
    <button type="button" role="switch" class="switch" aria-checked={isOn} aria-label={label} title={label}
      disabled={isDisabled} onClick={() => onChange(!isOn)}><span /></button>
  );
}
