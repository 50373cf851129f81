"""What the checker knows of the product: numbers of states, kinds and reasons, and DAG shapes.

The numbers are read from the X-macros in src/model, where they are stated once; they only ever
grow at the end, so that old histories stay readable.
"""
import dataclasses
import functools
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWNER_LOSSES_MAX = 3  # LIMIT_OWNER_LOSSES
DEFAULT_RETRY = (120_000, 2.0, 3_600_000)  # RETRY_POLICY_DEFAULT: delay, backoff, cap
UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def read_map(header: str, macro: str) -> dict[str, int]:
    """{name: number} of one X-macro."""
    text = (ROOT / "src/model" / header).read_text()
    body = re.search(rf"#define {macro}\(X\)(.*?)\n\n", text, re.S)
    assert body, f"{header} has no {macro}"
    names = re.findall(r"X\((\w+),", body[1])
    return {name: number for number, name in enumerate(names)}


KIND = read_map("event_kind.h", "EVENT_KIND_MAP")
STATE = read_map("task_state.h", "TASK_STATE_MAP")
RUN_STATE = read_map("run_state.h", "RUN_STATE_MAP")
REASON = read_map("attempt.h", "REASON_MAP")
KIND_NAME = {number: name for name, number in KIND.items()}
STATE_NAME = {number: name for name, number in STATE.items()}
REASON_NAME = {number: name for name, number in REASON.items()}

FINAL = frozenset(STATE[name] for name in
                  ("SUCCESS", "FAILED", "SKIPPED", "UPSTREAM_FAILED", "CANCELLED", "REMOVED"))
RUN_FINAL = frozenset(RUN_STATE[name] for name in ("SUCCESS", "FAILED", "CANCELLED"))
BACKFILL_STATE = read_map("backfill.h", "BACKFILL_STATE_MAP")
BACKFILL_FINAL = frozenset(BACKFILL_STATE[name] for name in ("SUCCESS", "FAILED", "CANCELLED"))
CANCEL_ASKED, CANCEL_TIMEOUT = 1, 2
POOL_NAMED, POOL_OF_NAMESPACE, POOL_OF_DAG, POOL_OF_TIER = 0, 1, 2, 3


