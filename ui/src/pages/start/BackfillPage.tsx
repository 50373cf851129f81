// One backfill: how far it is, its dates, and what can be done about it.
import { useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { lookOf } from "../../core/states";
import { hrefWith, pathOf, place, type Params } from "../../core/route";
import { can } from "../../core/session";
import { useScope } from "../../core/stream";
import { durationText, numberText } from "../../core/time";
import { Action } from "../../parts/action";
import { Ago, Empty, Instant, State, StateIcon } from "../../parts/basics";
import { Facts, Page, Section, Show } from "../../parts/page";
import { Told } from "../../parts/told";
import type { Dag } from "../dag/DagFrame";
import { dateText, isOver, rangeText, segmentsOf, type Backfill, type BackfillDate } from "./backfill";
import { isOfBackfill } from "./BackfillsPage";
import { BackfillProgress, Legend } from "./Progress";

const MOST = 2000;
const LOOK_MS = 2000;

export function BackfillPage({ params }: { params: Params }) {
  const id = params["backfill"]!;
  const [isGoing, setGoing] = useState(true);
  const loaded = useLoad<Backfill>(`${pathOf("backfills", id)}?dates=${MOST}`,
    { live: isOfBackfill, every: isGoing ? LOOK_MS : 0 });
  const backfill = loaded.data;
  if (backfill && isOver(backfill) === isGoing) setGoing(!isGoing);
  useScope({ dag: backfill?.dag_id, kinds: "backfill,run" });
  const dag = useLoad<Dag>(backfill ? pathOf("dags", backfill.dag_id) : null).data;
  return (
    <Page title={`Backfill ${id}`} name={`Backfill ${id}`}
      crumbs={[{ text: "Backfills", href: "/backfills" },
        ...(backfill ? [{ text: backfill.dag_id, href: pathOf("dags", backfill.dag_id, "backfills") }] : [])]}
      actions={backfill && <Buttons backfill={backfill} namespace={dag?.namespace} reload={loaded.reload} />}>
      <Show of={loaded}>{(shown) => <Body backfill={shown} />}</Show>
    </Page>
  );
}

interface ButtonsProps {
  backfill: Backfill;
  namespace: string | undefined;
  reload: () => void;
}

function Buttons({ backfill, namespace, reload }: ButtonsProps) {
  const [stopsRunning, setStops] = useState(false);
  const id = backfill.backfill;
  const isAllowed = can("operator", namespace);
  const change = (verb: string) => ({ path: pathOf("backfills", id, verb), cli: ["backfill", verb, id] });
  const cancel = change("cancel");
  if (isOver(backfill)) return null;
  return (
    <>
      {backfill.state === "awaiting_approval" && (
        <Action label="Approve" isMain isAllowed={can("admin", namespace)} needs="admin" change={change("approve")}
          question={`Let it begin: ${numberText(backfill.size)} dates of ${backfill.dag_id}.`}
          done={`Backfill ${id} is approved.`} onDone={reload} />
      )}
      {backfill.state === "running" && (
        <Action label="Pause" isAllowed={isAllowed} change={change("pause")} done={`Backfill ${id} is paused.`}
          onDone={reload}
          question="It begins no further runs until somebody resumes it; those that run go on." />
      )}
      {backfill.state === "paused" && (
        <Action label="Resume" isMain isAllowed={isAllowed} change={change("resume")} done={`Backfill ${id} goes on.`}
          onDone={reload} question="It goes on with the dates that are left." />
      )}
      {backfill.state !== "cancelling" && (
        <Action label="Cancel backfill" isDanger isAllowed={isAllowed} onDone={reload}
          done={`Backfill ${id} begins nothing more.`}
          change={{ ...cancel, body: stopsRunning ? { running: true } : {},
            cli: [...cancel.cli, stopsRunning && "--running"] }}
          question={`It begins nothing more: ${numberText(backfill.left)} dates are left. ` +
            `${numberText(backfill.active)} runs go on.`}>
          <label>
            <input type="checkbox" checked={stopsRunning}
              onChange={(event) => setStops(event.currentTarget.checked)} />{" "}
            stop what runs, too
          </label>
        </Action>
      )}
    </>
  );
}

const REDO: Record<string, string> = { none: "left as they are", failed: "done again if they failed",
  all: "all done again" };

function Body({ backfill }: { backfill: Backfill }) {
  const source = pathOf("dags", backfill.dag_id, "source");
  const json = (value: Record<string, unknown>) =>
    Object.keys(value).length > 0 ? <code>{JSON.stringify(value)}</code> : null;
  return (
    <>
      {backfill.held_because && !isOver(backfill) && <div class="notice"><Told text={backfill.held_because} /></div>}
      <Section title={<State state={backfill.state} />} actions={
        backfill.state === "running" && backfill.estimate_left
          ? <span>about {durationText(backfill.estimate_left)} left</span> : null}>
        <BackfillProgress backfill={backfill} />
        <Legend segments={segmentsOf(backfill)} />
      </Section>
      <Section title="Dates">
        <Dates backfill={backfill} />
      </Section>
      <Section title="What it is">
        <Facts items={[
          ["DAG", <a href={pathOf("dags", backfill.dag_id)}>{backfill.dag_id}</a>],
          ["Version", <a href={`${source}?version=${backfill.dag_version}`}>{backfill.dag_version}</a>],
          ["Range", rangeText(backfill.from, backfill.to)],
          ["Order", backfill.order === "asc" ? "oldest date first" : "newest date first"],
          ["Dates that had a run", REDO[backfill.redo] ?? backfill.redo],
          ["Runs at once", backfill.max_active],
          ["Queue", backfill.queue],
          ["Only the tasks", backfill.tasks.join(", ")],
          ["Parameters", json(backfill.params)],
          ["Conf", json(backfill.conf)],
          ["Created by", backfill.actor],
          ["Created", <><Instant at={backfill.created_at} isLong /> (<Ago at={backfill.created_at} />)</>],
          ["Ended", backfill.end_date && <Instant at={backfill.end_date} isLong />],
          ["Note", backfill.note],
          ["Reason", backfill.reason],
        ]} />
      </Section>
    </>
  );
}

const dayOf = (date: BackfillDate): string => dateText(date.logical_date);

function Dates({ backfill }: { backfill: Backfill }) {
  const all = backfill.dates ?? [];
  const wanted = place.value.query.get("date_state");
  const states = [...new Set(all.map((date) => date.state ?? "none"))];
  const shown = wanted ? all.filter((date) => (date.state ?? "none") === wanted) : all;
  if (all.length === 0) return <Empty>No date was decided on yet.</Empty>;
  return (
    <>
      {states.length > 1 && (
        <nav class="filters" aria-label="Dates by state">
          <a class={`tag ${wanted ? "" : "is-on"}`} href={hrefWith({ date_state: null })}>all</a>
          {states.map((state) => (
            <a key={state} class={`tag ${wanted === state ? "is-on" : ""}`} href={hrefWith({ date_state: state })}>
              {lookOf(state).word}
            </a>
          ))}
        </nav>
      )}
      <ul class="date-cells" aria-label="Dates">
        {shown.map((date) => (
          <li key={date.logical_date}>
            {date.run
              ? <a href={pathOf("runs", date.run)} title={`${date.dag_run_id ?? ""}\n${date.action}`}
                  aria-label={`${dayOf(date)} ${lookOf(date.state).word}`}>
                  <StateIcon state={date.state} /> {dayOf(date)}
                </a>
              : <span title={date.action}><StateIcon state={date.state} /> {dayOf(date)}</span>}
          </li>
        ))}
      </ul>
      {backfill.size - backfill.left > all.length && (
        <p class="dim">The first {numberText(all.length)} dates are shown.</p>
      )}
    </>
  );
}
