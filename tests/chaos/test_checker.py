"""The checker finds honest histories valid, and every kind of lie in them."""
import dataclasses
import json
import random
import time
from collections.abc import Callable

import pytest

import checker
import history as h
import model
from product import BACKFILL_STATE, KIND, RUN_STATE, STATE, Counts, decide_rule

SEEDS = range(12)


class NotThere(Exception):
    """This history has no row that the lie could be about."""


def rules_of(history: h.History) -> set[str]:
    return {violation.rule for violation in checker.check(history).violations}


def replace(rows: list, old: object, **changes: object) -> None:
    rows[rows.index(old)] = old._replace(**changes)  # type: ignore[attr-defined]


def choose(rng: random.Random, rows: list, wanted: Callable[..., bool]) -> object:
    found = [row for row in rows if wanted(row)]
    if not found:
        raise NotThere
    return rng.choice(found)


def is_exit_end(event: h.Event) -> bool:
    return event.kind == KIND["TASK_ENDED"] and event.old_state == STATE["RUNNING"] and (
        event.reason == 1)


# --- lies: each takes a valid history and breaks it ---------------------------------------------

def lose_run(history: h.History, rng: random.Random) -> None:
    history.run.remove(rng.choice(runs_of(history, "manual")))


def lose_job(history: h.History, rng: random.Random) -> None:
    history.job.remove(choose(rng, history.job, lambda job: True))


def invent_job(history: h.History, rng: random.Random) -> None:
    history.job.append(history.job[0]._replace(id=10**6, payload='{"op": 999}', dedupe=None))


def refused_but_there(history: h.History, rng: random.Random) -> None:
    call = choose(rng, history.client, lambda call: call.do == "job" and call.phase == "o")
    replace(history.client, call, phase="f")


def submit_twice(history: h.History, rng: random.Random) -> None:
    run = rng.choice(runs_of(history, "manual"))
    history.run.append(run._replace(id=10**6, row_version=0))


def other_id(history: h.History, rng: random.Random) -> None:
    call = choose(rng, history.client, lambda call: call.do == "job" and call.phase == "o")
    replace(history.client, call, reply={"id": "424242"})


def same_key(history: h.History, rng: random.Random) -> None:
    first, second = rng.sample(history.job, 2)
    replace(history.job, second, dedupe=first.dedupe)


def two_ids_for_a_key(history: h.History, rng: random.Random) -> None:
    call = choose(rng, history.client, lambda call: call.do == "job" and call.phase == "o")
    history.client.append(call._replace(op=10**6, reply={"id": "1", "existed": True}))


def two_bodies_for_a_key(history: h.History, rng: random.Random) -> None:
    call = choose(rng, history.client, lambda call: call.do == "job" and call.phase == "o")
    history.client.append(call._replace(op=10**6, body={"handler": "other"},
                                        reply={**call.reply, "existed": True}))


def repeat_nonce(history: h.History, rng: random.Random) -> None:
    first, second = rng.sample([row for row in history.task if row.nonce], 2)
    replace(history.task, second, nonce=first.nonce)


def start_twice(history: h.History, rng: random.Random) -> None:
    line = choose(rng, history.probe, lambda line: line.op == "start")
    history.probe.append(line._replace(pid=77))


def run_without_claim(history: h.History, rng: random.Random) -> None:
    line = choose(rng, history.probe, lambda line: line.op == "start")
    history.probe.append(line._replace(pid=77, nonce="f" * 32))


def two_holders(history: h.History, rng: random.Random) -> None:
    row = rng.choice(history.task)
    replace(history.task, row, state=STATE["RUNNING"], host=1)
    history.place += [h.Place("running", row.id, 1), h.Place("running", row.id, 2)]


