// Searches the whole log, on the server, and steps through what was found.
import { useEffect, useRef } from "preact/hooks";
import { place, setQuery } from "../../core/route";
import { numberText } from "../../core/time";
import { useTyped } from "../../parts/typed";
import type { LogReader } from "./logReader";
import { nextHit, parseLines } from "./logWindow";

export function LogSearch({ reader }: { reader: LogReader }) {
  const given = place.value.query.get("q") ?? "";
  const { text, type, send } = useTyped("q", (value) => setQuery({ q: value, ...(value ? {} : { line: null }) }));
  const state = reader.search.value;
  const line = parseLines(place.value.query.get("line") ?? place.value.hash)?.from ?? 0;
  const step = (by: 1 | -1) => {
    if (send()) return;
    const hit = nextHit(reader.search.value?.hits ?? [], line, by);
    if (hit !== null) setQuery({ line: hit });
  };
  // The first hit is shown as soon as it is known, once for each search, unless one stands at a hit.
  const first = state?.hits[0];
  const shownFor = useRef<unknown>(null);
  useEffect(() => {
    if (!state || first === undefined || shownFor.current === state.wish || state.wish.find !== given) return;
    shownFor.current = state.wish;
    if (!state.hits.includes(line)) setQuery({ line: first });
  }, [first, state?.wish]);
  return (
    <form class="log-search" role="search" onSubmit={(event) => { event.preventDefault(); step(1); }}>
      <input type="search" value={text} placeholder="Search the whole log" aria-label="Search the whole log"
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => { if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); step(-1); } }} />
      <Toggle name="case" label="Large and small letters differ" face="Aa" />
      <Toggle name="re" label="Regular expression" face=".*" />
      {state && (
        <>
          <button type="button" class="small" aria-label="Previous hit" data-hit="previous"
            onClick={() => step(-1)}>↑</button>
          <button type="button" class="small" aria-label="Next hit" data-hit="next" onClick={() => step(1)}>↓</button>
          <span class="log-hits" role="status">{hitsText(state.hits, line, state.isDone, state.progress)}</span>
          {state.problem && <span class="bad" role="alert">{state.problem.message}</span>}
        </>
      )}
    </form>
  );
}

function hitsText(hits: number[], line: number, isDone: boolean, progress: number): string {
  const at = hits.indexOf(line);
  const count = `${numberText(hits.length)}${isDone ? "" : "+"}`;
  const found = at >= 0 ? `${numberText(at + 1)} of ${count}` : `${count} lines`;
  const words = hits.length > 0 ? found : isDone ? "no hit" : "searching";
  return isDone ? words : `${words} (${Math.round(100 * progress)} %)`;
}

function Toggle({ name, label, face }: { name: string; label: string; face: string }) {
  const isOn = place.value.query.get(name) === "1";
  return (
    <button type="button" class={`small ${isOn ? "is-on" : ""}`} aria-pressed={isOn} aria-label={label} title={label}
      onClick={() => setQuery({ [name]: isOn ? null : "1" })}>{face}</button>
  );
}
