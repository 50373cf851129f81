// A DAG as a graph, with the states of a run if one is named. What it shows is in the URL: task (chosen, or with
// up and down all there is), closed (groups that are one node each), find.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useShortcuts } from "../../core/keys";
import { go, hrefWith, pathOf, place, setQuery } from "../../core/route";
import { lookOf, TASK_STATES } from "../../core/states";
import { numberText } from "../../core/time";
import { Empty, State } from "../basics";
import { SearchField } from "../form";
import { Facts, ProblemBox } from "../page";
import { Side, TaskSide } from "../side";
import type { Graph, GraphNode } from "./model";
import { Stage, ZOOM_STEP } from "./stage";
import { useGraph } from "./useGraph";

interface GraphProps {
  dag: string;
  namespace: string;
  /** A number; null: no states. */
  run: string | null;
  version?: number;
  /** Before the others above the graph. */
  tools?: ComponentChildren;
}

const listOf = (name: string): string[] => (place.value.query.get(name) ?? "").split(",").filter(Boolean);

function toggle(group: string, graph: Graph): void {
  const closed = new Set(listOf("closed"));
  // "*" is all of them: all but this one are named then.
  if (closed.delete("*"))
    for (const node of graph.answer.nodes) if (node.is_group) closed.add(node.task_id);
  if (!closed.delete(group)) closed.add(group);
  setQuery({ closed: [...closed].join(",") });
}

export function GraphView({ dag, namespace, run, version, tools }: GraphProps) {
  const { query } = place.value;
  const stage = useRef<Stage | null>(null);
  const chosen = query.get("task");
  const isAround = chosen !== null && (query.has("up") || query.has("down"));
  const { loaded, graph } = useGraph({
    dag, run, version, task: isAround ? chosen : null, up: query.get("up"), down: query.get("down"),
    closed: query.get("closed") ?? "",
  }, () => stage.current?.repaint());
  const found = useMemo(() => graph?.search(query.get("find") ?? "") ?? [], [graph, query.get("find")]);
  const close = () => setQuery({ task: null, up: null, down: null });
  useShortcuts([{ keys: "0", what: "show the whole graph", run: () => stage.current?.whole() }]);
  const node = graph?.find(chosen);
  return (
    <div>
      <Tools graph={graph} found={found} stage={stage} isAround={isAround} chosen={chosen} more={tools} />
      {loaded.problem && !loaded.problem.isUnreachable && <GraphProblem problem={loaded.problem} />}
      <div class={chosen && graph ? "with-side" : ""}>
        <div>
          {graph?.answer.nodes.length === 0 ? <Empty>{isAround ? `Nothing is around ${chosen}.`
            : "This DAG has no tasks."}</Empty>
            : graph ? <Canvas graph={graph} stage={stage} chosen={chosen} found={found} run={run} />
            : !loaded.problem && <div class="loading" role="status" aria-label="Loading"><span /></div>}
          {graph && <Legend graph={graph} />}
        </div>
        {chosen && graph && (run && node?.state !== undefined && !node.is_group
          ? <TaskSide number={run} task={chosen} namespace={namespace} onClose={close}
              more={<AroundLink isAround={isAround} />} />
          : <NodeSide graph={graph} id={chosen} onClose={close} isAround={isAround} />)}
      </div>
    </div>
  );
}

function GraphProblem({ problem }: { problem: Parameters<typeof ProblemBox>[0]["problem"] }) {
  const { query } = place.value;
  return (
    <>
      <ProblemBox problem={problem} />
      <div class="actions">
        {query.get("closed") !== "*" && <a class="button" href={hrefWith({ closed: "*" })}>Collapse all groups</a>}
        {query.has("task") && <a class="button" href={hrefWith({ task: null, up: null, down: null })}>Whole graph</a>}
      </div>
    </>
  );
}

function AroundLink({ isAround }: { isAround: boolean }) {
  return isAround
    ? <a class="button small" href={hrefWith({ up: null, down: null })}>Whole graph</a>
    : <a class="button small" href={hrefWith({ up: 1, down: 1 })}>Only around it</a>;
}

interface StageRef {
  current: Stage | null;
}

interface ToolsProps {
  graph: Graph | null;
  found: GraphNode[];
  stage: StageRef;
  isAround: boolean;
  chosen: string | null;
  more: ComponentChildren;
}

function Tools({ graph, found, stage, isAround, chosen, more }: ToolsProps) {
  const [at, setAt] = useState(0);
  const text = place.value.query.get("find");
  useEffect(() => setAt(0), [text]);
  const next = () => {
    const to = found[(at + 1) % found.length];
    setAt(at + 1);
    if (to) stage.current?.seek(to);
  };
  const hasGroups = (graph?.answer.groups.length ?? 0) > 0;
  const hasClosed = graph?.answer.nodes.some((node) => node.is_group) ?? false;
  return (
    <div class="filters grid-filters">
      {more}
      <SearchField name="find" label="Find a task" />
      {text && (
        <span class="actions">
          <span class="dim" role="status">
            {found.length === 0 ? "none found" : `${(at % found.length) + 1} of ${found.length}`}
          </span>
          {found.length > 1 && <button type="button" class="small" onClick={next}>Next</button>}
        </span>
      )}
      {hasGroups && <button type="button" class="small" onClick={() => setQuery({ closed: "*" })}>Collapse all</button>}
      {hasClosed && <button type="button" class="small" onClick={() => setQuery({ closed: null })}>Expand all</button>}
      {isAround && chosen && <Around task={chosen} />}
    </div>
  );
}

