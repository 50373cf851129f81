// The command palette: type a part of a name, choose, go.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../core/load";
import { go, pathOf } from "../core/route";
import { Dialog } from "../parts/dialog";
import { NAV_ITEMS } from "./nav";

export const paletteIsOpen = signal(false);

interface Hit {
  kind: string;
  name: string;
  dag_id?: string | null;
  task_id?: string | null;
  number?: string | null;
  title?: string | null;
  state?: string | null;
}

interface Entry {
  kind: string;
  text: string;
  more?: string | null | undefined;
  href: string;
}

function hrefOf(hit: Hit): string {
  switch (hit.kind) {
    case "run": return pathOf("runs", hit.number ?? hit.name);
    case "job": return pathOf("jobs", hit.number ?? hit.name);
    case "tag": return "/dags?tag=" + encodeURIComponent(hit.name);
    case "task":
      return pathOf("dags", hit.dag_id ?? "", "graph") + "?task=" + encodeURIComponent(hit.task_id ?? hit.name);
    default: return pathOf("dags", hit.dag_id ?? hit.name);
  }
}

function entriesOf(text: string, hits: Hit[]): Entry[] {
  const small = text.toLowerCase();
  const pages = NAV_ITEMS.filter((item) => item.text.toLowerCase().includes(small))
    .map((item) => ({ kind: "page", text: item.text, href: item.href }));
  const found = hits.map((hit) => ({
    kind: hit.kind, text: hit.name, href: hrefOf(hit),
    more: hit.kind === "task" ? hit.dag_id : hit.title ?? hit.state,
  }));
  return [...found.slice(0, 40), ...pages];
}

export function Palette() {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const path = text ? `/search?limit=40&q=${encodeURIComponent(text)}` : null;
  const found = useLoad<{ results: Hit[] }>(path, { keep: true });
  const entries = entriesOf(text, text ? found.data?.results ?? [] : []);
  const close = () => (paletteIsOpen.value = false);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    go(entry.href);
  };
  useEffect(() => setChosen(0), [text]);
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChosen((at) => Math.max(0, Math.min(entries.length - 1, at + step)));
    else if (event.key === "Enter") open(entries[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search" onClose={close}>
      <input type="text" autofocus placeholder="A part of a name, a run's number, a page" value={text}
        role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={`palette-${chosen}`}
        aria-label="Search for everything" onKeyDown={onKey} onInput={(event) => setText(event.currentTarget.value)} />
      <ul class="palette" id="palette-list" role="listbox">
        {entries.map((entry, i) => (
          <li key={entry.kind + entry.href} id={`palette-${i}`} role="option" aria-selected={i === chosen}
            ref={(item) => { if (i === chosen) item?.scrollIntoView({ block: "nearest" }); }}
            onMouseMove={() => setChosen(i)} onClick={() => open(entry)}>
            <span class="tag">{entry.kind}</span> {entry.text} {entry.more && <span class="dim">{entry.more}</span>}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
