// A graph with the states of a run, kept fresh: what events tell is drawn at once, an answer follows.
import { useRef } from "preact/hooks";
import { useLoad, type Loaded } from "../../core/load";
import { usePicture } from "../../core/picture";
import { pathOf } from "../../core/route";
import { lookOf } from "../../core/states";
import { useEvents } from "../../core/stream";
import { Graph, type GraphAnswer } from "./model";

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
  const { picture: graph, newest, hear } = usePicture(request.dag, {
    loaded, onChange,
    make: (data) => {
      busy.current = data.state && !lookOf(data.state).isOver ? BUSY_MS : 0;
      return new Graph(data);
    },
    apply: (made, told) =>
      told.task !== null && told.number === made.answer.number && made.setState(told.task, told.state),
  });
  useEvents((event) => {
    const run = newest.current?.answer.number ?? request.run;
    if (!run || event.number !== run) return;
    // Of a task in a closed group only the server knows what the group shows then.
    hear(event, (told) => !!told?.task && !newest.current?.find(told.task));
  }, [request.run, pathOfGraph(request)]);
  return { loaded, graph };
}
