"""What tasks really did against what the store says: S5 S8 S10 S11 S13 S15 S16, overlaps."""
import bisect
import collections
import json
from collections.abc import Iterator
from typing import NamedTuple

import history as h
from check_store import final_phase
from joined import CLAIM_TAG, NEW_GENERATION, Joined, Process, Violation, ends_attempt
from product import (KIND, POOL_NAMED, POOL_OF_DAG, POOL_OF_NAMESPACE, POOL_OF_TIER, REASON, STATE,
                     STATE_NAME, Counts, Shape, decide_rule)

Found = Iterator[Violation]

DISK_FULL = frozenset(("disk_full",))
# Faults under which nobody is there to end the task before its lease ends.
BLINDS_KEEPER = frozenset(("pause_both", "kill_both"))


def rows_of(process: Process) -> tuple[h.Probe, ...]:
    rows = (process.first_row, process.last_row)
    return tuple(row for row in rows if row is not None)


def check_fencing(joined: Joined) -> Found:
    """S4 S5: only a committed claim starts, and a verdict is what that very process did."""
    slack = joined.bounds.slack
    for process in joined.processes:
        owner = joined.owner.get(process.nonce)
        if owner is None:
            yield Violation("S5", f"a process ran under claim {process.nonce}, which no row knows",
                            rows_of(process))
        elif joined.try_number(*owner) != process.attempt:
            yield Violation("S5", f"a process ran as try {process.attempt}, its claim is of"
                            f" try {joined.try_number(*owner)}", rows_of(process))
    for nonce, processes in joined.by_nonce.items():
        if len(processes) > 1:
            yield Violation("S4", f"claim {nonce} was started {len(processes)} times",
                            tuple(row for process in processes for row in rows_of(process)))
    if not joined.processes:
        return
    for events in joined.task_events.values():
        for event in events:
            if not ends_attempt(event) or event.reason != REASON["EXIT"]:
                continue
            process = next(iter(joined.by_nonce.get(event.nonce or "", ())), None)
            stored = joined.exit_code(event.task or 0, event.attempt or 0)
            if process is None or process.end is None:
                yield Violation("S5", f"task {event.task} has an exit verdict, its attempt"
                                f" {event.attempt} never ended by itself",
                                (event, *(rows_of(process) if process else ())))
            elif process.end > event.at_us + slack:
                yield Violation("S5", f"task {event.task} got its verdict before attempt"
                                f" {event.attempt} ended", (event, *rows_of(process)))
            elif stored is not None and stored != process.code:
                yield Violation("S5", f"task {event.task}: exit code {stored} is stored, attempt"
                                f" {event.attempt} ended with {process.code}",
                                (event, *rows_of(process)))


class Verdicts:
    """Which verdict a task had at an instant."""

    def __init__(self, events: list[h.Event]) -> None:
        changes = [event for event in events
                   if event.kind == KIND["TASK_ENDED"] or event.kind in NEW_GENERATION]
        self.at = [event.at_us for event in changes]
        self.states = [event.new_state if event.kind == KIND["TASK_ENDED"] else None
                       for event in changes]

    def at_instant(self, instant: int) -> int | None:
        place = bisect.bisect_right(self.at, instant)
        return self.states[place - 1] if place else None


def parents_at(joined: Joined, run: h.Run, shape: Shape, node: int, instant: int,
               verdicts: dict[int, Verdicts]) -> Counts:
    """The parents of a node, instances one by one, as they were at an instant."""
    counts = Counts()
    for parent in shape.nodes[node].needs:
        row = joined.tasks.get(run.first_task + parent)
        if row is None or row.reason == REASON["NOT_SELECTED"]:
            continue
        ids = [row.id]
        if row.instance_base:
            ids = list(range(row.instance_base, row.instance_base + row.parents))
        counts.total += len(ids)
        for task in ids:
            if task not in joined.tasks:
                # Dropped before it had a row: it ended with the mapped task.
                if verdicts[row.id].at_instant(instant) is not None:
                    counts.add(STATE["CANCELLED"])
                continue
            state = verdicts[task].at_instant(instant)
            if state is not None:
                counts.add(state)
    return counts


