// The frame around every page.
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { useShortcuts } from "../core/keys";
import { go, place } from "../core/route";
import { me, meProblem, loadMe } from "../core/session";
import { connection } from "../core/stream";
import { Toasts } from "../parts/dialog";
import { Page, ProblemBox } from "../parts/page";
import { findPage, loadedPage, loadPage, type PageComponent, type PageRow } from "./pages";
import { NAV_ITEMS } from "./nav";
import { Palette, paletteIsOpen } from "./Palette";
import { Help, helpIsOpen } from "./Help";
import { Sidebar, TopBar } from "./Bars";
import { SignIn } from "./SignIn";

function usePageOf(row: PageRow | undefined): PageComponent | Error | undefined {
  const [, redraw] = useState(0);
  const [failure, setFailure] = useState<Error | undefined>();
  const page = row && loadedPage(row);
  useEffect(() => {
    setFailure(undefined);
    // Also when its code came meanwhile: that was not drawn.
    if (row && !page) loadPage(row).then(() => redraw((count) => count + 1), setFailure);
  }, [row]);
  return failure ?? page;
}

function Body() {
  const found = findPage(place.value.path.replace(/\/+$/, ""));
  const Shown = usePageOf(found?.row);
  if (!found)
    return (
      <Page title="There is no such page">
        <p>Look at <a href="/dags">the DAGs</a>, or press <kbd>/</kbd> to search.</p>
      </Page>
    );
  if (Shown instanceof Error)
    return <Page title="This page could not be loaded"><p>{Shown.message}</p>
      <button type="button" onClick={() => location.reload()}>Load again</button></Page>;
  if (!Shown) return <main id="main" aria-busy="true" />;
  return <Guarded key={found.row.pattern + JSON.stringify(found.params)} page={Shown} params={found.params} />;
}

/** A mistake in one page does not take the others away. */
function Guarded({ page: Shown, params }: { page: PageComponent; params: Record<string, string> }) {
  const [error, reset] = useErrorBoundary((mistake) => console.error(mistake));
  if (error)
    return (
      <Page title="This page has a mistake">
        <div class="problem" role="alert"><b>{String(error)}</b></div>
        <button type="button" onClick={reset}>Try again</button>
      </Page>
    );
  return <Shown params={params} />;
}

function useFrameShortcuts(): void {
  useShortcuts([
    { keys: "/", what: "search for everything", run: () => (paletteIsOpen.value = true) },
    { keys: "?", what: "this list", run: () => (helpIsOpen.value = true) },
    ...NAV_ITEMS.filter((item) => item.key).map((item) => ({
      keys: `g ${item.key}`, what: `go to ${item.text}`, run: () => go(item.href),
    })),
  ]);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      paletteIsOpen.value = true;
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
}

function toContent(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Frame() {
  useFrameShortcuts();
  const isIn = place.value.path === "/sign-in"; // by an old link, or one step back
  useEffect(() => {
    if (isIn) go("/", { replace: true });
  }, [isIn]);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={toContent}>To the content</a>
      <TopBar />
      <Sidebar />
      {connection.value === "lost" && (
        <div class="offline" role="status">
          The connection to the server is lost; what is shown may be old. Trying again…
        </div>
      )}
      <Body />
      <Toasts />
      {paletteIsOpen.value && <Palette />}
      {helpIsOpen.value && <Help />}
    </div>
  );
}

export function App() {
  if (meProblem.value && !me.value)
    return (
      <Page title="The server does not answer">
        <ProblemBox problem={meProblem.value} />
        <button type="button" onClick={() => void loadMe()}>Try again</button>
      </Page>
    );
  if (me.value === undefined) return <main aria-busy="true" />;
  if (me.value === null) return <SignIn />;
  return <Frame />;
}
