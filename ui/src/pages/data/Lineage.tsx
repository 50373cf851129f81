// Where data comes from and who goes on with it.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { go, hrefWith, pathOf, place } from "../../core/route";
import { Empty } from "../../parts/basics";
import { ChoiceFilter, SearchField } from "../../parts/form";
import { Page, Show } from "../../parts/page";
import {
  assetNode, dagNode, focused, layOut, lineageOf, NODE_HEIGHT, NODE_WIDTH,
  type Direction, type Layout, type LineageEdge, type PlacedNode,
} from "./layers";
import type { Assets } from "./types";

const MOST = 500;

/** "asset" or "dag" in the URL names what the picture is about. */
function focusOf(): string | null {
  const { query } = place.value;
  const asset = query.get("asset");
  const dag = query.get("dag");
  return asset ? assetNode(asset) : dag ? dagNode(dag) : null;
}

export function LineagePage() {
  const contains = place.value.query.get("q");
  const loaded = useLoad<Assets>(
    `/assets?with_users=true&limit=${MOST}${contains ? `&contains=${encodeURIComponent(contains)}` : ""}`,
      { every: 10_000, keep: true });
  const focus = focusOf();
  const name = place.value.query.get("asset") ?? place.value.query.get("dag");
  return (
    <Page title="Lineage" crumbs={[{ text: "Assets", href: "/assets" }]}>
      <div class="filters">
        <SearchField name="q" label="Part of a URI" />
        {focus && (
          <>
            <ChoiceFilter name="direction" label="Direction" choices={[{ value: "", text: "before and after" },
              { value: "up", text: "what it comes from" }, { value: "down", text: "what comes of it" }]} />
            <a class="tag is-on" href={hrefWith({ asset: null, dag: null, direction: null })}
              aria-label={`Show all, not only ${name}`}>{name} ✕</a>
          </>
        )}
      </div>
      <Show of={loaded}>{(data) => <Picture data={data} focus={focus} />}</Show>
      <p class="dim hint">A task that has not updated its datasets yet is not known as their maker. Click on one to see
        only what is joined with it.</p>
    </Page>
  );
}

function Picture({ data, focus }: { data: Assets; focus: string | null }) {
  const direction = (place.value.query.get("direction") ?? "both") as Direction;
  const layout = useMemo(() => {
    const all = lineageOf(data.assets);
    return layOut(focus ? focused(all, focus, direction) : all);
  }, [data, focus, direction]);
  if (layout.nodes.length === 0)
    return <Empty>No datasets. A task with <code>outputs</code> makes one,
      a schedule with <code>datasets</code> waits for one.</Empty>;
  return (
    <>
      {data.total_entries > data.assets.length && (
        <p class="notice">The first {data.assets.length} of {data.total_entries} datasets are drawn. Search for a part
          of their URI.</p>
      )}
      <Drawing key={focus ?? ""} layout={layout} focus={focus} />
    </>
  );
}

interface View {
  x: number;
  y: number;
  scale: number;
}

const MARGIN = 16;

function useView(layout: Layout) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ x: MARGIN, y: MARGIN, scale: 1 });
  const fit = () => {
    const width = box.current?.clientWidth ?? 800;
    const height = box.current?.clientHeight ?? 500;
    const scale = Math.min(1, (width - 2 * MARGIN) / layout.width, (height - 2 * MARGIN) / layout.height);
    const readable = Math.max(scale, 0.6); // smaller is no text any more; one can still zoom out
    setView({ scale: readable, x: Math.max(MARGIN, (width - layout.width * readable) / 2),
      y: Math.max(MARGIN, (height - layout.height * readable) / 2) });
  };
  useLayoutEffect(fit, [layout.width, layout.height]);
  const zoom = (factor: number, x?: number, y?: number) => setView((old) => {
    const scale = Math.min(2, Math.max(0.15, old.scale * factor));
    const atX = x ?? (box.current?.clientWidth ?? 0) / 2;
    const atY = y ?? (box.current?.clientHeight ?? 0) / 2;
    const real = scale / old.scale;
    return { scale, x: atX - (atX - old.x) * real, y: atY - (atY - old.y) * real };
  });
  const move = (dx: number, dy: number) => setView((old) => ({ ...old, x: old.x + dx, y: old.y + dy }));
  return { box, view, fit, zoom, move };
}

