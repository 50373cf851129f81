// Tables that fold into cards on a phone.
import type { ComponentChildren } from "preact";
import { go, hrefWith, place } from "../core/route";
import { Empty } from "./basics";
import { numberText } from "../core/time";

export interface Column<T> {
  name: string;
  cell: (row: T) => ComponentChildren;
  isNumber?: boolean;
  /** Not shown on a phone. */
  isExtra?: boolean;
  /** The server sorts by it under this name; kept in the URL as `order`. */
  order?: string;
}

interface TableProps<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T) => string;
  /** Where a click on a row leads; its first cell should hold the same as a link. */
  hrefOf?: (row: T) => string | null;
  empty?: ComponentChildren;
  /** On a phone each row is a card with the names of its columns. */
  isFolding?: boolean;
}

export function Table<T>({ label, rows, columns, keyOf, hrefOf, empty, isFolding }: TableProps<T>) {
  if (rows.length === 0) return <Empty>{empty ?? "Nothing here."}</Empty>;
  const open = (event: MouseEvent, row: T) => {
    const href = hrefOf?.(row);
    if (!href || (event.target as Element).closest("a, button, input, label, select, summary")) return;
    if (getSelection()?.toString()) return; // somebody marks a text
    go(href);
  };
  return (
    <div class="table-box">
      <table aria-label={label} class={isFolding ? "folds" : ""}>
        <thead>
          <tr>{columns.map((column) => (
            <th key={column.name} scope="col" class={classOf(column)} aria-sort={sortOf(column.order)}>
              {column.order ? <OrderLink name={column.name} order={column.order} /> : column.name}
            </th>
          ))}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={hrefOf?.(row) ? "is-link" : ""} onClick={(event) => open(event, row)}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)} data-name={column.name}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const classOf = <T,>(column: Column<T>): string =>
  [column.isNumber && "number", column.isExtra && "extra"].filter(Boolean).join(" ");

function sortOf(order: string | undefined): "ascending" | "descending" | undefined {
  const given = place.value.query.get("order");
  if (!order || !given) return undefined;
  return given === order ? "ascending" : given === "-" + order ? "descending" : undefined;
}

/** From the largest, then from the smallest, then as it was. */
function OrderLink({ name, order }: { name: string; order: string }) {
  const sort = sortOf(order);
  const next = sort === undefined ? "-" + order : sort === "descending" ? order : null;
  const words = order.replaceAll("_", " ");
  const title = sort === undefined ? `Sort by ${words}, descending`
    : sort === "descending" ? `Sort by ${words}, ascending` : `Do not sort by ${words} any more`;
  return (
    <a class={`order ${sort ? "is-on" : ""}`} href={hrefWith({ order: next, offset: null })} title={title}>
      {name}{sort && <span aria-hidden="true">{sort === "descending" ? " ▾" : " ▴"}</span>}
    </a>
  );
}

/** Pages by `offset` in the URL. */
export function Pager({ total, limit, isMore }: { total: number; limit: number; isMore?: boolean }) {
  const offset = Number(place.value.query.get("offset") ?? 0) || 0;
  if (total <= limit && offset === 0) return null;
  const to = Math.min(total, offset + limit);
  return (
    <nav class="pager" aria-label="Pages">
      {offset > 0 && <a class="button" href={hrefWith({ offset: Math.max(0, offset - limit) || null })}>Previous</a>}
      <span>{numberText(offset + 1)}–{numberText(to)} of {numberText(total)}{isMore && "+"}</span>
      {to < total && <a class="button" href={hrefWith({ offset: offset + limit })}>Next</a>}
    </nav>
  );
}
