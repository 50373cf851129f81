// Of very many rows those that fit a search, and no more than are drawn quickly.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { numberText } from "../core/time";

const MOST = 200;

interface Few<T> {
  rows: T[];
  /** The field to search with; null while there are few anyway. */
  search: ComponentChildren;
  /** Says how many are not drawn. */
  rest: ComponentChildren;
}

interface FewOptions<T> {
  nameOf: (row: T) => string;
  /** Of the field. */
  label: string;
  /** There is a field when there are more than this. */
  many?: number;
  /** Drawn even if others come before it. */
  isKept?: (row: T) => boolean;
}

export function useFew<T>(all: T[], { nameOf, label, many = MOST, isKept }: FewOptions<T>): Few<T> {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const fitting = wanted === "" ? all : all.filter((row) => nameOf(row).toLowerCase().includes(wanted));
  const rows = fitting.length <= MOST ? fitting : fitting.filter((row, i) => i < MOST || isKept?.(row));
  const left = fitting.length - rows.length;
  return {
    rows,
    search: all.length > many && (
      <input type="search" placeholder={label} aria-label={label} value={text}
        onInput={(event) => setText(event.currentTarget.value)} />
    ),
    rest: left > 0 && <p class="dim" role="status">{numberText(left)} more: search for them.</p>,
  };
}