def verdict_of_another(history: h.History, rng: random.Random) -> None:
    """The old owner's outcome was taken for the new attempt, which went on."""
    event = choose(rng, history.event, is_exit_end)
    line = next(line for line in history.probe if line.nonce == event.nonce and line.op == "end")
    replace(history.probe, line, at_us=event.at_us + 3_000_000)


def verdict_without_end(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, is_exit_end)
    history.probe[:] = [line for line in history.probe
                        if line.nonce != event.nonce or line.op != "end"]


def other_exit_code(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, is_exit_end)
    line = next(line for line in history.probe if line.nonce == event.nonce and line.op == "end")
    replace(history.probe, line, code=33)


def end_twice(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, is_exit_end)
    history.event.append(event._replace(id=10**6, row_version=(event.row_version or 0) + 1))


def move_after_end(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, lambda event: is_exit_end(event) and any(
        row.id == event.task and row.generation == event.generation for row in history.task))
    history.event.append(event._replace(id=10**6, row_version=(event.row_version or 0) + 1,
                                        kind=KIND["TASK_LOST"], old_state=STATE["NONE"]))


def change_verdict(history: h.History, rng: random.Random) -> None:
    row = choose(rng, history.task, lambda row: row.state == STATE["SUCCESS"])
    replace(history.task, row, state=STATE["SKIPPED"])


def silent_generation(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, is_exit_end)
    replace(history.event, event, generation=(event.generation or 0) + 1)


def start_early(history: h.History, rng: random.Random) -> None:
    """A child starts while its parent still runs."""
    row = choose(rng, history.task, lambda row: row.run and row.node == 1 and row.attempt == 1
                 and row.state == STATE["SUCCESS"])
    for line in list(history.probe):
        if line.nonce == row.nonce:
            replace(history.probe, line, at_us=model.START_US)


def skip_wrongly(history: h.History, rng: random.Random) -> None:
    row = choose(rng, history.task, lambda row: row.run and row.node == 3
                 and row.state == STATE["SUCCESS"] and row.generation == 0)
    events = [event for event in history.event if event.task == row.id]
    for event in events:
        replace(history.event, event, new_state=STATE["SKIPPED"], reason=10,
                old_state=STATE["NONE"])
    replace(history.task, row, state=STATE["SKIPPED"], reason=10)


def retry_too_often(history: h.History, rng: random.Random) -> None:
    job = choose(rng, history.job, lambda job: any(
        event.task == job.id and event.kind == KIND["TASK_RETRY"] for event in history.event))
    replace(history.job, job, retries=-1)


def lose_too_often(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, lambda event: event.kind == KIND["TASK_LOST"])
    attempt = max(row.attempt or 0 for row in history.event if row.task == event.task)
    for number in range(1, 5):
        history.event.append(event._replace(id=10**6 + number, attempt=attempt + number,
                                            nonce=f"{number:032x}",
                                            row_version=1000 + number))


def forget_the_dead(history: h.History, rng: random.Random) -> None:
    history.dead.remove(choose(rng, history.dead, lambda row: True))


def retry_early(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, lambda event: event.kind == KIND["TASK_RETRY"] and any(
        line.op == "start" and line.attempt == (event.attempt or 0) + 1 and
        any(row.nonce == line.nonce and row.id == event.task for row in history.task)
        for line in history.probe))
    row = next(row for row in history.task if row.id == event.task)
    line = next(line for line in history.probe if line.nonce == row.nonce and line.op == "start")
    replace(history.probe, line, at_us=event.at_us + 100_000)
    replace(history.event, event, at_us=event.at_us)


def job_early(history: h.History, rng: random.Random) -> None:
    job = history.job[0]
    row = next(row for row in history.task if row.id == job.id)
    nonce = next((old.nonce for old in history.attempt
                  if old.task == job.id and old.attempt == 1), row.nonce)
    for line in list(history.probe):
        if line.nonce == nonce and line.op == "start":
            replace(history.probe, line, at_us=job.created_at_us + 1000)


