"""A small honest Eider in memory: makes histories that keep every promise.

The tests of the checker start from these: they must be found valid, and each mutation of them
must be found out. It follows the rules of the manual, not the code of the product.
"""
import dataclasses
import json
import random

import history as h
from check_schedule import MISSED_OVERLAP, WATCH_DATASET
from product import (BACKFILL_STATE, FINAL, KIND, OWNER_LOSSES_MAX, REASON, RUN_STATE, STATE,
                     Counts, Shape, decide_rule, read_shape)
from timed import instant

START_US = 1_700_000_000_000_000
STEP_US = 400_000
RETRY_MS = 1000
TICK_US, TICKS = 10_000_000, 4  # the last of which is missed
NEWS, RESULT = "chaos://news", "chaos://result"

DIAMOND = json.dumps({
    "dag": "diamond", "tier": "best", "max_active_tasks": 2, "max_active_runs": 1,
    "schedule": {"every": "10s", "catchup": "all", "overlap": "skip", "start": instant(START_US),
                 "end": instant(START_US + (TICKS - 1) * TICK_US), "datasets": NEWS},
    "finally": {"sweep": {"run": "probe"}},
    "tasks": {"a": {"run": "probe", "retries": 2, "retry_delay": "1s"},
              "b": {"run": "probe", "needs": ["a"], "pool": "narrow", "slots": 2},
              "c": {"run": "probe", "needs": ["a"], "retries": 1, "retry_delay": "1s"},
              "d": {"run": "probe", "needs": ["b", "c"], "outputs": [RESULT]},
              "e": {"run": "probe", "needs": ["d"], "trigger_rule": "all_done",
                    "pool": "narrow"}}})


@dataclasses.dataclass
class Row:
    """A task as it changes."""

    id: int
    run: int
    node: int
    state: int = STATE["NONE"]
    generation: int = 0
    attempt: int = 0
    nonce: str | None = None
    host: int | None = None
    failures: int = 0
    losses: int = 0
    due_us: int = 0
    started_us: int | None = None
    ended_us: int | None = None
    reason: int = 0
    exit_code: int | None = None
    version: int = 0
    xmin: int = 0
    retries: int = 0


@dataclasses.dataclass
class RunRow:
    """A run as it changes."""

    id: int
    first: int
    op: int | None
    created_us: int
    kind: str = "manual"
    state: int = RUN_STATE["QUEUED"]
    cancel: int = 0
    ended_us: int | None = None
    version: int = 0
    xmin: int = 0


