// Keyboard shortcuts: pages add theirs while they are shown; "?" lists them all.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Shortcut {
  /** "g d" is g and then d; "/" and "?" as typed. */
  keys: string;
  what: string;
  run: () => void;
}

export const shortcuts = signal<Shortcut[]>([]);
const SEQUENCE_MS = 1200;

export function useShortcuts(added: Shortcut[], deps: unknown[] = []): void {
  useEffect(() => {
    shortcuts.value = [...shortcuts.value, ...added];
    return () => {
      shortcuts.value = shortcuts.value.filter((shortcut) => !added.includes(shortcut));
    };
  }, deps);
}

/** Whoever is there writes or chooses, and is not to be disturbed. */
export function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input, textarea, select, [contenteditable], dialog");
}

export function listenToKeys(): void {
  let typed = "";
  let typedAt = 0;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.timeStamp - typedAt > SEQUENCE_MS) typed = "";
    typedAt = event.timeStamp;
    typed = (typed + " " + event.key).trim();
    // Later ones are of the page that is in front.
    const hit = shortcuts.value.findLast((shortcut) => typed === shortcut.keys || event.key === shortcut.keys);
    if (hit) {
      typed = "";
      event.preventDefault();
      hit.run();
    } else if (!shortcuts.value.some((shortcut) => shortcut.keys.startsWith(typed + " "))) typed = event.key;
  });
}