def duration_ms(value: object) -> int:
    """'1m 30s' or '500ms' as milliseconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", str(value))
    assert parts, f"no duration: {value!r}"
    return int(sum(float(number) * UNITS_MS[unit] for number, unit in parts))


@dataclasses.dataclass(frozen=True)
class RetryPolicy:
    """How often and how soon at the earliest; jitter only lengthens."""

    retries: int
    delay_ms: int
    backoff: float
    cap_ms: int

    def least_delay_ms(self, retry: int) -> int:
        """Before retry number `retry` (1 is the first)."""
        delay = self.delay_ms * self.backoff ** (retry - 1)
        return int(min(delay, self.cap_ms) if self.cap_ms > 0 else delay)


@dataclasses.dataclass(frozen=True)
class Node:
    """One task of a DAG as its version says."""

    name: str
    needs: tuple[int, ...]
    rule: str
    is_finally: bool
    is_mapped: bool
    allow_failure: bool
    retry: RetryPolicy
    pool: str
    slots: int
    outputs: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Shape:
    """A version of a DAG; nodes are numbered in the order of their ids."""

    dag: str
    namespace: str
    tier: str
    nodes: tuple[Node, ...]
    max_active_tasks: int
    max_active_runs: int
    schedule: dict[str, str]
    leaves_only: bool
    leaves: frozenset[int]


def retry_policy(task: dict[str, object]) -> RetryPolicy:
    delay, backoff, cap = DEFAULT_RETRY
    if "retry_delay" in task:
        delay = duration_ms(task["retry_delay"])
    if "max_retry_delay" in task:
        cap = duration_ms(task["max_retry_delay"])
    return RetryPolicy(int(str(task.get("retries", 0))), delay,
                       float(str(task.get("retry_backoff", backoff))), cap)


@functools.lru_cache(maxsize=None)
def read_shape(canonical: str) -> Shape:
    """From the canonical text of a version."""
    dag = json.loads(canonical)
    main, last = dag.get("tasks", {}), dag.get("finally", {})
    names = sorted([*main, *last])
    number = {name: at for at, name in enumerate(names)}
    nodes = []
    for name in names:
        task = main.get(name) or last.get(name) or {}
        usual = "all_done_setup_success" if task.get("teardown") else "all_success"
        nodes.append(Node(
            name=name,
            needs=tuple(number[parent] for parent in task.get("needs", ())),
            rule=task.get("trigger_rule", usual),
            is_finally=name in last,
            is_mapped="foreach" in task or "matrix" in task,
            allow_failure=bool(task.get("allow_failure", False)),
            retry=retry_policy(task),
            pool=task.get("pool", ""),
            slots=int(task.get("slots", 1)),
            outputs=tuple(task.get("outputs", ()))))
    inner = {parent for node in nodes for parent in node.needs}
    return Shape(dag=dag.get("dag", ""), namespace=dag.get("namespace", "default"),
                 tier=dag.get("tier", "default"), nodes=tuple(nodes),
                 max_active_tasks=int(dag.get("max_active_tasks", 0)),
                 max_active_runs=int(dag.get("max_active_runs", 1)),
                 schedule=dag.get("schedule") or {},
                 leaves_only=dag.get("verdict") == "leaves",
                 leaves=frozenset(set(range(len(nodes))) - inner))


@dataclasses.dataclass
class Counts:
    """Parents of a task by verdict; a removed one is done and nothing else."""

    total: int = 0
    success: int = 0
    failed: int = 0
    upstream: int = 0
    skipped: int = 0
    removed: int = 0

    def add(self, state: int) -> None:
        """A parent that ended, cancelled counting as failed."""
        name = STATE_NAME[state]
        field = {"SUCCESS": "success", "SKIPPED": "skipped", "UPSTREAM_FAILED": "upstream",
                 "REMOVED": "removed"}.get(name, "failed")
        setattr(self, field, getattr(self, field) + 1)


# rule -> what the counts c say: run, skip, upstream; None: not decided yet. Early answers first.
def _bad(c: Counts) -> int:
    return c.failed + c.upstream


EARLY = {
    "all_success": lambda c: "upstream" if _bad(c) else None,
    "none_failed": lambda c: "upstream" if _bad(c) else None,
    "all_failed": lambda c: "skip" if c.success or c.skipped else None,
    "all_skipped": lambda c: "skip" if c.success or _bad(c) else None,
    "none_skipped": lambda c: "skip" if c.skipped else None,
    "one_success": lambda c: "run" if c.success else None,
    "one_failed": lambda c: "run" if _bad(c) else None,
    "one_done": lambda c: "run" if c.success or c.failed else None,
    "always": lambda c: "run",
}
LATE = {
    "all_success": lambda c: "skip" if c.skipped else "run",
    "all_failed": lambda c: "run" if _bad(c) else "skip",
    "all_skipped": lambda c: "run" if c.skipped else "skip",
    "one_success": lambda c: "upstream" if _bad(c) else "skip",
    "one_failed": lambda c: "skip",
    "one_done": lambda c: "skip",
    "none_failed_min_one_success":
        lambda c: "run" if c.success and not _bad(c) else "upstream" if _bad(c) else "skip",
    "all_done_min_one_success":
        lambda c: "run" if c.success else "upstream" if _bad(c) else "skip",
}


def decide_rule(rule: str, counts: Counts) -> str:
    """'run', 'skip', 'upstream' or 'wait', from the table in the manual."""
    if counts.total == 0:
        return "run"
    early = EARLY.get(rule, lambda c: None)(counts)
    if early:
        return early
    done = counts.success + _bad(counts) + counts.skipped + counts.removed
    return LATE.get(rule, lambda c: "run")(counts) if done == counts.total else "wait"
