// A year of a DAG, day by day.
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoad } from "../../core/load";
import { zone as chosenZone } from "../../core/prefs";
import { go, hrefWith, pathOf, place, type Params } from "../../core/route";
import { lookOf } from "../../core/states";
import type { LiveEvent } from "../../core/stream";
import { dayEnd, dayStart } from "../../core/time";
import { Show } from "../../parts/page";
import { Told } from "../../parts/told";
import { dayAfterKey, dayText, lookOfDay, monthsOf, startOf, type CalendarDay } from "./calendar";
import { DagFrame, type Dag } from "./DagFrame";

interface CalendarAnswer {
  year: number;
  days: CalendarDay[];
  is_scheduled: boolean;
  has_more: boolean;
  planned_until: string | null;
}

/** As high as the bar below on a phone. */
const BAR = 60;
const isOfRun = (event: LiveEvent): boolean => event.kind.startsWith("run");

export function CalendarPage({ params }: { params: Params }) {
  return <DagFrame dag={params["dag"]!}>{(dag) => <Calendar dag={dag} />}</DagFrame>;
}

function Calendar({ dag }: { dag: Dag }) {
  const year = place.value.query.get("year");
  const asked = year ? `?year=${encodeURIComponent(year)}` : "";
  const loaded = useLoad<CalendarAnswer>(pathOf("calendar", dag.dag_id) + asked,
    { live: isOfRun, keep: true });
  return (
    <Show of={loaded}>{(answer) => (
      <>
        <div class="filters calendar-head">
          <a class="button" href={hrefWith({ year: answer.year - 1 })} aria-label={`The year ${answer.year - 1}`}>‹</a>
          <b>{answer.year}</b>
          <a class="button" href={hrefWith({ year: answer.year + 1 })} aria-label={`The year ${answer.year + 1}`}>›</a>
          <Key />
        </div>
        <Year key={answer.year} dag={dag} answer={answer} />
        {answer.has_more && (
          <p class="dim">What is planned is shown until {answer.planned_until
            ? <Told text={answer.planned_until} /> : "its bound"}.</p>
        )}
      </>
    )}</Show>
  );
}

function Key() {
  return (
    <span class="calendar-key dim">
      <span><i class="day-cell s-success"><Glyph state="success" /></i> all well</span>
      <span>
        <i class="day-cell s-failed" style={{ "--share": "40%" }} data-failed><Glyph state="failed" /></i> 2 of 5 failed
      </span>
      <span><i class="day-cell s-running"><Glyph state="running" /></i> running</span>
      <span><i class="day-cell is-planned" /> planned</span>
    </span>
  );
}

function Glyph({ state }: { state: string }) {
  const look = lookOf(state);
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path class={look.isFilled ? "is-filled" : ""} d={look.shape} />
    </svg>
  );
}

/** The days are those of the zone of the schedule. */
function zoneOf(dag: Dag): string {
  const zone = typeof dag.schedule === "object" && dag.schedule ? dag.schedule["tz"] : null;
  return typeof zone === "string" ? zone : "UTC";
}

/** Days of the zone that is looked at as such, those of others as instants. */
function runsHref(dag: Dag, date: string): string {
  const zone = zoneOf(dag);
  const range = zone === chosenZone.value ? { from: date, to: date }
    : { from: dayStart(date, zone), to: dayEnd(date, zone) };
  return pathOf("dags", dag.dag_id, "runs") + "?" + new URLSearchParams(range).toString();
}

function Year({ dag, answer }: { dag: Dag; answer: CalendarAnswer }) {
  const days = new Map(answer.days.map((day) => [day.date, day]));
  const today = new Date().toISOString().slice(0, 10);
  const [start] = useState(() => startOf(answer.year, answer.days, today));
  const [focused, setFocused] = useState(start);
  const [pointed, setPointed] = useState<string | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  // Its month may be far below; what is on the screen already stays where it is.
  useEffect(() => {
    const month = grid.current?.querySelector(`[data-date="${start}"]`)?.closest("section");
    if (month && month.getBoundingClientRect().bottom > innerHeight - BAR) month.scrollIntoView({ block: "center" });
  }, []);
  const move = (event: KeyboardEvent) => {
    const date = (event.target as HTMLElement).dataset["date"];
    if (event.key === "Enter" && date && days.get(date)?.total) return go(runsHref(dag, date));
    const next = date ? dayAfterKey(date, event.key) : null;
    if (!next) return;
    event.preventDefault();
    grid.current?.querySelector<HTMLElement>(`[data-date="${next}"]`)?.focus();
  };
  const told = pointed ?? focused;
  return (
    <>
      <p class="day-facts" aria-live="polite"><b>{told}</b> {dayText(days.get(told))}</p>
      <div class="months" ref={grid} onKeyDown={move} onMouseLeave={() => setPointed(null)}>
        {monthsOf(answer.year).map((month) => (
          <section key={month.name} aria-label={`${month.name} ${answer.year}`}>
            <h3>{month.name}</h3>
            <div class="month">
              {[..."MTWTFSS"].map((name, i) => (
                <span key={i} class="dim week-day" aria-hidden="true">{name}</span>
              ))}
              {month.cells.map((date, i) => (date === null ? <span key={i} />
                : <Day key={date} date={date} day={days.get(date)} isFocus={date === focused} isToday={date === today}
                    href={runsHref(dag, date)} point={() => setPointed(date)} focus={() => setFocused(date)} />))}
            </div>
          </section>
        ))}
      </div>
    </>
  );
}

interface DayProps {
  date: string;
  day: CalendarDay | undefined;
  isFocus: boolean;
  isToday: boolean;
  href: string;
  point: () => void;
  focus: () => void;
}

function Day({ date, day, isFocus, isToday, href, point, focus }: DayProps) {
  const look = lookOfDay(day);
  const kind = ["day-cell", look.state && `s-${lookOf(look.state).colour}`, day?.planned && !day.total && "is-planned",
    isToday && "is-today"];
  const label = `${date}: ${dayText(day)}`;
  const shared = {
    class: kind.filter(Boolean).join(" "), "data-date": date, "aria-label": label, tabIndex: isFocus ? 0 : -1,
    "data-failed": look.failedShare > 0 ? true : undefined,
    style: look.failedShare > 0 ? { "--share": `${Math.max(15, Math.round(100 * look.failedShare))}%` } : undefined,
    onMouseEnter: point, onFocus: () => { point(); focus(); },
  };
  const inside = (
    <>
      <span class="day-number" aria-hidden="true">{Number(date.slice(8))}</span>
      {look.state && <Glyph state={look.state} />}
      {day && day.total > 1 && <span class="day-count" aria-hidden="true">{day.total > 99 ? "99+" : day.total}</span>}
    </>
  );
  return day?.total ? <a href={href} {...shared}>{inside}</a> : <span role="img" {...shared}>{inside}</span>;
}