/** How much of what is around a task is shown. */
function Around({ task }: { task: string }) {
  const levels = (name: "up" | "down", text: string) => {
    const level = Number(place.value.query.get(name) ?? 1);
    return (
      <span class="actions graph-levels">
        {text}
        <button type="button" class="small" disabled={level <= 0} aria-label={`fewer levels ${text}`}
          onClick={() => setQuery({ [name]: level - 1 })}>−</button>
        <b>{level}</b>
        <button type="button" class="small" aria-label={`more levels ${text}`}
          onClick={() => setQuery({ [name]: level + 1 })}>+</button>
      </span>
    );
  };
  return (
    <span class="actions">
      <span>Around <b>{task}</b>:</span>
      {levels("up", "before")}
      {levels("down", "after")}
      <a class="button small" href={hrefWith({ up: null, down: null })}>Whole graph</a>
    </span>
  );
}

function wordsOf(graph: Graph, node: GraphNode): string {
  const names = (nodes: GraphNode[]) =>
    nodes.slice(0, 5).map((one) => one.task_id).join(", ") + (nodes.length > 5 ? "…" : "");
  const needs = graph.needs(node.task_id);
  const after = graph.neededBy(node.task_id);
  return [
    (node.is_group ? `group ${node.task_id}, ${node.tasks} tasks` : node.task_id),
    node.state && lookOf(node.state).word,
    node.instances && `${node.instances.total} instances`,
    needs.length > 0 ? `needs ${names(needs)}` : "needs nothing",
    after.length > 0 && `needed by ${names(after)}`,
  ].filter(Boolean).join(", ");
}

function Canvas({ graph, stage, chosen, found, run }: {
  graph: Graph; stage: StageRef; chosen: string | null; found: GraphNode[]; run: string | null;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<GraphNode | null>(null);
  useEffect(() => {
    const made = new Stage(box.current!);
    stage.current = made;
    return () => {
      made.end();
      stage.current = null;
    };
  }, []);
  useEffect(() => {
    stage.current!.calls = {
      onPoint: setPointed,
      onChoose: (node) => {
        if (node?.is_group) return toggle(node.task_id, graph);
        const chosenNow = node ? { task: node.task_id } : { task: null, up: null, down: null };
        return go(hrefWith(chosenNow), { replace: chosen !== null });
      },
      onOpen: (node, isNewTab) => open(graph, node, run, isNewTab),
      onToggle: (group) => toggle(group, graph),
    };
    stage.current!.show(graph, chosen, new Set(found.map((node) => node.task_id)));
  }, [graph, chosen, found, run]);
  return (
    <div ref={box} class="graph-box card" tabIndex={0} role="application" aria-roledescription="graph"
      aria-label={`Graph of ${graph.answer.dag_id}; arrow keys go to neighbours, Space shows details, ` +
        "Enter opens, plus and minus zoom"}>
      <div class="unseen" id="graph-at" role="status">{pointed && wordsOf(graph, pointed)}</div>
      <canvas class="graph-main" aria-hidden="true" />
      <canvas class="graph-map" aria-hidden="true" hidden />
      <div class="graph-zoom">
        <button type="button" class="small" aria-label="Zoom in" title="Zoom in (+)"
          onClick={() => stage.current?.zoom(ZOOM_STEP)}>+</button>
        <button type="button" class="small" aria-label="Zoom out" title="Zoom out (-)"
          onClick={() => stage.current?.zoom(1 / ZOOM_STEP)}>−</button>
        <button type="button" class="small" aria-label="Show all" title="Show all (0)"
          onClick={() => stage.current?.whole()}>⤢</button>
      </div>
      {pointed && <div class="graph-hint" aria-hidden="true">{wordsOf(graph, pointed)}</div>}
    </div>
  );
}

function open(graph: Graph, node: GraphNode, run: string | null, isNewTab: boolean): void {
  if (node.is_group) return toggle(node.task_id, graph);
  if (!run) return setQuery({ task: node.task_id });
  const href = pathOf("runs", run, "tasks", node.task_id);
  if (isNewTab) window.open(href, "_blank", "noopener");
  else go(href);
}

/** Of a task without a run. */
function NodeSide({ graph, id, onClose, isAround }: {
  graph: Graph; id: string; onClose: () => void; isAround: boolean;
}) {
  const node = graph.find(id);
  const links = (nodes: GraphNode[]) => nodes.map((one) => (
    <div key={one.task_id}><a href={hrefWith({ task: one.task_id })}>{one.task_id}</a></div>
  ));
  return (
    <Side title={id} label={`Task ${id}`} onClose={onClose}>
      {node ? (
        <>
          <Facts items={[
            ["Kind", node.operator], ["Group", node.group], ["Mapped", node.is_mapped ? "yes" : null],
            ["Runs at the end", node.is_finally ? "yes" : null],
            ["Needs", graph.needs(id).length > 0 ? links(graph.needs(id)) : "nothing"],
            ["Needed by", graph.neededBy(id).length > 0 ? links(graph.neededBy(id)) : "nothing"],
          ]} />
          <div class="actions"><AroundLink isAround={isAround} /></div>
        </>
      ) : <p class="dim">This task is not shown: it is in a closed group, or this version does not have it.</p>}
    </Side>
  );
}

function Legend({ graph }: { graph: Graph }) {
  const { answer } = graph;
  const shown = answer.nodes.length;
  const total = answer.tasks_total ?? shown;
  const states = new Set(answer.nodes.map((node) => node.state));
  return (
    <p class="grid-legend dim">
      <span>
        {numberText(total)} tasks{shown !== total && `, ${numberText(shown)} shown`},
        {" "}{numberText(answer.edges.length)} edges, version {answer.dag_version}
      </span>
      {TASK_STATES.filter((state) => states.has(state)).map((state) => <State key={state} state={state} />)}
    </p>
  );
}
