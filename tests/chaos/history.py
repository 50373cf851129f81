"""A history: what four witnesses saw of one chaos run.

    client   what producers asked for and what they were told      (client.jsonl)
    probe    what tasks really did, written by themselves          (probe.jsonl)
    store    the product's tables at the end                       (store.jsonl)
    nemesis  which faults were there, from when to when            (nemesis.jsonl)

and samples of processes (process.jsonl). One folder per run; it can be checked again at any time.
All instants are microseconds of this machine's wall clock.
"""
import dataclasses
import json
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Event(NamedTuple):
    """A row of `event`; the last field is the transaction that wrote it."""

    id: int
    at_us: int
    kind: int
    run: int | None
    task: int | None
    row_version: int | None
    old_state: int | None
    new_state: int | None
    generation: int | None
    attempt: int | None
    nonce: str | None
    actor: str | None
    reason: int | None
    data: str | None
    xid: int | None


class Task(NamedTuple):
    """A row of `task`; xmin is the transaction that wrote it last."""

    id: int
    run: int
    node: int
    map_index: int
    generation: int
    state: int
    attempt: int
    nonce: str | None
    host: int | None
    failures: int
    losses: int
    parents: int
    instance_base: int | None
    inserted: int | None
    due_at_us: int | None
    started_at_us: int | None
    ended_at_us: int | None
    reason: int
    exit_code: int | None
    row_version: int
    xmin: int | None


class Attempt(NamedTuple):
    """A row of `attempt`: one that was followed by another."""

    task: int
    attempt: int
    generation: int
    state: int
    nonce: str | None
    host: int | None
    started_at_us: int | None
    ended_at_us: int | None
    reason: int
    exit_code: int | None


class Run(NamedTuple):
    """A row of `run`."""

    id: int
    dag: int
    version: int
    run_id: str
    state: int
    params: str
    first_task: int
    cancel_asked: int
    open_main: int
    open_finally: int
    active: int
    failures: int
    created_at_us: int
    ended_at_us: int | None
    row_version: int
    xmin: int | None
    kind: str = "manual"
    logical_at_us: int = 0
    backfill: int = 0


class Version(NamedTuple):
    """A row of `version`, without its source."""

    id: int
    dag: int
    canonical: str


class Job(NamedTuple):
    """A row of `job`."""

    id: int
    namespace: str
    handler: str
    payload: str
    dedupe: str | None
    retries: int
    retry_delay_ms: int
    created_at_us: int
    finish_on_lost_lease: int


class Host(NamedTuple):
    """A row of `host`."""

    id: int
    name: str
    pid: int
    started_at_us: int
    ended_at_us: int | None
    fate: str


class Dead(NamedTuple):
    """A row of `dead`."""

    task: int
    run: int
    at_us: int
    reason: int
    attempt: int


class Pool(NamedTuple):
    """A row of `pool`: a pool (kind 0), or the limit of a namespace (1), DAG (2) or tier (3)."""

    id: int
    kind: int
    namespace: str
    name: str
    slots: int
    removed: int


class Missed(NamedTuple):
    """A row of `missed`: ticks from the first to the last that became no run."""

    dag: int
    first_us: int
    last_us: int
    why: int


class Backfill(NamedTuple):
    """A row of `backfill`; its reason names the call that made it."""

    id: int
    dag: int
    state: int
    from_us: int
    to_us: int
    max_active: int
    reason: str


class BackfillRun(NamedTuple):
    """A row of `backfill_run`: what became of a date."""

    backfill: int
    logical_at_us: int
    run: int


class Asset(NamedTuple):
    """A row of `asset`: a dataset."""

    id: int
    uri: str


class AssetEvent(NamedTuple):
    """A row of `asset_event`: an update, by a task of a run or (run 0) by somebody."""

    id: int
    asset: int
    at_us: int
    run: int
    task_id: str | None
    map_index: int
    extra: str


class TriggerWatch(NamedTuple):
    """A row of `trigger_watch`: what a DAG waits for; kinds are WATCH_* in check_schedule.py."""

    dag: int
    kind: int
    name: str
    since_us: int


class TriggerPending(NamedTuple):
    """A row of `trigger_pending`: what happened and no run was made of yet."""

    dag: int
    kind: int
    source: int


class RunCause(NamedTuple):
    """A row of `run_cause`: what a run was made of."""

    run: int
    kind: int
    source: int


class Place(NamedTuple):
    """A row of a table that follows the states of tasks: PLACES in dump.py."""

    table: str
    task: int
    host: int | None


class Log(NamedTuple):
    """What the stored log of one attempt holds, seen by the probe's numbering of its lines."""

    run: int
    task: int
    attempt: int
    lines: int  # numbered 1..lines without a hole
    claims: str  # whose they are: prefixes of nonces, separated by blanks
    breaks: int  # lines that are not what should follow
    has_gap_marker: bool


class Probe(NamedTuple):
    """One line that a task wrote."""

    op: str  # start | tick | end
    nonce: str
    attempt: int
    pid: int
    host: str
    at_us: int
    boot_us: int
    task: str
    map_index: int
    out: int  # lines printed so far
    code: int  # of `end`
    job: str