class Model:
    """Runs everything, one step after the other, on one virtual clock."""

    def __init__(self, seed: int, hosts: int = 2) -> None:
        self.random = random.Random(seed)
        self.history = h.History()
        self.now = START_US
        self.xid = 100
        self.shape: Shape = read_shape(DIAMOND)
        self.rows: dict[int, Row] = {}
        self.run_rows: dict[int, RunRow] = {}
        self.next_id = 1
        self.op = 0
        self.history.version.append(h.Version(1, 1, DIAMOND))
        self.history.pool += [h.Pool(1, 0, "default", "narrow", 2, 0),
                              h.Pool(2, 1, "", "default", 3, 0), h.Pool(3, 2, "", "diamond", 2, 0),
                              h.Pool(4, 3, "", "best", 2, 0)]
        self.history.asset += [h.Asset(1, NEWS), h.Asset(2, RESULT)]
        self.history.trigger_watch.append(
            h.TriggerWatch(1, WATCH_DATASET, NEWS, START_US - STEP_US))
        self.hosts = [f"h{number + 1}" for number in range(hosts)]
        for number, name in enumerate(self.hosts):
            self.history.host.append(h.Host(number + 1, name, 100 + number, self.now, None, ""))

    # --- events and rows

    def tell(self, kind: str, row: Row, old: int) -> None:
        row.version += 1
        row.xmin = self.xid
        self.event(kind, row.run or None, row.id, row.version, old, row.state, row)

    def event(self, kind: str, run: int | None, task: int | None, version: int, old: int, new: int,
              row: Row | None = None) -> None:
        self.history.event.append(h.Event(
            len(self.history.event) + 1, self.now, KIND[kind], run, task, version, old, new,
            row.generation if row else None, row.attempt if row else None,
            row.nonce if row else None, None, row.reason if row else None, None, self.xid))

    def step(self, us: int = STEP_US) -> None:
        self.now += us
        self.xid += 1

    def call(self, do: str, key: str, body: dict[str, object], reply: dict[str, object]) -> int:
        self.op += 1
        self.history.client.append(h.Call(self.op, "i", self.now, do, key, body, {}, 0))
        self.history.client.append(h.Call(self.op, "o", self.now + 50_000, do, key, body, reply, 0))
        return self.op

    # --- what clients ask for

    def submit_run(self) -> int:
        run = self.make_run(self.op + 1)
        self.call("run", "", {}, {"id": run})
        return run

    def make_run(self, op: int | None, kind: str = "manual") -> int:
        run = RunRow(len(self.run_rows) + 1, self.next_id, op, self.now, kind)
        self.run_rows[run.id] = run
        run.xmin = self.xid
        self.event("RUN_CREATED", run.id, None, 0, 0, 0)
        for node, shape in enumerate(self.shape.nodes):
            self.rows[self.next_id] = Row(self.next_id, run.id, node, xmin=self.xid,
                                          retries=shape.retry.retries)
            self.next_id += 1
        self.step()
        return run.id

    def tick(self) -> list[int]:
        """All runs that time starts, as far as they are not missed."""
        runs = []
        for number in range(TICKS - 1):
            self.now = START_US + number * TICK_US
            runs.append(self.make_run(None, "scheduled"))
        last = START_US + (TICKS - 1) * TICK_US
        self.now = last - TICK_US // 2
        self.call("pause", "", {"dag": "diamond"}, {})
        self.now = last - TICK_US // 4
        self.call("unpause", "", {"dag": "diamond"}, {})
        self.history.missed.append(h.Missed(1, last, last, MISSED_OVERLAP))
        return runs

    def emit(self) -> int:
        """The run that somebody's update of a dataset starts."""
        op = self.call("emit", "", {"uri": NEWS}, {})
        self.update(1, 0, None, json.dumps({"op": op}))
        run = self.make_run(None, "dataset")
        self.history.run_cause.append(
            h.RunCause(run, WATCH_DATASET, len(self.history.asset_event)))
        return run

    def update(self, asset: int, run: int, task: str | None, extra: str = "{}") -> None:
        self.history.asset_event.append(h.AssetEvent(
            len(self.history.asset_event) + 1, asset, self.now, run, task, -1, extra))

    def backfill(self, runs: list[int]) -> None:
        """Finds a run for each of its dates."""
        op = self.call("backfill", "", {}, {})
        number = len(self.history.backfill) + 1
        dates = [self.run_rows[run].created_us for run in runs]
        self.history.backfill.append(h.Backfill(number, 1, BACKFILL_STATE["SUCCESS"], dates[0],
                                                dates[-1], 1, json.dumps({"op": op})))
        self.history.backfill_run += [h.BackfillRun(number, date, run)
                                      for date, run in zip(dates, runs)]
        self.step()

    def submit_job(self, retries: int = 1, delay_ms: int = 0, canary: bool = False) -> int:
        task = self.next_id
        self.next_id += 1
        key = f"key-{task}"
        body = {"handler": "probe", "delay_ms": delay_ms, "canary": canary}
        op = self.call("job", key, body, {"id": str(task)})
        self.history.job.append(h.Job(task, "default", "probe", json.dumps({"op": op}), key,
                                      retries, RETRY_MS, self.now, 0))
        self.rows[task] = Row(task, 0, 0, due_us=self.now + delay_ms * 1000, xmin=self.xid,
                              retries=retries)
        self.step()
        return task

    def cancel_run(self, run: int) -> None:
        row = self.run_rows[run]
        row.cancel = 1
        row.version += 1
        row.xmin = self.xid
        self.event("RUN_CANCEL_ASKED", run, None, row.version, row.state, row.state)
        for task in self.tasks_of(run):
            if not self.shape.nodes[task.node].is_finally and task.state not in FINAL:
                self.end(task, "CANCELLED", "CANCELLED")
        self.call("cancel_run", "", {"id": run}, {})
        self.step()

    def clear_run(self, run: int) -> None:
        row = self.run_rows[run]
        for task in self.tasks_of(run):
            if task.attempt and task.started_us:
                self.keep(task, task.state)
            old = task.state
            task.generation += 1
            task.state, task.reason = STATE["NONE"], 0
            task.failures = task.losses = 0
            task.started_us = task.ended_us = task.exit_code = None
            self.tell("TASK_CLEARED", task, old)
        old_state, row.state, row.cancel = row.state, RUN_STATE["RUNNING"], 0
        row.version += 1
        row.xmin = self.xid
        self.event("RUN_REOPENED", run, None, row.version, old_state, row.state)
        self.step()

    # --- what hosts do

    def tasks_of(self, run: int) -> list[Row]:
        return [row for row in self.rows.values() if run and row.run == run]

    def keep(self, row: Row, state: int) -> None:
        self.history.attempt.append(h.Attempt(
            row.id, row.attempt, row.generation, state, row.nonce, row.host, row.started_us,
            row.ended_us or self.now, row.reason, row.exit_code))

    def end(self, row: Row, state: str, reason: str) -> None:
        old, row.state, row.reason = row.state, STATE[state], REASON[reason]
        row.ended_us = self.now
        self.tell("TASK_ENDED", row, old)
        if row.run and state == "SUCCESS" and self.shape.nodes[row.node].outputs:
            self.update(2, row.run, self.shape.nodes[row.node].name)
        if row.run == 0 and state == "FAILED" or reason == "LOST_OWNER":
            self.history.dead.append(h.Dead(row.id, row.run, self.now, row.reason, row.attempt))

    def claim(self, row: Row) -> str:
        """Returns the host's name."""
        row.state = STATE["RUNNING"]
        row.attempt += 1
        row.nonce = f"{self.random.getrandbits(128):032x}"
        row.host = self.random.randrange(len(self.hosts)) + 1
        row.started_us, row.ended_us, row.reason = self.now, None, 0
        row.version += 1
        row.xmin = self.xid
        if row.run:
            run = self.run_rows[row.run]
            run.state = RUN_STATE["RUNNING"]
            run.version += 1
            run.xmin = self.xid
        self.step(20_000)
        return self.hosts[row.host - 1]

    def probe(self, op: str, row: Row, host: str, out: int, code: int = 0) -> None:
        self.history.probe.append(h.Probe(op, row.nonce or "", row.attempt, 5000 + row.id, host,
                                          self.now, self.now - START_US, "", -1, out, code, ""))

    def run_task(self, row: Row, fate: str) -> None:
        """Claims a task and lets it meet its fate: ok, fail or lost."""
        host = self.claim(row)
        self.probe("start", row, host, 0)
        self.step()
        if fate == "lost":
            self.lose(row, host)
            return
        code = 0 if fate == "ok" else 1
        self.probe("end", row, host, 3, code)
        self.log(row, 3)
        self.step(10_000)
        row.reason, row.exit_code = REASON["EXIT"], code
        if code and row.failures < row.retries:
            self.retry(row)
        else:
            self.end(row, "FAILED" if code else "SUCCESS", "EXIT")
        self.step(10_000)

    def retry(self, row: Row) -> None:
        row.failures += 1
        self.keep(row, STATE["FAILED"])
        row.state = STATE["UP_FOR_RETRY"]
        row.due_us = self.now + RETRY_MS * 1000 * 2 ** (row.failures - 1)
        self.tell("TASK_RETRY", row, STATE["RUNNING"])

    def lose(self, row: Row, host: str) -> None:
        self.probe("tick", row, host, 1)
        self.history.nemesis.append(h.Fault(len(self.history.nemesis) + 1, "kill_both", host,
                                            self.now, self.now + 1000, {}))
        self.step(4_000_000)
        row.losses += 1
        row.reason = REASON["LOST_OWNER"]
        if row.losses >= OWNER_LOSSES_MAX:
            self.end(row, "FAILED", "LOST_OWNER")
            return
        self.keep(row, STATE["FAILED"])
        self.tell("TASK_LOST", row, STATE["RUNNING"])
        row.state = STATE["QUEUED"]

    def log(self, row: Row, lines: int) -> None:
        self.history.log.append(h.Log(row.run, row.id, row.attempt, lines,
                                      (row.nonce or "")[:8], 0, False))

    # --- what follows

    def decide(self, row: Row) -> str:
        shape = self.shape.nodes[row.node]
        run = self.run_rows[row.run]
        if shape.is_finally and any(
                task.state not in FINAL for task in self.tasks_of(row.run)
                if not self.shape.nodes[task.node].is_finally):
            return "wait"
        counts = Counts()
        for parent in shape.needs:
            counts.total += 1
            state = self.rows[run.first + parent].state
            if state in FINAL:
                counts.add(state)
        return decide_rule(shape.rule, counts)

    def settle(self, run: int) -> Row | None:
        """Ends what its rule ends; a task that may run now, or None when the run is over."""
        while True:
            open_tasks = [row for row in self.tasks_of(run) if row.state not in FINAL]
            if not open_tasks:
                return None
            changed = False
            for row in open_tasks:
                if row.state != STATE["NONE"]:
                    return row
                decision = self.decide(row)
                if decision == "run":
                    return row
                if decision != "wait":
                    self.end(row, "SKIPPED" if decision == "skip" else "UPSTREAM_FAILED",
                             "UPSTREAM")
                    changed = True
            assert changed, "a run waits for nothing"

    def finish_run(self, run: int, chances: tuple[float, float] = (0.15, 0.05)) -> None:
        """Runs a run to its end; chances of a failure and of a loss for each attempt."""
        while (row := self.settle(run)) is not None:
            self.run_task(row, self.fate(chances, row))
        row_of = self.run_rows[run]
        bad = sum(row.state in (STATE["FAILED"], STATE["UPSTREAM_FAILED"])
                  for row in self.tasks_of(run))
        old = row_of.state
        row_of.state = RUN_STATE["CANCELLED" if row_of.cancel else "FAILED" if bad else "SUCCESS"]
        row_of.ended_us = self.now
        row_of.version += 1
        row_of.xmin = self.xid
        self.event("RUN_ENDED", run, None, row_of.version, old, row_of.state)
        self.step()

    def finish_job(self, task: int, chances: tuple[float, float] = (0.15, 0.05)) -> None:
        row = self.rows[task]
        while row.state not in FINAL:
            self.run_task(row, self.fate(chances, row))

    def fate(self, chances: tuple[float, float], row: Row) -> str:
        self.now = max(self.now, row.due_us)
        chance = self.random.random()
        return "lost" if chance < chances[1] else "fail" if chance < sum(chances) else "ok"

    def finish(self) -> h.History:
        """The rows as they stand."""
        history = self.history
        history.task = [
            h.Task(row.id, row.run, row.node, -1, row.generation, row.state, row.attempt, row.nonce,
                   None if row.state in FINAL else row.host, row.failures, row.losses, 0, None,
                   None, None, row.started_us, row.ended_us, row.reason, row.exit_code,
                   row.version, row.xmin) for row in self.rows.values()]
        history.run = []
        for run in self.run_rows.values():
            tasks = self.tasks_of(run.id) if len(self.run_rows) < 50 else [
                self.rows[run.first + node] for node in range(len(self.shape.nodes))]
            failures = sum(row.state in (STATE["FAILED"], STATE["UPSTREAM_FAILED"])
                           for row in tasks)
            history.run.append(h.Run(
                run.id, 1, 1, f"{run.kind}__{run.id}", run.state,
                json.dumps({"op": "" if run.op is None else str(run.op)}),
                run.first, run.cancel, sum(row.state not in FINAL for row in tasks), 0,
                sum(row.state == STATE["RUNNING"] for row in tasks), failures, run.created_us,
                run.ended_us, run.version, run.xmin, run.kind, run.created_us))
        return history


def make(seed: int, runs: int = 4, jobs: int = 6) -> h.History:
    """A valid history with a bit of everything."""
    model = Model(seed)
    timed = model.tick()
    for run in timed:
        model.finish_run(run)
    model.backfill(timed)
    model.finish_run(model.emit())
    for number in range(runs):
        run = model.submit_run()
        if number % 4 == 3:
            first = model.settle(run)
            assert first is not None
            model.run_task(first, "ok")
            model.cancel_run(run)
        model.finish_run(run)
        if number % 4 == 1:
            model.clear_run(run)
            model.finish_run(run)
    for number in range(jobs):
        model.finish_job(model.submit_job(delay_ms=2000 if number % 3 == 0 else 0))
    model.run_task(model.rows[model.submit_job()], "lost")
    model.finish_job(model.next_id - 1, (0.0, 0.0))
    model.history.process.append(h.Sample("healed", model.now, "", {}))
    canary = model.submit_job(canary=True)
    model.finish_job(canary, (0.0, 0.0))
    for host in model.hosts:
        model.history.process.append(h.Sample(
            "exit", model.now + 1_000_000, host, {"asked_us": model.now, "code": 0}))
    model.history.process.append(h.Sample("drained", model.now, "", {}))
    return model.finish()
