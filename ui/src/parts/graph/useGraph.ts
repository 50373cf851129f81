// A graph with the states of a run, kept fresh: what events tell is drawn at once, an answer follows.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Teller, type Told } from "../../core/live";
import { useLoad, type Loaded } from "../../core/load";
import { pathOf } from "../../core/route";
import { lookOf } from "../../core/states";
import { useEvents } from "../../core/stream";
import { Graph, type GraphAnswer } from "./model";

/** How old the state of an answer may be when it comes. */
const BEHIND_MS = 1500;
const SETTLE_MS = 1000;
const SOON_MS = 100;
const BUSY_MS = 5000;

export interface GraphRequest {
  dag: string;
  run: string | null;
  version?: number | undefined;
  task: string | null;
  up: string | null;
  down: string | null;
  closed: string;
}

function pathOfGraph(request: GraphRequest): string {
  const query = new URLSearchParams();
  if (request.run) query.set("run", request.run);
  else if (request.version) query.set("version", String(request.version));
  if (request.task) query.set("task", request.task);
  if (request.task && request.up) query.set("up", request.up);
  if (request.task && request.down) query.set("down", request.down);
  if (request.closed) query.set("collapsed", request.closed);
  return pathOf("graph", request.dag) + (query.size > 0 ? "?" + query : "");
}

export interface LiveGraph {
  loaded: Loaded<GraphAnswer>;
  graph: Graph | null;
}

/** `onChange` is called when a task of the graph has another state. */
export function useGraph(request: GraphRequest, onChange: () => void): LiveGraph {
  const busy = useRef(0);
  const loaded = useLoad<GraphAnswer>(pathOfGraph(request), { keep: true, every: busy.current });
  const teller = useMemo(() => new Teller(), [request.dag]);
  const { data } = loaded;
  const apply = (graph: Graph, told: Told): boolean =>
    told.task !== null && told.number === graph.answer.number && graph.setState(told.task, told.state);
  const graph = useMemo(() => {
    if (!data) return null;
    busy.current = data.state && !lookOf(data.state).isOver ? BUSY_MS : 0;
    const made = new Graph(data);
    for (const told of teller.since(performance.now() - BEHIND_MS)) apply(made, told);
    return made;
  }, [data]);
  // The one that was made last, also while the page is not yet drawn with it.
  const newest = useRef(graph);
  newest.current = graph;
  const settle = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(settle.current), []);
  useEvents((event) => {
    const run = newest.current?.answer.number ?? request.run;
    if (!run || event.number !== run) return;
    const told = teller.hear(event, performance.now());
    if (told && newest.current && apply(newest.current, told)) onChange();
    // Of a task in a closed group only the server knows what the group shows then.
    const isInside = !!told?.task && !newest.current?.find(told.task);
    settle.current ??= setTimeout(() => {
      settle.current = undefined;
      loaded.reload();
    }, isInside ? SOON_MS : SETTLE_MS);
  }, [request.run, pathOfGraph(request)]);
  return { loaded, graph };
}
