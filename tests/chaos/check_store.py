"""Checks of what the store says by itself and to its clients: S1 S2 S4 S6 S7 S9 S10 S14 S19."""
import collections
from collections.abc import Iterator

import history as h
from joined import (NEW_GENERATION, RUNNING, Joined, Violation, ends_attempt, is_loss, op_in)
from product import (CANCEL_ASKED, CANCEL_TIMEOUT, FINAL, KIND, KIND_NAME, OWNER_LOSSES_MAX, REASON,
                     RUN_FINAL, RUN_STATE, STATE, STATE_NAME)

Found = Iterator[Violation]
SUBMITS = ("run", "job")
QUEUED, SCHEDULED, RETRY = STATE["QUEUED"], STATE["SCHEDULED"], STATE["UP_FOR_RETRY"]


def final_phase(history: h.History) -> dict[int, h.Call]:
    """The last word on each call: a call without an answer is unknown."""
    last: dict[int, h.Call] = {}
    for call in history.client:
        before = last.get(call.op)
        if before is None or before.phase == "i":
            last[call.op] = call
    return last


def stored_ops(joined: Joined) -> dict[int, list[h.Run | h.Job]]:
    """What each submit made."""
    made: dict[int, list[h.Run | h.Job]] = collections.defaultdict(list)
    for run in joined.history.run:
        op = op_in(run.params)
        if op is not None:
            made[op].append(run)
    for job in joined.history.job:
        op = op_in(job.payload)
        if op is not None:
            made[op].append(job)
    return made


def check_acceptance(joined: Joined) -> Found:
    """S1: what was answered is there, once; what was refused is not."""
    made = stored_ops(joined)
    calls = {op: call for op, call in final_phase(joined.history).items() if call.do in SUBMITS}
    for op, call in calls.items():
        rows = made.get(op, [])
        ids = {row.id for row in rows}
        existed = bool(call.reply.get("existed"))
        if call.phase == "o" and not rows and not existed:
            yield Violation("S1", f"call {op} was answered, its {call.do} is not there", (call,))
        if call.phase == "o" and rows and "id" in call.reply and int(call.reply["id"]) not in ids:
            yield Violation("S1", f"call {op} was answered with id {call.reply['id']}, the store"
                            f" has {sorted(ids)}", (call, *rows))
        if call.phase == "f" and rows:
            yield Violation("S1", f"call {op} was refused, its {call.do} is there",
                            (call, *rows))
        if len(rows) > 1:
            yield Violation("S1", f"call {op} made {len(rows)} {call.do}s", (call, *rows))
    if not calls:
        return
    for op, rows in made.items():
        if op not in calls:
            yield Violation("S1", f"nobody asked for what call {op} made", tuple(rows))


def check_dedupe(joined: Joined) -> Found:
    """S2: one job for a key; another body is refused; repeats are told the same id."""
    by_key: dict[tuple[str, str], list[h.Job]] = collections.defaultdict(list)
    for job in joined.history.job:
        if job.dedupe is not None:
            by_key[job.namespace, job.dedupe].append(job)
    for (_, key), jobs in by_key.items():
        if len(jobs) > 1:
            yield Violation("S2", f"{len(jobs)} jobs have the key {key}", tuple(jobs))
    answered: dict[str, h.Call] = {}
    for call in final_phase(joined.history).values():
        is_answer = call.phase == "o" and "id" in call.reply
        if call.do not in ("job", "repeat") or not call.key or not is_answer:
            continue
        first = answered.setdefault(call.key, call)
        if first.reply["id"] != call.reply["id"]:
            yield Violation("S2", f"key {call.key} was answered with two ids", (first, call))
        if first.body.get("handler") != call.body.get("handler"):
            yield Violation("S2", f"key {call.key} was accepted with two bodies", (first, call))


def check_owners(joined: Joined) -> Found:
    """S4: a nonce belongs to one attempt of one task, and an attempt has one nonce."""
    nonces: dict[tuple[int, int], str] = {}
    rows: list[tuple[h.Event | h.Task | h.Attempt, int | None, int | None, str | None]] = []
    rows += [(row, row.id, row.attempt, row.nonce) for row in joined.history.task]
    rows += [(row, row.task, row.attempt, row.nonce) for row in joined.history.attempt]
    rows += [(row, row.task, row.attempt, row.nonce) for row in joined.history.event]
    for row, task, attempt, nonce in rows:
        if not nonce or task is None or attempt is None:
            continue
        if joined.owner[nonce] != (task, attempt):
            yield Violation("S4", f"nonce {nonce} is of attempt {joined.owner[nonce]} and of"
                            f" {(task, attempt)}", (row,))
        if nonces.setdefault((task, attempt), nonce) != nonce:
            yield Violation("S4", f"attempt {attempt} of task {task} has two nonces", (row,))
    if len(set(map(len, joined.owner))) > 1:
        yield Violation("S4", "nonces differ in length", ())