def check_order(joined: Joined) -> Found:
    """S8: when a process starts, its trigger rule holds; who did not start had a reason."""
    verdicts: dict[int, Verdicts] = collections.defaultdict(lambda: Verdicts([]))
    for task, events in joined.task_events.items():
        verdicts[task] = Verdicts(events)
    expanded_again = {event.task for event in joined.history.event
                      if event.kind in NEW_GENERATION}
    for process in joined.processes:
        owner = joined.owner.get(process.nonce)
        row = joined.tasks.get(owner[0]) if owner else None
        run = joined.runs.get(row.run) if row else None
        shape = joined.shape(row.run) if row else None
        if row is None or run is None or shape is None:
            continue
        # Parents that were expanded anew have lost the rows that this start stood on.
        if any(run.first_task + parent in expanded_again and shape.nodes[parent].is_mapped
               for parent in shape.nodes[row.node].needs):
            continue
        # Two readings of the clock may differ by the slack, in which a clear may lie.
        instant = process.start + joined.bounds.slack
        readings = [parents_at(joined, run, shape, row.node, at, verdicts)
                    for at in (process.start, instant)]
        rule = shape.nodes[row.node].rule
        counts = readings[0]
        if all(decide_rule(rule, reading) != "run" for reading in readings):
            yield Violation("S8", f"task {row.id} ({shape.nodes[row.node].name}) of run {run.id}"
                            f" started while its rule {shape.nodes[row.node].rule} did not hold:"
                            f" {counts}", (*rows_of(process), row))
        if shape.nodes[row.node].is_finally:
            early = [task for task in joined.run_tasks[run.id]
                     if task.map_index < 0 and not shape.nodes[task.node].is_finally
                     and task.id not in expanded_again
                     and verdicts[task.id].at_instant(instant) is None]
            if early:
                yield Violation("S8", f"task {row.id} is `finally` and started before task"
                                f" {early[0].id} ended", (*rows_of(process), early[0]))
    yield from check_unstarted(joined, verdicts)


def check_unstarted(joined: Joined, verdicts: dict[int, Verdicts]) -> Found:
    wanted = {STATE["SKIPPED"]: "skip", STATE["UPSTREAM_FAILED"]: "upstream"}
    for row in joined.history.task:
        run, shape = joined.runs.get(row.run), joined.shape(row.run)
        if run is None or shape is None or row.map_index >= 0 or row.state not in wanted or (
                row.reason != REASON["UPSTREAM"]):
            continue
        counts = parents_at(joined, run, shape, row.node, 1 << 62, verdicts)
        if decide_rule(shape.nodes[row.node].rule, counts) != wanted[row.state]:
            yield Violation("S8", f"task {row.id} is {STATE_NAME[row.state]}, its parents do not"
                            f" say so: {counts}", (row,))


def check_not_before(joined: Joined) -> Found:
    """S13: no process starts before its retry delay or its due time is over."""
    slack = joined.bounds.slack
    starts = {joined.owner[process.nonce]: process for process in joined.processes
              if process.nonce in joined.owner}
    for task, events in joined.task_events.items():
        policy, retry = joined.policy(task), 0
        for event in events:
            if event.kind in NEW_GENERATION:
                retry = 0
            if event.kind != KIND["TASK_RETRY"] or policy is None:
                continue
            retry += 1
            due = event.at_us + policy.least_delay_ms(retry) * 1000
            after = starts.get((task, (event.attempt or 0) + 1))
            if after is not None and after.start + slack < due:
                yield Violation("S13", f"task {task}: attempt {after.attempt} started"
                                f" {(due - after.start) / 1e6:.3f} s before it was due",
                                (event, *rows_of(after)))
    delays = {call.op: int(call.body["delay_ms"]) for call in joined.history.client
              if call.phase == "i" and call.body.get("delay_ms")}
    for job in joined.history.job:
        delay = delays.get(joined.op_of(job.id) or 0)
        process = starts.get((job.id, 1))
        if delay and process and process.start + slack < job.created_at_us + delay * 1000:
            yield Violation("S13", f"job {job.id} started before its delay of {delay} ms was over",
                            (job, *rows_of(process)))


class Cap(NamedTuple):
    """How much may be in use at once, and what breaks when it is more."""

    rule: str
    what: str
    most: int


