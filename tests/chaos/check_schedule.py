"""Checks of runs that start by themselves: S3 L3 and S11 S13 S14 for them.

Which instants a timetable has is worked out here, from the text of the DAG alone, for the few
kinds that the load uses.
"""
import collections
import datetime
import re
from collections.abc import Iterator
from typing import NamedTuple

import history as h
from check_life import healed_at, samples
from check_store import final_phase
from joined import Joined, Violation, op_in
from product import BACKFILL_FINAL, KIND, STATE, Shape, duration_ms

Found = Iterator[Violation]
SECOND = 1_000_000
DAY = 86_400 * SECOND
OF_A_DATE = ("scheduled", "backfill")
WATCH_DATASET, WATCH_END = 0, 1
MISSED_OVERLAP = 1


def instant_us(text: str) -> int:
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int((at if at.tzinfo else at.replace(tzinfo=datetime.timezone.utc)).timestamp() * 1e6)


class Timetable:
    """The instants at which a DAG is due."""

    def __init__(self, shape: Shape) -> None:
        keys = shape.schedule
        self.start = instant_us(keys["start"]) if "start" in keys else 0
        self.end = instant_us(keys["end"]) if "end" in keys else None
        self.is_complete = keys.get("catchup") == "all"
        self.skips = keys.get("overlap") == "skip"
        # What it has to catch up it makes when there is room for it, and not at once.
        self.is_held = "grace" in keys and not self.skips
        self.step, self.base = self._rhythm(keys)

    def _rhythm(self, keys: dict[str, str]) -> tuple[int, int]:
        """From one tick to the next, and an instant that is one."""
        if "every" in keys:
            return duration_ms(keys["every"]) * 1000, self.start
        if keys["cron"] == "@daily":
            return DAY, 0
        seconds = re.fullmatch(r"\*/(\d+)( \*){5}", keys["cron"])
        assert seconds and 60 % int(seconds[1]) == 0, f"what is {keys['cron']!r}?"
        return int(seconds[1]) * SECOND, 0

    def has(self, at_us: int) -> bool:
        return (at_us - self.base) % self.step == 0 and at_us >= self.start and (
            self.end is None or at_us <= self.end)

    def ticks(self, until_us: int) -> range:
        first = self.base + -(-(self.start - self.base) // self.step) * self.step
        last = until_us if self.end is None else min(self.end, until_us)
        return range(first, last + 1, self.step)


def timetables(joined: Joined) -> Iterator[tuple[int, Timetable]]:
    """Of each DAG that has one."""
    for row in joined.history.version:
        shape = joined.shapes[row.id]
        if "cron" in shape.schedule or "every" in shape.schedule:
            yield row.dag, Timetable(shape)


def runs_by_date(joined: Joined) -> dict[int, dict[int, list[h.Run]]]:
    """Runs that stand for a date, by DAG."""
    found: dict[int, dict[int, list[h.Run]]] = collections.defaultdict(
        lambda: collections.defaultdict(list))
    for run in joined.history.run:
        if run.kind in OF_A_DATE:
            found[run.dag][run.logical_at_us].append(run)
    return found


def last_look(joined: Joined) -> int:
    """Until then somebody was there to act."""
    ends = [sample.values.get("asked_us") or sample.at_us for sample in samples(joined, "exit")]
    seen = max((event.at_us for event in joined.history.event), default=0)
    return max([seen, *ends])


def check_dates(joined: Joined) -> Found:
    """S3: one run for each date of a timetable, or a note that it was missed; no other runs."""
    found = runs_by_date(joined)
    missed: dict[int, list[h.Missed]] = collections.defaultdict(list)
    for row in joined.history.missed:
        missed[row.dag].append(row)
    until = last_look(joined) - joined.bounds.due - joined.bounds.patience
    for dag, table in timetables(joined):
        for at_us, runs in found[dag].items():
            if len(runs) > 1:
                yield Violation("S3", f"DAG {dag} has {len(runs)} runs for {moment(at_us)}",
                                tuple(runs))
            if not table.has(at_us):
                yield Violation("S3", f"DAG {dag} has a run for {moment(at_us)}, which its"
                                " schedule does not name", tuple(runs))
        yield from check_missed(dag, table, missed[dag], found[dag])
        if not table.is_complete or healed_at(joined) is None:
            continue
        for at_us in table.ticks(until):
            excused = any(row.first_us <= at_us <= row.last_us for row in missed[dag])
            if at_us not in found[dag] and not excused:
                yield Violation("S3", f"DAG {dag} has no run for {moment(at_us)}, and nothing says"
                                " that it was missed", tuple(nearest(found[dag], at_us)))


def check_missed(dag: int, table: Timetable, rows: list[h.Missed],
                 runs: dict[int, list[h.Run]]) -> Found:
    """S3: what is said to be missed was, and may be."""
    for row in rows:
        if table.is_complete and not (table.skips and row.why == MISSED_OVERLAP):
            yield Violation("S3", f"DAG {dag} catches up all and missed {moment(row.first_us)}",
                            (row,))
        both = [run for at_us, several in runs.items() for run in several
                if row.first_us <= at_us <= row.last_us and run.kind == "scheduled"]
        if both:
            yield Violation("S3", f"DAG {dag} has a run for a date that it missed", (row, *both))


def nearest(runs: dict[int, list[h.Run]], at_us: int) -> list[h.Run]:
    """The run before and the one after, as evidence."""
    before = [date for date in runs if date < at_us]
    after = [date for date in runs if date > at_us]
    return [*(runs[max(before)] if before else ()), *(runs[min(after)] if after else ())]


def moment(at_us: int) -> str:
    whole = datetime.datetime.fromtimestamp(at_us / 1e6, datetime.timezone.utc)
    return whole.strftime("%Y-%m-%d %H:%M:%S")


# --- when ---------------------------------------------------------------------------------------

def able_at(joined: Joined, at_us: int) -> int:
    """The instant from which on somebody could act on a tick: when no fault was near."""
    bounds, able = joined.bounds, at_us
    healed = healed_at(joined)
    for fault in sorted(joined.history.nemesis, key=lambda fault: fault.from_us):
        if fault.from_us <= able + bounds.due and fault.to_us + bounds.lease >= able:
            able = fault.to_us + bounds.lease + bounds.sweep
    return able if healed is None else max(at_us, min(able, healed))


class Pause(NamedTuple):
    """From when to when a DAG stood still for certain, and at most."""

    dag: str
    asked: h.Call
    told_us: int
    again_us: int
    over_us: int


def pauses(joined: Joined) -> list[Pause]:
    """One client at a time pauses a DAG; it asks until it has unpaused it."""
    found = []
    asked: h.Call | None = None
    told = again = 0
    for call in joined.history.client:
        if call.do == "pause" and call.phase == "i":
            asked, told, again = call, 0, 0
        elif call.do == "pause":
            told = call.at_us if call.phase == "o" else 0
        elif call.do == "unpause" and call.phase == "i":
            again = again or call.at_us
        elif call.do == "unpause" and call.phase == "o" and asked:
            # A pause of which nobody was told may have come at any time, or never.
            found.append(Pause(asked.body["dag"], asked, told or again, again, call.at_us))
    return found


def check_paused(joined: Joined) -> Found:
    """S3: a DAG that is paused starts nothing by itself."""
    for pause in pauses(joined):
        for run in joined.history.run:
            shape = joined.shape(run.id)
            if run.kind == "scheduled" and shape and shape.dag == pause.dag and (
                    pause.told_us < run.created_at_us < pause.again_us):
                yield Violation("S3", f"run {run.id} was made while {pause.dag} was paused",
                                (pause.asked, run))


def lateness(joined: Joined) -> Iterator[tuple[h.Run, int]]:
    """How long after it could be made each scheduled run was made."""
    tables, still = dict(timetables(joined)), pauses(joined)
    for run in joined.history.run:
        table = tables.get(run.dag)
        if run.kind == "scheduled" and table and not table.is_held:
            name, at_us = joined.shapes[run.version].dag, run.logical_at_us
            stood = [pause.over_us for pause in still if pause.dag == name
                     and pause.asked.at_us - joined.bounds.due <= at_us <= pause.over_us]
            yield run, run.created_at_us - able_at(joined, max([at_us, *stood]))


def check_due(joined: Joined) -> Found:
    """L3: what is due is there soon; S13: and not before."""
    most = joined.bounds.due + joined.bounds.patience
    for run, late in lateness(joined):
        if late > most:
            yield Violation("L3", f"run {run.id} for {moment(run.logical_at_us)} was made"
                            f" {late / 1e6:.1f} s late", (run,))
    for run in joined.history.run:
        if run.kind == "scheduled" and run.created_at_us < run.logical_at_us - joined.bounds.slack:
            yield Violation("S13", f"run {run.id} was made before its date", (run,))


def check_runs_at_once(joined: Joined) -> Found:
    """S11: runs at once, from the first process to the verdict, of a DAG and of a backfill."""
    most_of = {row.id: row.max_active for row in joined.history.backfill}
    first: dict[int, int] = {}
    for process in joined.processes:
        owner = joined.owner.get(process.nonce)
        row = joined.tasks.get(owner[0]) if owner else None
        if row is not None and row.run:
            first[row.run] = min(first.get(row.run, process.start), process.start)
    steps: dict[tuple[str, int, int], list[tuple[int, int, int]]] = collections.defaultdict(list)
    for run in joined.history.run:
        shape = joined.shape(run.id)
        ends = [event.at_us for event in joined.run_events.get(run.id, ())
                if event.kind == KIND["RUN_ENDED"]]
        if shape is None or run.id not in first or not ends:
            continue
        lane = (("backfill", run.backfill, most_of.get(run.backfill, 1 << 62)) if run.backfill
                else ("DAG", run.dag, shape.max_active_runs))
        # One that was cleared goes on whatever the limit is: only its first time counts.
        if ends[0] > first[run.id]:
            steps[lane] += [(first[run.id], 1, run.id), (ends[0], -1, run.id)]
    for (what, number, most), edges in steps.items():
        now = 0
        for _, step, run_id in sorted(edges):
            now += step
            if now > most:
                yield Violation("S11", f"{what} {number}: {now} runs at once, at most {most}",
                                (joined.runs[run_id],))
                break


# --- by what happened ---------------------------------------------------------------------------

def check_updates(joined: Joined) -> Found:
    """S1 S14: a dataset was updated as often as its tasks succeeded and somebody said so."""
    told: dict[tuple[int, str | None, int], int] = collections.Counter()
    said: dict[int, list[h.AssetEvent]] = collections.defaultdict(list)
    for row in joined.history.asset_event:
        told[row.run, row.task_id, row.map_index] += 1
        op = op_in(row.extra)
        if op is not None:
            said[op].append(row)
    for event in joined.history.event:
        if event.kind == KIND["TASK_ENDED"] and event.new_state == STATE["SUCCESS"]:
            task, node = joined.tasks.get(event.task or 0), joined.node(event.task or 0)
            if task and node:
                told[task.run, node.name, task.map_index] -= len(node.outputs)
    for (run, name, _), more in told.items():
        if run and more:
            yield Violation("S14", f"task {name} of run {run} updated datasets {abs(more)} times"
                            f" {'more' if more > 0 else 'less'} than it succeeded",
                            (joined.runs[run],) if run in joined.runs else ())
    for call in final_phase(joined.history).values():
        rows = said.get(call.op, [])
        if call.do == "emit" and (len(rows) > 1 or (call.phase == "o") > len(rows)
                                  or (call.phase == "f" and rows)):
            yield Violation("S1", f"call {call.op} to update a dataset ended with {call.phase} and"
                            f" made {len(rows)} updates", (call, *rows))


def happened(joined: Joined, watch: h.TriggerWatch
             ) -> Iterator[tuple[int, int, h.Event | h.AssetEvent]]:
    """What a DAG waits for, each time it happened: (number of its source, when, the row)."""
    names = {row.uri: row.id for row in joined.history.asset}
    if watch.kind == WATCH_DATASET:
        for row in joined.history.asset_event:
            if row.asset == names.get(watch.name):
                yield row.id, row.at_us, row
    elif watch.kind == WATCH_END:
        for event in joined.history.event:
            shape = joined.shape(event.run or 0)
            if event.kind == KIND["RUN_ENDED"] and shape and shape.dag == watch.name:
                yield event.run or 0, event.at_us, event


def check_triggers(joined: Joined) -> Found:
    """S14: whatever a DAG waits for becomes part of one run of it, and no run is of nothing."""
    is_over = bool(samples(joined, "drained"))
    taken: dict[tuple[int, int, int], int] = collections.Counter()
    with_cause = set()
    for cause in joined.history.run_cause:
        run = joined.runs.get(cause.run)
        with_cause.add(cause.run)
        if run is not None:
            taken[run.dag, cause.kind, cause.source] += 1
    for row in joined.history.trigger_pending:
        taken[row.dag, row.kind, row.source] += 1
        if is_over:
            yield Violation("L5", f"DAG {row.dag} never started by what happened", (row,))
    for watch in joined.history.trigger_watch:
        times: dict[int, list[h.Event | h.AssetEvent]] = collections.defaultdict(list)
        for source, at_us, seen in happened(joined, watch):
            if at_us > watch.since_us + joined.bounds.slack:
                times[source].append(seen)
        for source, rows in times.items():
            got = taken[watch.dag, watch.kind, source]
            if got != len(rows):
                yield Violation("S14", f"DAG {watch.dag} waits for {watch.name}: number {source}"
                                f" happened {len(rows)} times and started it {got} times",
                                (watch, *rows))
    for run in joined.history.run:
        if run.kind in ("dataset", "event") and run.id not in with_cause:
            yield Violation("S14", f"run {run.id} was started by nothing", (run,))


def check_backfills(joined: Joined) -> Found:
    """S1 S3 L5: a backfill that was answered is there once, ends, and has a run for each date."""
    made: dict[int, list[h.Backfill]] = collections.defaultdict(list)
    dates: dict[int, dict[int, int]] = collections.defaultdict(dict)
    for row in joined.history.backfill:
        made[op_in(row.reason) or 0].append(row)
    for date in joined.history.backfill_run:
        dates[date.backfill][date.logical_at_us] = date.run
    for call in final_phase(joined.history).values():
        rows = made.get(call.op, [])
        if call.do == "backfill" and (len(rows) > 1 or (call.phase == "o") > len(rows)
                                      or (call.phase == "f" and rows)):
            yield Violation("S1", f"call {call.op} for a backfill ended with {call.phase} and made"
                            f" {len(rows)}", (call, *rows))
    if healed_at(joined) is None:
        return
    tables = dict(timetables(joined))
    for row in joined.history.backfill:
        if row.state not in BACKFILL_FINAL:
            yield Violation("L5", f"backfill {row.id} never ended", (row,))
            continue
        table = tables[row.dag]
        expected = {at for at in range(row.from_us, row.to_us + 1, table.step) if table.has(at)}
        got = {at for at, run in dates[row.id].items() if run in joined.runs}
        if expected != got:
            yield Violation("S3", f"backfill {row.id} has runs for {len(got)} of {len(expected)}"
                            f" dates; not for {sorted(map(moment, expected - got))[:3]}", (row,))


CHECKS = (check_dates, check_paused, check_due, check_runs_at_once, check_updates, check_triggers,
          check_backfills)