class Replay:
    """The automaton of one task row; feeds on its events in the order of its versions."""

    def __init__(self, joined: Joined, task: int) -> None:
        self.joined = joined
        self.task = task
        self.policy = joined.policy(task)
        row = joined.tasks.get(task)
        # An instance begins in the generation of its mapped task, everything else in the first.
        is_instance = row is not None and row.map_index >= 0
        self.generation: int | None = None if is_instance else 0
        self.is_over = False
        self.attempt = 0  # the last one that ended
        self.is_looking = False  # from now on attempts may end without an event
        self.failures = self.losses = 0
        self.last: h.Event | None = None

    def feed(self, event: h.Event) -> Found:
        if self.is_looking:
            self.attempt = max(self.attempt, (event.attempt or 0) - ends_attempt(event))
        if event.kind in NEW_GENERATION:
            yield from self._renew(event)
        else:
            if self.generation is None:
                self.generation = event.generation
            if event.generation != self.generation:
                yield Violation("S6", f"task {self.task}: generation {self.generation} became"
                                f" {event.generation} without a clear", self._rows(event))
                self.generation = event.generation
            if self.is_over:
                rule = "S6" if event.kind == KIND["TASK_ENDED"] else "S7"
                yield Violation(rule, f"task {self.task}: {KIND_NAME[event.kind]} after its"
                                " verdict", self._rows(event))
            if ends_attempt(event):
                yield from self._end_attempt(event)
            self.is_over = self.is_over or event.kind == KIND["TASK_ENDED"]
            # A sensor says once that it waits, however often it looks.
            self.is_looking |= event.kind == KIND["TASK_DEFERRED"]
            if event.kind == KIND["TASK_ENDED"] and event.new_state not in FINAL:
                yield Violation("S6", f"task {self.task}: ended in a state that is not final",
                                self._rows(event))
        self.last = event

    def _rows(self, event: h.Event) -> tuple[h.Event, ...]:
        return (self.last, event) if self.last else (event,)

    def _renew(self, event: h.Event) -> Found:
        expected = event.generation if self.generation is None else self.generation + 1
        if event.generation != expected:
            yield Violation("S6", f"task {self.task}: a clear led to generation"
                            f" {event.generation}, not {expected}", self._rows(event))
        if self.last is not None and event.row_version == self.last.row_version and (
                self.last.kind in NEW_GENERATION):
            yield Violation("S6", f"task {self.task}: cleared twice at once", self._rows(event))
        self.generation = event.generation
        self.is_over = self.is_looking = False
        self.failures = self.losses = 0

    def _end_attempt(self, event: h.Event) -> Found:
        assert event.attempt is not None
        if event.attempt <= self.attempt:
            yield Violation("S6", f"task {self.task}: attempt {event.attempt} ended again",
                            self._rows(event))
        elif event.attempt != self.attempt + 1:
            yield Violation("S19", f"task {self.task}: no event tells how attempt"
                            f" {self.attempt + 1} ended", self._rows(event))
        self.attempt = max(self.attempt, event.attempt)
        self.losses += is_loss(event)
        failed = event.kind == KIND["TASK_RETRY"] or (
            event.kind == KIND["TASK_ENDED"] and event.new_state == STATE["FAILED"]
            and not is_loss(event))
        self.failures += failed
        if self.policy and self.failures > self.policy.retries + 1:
            yield Violation("S9", f"task {self.task}: {self.failures} failures, retries"
                            f" {self.policy.retries}", self._rows(event))
        if self.losses > OWNER_LOSSES_MAX:
            yield Violation("S9", f"task {self.task}: {self.losses} lost owners",
                            self._rows(event))


def check_replay(joined: Joined) -> Found:
    """S6 S7 S9 over events, and S19: the fold of the events is the row."""
    for task, events in joined.task_events.items():
        replay = Replay(joined, task)
        for event in events:
            yield from replay.feed(event)
        row = joined.tasks.get(task)
        if row is None:
            yield Violation("S19", f"events tell of task {task}, which has no row", (events[-1],))
        else:
            yield from compare_task(row, replay)
    for row in joined.history.task:
        if row.id not in joined.task_events:
            yield from compare_task(row, Replay(joined, row.id))


