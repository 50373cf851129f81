// What every page is made of: a heading with its actions, tabs, and what stands there while loading.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isTyping } from "../core/keys";
import type { Loaded } from "../core/load";
import type { Problem } from "../core/http";
import { place, takeArrival } from "../core/route";

export interface Crumb {
  text: string;
  href: string;
}

interface PageProps {
  title: ComponentChildren;
  /** Of the tab; by default the title if that is a text. */
  name?: string;
  crumbs?: Crumb[];
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, name, crumbs = [], actions, children }: PageProps) {
  const text = name ?? (typeof title === "string" ? title : "");
  useEffect(() => {
    document.title = text ? `${text} · Eider` : "Eider";
  }, [text]);
  const heading = useRef<HTMLHeadingElement>(null);
  // Whoever comes by keys, or hears the page, begins at its top; where it is scrolled to is decided elsewhere.
  useEffect(() => {
    if (takeArrival() && !isTyping(document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <main id="main" tabIndex={-1}>
      <header class="page-head">
        <div class="page-title">
          {crumbs.length > 0 && (
            <nav class="crumbs" aria-label="Where this is">
              {crumbs.map((crumb) => (
                <span key={crumb.href}><a href={crumb.href}>{crumb.text}</a> / </span>
              ))}
            </nav>
          )}
          <h1 ref={heading} tabIndex={-1}>{title}</h1>
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

export interface TabItem {
  href: string;
  text: string;
  count?: number;
}

export function Tabs({ items, label }: { items: TabItem[]; label: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {items.map((item) => (
        <a key={item.href} href={item.href}
          aria-current={place.value.path === item.href.split("?")[0] ? "page" : undefined}>
          {item.text}
          {item.count !== undefined && <span class="count">{item.count}</span>}
        </a>
      ))}
    </nav>
  );
}

export function ProblemBox({ problem }: { problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <b>{problem.title}</b>
      <p>{problem.detail}</p>
    </div>
  );
}

interface LoadedProps<T> {
  of: Loaded<T>;
  children: (data: T) => ComponentChildren;
}

/** What was loaded; before it came a hint, after a failure the problem. Old data stays visible. */
export function Show<T>({ of, children }: LoadedProps<T>) {
  if (of.data !== undefined)
    return (
      <>
        {of.problem && !of.problem.isUnreachable && <ProblemBox problem={of.problem} />}
        {children(of.data)}
      </>
    );
  if (of.problem) return <ProblemBox problem={of.problem} />;
  return <div class="loading" role="status" aria-label="Loading"><span /></div>;
}

export function Section({ title, actions, children, id }: {
  title: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; id?: string;
}) {
  return (
    <section class="card" id={id}>
      <header>
        <h2>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Pairs of a name and what it is; those without a value are left out. */
export function Facts({ items }: { items: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {items.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}