LIMIT_KIND = {"namespace": POOL_OF_NAMESPACE, "dag": POOL_OF_DAG, "tier": POOL_OF_TIER}


def read_pools(joined: Joined) -> dict[tuple[int, str, str], int]:
    """The most that each pool or limit ever allowed, by (kind, namespace, name)."""
    most = {(row.kind, row.namespace, row.name): row.slots for row in joined.history.pool}
    for event in joined.history.event:
        if event.kind not in (KIND["POOL_SET"], KIND["LIMIT_SET"]):
            continue
        data = json.loads(event.data or "{}")
        if event.kind == KIND["POOL_SET"]:
            key, slots = (POOL_NAMED, data["namespace"], data["pool"]), data["slots"]
        else:
            key, slots = (LIMIT_KIND[data["kind"]], "", data["name"]), data["max_running"]
        most[key] = max(most.get(key, 0), slots)
    return most


def caps_of(joined: Joined, row: h.Task, pools: dict[tuple[int, str, str], int]
            ) -> Iterator[tuple[Cap, int]]:
    """What a running attempt of a task uses, and how much of it."""
    shape, job = joined.shape(row.run), joined.jobs.get(row.id)
    namespace = shape.namespace if shape else job.namespace if job else ""
    names = {"namespace": namespace, "dag": shape.dag if shape else "",
             "tier": shape.tier if shape else ""}
    for what, name in names.items():
        if (LIMIT_KIND[what], "", name) in pools:
            yield Cap("S11", f"{what} {name}", pools[LIMIT_KIND[what], "", name]), 1
    if shape is None:
        return
    if shape.max_active_tasks:
        yield Cap("S11", f"run {row.run}", shape.max_active_tasks), 1
    node = shape.nodes[row.node]
    if not node.pool or (node.is_mapped and row.map_index < 0):
        return  # a mapped task itself only lists its items
    for owner in (namespace, "default"):
        if (POOL_NAMED, owner, node.pool) in pools:
            yield Cap("S10", f"pool {node.pool} of {owner}",
                      pools[POOL_NAMED, owner, node.pool]), node.slots
            return


def check_limits(joined: Joined) -> Found:
    """S10 S11: attempts at once, from process start to verdict, within pools and limits."""
    pools = read_pools(joined)
    edges: dict[Cap, list[tuple[int, int, int]]] = collections.defaultdict(list)
    for task, events in joined.task_events.items():
        row = joined.tasks.get(task)
        caps = list(caps_of(joined, row, pools)) if row else []
        for event in events:
            processes = joined.by_nonce.get(event.nonce or "")
            if not ends_attempt(event) or not processes:
                continue
            start = processes[0].start
            for cap, weight in caps:
                edges[cap].append((start, weight, task))
                edges[cap].append((max(event.at_us, start), -weight, task))
    for cap, steps in edges.items():
        now = 0
        for _, step, task in sorted(steps):
            now += step
            if now > cap.most:
                yield Violation(cap.rule, f"{cap.what}: {now} at once, at most {cap.most}",
                                (joined.tasks[task],))
                break


def cancelled_at(joined: Joined) -> Iterator[tuple[h.Call, set[int]]]:
    """Acknowledged cancels, with the tasks they concern."""
    for call in final_phase(joined.history).values():
        if call.phase != "o" or call.do not in ("cancel_run", "cancel_job"):
            continue
        target = int(call.body["id"])
        if call.do == "cancel_job":
            yield call, {target}
            continue
        shape = joined.shape(target)
        if shape is not None:
            yield call, {task.id for task in joined.run_tasks.get(target, ())
                         if not shape.nodes[task.node].is_finally}