class Call(NamedTuple):
    """One step of a client's call: i(nvoke), o(k), f(ail) or u(nknown)."""

    op: int
    phase: str
    at_us: int
    do: str
    key: str
    body: dict[str, Any]
    reply: dict[str, Any]
    code: int


class Fault(NamedTuple):
    """One fault, and what it visibly did."""

    n: int
    kind: str
    host: str
    from_us: int
    to_us: int
    effect: dict[str, Any]


class Sample(NamedTuple):
    """How a process, the fleet or a folder was at an instant, or how a daemon ended."""

    what: str  # daemon | store | exit | left | healed | drained
    at_us: int
    host: str
    values: dict[str, Any]


def table_of(kind: type) -> str:
    """The table whose rows a type is of."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


STORE_TYPES = {table_of(kind): kind for kind in
               (Event, Task, Attempt, Run, Version, Job, Host, Dead, Pool, Missed, Backfill,
                BackfillRun, Asset, AssetEvent, TriggerWatch, TriggerPending, RunCause, Place,
                Log)}
OTHER_TYPES = {"client": Call, "probe": Probe, "nemesis": Fault, "process": Sample}


@dataclasses.dataclass
class History:
    """Everything known about one run."""

    event: list[Event] = dataclasses.field(default_factory=list)
    task: list[Task] = dataclasses.field(default_factory=list)
    attempt: list[Attempt] = dataclasses.field(default_factory=list)
    run: list[Run] = dataclasses.field(default_factory=list)
    version: list[Version] = dataclasses.field(default_factory=list)
    job: list[Job] = dataclasses.field(default_factory=list)
    host: list[Host] = dataclasses.field(default_factory=list)
    dead: list[Dead] = dataclasses.field(default_factory=list)
    pool: list[Pool] = dataclasses.field(default_factory=list)
    missed: list[Missed] = dataclasses.field(default_factory=list)
    backfill: list[Backfill] = dataclasses.field(default_factory=list)
    backfill_run: list[BackfillRun] = dataclasses.field(default_factory=list)
    asset: list[Asset] = dataclasses.field(default_factory=list)
    asset_event: list[AssetEvent] = dataclasses.field(default_factory=list)
    trigger_watch: list[TriggerWatch] = dataclasses.field(default_factory=list)
    trigger_pending: list[TriggerPending] = dataclasses.field(default_factory=list)
    run_cause: list[RunCause] = dataclasses.field(default_factory=list)
    place: list[Place] = dataclasses.field(default_factory=list)
    log: list[Log] = dataclasses.field(default_factory=list)
    client: list[Call] = dataclasses.field(default_factory=list)
    probe: list[Probe] = dataclasses.field(default_factory=list)
    nemesis: list[Fault] = dataclasses.field(default_factory=list)
    process: list[Sample] = dataclasses.field(default_factory=list)


def read_lines(path: pathlib.Path) -> Iterator[Any]:
    """JSON lines; a last one that was cut by a kill is left out."""
    if not path.exists():
        return
    with path.open(errors="replace") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                if line.endswith("\n"):
                    raise


def save_store(folder: pathlib.Path, history: History) -> None:
    """The part of a history that was read from the store."""
    with (folder / "store.jsonl").open("w") as out:
        for name in STORE_TYPES:
            for row in getattr(history, name):
                out.write(json.dumps([name, *row]) + "\n")


def append(path: pathlib.Path, row: Call | Fault | Sample) -> None:
    """One line more, whole or not at all."""
    with path.open("a") as out:
        out.write(json.dumps(row) + "\n")


def read_probes(paths: Iterable[pathlib.Path]) -> list[Probe]:
    return [Probe(*row) for path in sorted(paths) for row in read_lines(path)]


def load(folder: pathlib.Path) -> History:
    history = History()
    for row in read_lines(folder / "store.jsonl"):
        kind = STORE_TYPES[row[0]]
        getattr(history, row[0]).append(kind(*row[1:]))
    for name, kind in OTHER_TYPES.items():
        rows = getattr(history, name)
        if name == "probe":
            rows += read_probes((folder / "probe").glob("*.jsonl"))
        rows += [kind(*row) for row in read_lines(folder / f"{name}.jsonl")]
    return history


LOG_LINE = re.compile(rb"L ([0-9a-f]+) (\d+)")
GAP_MARKER = b"[eider: "


def summarize_log(run: int, task: int, attempt: int, text: bytes) -> Log:
    """How far the numbering goes, whose lines they are, and how often it breaks."""
    expected, breaks, marker = 1, 0, False
    claims: dict[str, None] = {}
    for line in text.split(b"\n"):
        if not line:
            continue
        if line.startswith(GAP_MARKER):
            marker = True
            continue
        match = LOG_LINE.fullmatch(line)
        if match is None:
            # The last line of a task that was killed while it wrote may be cut.
            breaks += not text.endswith(line)
            continue
        claims[match[1].decode()] = None
        breaks += int(match[2]) != expected
        expected = int(match[2]) + 1
    return Log(run, task, attempt, expected - 1, " ".join(claims), breaks, marker)
