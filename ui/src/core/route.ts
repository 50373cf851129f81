// Where we are: the URL is the only place that holds what a page shows.
import { signal } from "@preact/signals";

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly hash: string;
}

const here = (): Place => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
  hash: location.hash.slice(1),
});

export const place = signal<Place>(here());

/** Another page was gone to, and what is shown of it has not been in focus yet. */
let isArriving = false;

function arrive(): void {
  const before = place.value.path;
  place.value = here();
  if (place.value.path !== before) isArriving = true;
}

/** Whether somebody came from another page of ours just now; true once for each. */
export function takeArrival(): boolean {
  const was = isArriving;
  isArriving = false;
  return was;
}

export interface GoOptions {
  /** Nothing to come back to: a filter that was typed, not a page that was visited. */
  replace?: boolean;
}

export function go(href: string, options: GoOptions = {}): void {
  const before = place.value.path;
  history[options.replace ? "replaceState" : "pushState"](null, "", href);
  arrive();
  if (place.value.path !== before && !place.value.hash) scrollTo(0, 0);
}

/** The same page with other parameters; null, "" and undefined take one away. */
export function hrefWith(changes: Record<string, string | number | null | undefined>): string {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  const text = query.toString();
  return place.value.path + (text ? "?" + text : "");
}

/** Changes parameters of this page without a step in the history. */
export function setQuery(changes: Record<string, string | number | null | undefined>): void {
  go(hrefWith(changes), { replace: true });
}

/** A path of names, each escaped. */
export function pathOf(...names: (string | number)[]): string {
  return "/" + names.map((name) => encodeURIComponent(String(name))).join("/");
}

export type Params = Record<string, string>;

/** The names of a pattern as "/dags/:dag/*"; null: the path is another. */
export function matchPath(pattern: string, path: string): Params | null {
  const wanted = pattern.split("/");
  const given = path.replace(/\/+$/, "").split("/");
  if (wanted.length !== given.length) return null;
  const params: Params = {};
  for (let i = 0; i < wanted.length; i++) {
    const want = wanted[i] ?? "";
    const have = given[i] ?? "";
    if (want.startsWith(":")) {
      if (have === "") return null;
      try {
        params[want.slice(1)] = decodeURIComponent(have);
      } catch {
        return null;
      }
    } else if (want !== have) return null;
  }
  return params;
}

/** Clicks on our own links stay in the page; others, and those with a modifier, do not. */
export function followLinks(): void {
  addEventListener("popstate", arrive);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}