def check_cancel(joined: Joined) -> Found:
    """S15: after an acknowledged cancel nothing new starts and what runs is stopped."""
    bounds = joined.bounds
    by_task: dict[int, list[Process]] = collections.defaultdict(list)
    for process in joined.processes:
        if process.nonce in joined.owner:
            by_task[joined.owner[process.nonce][0]].append(process)
    for call, tasks in cancelled_at(joined):
        for task in tasks:
            cleared = [event.at_us for event in joined.task_events.get(task, ())
                       if event.kind in NEW_GENERATION and event.at_us >= call.at_us]
            until = min(cleared, default=1 << 62)
            for process in by_task.get(task, ()):
                if process.start >= until:
                    continue
                late = process.start - call.at_us
                stop_by = call.at_us + bounds.grace + bounds.poll + bounds.patience
                # What was claimed before may still start: how soon is up to the machine.
                if late > bounds.start + bounds.patience and not joined.faults(
                        process.host, call.at_us - bounds.lease, process.start):
                    yield Violation("S15", f"task {task} started {late / 1e6:.2f} s after its"
                                    " cancel was acknowledged", (call, *rows_of(process)))
                elif process.last > stop_by and not joined.faults(
                        process.host, call.at_us - bounds.lease, process.last):
                    yield Violation("S15", f"task {task} still ran"
                                    f" {(process.last - call.at_us) / 1e6:.2f} s after its cancel"
                                    " was acknowledged", (call, *rows_of(process)))


def check_logs(joined: Joined) -> Found:
    """S16: a stored log is a prefix of what its own attempt printed, all of it after an exit."""
    logs = {(log.task, log.attempt): log for log in joined.history.log}
    ended: set[str] = {event.nonce or "" for event in joined.history.event
                       if ends_attempt(event) and event.reason == REASON["EXIT"]}
    for process in joined.processes:
        owner = joined.owner.get(process.nonce)
        log = logs.get(owner) if owner else None
        if log is None:
            if owner and process.out and process.nonce in ended and joined.history.log and (
                    not joined.faults(process.host, process.start, process.last, DISK_FULL)):
                yield Violation("S16", f"attempt {owner} printed {process.out} lines, no log is"
                                " stored", rows_of(process))
            continue
        tag = process.nonce[:CLAIM_TAG]
        if log.claims not in ("", tag):
            yield Violation("S16", f"the log of attempt {owner} has lines of {log.claims}",
                            (log, *rows_of(process)))
        if log.breaks and not log.has_gap_marker:
            yield Violation("S16", f"the log of attempt {owner} has {log.breaks} breaks and no"
                            " marker", (log, *rows_of(process)))
        # One that was killed may have printed more than it could tell of.
        if process.end is not None and log.lines > process.out:
            yield Violation("S16", f"the log of attempt {owner} has {log.lines} lines, the task"
                            f" printed {process.out}", (log, *rows_of(process)))
        # A full disk has no room for a marker either.
        is_full = joined.faults(process.host, process.start, process.last, DISK_FULL)
        if process.nonce in ended and log.lines < process.out and not (
                log.has_gap_marker or is_full):
            yield Violation("S16", f"the log of attempt {owner} has {log.lines} of {process.out}"
                            " lines", (log, *rows_of(process)))


def overlaps(joined: Joined) -> Iterator[tuple[int, Process, Process, int]]:
    """Processes of one task that ran at once: (task, earlier, later, microseconds)."""
    by_task: dict[int, list[Process]] = collections.defaultdict(list)
    for process in joined.processes:
        if process.nonce in joined.owner:
            by_task[joined.owner[process.nonce][0]].append(process)
    for task, processes in by_task.items():
        processes.sort(key=lambda process: process.start)
        longest = processes[0]
        for later in processes[1:]:
            together = min(longest.last, later.last) - later.start
            if longest.last > later.start:
                yield task, longest, later, together
            if later.last > longest.last:
                longest = later


def check_overlap(joined: Joined) -> Found:
    """C12: two processes of one task at once, unless nobody could end the earlier one."""
    bounds = joined.bounds
    for task, earlier, later, together in overlaps(joined):
        since = later.start - 2 * bounds.lease - bounds.sweep
        covered = joined.faults(earlier.host, since, later.start, BLINDS_KEEPER)
        job = joined.jobs.get(task)
        is_asked_for = job is not None and job.finish_on_lost_lease
        if together > bounds.slack and not covered and not is_asked_for:
            yield Violation("C12", f"two processes of task {task} ran at once for"
                            f" {together / 1e6:.2f} s, and no fault explains it",
                            (*rows_of(earlier), *rows_of(later)))


CHECKS = (check_fencing, check_order, check_not_before, check_limits, check_cancel, check_logs,
          check_overlap)
