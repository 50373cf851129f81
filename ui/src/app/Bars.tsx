// The bar above, and the menu beside the page (below it on a phone).
import { useState } from "preact/hooks";
import { useLoad } from "../core/load";
import { isDark, ownZone, theme, zone, type Theme } from "../core/prefs";
import { place } from "../core/route";
import { canSomewhere, me, signOut } from "../core/session";
import { connection } from "../core/stream";
import { Field } from "../parts/form";
import { NAV, NAV_ITEMS, type NavItem } from "./nav";
import { helpIsOpen } from "./Help";
import { paletteIsOpen } from "./Palette";

const WORD = { waiting: "connecting", live: "live", lost: "not connected" } as const;

export function TopBar() {
  return (
    <header class="topbar">
      <a class="brand" href="/" aria-label="Eider, home">
        <img src={iconHref()} alt="" width="24" height="24" /> Eider
      </a>
      <button type="button" class="search-button" onClick={() => (paletteIsOpen.value = true)}>
        <span>Search DAGs, runs, tasks, pages</span> <kbd>/</kbd>
      </button>
      <span class={`connection is-${connection.value}`} role="status">
        <i aria-hidden="true" /> {WORD[connection.value]}
      </span>
      <Preferences />
    </header>
  );
}

function iconHref(): string {
  return document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href ?? "";
}

function Preferences() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="menu" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label="Preferences and account">
        {isDark.value ? "☾" : "☀"} <span class="wide">{me.value?.name}</span>
      </summary>
      <div class="menu-body">
        <Field label="Theme">
          <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
            <option value="system">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </Field>
        <ZoneField />
        <button type="button" onClick={() => (helpIsOpen.value = true)}>Keyboard shortcuts</button>
        <p class="dim">Signed in as {me.value?.name}</p>
        <a href="/tokens" onClick={() => setOpen(false)}>Your password and tokens</a>
        <button type="button" onClick={() => void signOut()}>Sign out</button>
      </div>
    </details>
  );
}

function ZoneField() {
  const zones = [...new Set([ownZone, "UTC", zone.value, ...Intl.supportedValuesOf("timeZone")])];
  return (
    <Field label="Time zone">
      <select value={zone.value} onChange={(event) => (zone.value = event.currentTarget.value)}>
        {zones.map((name) => (
          <option key={name} value={name}>{name === ownZone ? `${name} (this device)` : name}</option>
        ))}
      </select>
    </Field>
  );
}

interface Counts {
  import_errors: number;
  dead_letters: number;
}

const isHere = (item: NavItem): boolean => {
  const path = place.value.path;
  if (item.href === "/") return path === "/";
  const best = NAV_ITEMS.filter(({ href }) => href !== "/" && (path === href || path.startsWith(href + "/")))
    .sort((a, b) => b.href.length - a.href.length)[0];
  return best === item || (item.href === "/assets" && path.startsWith("/asset/"));
};

export function Sidebar() {
  const counts = useLoad<Counts>("/home", { every: 30_000 }).data;
  const countOf: Record<string, number | undefined> = {
    "/errors": counts?.import_errors, "/dead": counts?.dead_letters,
  };
  return (
    <nav class="sidebar" aria-label="Pages">
      {NAV.map((group) => (
        <section key={group.text}>
          <h2>{group.text}</h2>
          {group.items.filter((item) => !item.needs || canSomewhere(item.needs)).map((item) => (
            <a key={item.href} href={item.href} class={item.isMain ? "is-main" : ""}
              aria-current={isHere(item) ? "page" : undefined}>
              {item.text}
              {!!countOf[item.href] && <span class="count is-bad">{countOf[item.href]}</span>}
            </a>
          ))}
        </section>
      ))}
    </nav>
  );
}
