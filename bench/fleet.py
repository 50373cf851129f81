#!/usr/bin/env python3
"""Measures a fleet on PostgreSQL beside a bare loop and a peer, and prints the table.

    bench/fleet.py [--passes N] [--strict] [ROW..]      rows by their short names; all by default

The database is the benchmark's own, with the defaults of Debian, durable commits and room for the
connections of 20 hosts; it is made anew for each pass. Those who are compared take turns, and
medians count. Rates are from the first claim to the last finish, by the instants in the rows.
Results also go to build/bench-fleet.json.
"""
import json
import operator
import os
import shutil
import statistics
import subprocess
import sys
import time

import eider_fleet
import postgres
from run import (ROOT, Unmeasured, loop, measure, parser_of, per_second, prepare, publish, row)

PLACE = ROOT / "build/bench-fleet"
GRAPHILE = ROOT / "bench/graphile"
GRAPHILE_PLACE = ROOT / "build/graphile"
# Tried: 10 to 200 jobs at once, completions gathered for 0 to 10 ms or not at all, pools of 3 to 30
# connections, local queues of 0 to 5,000. Only the queue and gathering matter much. With 500 a
# crash holds back 500 jobs for hours; 5,000 is faster still, and shown beside it.
GRAPHILE_BEST = ["concurrency=50", "queue=500", "complete=0", "pool=10"]
GRAPHILE_LARGE = ["concurrency=50", "queue=5000", "complete=1", "pool=10"]

JOBS = 50_000
LATENCY_JOBS = 200
DAG_RUNS, DAG_TASKS = 500, 20
HOSTS, SLOTS = 20, 500
HOLD_SECONDS = 20
SNAPSHOT_JOBS, SNAPSHOT_SECONDS = 500_000, 60
KILL_JOBS = 100


class Turns:
    """Measures several things in turns. One that fails is out, the others go on."""

    def __init__(self, passes, measures):
        self.samples = {name: [] for name in measures}
        self.problems = {}
        for _ in range(passes):
            for name, function in measures.items():
                if name in self.problems:
                    continue
                try:
                    self.samples[name].append(function())
                except (Unmeasured, OSError, ValueError, subprocess.SubprocessError) as problem:
                    self.problems[name] = problem

    def line(self, what, figures, bar="", is_met=lambda ratio, ours: None, form=per_second):
        """
        A line of the table. `figures` names two things, ours first, and says what of a sample
        counts. The ratio is the median of the turns' own, since the machine drifts.
        """
        columns = {name: [] if name in self.problems else list(map(figure, self.samples[name]))
                   for name, figure in figures.items()}
        texts = [form(statistics.median(column)) if column
                 else f"not measured: {self.problems[name]}" for name, column in columns.items()]
        (ours, ours_column), (other, other_column) = columns.items()
        ratio, met = None, False
        if ours_column and other_column:
            ratio = statistics.median(map(operator.truediv, ours_column, other_column))
            met = is_met(ratio, statistics.median(ours_column))
        cells = row(texts[0], f"{texts[1]} ({other})", ratio, bar, met,
                    samples={name: self.samples[name] for name in (ours, other)})
        return {**cells, "what": what, "broken": not ours_column}

    def compare(self, what, ours, other, *bar):
        return self.line(what, {ours: float, other: float}, *bar)


# Peers

def bare_drain(server, drainers):
    server.recreate()
    return loop("pg_loop", server.socket_url, "drain", JOBS, drainers)["rate"]


def install_graphile():
    if not shutil.which("npm"):
        raise Unmeasured("no npm here")
    GRAPHILE_PLACE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "drain.mjs"):
        shutil.copy(GRAPHILE / name, GRAPHILE_PLACE)
    if not (GRAPHILE_PLACE / "node_modules/graphile-worker").exists():
        subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"],
                       cwd=GRAPHILE_PLACE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)