function Drawing({ layout, focus }: { layout: Layout; focus: string | null }) {
  const { box, view, fit, zoom, move } = useView(layout);
  const at = new Map(layout.nodes.map((node) => [node.id, node]));
  const way = useRef(0);
  const drag = (event: PointerEvent) => {
    if (!(event.buttons & 1)) return;
    way.current += Math.abs(event.movementX) + Math.abs(event.movementY);
    move(event.movementX, event.movementY);
  };
  // The end of a drag is no click on what lies there.
  const endDrag = (event: MouseEvent) => {
    if (way.current > 6) event.preventDefault();
  };
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const frame = box.current!.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - frame.left, event.clientY - frame.top);
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step) move(step[0]!, step[1]!);
    else if (event.key === "+") zoom(1.2);
    else if (event.key === "-") zoom(1 / 1.2);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  };
  return (
    <div class="lineage card" ref={box} tabIndex={0} role="group" aria-label="Lineage; arrows move it, + and - zoom"
      onPointerDown={() => (way.current = 0)} onPointerMove={drag} onClickCapture={endDrag}
      onDragStart={(event) => event.preventDefault()} onWheel={wheel} onKeyDown={keys}>
      <svg width="100%" height="100%">
        <defs><marker id="lineage-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"
          orient="auto">
          <path d="M0 0L8 4L0 8Z" /></marker></defs>
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
          {layout.edges.map((edge) => <Edge key={edge.from + edge.to} edge={edge} from={at.get(edge.from)!}
            to={at.get(edge.to)!} />)}
          {layout.nodes.map((node) => <Node key={node.id} node={node} isFocus={node.id === focus} />)}
        </g>
      </svg>
      <div class="lineage-tools">
        <button type="button" class="small" aria-label="Zoom in" onClick={() => zoom(1.2)}>+</button>
        <button type="button" class="small" aria-label="Zoom out" onClick={() => zoom(1 / 1.2)}>−</button>
        <button type="button" class="small" onClick={fit}>Fit</button>
      </div>
    </div>
  );
}

function Edge({ edge, from, to }: { edge: LineageEdge; from: PlacedNode; to: PlacedNode }) {
  const x1 = from.x + NODE_WIDTH;
  const y1 = from.y + NODE_HEIGHT / 2;
  const x2 = to.x - 2;
  const y2 = to.y + NODE_HEIGHT / 2;
  const bend = Math.max(30, Math.abs(x2 - x1) / 2);
  return (
    <path class="lineage-edge" d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
      marker-end="url(#lineage-tip)">
      <title>{edge.label ? `made by ${edge.label}` : "waited for"}</title>
    </path>
  );
}

const cut = (text: string, length: number): string => (text.length > length ? "…" + text.slice(1 - length) : text);

/** Links of a picture are none of HTML, so that the page has to follow them itself. */
function follow(event: MouseEvent, href: string): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.defaultPrevented) return;
  event.preventDefault();
  go(href);
}

function Node({ node, isFocus }: { node: PlacedNode; isFocus: boolean }) {
  const isDag = node.kind === "dag";
  const focusHref = hrefWith(isDag ? { dag: node.name, asset: null } : { asset: node.name, dag: null });
  const href = isFocus ? (isDag ? pathOf("dags", node.name) : pathOf("asset", node.name)) : focusHref;
  const more = isDag ? (node.tasks.length > 0 ? `DAG: ${node.tasks.join(", ")}` : "DAG") : "dataset";
  return (
    <g transform={`translate(${node.x} ${node.y})`}><a href={href} onClick={(event) => follow(event, href)}
      class={`lineage-node is-${node.kind} ${isFocus ? "is-focus" : ""}`} aria-label={`${more} ${node.name}`}>
      <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={isDag ? 6 : 22} />
      <text x={isDag ? 12 : 20} y="18">{cut(node.name, isDag ? 25 : 23)}</text>
      <text x={isDag ? 12 : 20} y="34" class="more">{cut(more, 30)}</text>
      <title>{node.name}</title>
    </a></g>
  );
}
