"""Joins of a history that several checks need, and what a check reports."""
import collections
import dataclasses
import json
from typing import Any

import history as h
from product import KIND, REASON, STATE, Node, RetryPolicy, Shape, read_shape

RUNNING = STATE["RUNNING"]
# Kinds that end an attempt when the row was running.
ENDS_ATTEMPT = frozenset(KIND[name] for name in
                         ("TASK_ENDED", "TASK_RETRY", "TASK_LOST", "TASK_RETURNED",
                          "TASK_EXPANDED", "TASK_DEFERRED"))
NEW_GENERATION = frozenset((KIND["TASK_CLEARED"], KIND["TASK_MARKED"]))
CLAIM_TAG = 8  # hex digits of the nonce in a probe's output lines


@dataclasses.dataclass(frozen=True)
class Bounds:
    """How long things may take, in microseconds. Clocks are used for these alone."""

    lease: int = 3_000_000
    margin: int = 500_000
    sweep: int = 1_000_000
    poll: int = 1_000_000
    grace: int = 10_000_000  # from TERM to the end of a task, and of a daemon
    due: int = 2_000_000  # from a tick to its run
    slack: int = 250_000  # between two clocks readings of one machine under load
    start: int = 2_000_000  # from a claim's commit to the start of its process
    patience: int = 5_000_000  # added to every bound on what must happen
    drain: int = 120_000_000  # from the last heal to the end of the last task
    stuck: int = 20_000_000  # no progress while there is claimable work
    rss_growth_kb: int = 65_536
    fd_growth: int = 32  # its threads open their connections as the faults let them


@dataclasses.dataclass(frozen=True)
class Violation:
    """A rule that does not hold, and the rows that show it."""

    rule: str
    text: str
    rows: tuple[Any, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "text": self.text,
                "slice": [[type(row).__name__.lower(), row._asdict()] for row in self.rows]}


@dataclasses.dataclass
class Process:
    """One probe process, from its own lines."""

    nonce: str
    host: str
    pid: int
    attempt: int
    start: int
    last: int  # its last sign of life
    out: int = 0
    end: int | None = None
    code: int | None = None
    first_row: h.Probe | None = None
    last_row: h.Probe | None = None


def processes_of(probes: list[h.Probe]) -> list[Process]:
    """One per (claim, pid): a claim that was started twice gives two."""
    found: dict[tuple[str, int], Process] = {}
    for row in probes:
        process = found.get((row.nonce, row.pid))
        if process is None:
            process = Process(row.nonce, row.host, row.pid, row.attempt, row.at_us, row.at_us,
                              first_row=row)
            found[row.nonce, row.pid] = process
        process.start = min(process.start, row.at_us)
        process.last = max(process.last, row.at_us)
        process.out = max(process.out, row.out)
        process.last_row = row
        if row.op == "end":
            process.end, process.code = row.at_us, row.code
    return list(found.values())