def wrong_run_verdict(history: h.History, rng: random.Random) -> None:
    run = choose(rng, history.run, lambda run: run.state == RUN_STATE["SUCCESS"])
    event = [event for event in history.event
             if event.run == run.id and event.kind == KIND["RUN_ENDED"]][-1]
    replace(history.event, event, new_state=RUN_STATE["FAILED"])
    replace(history.run, run, state=RUN_STATE["FAILED"])


def run_ends_twice(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, lambda event: event.kind == KIND["RUN_ENDED"])
    history.event.append(event._replace(id=10**6, row_version=10**6))


def start_after_cancel(history: h.History, rng: random.Random) -> None:
    call = choose(rng, history.client, lambda call: call.do == "cancel_run" and call.phase == "o")
    row = choose(rng, history.task, lambda row: row.run == call.body["id"] and row.node == 0)
    for line in list(history.probe):
        if line.nonce == row.nonce:
            replace(history.probe, line, at_us=call.at_us + 8_000_000)
    history.nemesis.clear()


def run_on_after_cancel(history: h.History, rng: random.Random) -> None:
    call = choose(rng, history.client, lambda call: call.do == "cancel_run" and call.phase == "o")
    row = choose(rng, history.task, lambda row: row.run == call.body["id"] and row.node == 0)
    line = next(line for line in history.probe if line.nonce == row.nonce)
    history.probe.append(line._replace(op="tick", at_us=call.at_us + 60_000_000))
    history.nemesis.clear()


def exit_log(history: h.History, rng: random.Random) -> h.Log:
    return rng.choice(history.log)


def foreign_line(history: h.History, rng: random.Random) -> None:
    log = exit_log(history, rng)
    replace(history.log, log, claims=log.claims + " deadbeef")


def hole_in_log(history: h.History, rng: random.Random) -> None:
    replace(history.log, exit_log(history, rng), breaks=1)


def short_log(history: h.History, rng: random.Random) -> None:
    replace(history.log, exit_log(history, rng), lines=1)


def long_log(history: h.History, rng: random.Random) -> None:
    replace(history.log, exit_log(history, rng), lines=9)


def no_log(history: h.History, rng: random.Random) -> None:
    history.log.remove(exit_log(history, rng))


def drop_event(history: h.History, rng: random.Random) -> None:
    """The row changed, its event was never written."""
    kinds = [KIND[name] for name in ("TASK_ENDED", "TASK_RETRY", "TASK_LOST", "RUN_CREATED",
                                     "RUN_CANCEL_ASKED")]
    newest = {row.id: row.generation for row in history.task}
    history.event.remove(choose(rng, history.event, lambda event: event.kind in kinds and (
        event.task is None or newest[event.task] == event.generation)))


def event_in_another_transaction(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, lambda event: is_exit_end(event) and event.generation == max(
        row.generation for row in history.task if row.id == event.task))
    replace(history.event, event, xid=(event.xid or 0) + 1_000_000)


def wrong_counter(history: h.History, rng: random.Random) -> None:
    run = rng.choice(history.run)
    field = rng.choice(["open_main", "open_finally", "active", "failures"])
    replace(history.run, run, **{field: getattr(run, field) + 1})


def forgotten_row(history: h.History, rng: random.Random) -> None:
    history.place.append(h.Place(rng.choice(["ready", "gate", "timer"]),
                                 rng.choice(history.task).id, None))


def too_many_at_once(history: h.History, rng: random.Random) -> None:
    run = choose(rng, history.run, lambda run: sum(
        bool(row.attempt) for row in history.task if row.run == run.id) >= 3)
    nonces = {row.nonce for row in history.task if row.run == run.id}
    for line in list(history.probe):
        if line.nonce in nonces and line.op == "start":
            replace(history.probe, line, at_us=model.START_US)


