#!/usr/bin/env python3
"""Measures schedules on both kinds of store and prints the table.

    bench/schedule.py [--quick] [--whole-day] [--passes N] [--strict] [ROW..]

The daemon is the release build with its usual settings, the scheduler alone is
bench/schedule_loop.c; commits are durable. PostgreSQL is the benchmark's own, with the defaults of
Debian. --quick is for a first look: a tenth of the DAGs; --whole-day plays ten million tasks
instead of a million, about twenty minutes. Results also go to build/bench-schedule.json.
"""
import datetime
import os
import pathlib
import shutil
import statistics
import sys
import time

import both_stores
import dag_files
from run import (MEGABYTE, PROGRAM, ROOT, MemoryWatch, Unmeasured, loop, measure, parser_of,
                 per_second, prepare, publish, row)

PLACE = ROOT / "build/bench-schedule"
TICKS = 500
LEAD_SECONDS, FILES_PER_SECOND = 5, 500  # until all are due, so that all are known by then
WAIT_SECONDS = 120
DAY_TASKS, DAY_RUNS = 20, 50
IDLE_DAGS, IDLE_SECONDS = 1000, 20
SETTLE_SECONDS = 12     # a server's statistics are up to ten seconds late
HEARTBEAT = {"host"}   # tables that a daemon writes to say that it lives
EDITED_DAGS, EDITS = 1000, 10


class Sizes:
    """How much of it."""

    def __init__(self, quick, whole_day):
        self.dags = 1000 if quick else 10_000
        self.ticks_waited_for = 20 if quick else 80
        self.day_runs = DAY_RUNS if whole_day else DAY_RUNS // 10


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def wait(condition, what):
    give_up = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > give_up:
            raise Unmeasured(f"not within {WAIT_SECONDS} s: {what}")
        time.sleep(0.1)


def started_daemon(store, folder):
    """A daemon that knows the DAGs of the folder, on a store that was empty."""
    store.make_anew()
    shutil.rmtree(PLACE / "daemon", ignore_errors=True)
    daemon = dag_files.Daemon(PROGRAM, PLACE, folder, store.url)
    try:
        daemon.wait(1)
    except BaseException:
        daemon.stop()
        raise
    return daemon


# Rows: each gives the cells of one line

def row_tick(store, options):
    """a tick with 10,000 DAGs, nothing due"""
    store.make_anew()
    loop("schedule_loop", store.url, "keep-idle", options.sizes.dags)
    store.settle()
    before = store.mark()
    took = loop("schedule_loop", store.url, "tick", TICKS)
    writes = "nothing written" if store.mark() == before else "WRITES"
    median = took["median_ms"]
    return row(f"{median:.3f} ms (p99 {took['p99_ms']:.2f}), {writes}", "", None,
               "< 1 ms, no write", median < 1 and writes == "nothing written", **took,
               writes=writes)


def burst(store, count):
    """Seconds from the due instant to the start of the first and of the last task."""
    folder = PLACE / "due"
    lead = LEAD_SECONDS + count / FILES_PER_SECOND
    due = int(time.time() + lead) + 1
    text = datetime.datetime.fromtimestamp(due, datetime.timezone.utc).isoformat()
    dag_files.make(folder, count, lambda i: f"dag: due_{i}\nschedule: {{at: ['{text}']}}\n"
                                            "tasks: {a: {noop: true}}\n")
    daemon = started_daemon(store, folder)
    try:
        if time.time() > due - 1:
            raise Unmeasured("the DAGs were due before all of them were known")
        wait(lambda: time.time() > due and
             store.ask("SELECT count(*) FROM run WHERE ended_at_us IS NOT NULL")[0][0] >= count,
             f"{count} runs are over")
        first, last, tasks = store.ask("SELECT min(started_at_us), max(started_at_us), count(*)"
                                       " FROM task WHERE ended_at_us IS NOT NULL")[0]
    finally:
        daemon.stop()
    if tasks != count:
        raise Unmeasured(f"expected {count} tasks, got {tasks}")
    return first / 1e6 - due, last / 1e6 - due


def row_burst(store, options):
    """10,000 DAGs due in the same second, until all have started"""
    results = [burst(store, options.sizes.dags) for _ in range(options.passes)]
    first, last = (statistics.median(column) for column in zip(*results))
    bar = {"SQLite": 3, "PostgreSQL": 5}[store.name]
    return row(f"{last:.2f} s (the first after {first * 1e3:.0f} ms)",
               f"{per_second(options.sizes.dags / last)}", None, f"<= {bar} s", last <= bar,
               first=first, last=last, results=results)


def row_late(store, options):
    """a run each second on an idle daemon, from its due time to its start, p99"""
    folder = PLACE / "secondly"
    dag_files.make(folder, 1, lambda i: "dag: secondly\nschedule: {cron: '* * * * * *'}\n"
                                        "tasks: {a: {noop: true}}\n")
    daemon = started_daemon(store, folder)
    count = options.sizes.ticks_waited_for
    try:
        wait(lambda: store.ask("SELECT count(*) FROM run WHERE ended_at_us IS NOT NULL")[0][0]
             > count, f"{count} runs are over")
        late = [cells[0] / 1e3 for cells in store.ask(
            "SELECT t.started_at_us - r.logical_at_us FROM run r JOIN task t ON t.run = r.id"
            " WHERE r.ended_at_us IS NOT NULL ORDER BY r.id")]
    finally:
        daemon.stop()
    late = late[1:]  # the first one may have been due before the daemon was up
    worst, median = percentile(late, 0.99), statistics.median(late)
    return row(f"{worst:.1f} ms (median {median:.1f})", "", None, "< 50 ms",
               worst < 50, p99_ms=worst, median_ms=median, samples=late)