class Joined:
    """A history with its rows found by what they belong to."""

    def __init__(self, history: h.History, bounds: Bounds) -> None:
        self.history = history
        self.bounds = bounds
        self.tasks = {row.id: row for row in history.task}
        self.runs = {row.id: row for row in history.run}
        self.jobs = {row.id: row for row in history.job}
        self.hosts = {row.id: row.name for row in history.host}
        self.task_events: dict[int, list[h.Event]] = collections.defaultdict(list)
        self.run_events: dict[int, list[h.Event]] = collections.defaultdict(list)
        for event in history.event:
            if event.task is not None:
                self.task_events[event.task].append(event)
            elif event.run is not None:
                self.run_events[event.run].append(event)
        # A row's own versions give the order; ids only order what one transaction wrote.
        for events in (*self.task_events.values(), *self.run_events.values()):
            events.sort(key=lambda event: (event.row_version or 0, event.id))
        self.attempts = collections.defaultdict(list)
        for attempt in history.attempt:
            self.attempts[attempt.task].append(attempt)
        self.shapes = {row.id: read_shape(row.canonical) for row in history.version}
        self.owner = self._owners()
        self.processes = processes_of(history.probe)
        self.by_nonce: dict[str, list[Process]] = collections.defaultdict(list)
        for process in self.processes:
            self.by_nonce[process.nonce].append(process)
        self.run_tasks: dict[int, list[h.Task]] = collections.defaultdict(list)
        for task in history.task:
            self.run_tasks[task.run].append(task)

    def _owners(self) -> dict[str, tuple[int, int]]:
        """nonce -> (task, attempt), by the first row that says so."""
        owner: dict[str, tuple[int, int]] = {}
        for row in self.history.task:
            if row.nonce:
                owner.setdefault(row.nonce, (row.id, row.attempt))
        for attempt in self.history.attempt:
            if attempt.nonce:
                owner.setdefault(attempt.nonce, (attempt.task, attempt.attempt))
        for event in self.history.event:
            if event.nonce and event.task is not None:
                owner.setdefault(event.nonce, (event.task, event.attempt or 0))
        return owner

    def shape(self, run: int) -> Shape | None:
        row = self.runs.get(run)
        return self.shapes.get(row.version) if row else None

    def node(self, task: int) -> Node | None:
        """What its DAG says of a task; None for a job."""
        row = self.tasks.get(task)
        shape = self.shape(row.run) if row else None
        return shape.nodes[row.node] if row and shape else None

    def policy(self, task: int) -> RetryPolicy | None:
        job = self.jobs.get(task)
        if job is not None:
            own = job.retry_delay_ms
            return RetryPolicy(job.retries, own if own >= 0 else 120_000,
                               1.0 if own >= 0 else 2.0, 3_600_000)
        node = self.node(task)
        return node.retry if node else None

    def exit_code(self, task: int, attempt: int) -> int | None:
        """The exit code stored for an attempt."""
        row = self.tasks.get(task)
        if row is not None and row.attempt == attempt:
            return row.exit_code
        for old in self.attempts.get(task, ()):
            if old.attempt == attempt:
                return old.exit_code
        return None

    def try_number(self, task: int, attempt: int) -> int:
        """Which try an attempt is: to look again is none, and only the first look has an event."""
        events = self.task_events.get(task, ())
        if all(event.kind != KIND["TASK_DEFERRED"] for event in events):
            return attempt
        return 1 + sum(ends_try(event) and (event.attempt or 0) < attempt for event in events)

    def op_of(self, task: int) -> int | None:
        """Number of the client's call that made the job or the run of this task."""
        job = self.jobs.get(task)
        row = self.tasks.get(task)
        if job is not None:
            return op_in(job.payload)
        run = self.runs.get(row.run) if row else None
        return op_in(run.params) if run else None

    def faults(self, host: str, start: int, end: int, kinds: frozenset[str] | None = None
               ) -> list[h.Fault]:
        """Faults of a host, or of all of them, that touch [start, end]."""
        return [fault for fault in self.history.nemesis
                if fault.host in ("", host) and fault.from_us <= end and fault.to_us >= start
                and (kinds is None or fault.kind in kinds)]


def op_in(text: str) -> int | None:
    """The `op` member of a JSON object."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return None
    op = value.get("op") if isinstance(value, dict) else None
    return int(op) if op is not None and str(op).isdigit() else None


def ends_attempt(event: h.Event) -> bool:
    return event.kind in ENDS_ATTEMPT and event.old_state == RUNNING


def ends_try(event: h.Event) -> bool:
    """The same, of one that may wait: it may also end while it waits."""
    if event.kind == KIND["TASK_ENDED"] and event.old_state == STATE["DEFERRED"]:
        return True
    return ends_attempt(event) and event.kind != KIND["TASK_DEFERRED"]


def is_loss(event: h.Event) -> bool:
    return event.kind == KIND["TASK_LOST"] or (
        event.kind == KIND["TASK_ENDED"] and event.reason == REASON["LOST_OWNER"])