def too_many_slots(history: h.History, rng: random.Random) -> None:
    row = choose(rng, history.task, lambda row: row.run and row.node == 1 and row.attempt)
    pool = next(pool for pool in history.pool if pool.kind == 0)
    assert row.nonce
    replace(history.pool, pool, slots=1)


def slot_left_behind(history: h.History, rng: random.Random) -> None:
    history.place.append(h.Place("pool_slot", rng.choice(history.task).id, None))


def too_many_of_a_dag(history: h.History, rng: random.Random) -> None:
    history.version[0] = history.version[0]._replace(
        canonical=history.version[0].canonical.replace('"max_active_tasks": 2, ', ""))
    too_many_at_once(history, rng)


def too_many_of_a_tier(history: h.History, rng: random.Random) -> None:
    history.pool[:] = [pool for pool in history.pool if pool.kind != 2]
    too_many_of_a_dag(history, rng)


def too_many_of_a_namespace(history: h.History, rng: random.Random) -> None:
    """Jobs count too."""
    jobs = [row for row in history.task if row.run == 0 and row.attempt][:4]
    for line in list(history.probe):
        if line.op == "start" and line.nonce in {row.nonce for row in jobs}:
            replace(history.probe, line, at_us=model.START_US)


def runs_of(history: h.History, kind: str) -> list[h.Run]:
    return sorted(run for run in history.run if run.kind == kind)


def lose_date(history: h.History, rng: random.Random) -> None:
    history.run.remove(rng.choice(runs_of(history, "scheduled")))


def double_date(history: h.History, rng: random.Random) -> None:
    first, second, _ = rng.sample(runs_of(history, "scheduled"), 3)
    history.run.append(first._replace(id=10**6, run_id="again"))
    assert first.logical_at_us != second.logical_at_us


def date_of_no_tick(history: h.History, rng: random.Random) -> None:
    run = rng.choice(runs_of(history, "scheduled"))
    replace(history.run, run, logical_at_us=run.logical_at_us + 1)


def run_while_paused(history: h.History, rng: random.Random) -> None:
    run = rng.choice(runs_of(history, "scheduled"))
    told = choose(rng, history.client, lambda call: call.do == "pause" and call.phase == "o")
    replace(history.run, run, created_at_us=told.at_us + 1000)


def forget_missed(history: h.History, rng: random.Random) -> None:
    history.missed.clear()


def miss_what_ran(history: h.History, rng: random.Random) -> None:
    date = rng.choice(runs_of(history, "scheduled")).logical_at_us
    history.missed.append(h.Missed(1, date, date, history.missed[0].why))


def miss_what_is_caught_up(history: h.History, rng: random.Random) -> None:
    history.version[0] = history.version[0]._replace(
        canonical=history.version[0].canonical.replace('"overlap": "skip", ', ""))


def late_run(history: h.History, rng: random.Random) -> None:
    run = rng.choice(runs_of(history, "scheduled"))
    replace(history.run, run, created_at_us=run.created_at_us + 10**10)


def early_run(history: h.History, rng: random.Random) -> None:
    run = rng.choice(runs_of(history, "scheduled"))
    replace(history.run, run, created_at_us=run.created_at_us - 1_000_000)


def start_of(history: h.History, run: h.Run) -> h.Probe:
    """The first line that a task of a run wrote."""
    claims = {row.nonce for row in (*history.task, *history.attempt) if row.nonce and run.first_task
              <= (row.id if isinstance(row, h.Task) else row.task) < run.first_task + 6}
    return min((line for line in history.probe if line.nonce in claims),
               key=lambda line: line.at_us)


def too_many_runs(history: h.History, rng: random.Random) -> None:
    first, second, _ = runs_of(history, "scheduled")
    begun = start_of(history, first)
    replace(history.probe, start_of(history, second), at_us=begun.at_us + 1)