def graphile_drain(server, settings):
    install_graphile()
    server.recreate()
    done = subprocess.run(["node", "drain.mjs", server.socket_url, str(JOBS), *settings],
                          cwd=GRAPHILE_PLACE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unmeasured(f"graphile-worker: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)["rate"]


# Rows: each gives lines of the table

def eider_drain(server, hosts):
    store = eider_fleet.Store(server, PLACE)
    store.add_jobs("noop", {}, JOBS)
    return store.drain(hosts)


def row_drain(server, options):
    """50,000 no-op jobs"""
    turns = Turns(options.passes, {
        "1 host": lambda: eider_drain(server, 1),
        "bare loop": lambda: bare_drain(server, 1),
        "2 hosts": lambda: eider_drain(server, 2),
        "4 bare loops": lambda: bare_drain(server, 4),
        "graphile-worker": lambda: graphile_drain(server, GRAPHILE_BEST),
        "graphile-worker, queue of 5,000": lambda: graphile_drain(server, GRAPHILE_LARGE),
    })
    return [
        turns.compare("50,000 no-op jobs, 1 host", "1 host", "bare loop", ">= 60 %",
                      lambda ratio, _: ratio >= 0.6),
        turns.compare("the same", "1 host", "graphile-worker", ">= 120 %",
                      lambda ratio, _: ratio >= 1.2),
        turns.compare("the same", "1 host", "graphile-worker, queue of 5,000"),
        turns.compare("the same, 2 hosts", "2 hosts", "1 host", ">= 90 %",
                      lambda ratio, _: ratio >= 0.9),
        turns.compare("the same", "2 hosts", "4 bare loops"),
    ]


def row_latency(server, options):
    """one job on an idle fleet, from commit to handler"""
    def ours():
        store = eider_fleet.Store(server, PLACE)
        statements = store.single_job_statements()
        with store.hosts(1):
            return loop("pg_loop", server.socket_url, "produce", LATENCY_JOBS, *statements)

    # A start is stamped inside the claim's transaction, before its commit; a no-op's end is
    # stamped after its handler was entered, so that is what counts for us.
    turns = Turns(options.passes, {
        "Eider": ours,
        "bare LISTEN loop": lambda: loop("pg_loop", server.socket_url, "latency", LATENCY_JOBS),
    })
    return [turns.line(f"one job on an idle fleet, commit to handler, {point[:3]}", {
        "Eider": lambda sample: sample["ended"][point],
        "bare LISTEN loop": lambda sample: sample["entered"][point],
    }, "<= 200 %", lambda ratio, _: ratio <= 2, lambda ms: f"{ms:.2f} ms")
            for point in ("p50_ms", "p95_ms")]


def row_dag(server, options):
    """500 runs of 20 no-op tasks"""
    def drain(hosts):
        store = eider_fleet.Store(server, PLACE)
        store.add_runs(DAG_RUNS, DAG_TASKS)
        return store.drain(hosts)

    turns = Turns(options.passes, {
        "1 host": lambda: drain(1),
        "2 hosts": lambda: drain(2),
        "bare loop": lambda: bare_drain(server, 1),
    })
    return [turns.compare(f"500 runs of 20 no-ops, {name}", name, "bare loop", f">= {bar:,}/s",
                          lambda _, rate: rate >= bar)
            for name, bar in {"1 host": 8000, "2 hosts": 12000}.items()]


def row_held(server, options):
    """10,000 jobs held at once by 20 hosts"""
    lease = 6
    store = eider_fleet.Store(server, PLACE)
    store.add_jobs("sleep", {"seconds": 600}, HOSTS * SLOTS)
    with store.hosts(HOSTS, slots=SLOTS, EIDER_LEASE=f"{lease}s", EIDER_RENEW="2s",
                     EIDER_CLAIM_RATIO="100"):
        started = time.monotonic()
        store.wait(f"SELECT count(*) >= {HOSTS * SLOTS} FROM running", 120, "all jobs held")
        seconds = time.monotonic() - started
        lags, connections, held = [], [], []
        give_up = time.monotonic() + HOLD_SECONDS
        while time.monotonic() < give_up:
            lags.append(store.renewal_lag())
            connections.append(store.connections() / HOSTS)
            held.append(store.ask_number("SELECT count(*) FROM running"))
            time.sleep(0.5)
    lag, most, least = max(lags), max(connections), min(held)
    cells = row(f"{least:,.0f} held after {seconds:.1f} s, renewals {lag:.1f} s late at most, "
                f"{most:.1f} connections per host", f"lease of {lease} s, {HOSTS * SLOTS:,} slots",
                least / (HOSTS * SLOTS), "all held, lag <= lease / 2, <= 5 connections",
                least >= HOSTS * SLOTS and lag <= lease / 2 and most <= 5, seconds=seconds,
                lag_seconds=lag, connections=most)
    return [cells]


def row_snapshot(server, options):
    """500,000 no-op jobs under a held snapshot"""
    def drain(begin):
        store = eider_fleet.Store(server, PLACE)
        store.add_jobs("noop", {}, SNAPSHOT_JOBS)
        with server.session() as other:
            other.ask(begin)
            return store.drain(1, seconds=SNAPSHOT_SECONDS)

    turns = Turns(1, {
        "no snapshot": lambda: drain("SELECT 1"),
        "held": lambda: drain("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM host"),
    })
    return [turns.compare("500,000 no-op jobs, an old snapshot held open", "held", "no snapshot",
                          ">= 50 %", lambda ratio, _: ratio >= 0.5)]


def row_kill(server, options):
    """kill -9 of a host with 100 jobs"""
    lease, sweep = 3, 1
    store = eider_fleet.Store(server, PLACE)
    store.add_jobs("sleep", {"seconds": 15}, KILL_JOBS)  # longer than a host takes to start
    settings = {"EIDER_LEASE": f"{lease}s", "EIDER_RENEW": "1s", "EIDER_SWEEP": f"{sweep}s",
                "EIDER_CLAIM_RATIO": "100"}
    with store.hosts(1, slots=KILL_JOBS, **settings) as victims:
        store.wait(f"SELECT count(*) >= {KILL_JOBS} FROM running", 30, "all jobs held")
        with store.hosts(1, slots=KILL_JOBS, first=1, **settings):
            killed_at = time.time()
            victims[0].kill_all()
            store.wait_until_done(120)
    ended, doubled, taken = store.verdicts()
    longest = max(taken) - killed_at if taken else 0
    multiple = longest / (lease + sweep)
    cells = row(f"{longest:.1f} s until all {len(taken)} ran elsewhere, {KILL_JOBS - ended} lost, "
                f"{doubled} doubled", f"{lease + sweep} s (lease + sweep)", multiple,
                "<= lease + 2 sweeps, 0 lost, 0 doubled",
                len(taken) == KILL_JOBS and longest <= lease + 2 * sweep
                and ended == KILL_JOBS and doubled == 0, seconds=longest, multiple=multiple)
    return [cells]


ROWS = {"drain": row_drain, "latency": row_latency, "dag": row_dag, "held": row_held,
        "snapshot": row_snapshot, "kill": row_kill}


def lines_of(name, server, options):
    """The lines of a row; one that says why when it could not be measured."""
    lines = []

    def first_line(_):
        lines.extend(ROWS[name](server, options))
        return lines[0]

    first_line.__doc__ = ROWS[name].__doc__
    return [measure(first_line, options), *lines[1:]]


def main():
    options = parser_of(__doc__, ROWS, passes=5).parse_args()
    prepare(PLACE)
    started = time.monotonic()
    results = {}
    # Five connections for each of the hosts that hold jobs, as docs/fleet.md asks for.
    with postgres.Server(PLACE, [f"max_connections={6 * HOSTS + 20}"]) as server:
        for name in options.rows or ROWS:
            print(f"measuring: {ROWS[name].__doc__}", file=sys.stderr, flush=True)
            for number, cells in enumerate(lines_of(name, server, options)):
                results[f"{name}{number or ''}"] = cells
        version = server.version()
    note = (f"{options.passes} passes in turns, medians; PostgreSQL {version}; "
            f"{os.cpu_count()} cores; {time.monotonic() - started:.0f} s")
    code = publish("bench-fleet", results, note, options, postgresql=version)
    shutil.rmtree(PLACE, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
