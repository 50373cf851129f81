// Lists that are read backwards: pages by the id of the last row, or more of the same.
import { hrefWith, place, setQuery } from "../core/route";
import { numberText } from "../core/time";

/** By `before` in the URL: the next page begins below the last id of this one. */
export function OlderPager({ ids, limit }: { ids: string[]; limit: number }) {
  const isLater = place.value.query.has("before");
  const isMore = ids.length >= limit;
  if (!isLater && !isMore) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {isLater && <a class="button" href={hrefWith({ before: null })}>Newest</a>}
      {isMore && <a class="button" href={hrefWith({ before: ids[ids.length - 1] })}>Older</a>}
    </nav>
  );
}

/** How many a list shows, kept in the URL as `limit`. */
export function limitOf(usual: number): number {
  return Number(place.value.query.get("limit")) || usual;
}

export function ShowMore({ shown, limit }: { shown: number; limit: number }) {
  if (shown < limit) return null;
  return <nav class="pager" aria-label="More"><a class="button"
    href={hrefWith({ limit: limit * 2 })}>Show more</a></nav>;
}

/** Parameters of the URL that the server is asked with; those that are empty are left out. */
export function queryOf(names: string[], others: Record<string, string | number | boolean | null> = {}): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = place.value.query.get(name);
    if (value) query.set(name, value);
  }
  for (const [name, value] of Object.entries(others)) if (value !== null) query.set(name, String(value));
  const text = query.toString();
  return text ? "?" + text : "";
}

/** "1 job", "1,200+ jobs". */
export function counted(count: number, word: string, isMore?: boolean): string {
  return `${numberText(count)}${isMore ? "+" : ""} ${word}${count === 1 && !isMore ? "" : "s"}`;
}

/** A name to filter by, kept in the URL under `name`: taken when it is whole, for half of one is an unknown name. */
export function NameFilter({ name, label, type = "text" }: { name: string; label: string; type?: "text" | "date" }) {
  return (
    <input type={type as "text"} class="name-filter" value={place.value.query.get(name) ?? ""} placeholder={label}
      aria-label={label} title={label}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim(), before: null, offset: null })} />
  );
}