def too_many_runs_of_a_backfill(history: h.History, rng: random.Random) -> None:
    for run in runs_of(history, "scheduled"):
        replace(history.run, run, backfill=1, kind="backfill")
    too_many = runs_of(history, "backfill")
    begun = start_of(history, too_many[0])
    replace(history.probe, start_of(history, too_many[1]), at_us=begun.at_us + 1)


def lose_update(history: h.History, rng: random.Random) -> None:
    history.run_cause.remove(rng.choice(history.run_cause))


def start_twice_by_an_update(history: h.History, rng: random.Random) -> None:
    cause = rng.choice(history.run_cause)
    history.run_cause.append(cause._replace(run=history.run[0].id))


def start_by_nothing(history: h.History, rng: random.Random) -> None:
    run = rng.choice(runs_of(history, "manual"))
    replace(history.run, run, kind="dataset")


def success_without_update(history: h.History, rng: random.Random) -> None:
    history.asset_event.remove(choose(rng, history.asset_event, lambda row: row.run))


def update_without_success(history: h.History, rng: random.Random) -> None:
    row = choose(rng, history.asset_event, lambda row: row.run)
    history.asset_event.append(row._replace(id=10**6))


def forget_emit(history: h.History, rng: random.Random) -> None:
    history.asset_event.remove(choose(rng, history.asset_event, lambda row: not row.run))


def wait_for_ever(history: h.History, rng: random.Random) -> None:
    cause = history.run_cause.pop()
    history.trigger_pending.append(h.TriggerPending(1, cause.kind, cause.source))


def lose_backfill(history: h.History, rng: random.Random) -> None:
    history.backfill.clear()


def gap_in_backfill(history: h.History, rng: random.Random) -> None:
    history.backfill_run.remove(rng.choice(history.backfill_run))


def endless_backfill(history: h.History, rng: random.Random) -> None:
    replace(history.backfill, history.backfill[0], state=BACKFILL_STATE["RUNNING"])


def overlap(history: h.History, rng: random.Random) -> None:
    old = choose(rng, history.attempt, lambda old: old.reason == 4)
    line = next(line for line in history.probe if line.nonce == old.nonce)
    history.probe.append(line._replace(op="tick", at_us=line.at_us + 60_000_000))
    history.nemesis.clear()


def late_canary(history: h.History, rng: random.Random) -> None:
    job = history.job[-1]
    for line in list(history.probe):
        if line.nonce == next(row.nonce for row in history.task if row.id == job.id):
            replace(history.probe, line, at_us=line.at_us + 30_000_000)
    replace(history.event, history.event[-1], at_us=history.event[-1].at_us + 40_000_000)


def late_detection(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, lambda event: event.kind == KIND["TASK_LOST"])
    line = [line for line in history.probe if line.nonce == event.nonce][0]
    history.nemesis[:] = [h.Fault(1, "kill_both", line.host, line.at_us + 100, line.at_us + 9000,
                                  {})]
    replace(history.event, event, at_us=line.at_us + 40_000_000)


def slow_drain(history: h.History, rng: random.Random) -> None:
    sample = choose(rng, history.process, lambda sample: sample.what == "exit")
    replace(history.process, sample, at_us=sample.at_us + 60_000_000)


def bad_drain(history: h.History, rng: random.Random) -> None:
    sample = choose(rng, history.process, lambda sample: sample.what == "exit")
    replace(history.process, sample, values={**sample.values, "code": 1})


def never_ends(history: h.History, rng: random.Random) -> None:
    job = rng.choice(history.job)
    row = next(row for row in history.task if row.id == job.id)
    replace(history.task, row, state=STATE["UP_FOR_RETRY"])


def late_end(history: h.History, rng: random.Random) -> None:
    sample = choose(rng, history.process, lambda sample: sample.what == "drained")
    replace(history.process, sample, at_us=sample.at_us + 10**9)


def silent_exit(history: h.History, rng: random.Random) -> None:
    history.process.append(h.Sample("exit", history.event[-1].at_us, "h1", {"code": 0}))