def check_attempts(joined: Joined) -> Found:
    """S7: an attempt that was followed by another keeps the verdict that it got."""
    verdicts = {(event.task, event.attempt): event for event in joined.history.event
                if event.kind == KIND["TASK_ENDED"] and event.old_state == RUNNING}
    for row in joined.history.attempt:
        event = verdicts.get((row.task, row.attempt))
        if event is not None and event.new_state != row.state:
            yield Violation("S7", f"attempt {row.attempt} of task {row.task} is kept as"
                            f" {STATE_NAME[row.state]}, its verdict was"
                            f" {STATE_NAME.get(event.new_state or 0)}", (event, row))


def compare_task(row: h.Task, replay: Replay) -> Found:
    """What follows from the last event against the row as it is."""
    last = replay.last
    rows = (row,) if last is None else (last, row)
    if (row.state in FINAL) != replay.is_over:
        told = "over" if replay.is_over else "open"
        yield Violation("S19", f"task {row.id} is {STATE_NAME[row.state]}, its events say it is"
                        f" {told}", rows)
        return
    running = row.state == RUNNING
    if row.attempt != replay.attempt + running and (replay.is_over or not replay.is_looking):
        yield Violation("S19", f"task {row.id} has attempt {row.attempt}"
                        f"{' running' if running else ''}, events tell the end of"
                        f" {replay.attempt}", rows)
    is_job = row.id in replay.joined.jobs  # one that is due later waits like a retry
    if row.state == RETRY and not is_job and (last is None or last.kind != KIND["TASK_RETRY"]):
        yield Violation("S19", f"task {row.id} waits for a retry that no event tells of", rows)
    if last is None:
        return
    if last.row_version is not None and row.row_version < last.row_version - (last.old_state == 0):
        yield Violation("S19", f"task {row.id}: version {row.row_version} is behind its events",
                        rows)
    if row.generation != replay.generation:
        yield Violation("S19", f"task {row.id} is in generation {row.generation}, events say"
                        f" {replay.generation}", rows)
    if replay.is_over and last.kind == KIND["TASK_ENDED"]:
        if (row.state, row.reason) != (last.new_state, last.reason):
            yield Violation("S7", f"task {row.id} is {STATE_NAME[row.state]}, its verdict was"
                            f" {STATE_NAME.get(last.new_state or 0)}", rows)
        if row.nonce != last.nonce:
            yield Violation("S7", f"task {row.id}: its nonce changed after the verdict", rows)
    if row.row_version == last.row_version and None not in (row.xmin, last.xid) and (
            row.xmin != last.xid):
        yield Violation("S19", f"task {row.id}: its event and its row were written by two"
                        " transactions", rows)


def check_runs(joined: Joined) -> Found:
    """S14, and S19 for runs: one verdict each time it was open, by the verdicts of its tasks."""
    for run in joined.history.run:
        state, ended, asked = RUN_STATE["QUEUED"], False, False
        events = joined.run_events.get(run.id, [])
        marks = any(event.kind == KIND["TASK_MARKED"] for task in joined.run_tasks[run.id]
                    for event in joined.task_events.get(task.id, ()))
        for event in events:
            if event.kind == KIND["RUN_ENDED"]:
                if ended and not marks:
                    yield Violation("S14", f"run {run.id} got a second verdict", (event, run))
                ended, state = True, event.new_state or 0
            elif event.kind == KIND["RUN_REOPENED"]:
                ended, asked = False, False
            elif event.kind == KIND["RUN_CANCEL_ASKED"]:
                if ended:
                    yield Violation("S7", f"run {run.id} was cancelled after its verdict",
                                    (event, run))
                asked = True
        if not events or events[0].kind != KIND["RUN_CREATED"]:
            yield Violation("S19", f"run {run.id}: no event tells of its creation", (run,))
        if (run.state in RUN_FINAL) != ended or (ended and run.state != state):
            yield Violation("S19", f"run {run.id} has state {run.state}, its events say"
                            f" {state if ended else 'open'}", (*events[-2:], run))
        if bool(run.cancel_asked) != asked:
            yield Violation("S19", f"run {run.id}: cancel_asked is {run.cancel_asked}, events say"
                            f" {asked}", (*events[-2:], run))
        last = events[-1] if events else None
        if last and run.row_version == last.row_version and run.xmin is not None and (
                last.xid is not None and last.xid != run.xmin):
            yield Violation("S19", f"run {run.id}: its event and its row were written by two"
                            " transactions", (last, run))
        yield from check_counters(joined, run)


