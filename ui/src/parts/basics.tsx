// The smallest parts: states, times, durations, copyable texts.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { lookOf } from "../core/states";
import { zone } from "../core/prefs";
import { durationText, fromNow, longInstant, shortInstant } from "../core/time";

export function StateIcon({ state }: { state: string | null | undefined }) {
  const look = lookOf(state);
  return (
    <svg class={`state-icon s-${look.colour}`} viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="4" />
      <path class={look.isFilled ? "is-filled" : ""} d={look.shape} />
    </svg>
  );
}

/** Icon and word; `count` before the word. */
export function State({ state, count }: { state: string | null | undefined; count?: number }) {
  const look = lookOf(state);
  return (
    <span class={`state s-${look.colour}`} data-state={state ?? "none"}>
      <StateIcon state={state} />
      {count !== undefined && <b>{count}</b>} {look.word}
    </span>
  );
}

/** A clock that all relative times of the page share. */
const watchers = new Set<() => void>();
setInterval(() => watchers.forEach((watch) => watch()), 1000);

export function useEverySecond(isOn = true): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    if (!isOn) return;
    const watch = () => set(Date.now());
    watchers.add(watch);
    return () => void watchers.delete(watch);
  }, [isOn]);
  return now;
}

/** An instant in the chosen zone, whole in the tooltip. */
export function Instant({ at, isLong }: { at: string | null | undefined; isLong?: boolean }) {
  if (!at) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={`${longInstant(at, zone.value)} ${zone.value}\n${at}`}>
      {isLong ? longInstant(at, zone.value) : shortInstant(at, zone.value)}
    </time>
  );
}

/** "3 m ago", "in 2 h". */
export function Ago({ at }: { at: string | null | undefined }) {
  const now = useEverySecond(!!at);
  if (!at) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={`${longInstant(at, zone.value)} ${zone.value}`}>
      {fromNow(at, now)}
    </time>
  );
}

/** Of something that ended, or grows since `since`. */
export function Duration({ seconds, since }: { seconds?: number | null; since?: string | null }) {
  const isGrowing = (seconds === null || seconds === undefined) && !!since;
  const now = useEverySecond(isGrowing);
  if (isGrowing) return <span>{durationText(Math.max(0, (now - Date.parse(since!)) / 1000))}</span>;
  if (seconds === null || seconds === undefined) return <span class="dim">–</span>;
  return <span>{durationText(seconds)}</span>;
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyBySelection(text); // without TLS there is no clipboard but this one
    }
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="small quiet" onClick={() => void copy()} aria-label={`${label}: ${text}`}>
      {isDone ? "Copied" : label}
    </button>
  );
}

function copyBySelection(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** A text to copy: a command, a request. */
export function Command({ text, label }: { text: string; label?: string }) {
  return (
    <div class="command">
      {label && <span class="command-label">{label}</span>}
      <code tabIndex={0}>{text}</code>
      <Copy text={text} />
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Tag({ children }: { children: ComponentChildren }) {
  return <span class="tag">{children}</span>;
}