def crash(history: h.History, rng: random.Random) -> None:
    history.process.append(h.Sample("exit", history.event[-1].at_us, "h1", {"code": -11}))


def stuck(history: h.History, rng: random.Random) -> None:
    now = history.event[-1].at_us + 10**8
    for step in range(4):
        history.process.append(h.Sample("store", now + step * 10**7, "", {
            "progress": 5, "ready": 3, "daemons": 2}))


def slow_verdict(history: h.History, rng: random.Random) -> None:
    event = choose(rng, history.event, is_exit_end)
    replace(history.event, event, at_us=event.at_us + 30_000_000)
    history.nemesis.clear()


def leftover(history: h.History, rng: random.Random) -> None:
    history.process.append(h.Sample("left", history.event[-1].at_us, "h1", {"text": "pid 5"}))


def leak(history: h.History, rng: random.Random) -> None:
    for step in range(8):
        history.process.append(h.Sample("daemon", model.START_US + step, "h1", {
            "pid": 1, "rss_kb": 9000 + step * 40_000, "fds": 20}))


def leak_descriptors(history: h.History, rng: random.Random) -> None:
    for step in range(8):
        history.process.append(h.Sample("daemon", model.START_US + step, "h1", {
            "pid": 1, "rss_kb": 9000, "fds": 20 + step * 10}))


# lie -> the rules one of which must speak up
LIES: list[tuple[Callable[[h.History, random.Random], None], set[str]]] = [
    (lose_run, {"S1"}), (lose_job, {"S1"}), (invent_job, {"S1"}), (refused_but_there, {"S1"}),
    (submit_twice, {"S1"}), (other_id, {"S1"}),
    (same_key, {"S2"}), (two_ids_for_a_key, {"S2"}), (two_bodies_for_a_key, {"S2"}),
    (lose_date, {"S3"}), (double_date, {"S3"}), (date_of_no_tick, {"S3"}), (forget_missed, {"S3"}),
    (miss_what_ran, {"S3"}), (miss_what_is_caught_up, {"S3"}), (gap_in_backfill, {"S3"}),
    (run_while_paused, {"S3"}),
    (forget_emit, {"S1"}), (lose_backfill, {"S1"}),
    (repeat_nonce, {"S4"}), (start_twice, {"S4"}), (two_holders, {"S4"}),
    (run_without_claim, {"S5"}), (verdict_of_another, {"S5"}), (verdict_without_end, {"S5"}),
    (other_exit_code, {"S5"}),
    (end_twice, {"S6"}), (silent_generation, {"S6"}),
    (move_after_end, {"S7"}), (change_verdict, {"S7"}),
    (start_early, {"S8"}), (skip_wrongly, {"S8"}),
    (retry_too_often, {"S9"}), (lose_too_often, {"S9"}), (forget_the_dead, {"S9"}),
    (too_many_slots, {"S10"}), (slot_left_behind, {"S10"}),
    (too_many_at_once, {"S11"}), (too_many_of_a_dag, {"S11"}), (too_many_of_a_namespace, {"S11"}),
    (too_many_of_a_tier, {"S11"}),
    (too_many_runs, {"S11"}), (too_many_runs_of_a_backfill, {"S11"}),
    (retry_early, {"S13"}), (job_early, {"S13"}), (early_run, {"S13"}),
    (wrong_run_verdict, {"S14"}), (run_ends_twice, {"S14"}),
    (lose_update, {"S14"}), (start_twice_by_an_update, {"S14"}), (start_by_nothing, {"S14"}),
    (success_without_update, {"S14"}), (update_without_success, {"S14"}),
    (start_after_cancel, {"S15"}), (run_on_after_cancel, {"S15"}),
    (foreign_line, {"S16"}), (hole_in_log, {"S16"}), (short_log, {"S16"}), (long_log, {"S16"}),
    (no_log, {"S16"}),
    (drop_event, {"S19"}), (event_in_another_transaction, {"S19"}), (wrong_counter, {"S19"}),
    (forgotten_row, {"S19"}),
    (overlap, {"C12"}),
    (late_canary, {"L1"}), (late_detection, {"L2"}), (late_run, {"L3"}),
    (slow_drain, {"L4"}), (bad_drain, {"L4"}),
    (never_ends, {"L5"}), (late_end, {"L5"}), (wait_for_ever, {"L5"}), (endless_backfill, {"L5"}),
    (silent_exit, {"L6"}), (crash, {"L6"}),
    (stuck, {"L6"}), (slow_verdict, {"L6"}),
    (leftover, {"L8"}), (leak, {"L8"}), (leak_descriptors, {"L8"}),
]