def check_counters(joined: Joined, run: h.Run) -> Found:
    """S19 S14: a run's counters and verdict against the rows of its tasks."""
    shape = joined.shape(run.id)
    tasks = joined.run_tasks.get(run.id, [])
    if shape is None:
        return
    active = sum(task.state == RUNNING for task in tasks)
    if run.active != active:
        yield Violation("S19", f"run {run.id} counts {run.active} active tasks, there are"
                        f" {active}", (run,))
    if run.state not in RUN_FINAL:
        return
    still_open = [task for task in tasks if task.state not in FINAL]
    if still_open:
        yield Violation("S14", f"run {run.id} has a verdict and open tasks",
                        (run, *still_open[:3]))
    if run.open_main or run.open_finally:
        yield Violation("S19", f"run {run.id} is over and counts open tasks", (run,))
    current = {task.id for task in current_tasks(joined, run)}
    failures = 0
    for task in tasks:
        node = shape.nodes[task.node]
        counts = not shape.leaves_only or node.is_finally or task.node in shape.leaves
        failures += (task.id in current and counts and not node.allow_failure
                     and task.state in (STATE["FAILED"], STATE["UPSTREAM_FAILED"]))
    if failures != run.failures:
        yield Violation("S19", f"run {run.id} counts {run.failures} failures, there are"
                        f" {failures}", (run,))
    verdict = ("CANCELLED" if run.cancel_asked == CANCEL_ASKED else
               "FAILED" if run.cancel_asked == CANCEL_TIMEOUT or failures else "SUCCESS")
    if run.state != RUN_STATE[verdict]:
        yield Violation("S14", f"run {run.id} has state {run.state}, its tasks say {verdict}",
                        (run,))


def current_tasks(joined: Joined, run: h.Run) -> Iterator[h.Task]:
    """Nodes, and instances of the expansion that stands; older expansions are history."""
    tasks = joined.run_tasks.get(run.id, [])
    base = {task.node: (task.instance_base, task.parents) for task in tasks if task.map_index < 0}
    for task in tasks:
        first, count = base.get(task.node, (None, 0))
        if task.map_index < 0 or (first and first <= task.id < first + count):
            yield task


ALLOWED_AT = {
    "ready": {QUEUED},
    "running": {RUNNING},
    # A job that is due later waits like a retry.
    "timer": {RETRY, SCHEDULED, STATE["NONE"], STATE["UP_FOR_RESCHEDULE"], STATE["DEFERRED"]},
    "gate": {SCHEDULED},
    "pool_wait": {SCHEDULED},
    "pool_slot": {RUNNING},
}


def check_places(joined: Joined) -> Found:
    """S19: the index tables say the same as the rows; the dead are those that were given up."""
    seen: dict[str, set[int]] = collections.defaultdict(set)
    for place in joined.history.place:
        row = joined.tasks.get(place.task)
        if row is None or row.state not in ALLOWED_AT[place.table]:
            yield Violation("S10" if place.table == "pool_slot" else "S19",
                            f"task {place.task} does not belong into {place.table}",
                            (place, *([row] if row else [])))
        elif place.table == "running" and row.host != place.host:
            yield Violation("S4", f"task {place.task} is held by two hosts", (place, row))
        # A task may hold several slots.
        if place.task in seen[place.table] and place.table != "pool_slot":
            yield Violation("S4", f"task {place.task} is twice in {place.table}", (place,))
        seen[place.table].add(place.task)
    for row in joined.history.task:
        if row.state == QUEUED and row.id not in seen["ready"]:
            yield Violation("S19", f"task {row.id} is queued and nobody can claim it", (row,))
        if row.state == RUNNING and row.id not in seen["running"]:
            yield Violation("S19", f"task {row.id} runs and no host holds it", (row,))
    letters = {row.task: row for row in joined.history.dead}
    for row in joined.history.task:
        given_up = row.state == STATE["FAILED"] and (
            row.id in joined.jobs or row.reason == REASON["LOST_OWNER"])
        if given_up != (row.id in letters):
            yield Violation("S9", f"task {row.id} is {STATE_NAME[row.state]}"
                            f" {'without' if given_up else 'with'} a dead letter", (row,))


CHECKS = (check_acceptance, check_dedupe, check_owners, check_replay, check_attempts, check_runs,
          check_places)