def row_day(store, options):
    """a day of 10,000 DAGs x 20 tasks x 50 runs on a virtual clock (by default a tenth)"""
    dags, runs = options.sizes.dags, options.sizes.day_runs
    store.make_anew()
    loop("schedule_loop", store.url, "keep-day", dags, DAY_TASKS)
    store.settle()
    before = store.size()
    done = loop("schedule_loop", store.url, "play", runs)
    if done["tasks"] != dags * DAY_TASKS * runs or done["failed"] > 0:
        raise Unmeasured(f"expected {dags} x {DAY_TASKS} x {runs} tasks, got {done}")
    each = (store.size() - before) / done["tasks"]
    rate = done["tasks"] / done["seconds"]
    later = (done["tasks"] - done["half_tasks"]) / (done["seconds"] - done["half_seconds"])
    grown = (done["end_kb"] - done["half_kb"]) * 1024 / MEGABYTE
    bar = {"SQLite": 8000, "PostgreSQL": 5000}[store.name]
    memory = done["end_kb"] * 1024 / MEGABYTE
    return row(f"{per_second(rate)} (second half {per_second(later)}), {each:.0f} bytes per task, "
               f"{memory:.0f} MB ({grown:+.1f} in the second half)",
               f"{done['tasks']:,} tasks", None,
               f">= {bar:,}/s, <= 2 KB per task, memory flat",
               min(rate, later) >= bar and each <= 2000 and grown <= 0.05 * memory,
               **done, bytes_per_task=each, rate=rate, later_rate=later)


def row_idle(store, options):
    """an idle daemon with 1,000 DAGs"""
    folder = PLACE / "idle"
    dag_files.make(folder, IDLE_DAGS, lambda i: dag_files.text(i, "check") +
                   f"schedule: '{i % 60} {i // 60} 30 6 *'\n")
    daemon = started_daemon(store, folder)
    io = pathlib.Path(f"/proc/{daemon.child.pid}/io")
    try:
        time.sleep(SETTLE_SECONDS)
        store.settle()
        cpu, contents, written = daemon.cpu(), store.contents(), store.traffic(io.read_text())
        time.sleep(IDLE_SECONDS)
        written = (store.traffic(io.read_text()) - written) / IDLE_SECONDS
        share = (daemon.cpu() - cpu) / IDLE_SECONDS
        after = store.contents()
        memory = sum(MemoryWatch(daemon.child.pid).sample().values()) * 1024 / MEGABYTE
    finally:
        daemon.stop()
    changed = sorted(table for table in after if after[table] != contents[table])
    return row(f"{memory:.1f} MB, {share:.2%} of a core, {written:.0f} bytes/s written "
               f"to: {', '.join(changed) or 'nothing'}", "", None,
               "< 30 MB, < 0.5 %, only heartbeats",
               memory < 30 and share < 0.005 and set(changed) <= HEARTBEAT,
               memory_mb=memory, share=share, bytes_per_second=written, tables=changed)


def row_edit(store, options):
    """edit of one of 1,000 DAG files to its effect, p95"""
    store.make_anew()
    took = dag_files.edits(PROGRAM, PLACE, EDITED_DAGS, EDITS, store.url)
    worst = percentile(took, 0.95)
    return row(f"{worst * 1e3:.0f} ms (median {statistics.median(took) * 1e3:.0f})", "", None,
               "< 1 s", worst < 1, p95_seconds=worst, seconds=took)


def row_files(store, options):
    """10,000 DAG files loaded for the first time"""
    results = []
    for _ in range(options.passes):
        store.make_anew()
        results.append(dag_files.load(PROGRAM, PLACE, options.sizes.dags, store.url))
    first, again, idle = (statistics.median(column) for column in zip(*results))
    return row(f"{first:.2f} s; unchanged {again:.2f} s, then {idle:.1%} of a core", "", None,
               "< 5 s", first < 5, seconds=first, restart_seconds=again, idle_share=idle)


ROWS = {"tick": row_tick, "burst": row_burst, "late": row_late, "day": row_day, "idle": row_idle,
        "edit": row_edit, "files": row_files}


def main():
    parser = parser_of(__doc__, ROWS, passes=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the DAGs")
    parser.add_argument("--whole-day", action="store_true", help="all 50 runs of the day")
    options = parser.parse_args()
    options.sizes = Sizes(options.quick, options.whole_day)
    prepare(PLACE)
    started = time.monotonic()
    results = {}
    with both_stores.both(PLACE) as (stores, version):
        for name in options.rows or ROWS:
            for store in stores:
                what = f"{ROWS[name].__doc__}, {store.name}"
                print(f"measuring: {what}", file=sys.stderr, flush=True)
                results[f"{name} {store.name}"] = {**measure(ROWS[name], store, options),
                                                   "what": what}
    note = (f"{options.passes} passes, medians; PostgreSQL {version}; {os.cpu_count()} cores; "
            f"{time.monotonic() - started:.0f} s{'; a tenth of the DAGs' if options.quick else ''}")
    code = publish("bench-schedule", results, note, options, postgresql=version,
                   dags=options.sizes.dags)
    shutil.rmtree(PLACE, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