def make_with(lie, seed):
    """A history with the lie in it, of the first seed from here on that has room for it."""
    for further in range(20):
        history = model.make(seed + further * 100)
        try:
            lie(history, random.Random(seed))
        except NotThere:
            continue
        return history
    raise AssertionError(f"no history has room for {lie.__name__}")


@pytest.mark.parametrize("seed", range(40))
def test_an_honest_history_is_valid(seed):
    report = checker.check(model.make(seed))
    assert not report.violations, report.violations[0]
    assert report.code == checker.VALID, report.missing


@pytest.mark.parametrize("lie,rules", LIES, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("seed", SEEDS)
def test_a_lie_is_found(lie, rules, seed):
    history = make_with(lie, seed)
    found = rules_of(history)
    assert rules <= found, f"{lie.__name__} should break {rules}, broken: {found}"


def test_every_rule_has_a_lie():
    spoken_of = set().union(*(rules for _, rules in LIES))
    promised = {f"S{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15,
                                                 16, 19)}
    assert promised | {"L1", "L2", "L3", "L4", "L5", "L6", "L8", "C12"} <= spoken_of


@pytest.mark.parametrize("seed", range(60))
def test_a_random_change_of_what_matters_is_found(seed):
    """Any verdict, owner, attempt or generation, of any event or task."""
    rng = random.Random(seed)
    history = model.make(seed)
    rows = rng.choice([history.event, history.task])
    row = rng.choice([row for row in rows if row.nonce and (
        isinstance(row, h.Task) or row.kind == KIND["TASK_ENDED"])])
    changes = {"attempt": lambda old: old + rng.choice([-1, 1]),
               "nonce": lambda old: f"{rng.getrandbits(128):032x}",
               "generation": lambda old: old + 1}
    if isinstance(row, h.Task):
        changes["state"] = lambda old: (old + rng.randrange(1, len(STATE))) % len(STATE)
    else:
        changes["new_state"] = lambda old: (old + rng.randrange(1, len(STATE))) % len(STATE)
    field = rng.choice(sorted(changes))
    replace(rows, row, **{field: changes[field](getattr(row, field))})
    assert rules_of(history), f"{field} of {row} was changed and nobody noticed"


def test_an_overlap_is_excused_by_a_fault_that_blinds_the_keeper():
    history = model.make(1)
    old = next(old for old in history.attempt if old.reason == 4)
    line = next(line for line in history.probe if line.nonce == old.nonce)
    history.probe.append(line._replace(op="tick", at_us=line.at_us + 60_000_000))
    assert "C12" not in rules_of(history)
    history.nemesis[:] = [fault._replace(kind="cut") for fault in history.nemesis]
    assert "C12" in rules_of(history)


def test_a_claim_from_before_a_cancel_may_start_late_on_a_slow_machine():
    def starts_slowly(history, rng):
        call = choose(rng, history.client, lambda call: call.do == "cancel_run"
                      and call.phase == "o")
        row = choose(rng, history.task, lambda row: row.run == call.body["id"] and row.node == 0)
        for line in list(history.probe):
            if line.nonce == row.nonce:
                replace(history.probe, line, at_us=call.at_us + 2_600_000)
        history.nemesis.clear()

    assert "S15" not in rules_of(make_with(starts_slowly, 1))


@pytest.mark.parametrize("kind", ["cut", "restart", "swallow_commit", "disk_full", "pause"])
def test_a_fault_without_effect_makes_it_inconclusive(kind):
    history = model.make(2)
    history.nemesis.append(h.Fault(99, kind, "h1", 1000, 2000, {}))
    assert checker.check(history).code == checker.INCONCLUSIVE


def test_an_unknown_call_may_have_worked_or_not():
    history = model.make(3)
    job = history.job[0]
    call = next(call for call in history.client
                if call.phase == "o" and call.reply.get("id") == str(job.id))
    replace(history.client, call, phase="u", reply={})
    history.client.append(call._replace(op=10**6, phase="u", reply={}, key="never"))
    assert checker.check(history).code == checker.VALID


def test_a_folder_is_checked_from_the_command_line(tmp_path, capsys, monkeypatch):
    history = model.make(4)
    h.save_store(tmp_path, history)
    (tmp_path / "probe").mkdir()
    for name in ("client", "nemesis", "process"):
        for row in getattr(history, name):
            h.append(tmp_path / f"{name}.jsonl", row)
    with (tmp_path / "probe/h1.jsonl").open("w") as out:
        for row in history.probe:
            out.write(json.dumps(row) + "\n")
        out.write('["start", "cut by a ki')
    assert dataclasses.asdict(h.load(tmp_path)) == dataclasses.asdict(history)
    monkeypatch.setattr("sys.argv", ["checker.py", str(tmp_path), "-o", "json"])
    assert checker.main() == checker.VALID
    assert json.loads(capsys.readouterr().out)["verdict"] == "valid"


@pytest.mark.parametrize("text,expected", [
    (b"L ab 1\nL ab 2\n", (2, "ab", 0, False)),
    (b"L ab 1\nL ab 3\n", (3, "ab", 1, False)),
    (b"L ab 1\nL cd 2\n", (2, "ab cd", 0, False)),
    (b"L ab 1\nL a", (1, "ab", 0, False)),
    (b"L ab 1\n[eider: output cut here: 9 bytes dropped]\n", (1, "ab", 0, True)),
    (b"what\nL ab 1\n", (1, "ab", 1, False)),
])
def test_a_log_is_read_by_its_numbers(text, expected):
    log = h.summarize_log(1, 2, 3, text)
    assert (log.lines, log.claims, log.breaks, log.has_gap_marker) == expected


@pytest.mark.parametrize("rule,counts,expected", [
    ("all_success", Counts(2, success=2), "run"),
    ("all_success", Counts(2, success=1), "wait"),
    ("all_success", Counts(2, failed=1), "upstream"),
    ("all_success", Counts(2, success=1, skipped=1), "skip"),
    ("all_done", Counts(2, failed=2), "run"),
    ("one_success", Counts(3, success=1), "run"),
    ("one_failed", Counts(2, success=2), "skip"),
    ("none_failed_min_one_success", Counts(2, success=1, skipped=1), "run"),
    ("none_failed_min_one_success", Counts(2, skipped=2), "skip"),
    ("always", Counts(2), "run"),
])
def test_the_oracle_of_trigger_rules(rule, counts, expected):
    assert decide_rule(rule, counts) == expected


def seconds_to_check(runs):
    one = model.Model(5)
    for _ in range(runs):
        one.finish_run(one.submit_run())
    history = one.finish()
    started = time.process_time()
    checker.check(history)
    return time.process_time() - started


def test_its_time_grows_with_the_history_and_no_faster():
    short = min(seconds_to_check(20) for _ in range(3))
    long = min(seconds_to_check(160) for _ in range(3))
    assert long < 24 * short, f"{long / short:.0f} times as long for eight times as much"
