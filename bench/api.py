#!/usr/bin/env python3
"""Measures the API on both kinds of store and prints the table.

    bench/api.py [--quick] [--history N] [--passes N] [--strict] [ROW..]

The daemon is the release build; wrk asks with 32 connections and a token, commits are durable.
The history is played by bench/schedule_loop.c: a million tasks, or N; ten times as many for the
pages. Results also go to build/bench-api.json.
"""
import asyncio
import contextlib
import datetime
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import both_stores
import dag_files
from run import (PROGRAM, ROOT, Unmeasured, loop, measure, parser_of, per_second, prepare, publish,
                 row)

PLACE = ROOT / "build/bench-api"
CONNECTIONS, SECONDS = 32, 5
DAY_TASKS, DAGS_MAX = 20, 10_000
PAGES_TIMES = 10      # the history of the other rows
DATES = ("execution_date", "start_date", "end_date", "updated_at")
STREAMS, CHANGES = 200, 50
PACED = 500          # requests per second beside the work
JOBS = 20_000
URL = re.compile(r"^  api     http://([0-9.]+:[0-9]+)$", re.M)
LATENCY = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s)$", re.M)
UNITS = {"us": 1e-3, "ms": 1, "s": 1e3}


class Daemon:
    """`eider up` with an API; its token may everything."""

    def __init__(self, store, folder, roles="api"):
        self.log = PLACE / "up.log"
        self.env = {**os.environ, "EIDER_HOME": str(PLACE / "home"), "EIDER_DAGS": str(folder),
                    "EIDER_STORE": store.url, "EIDER_LISTEN": "127.0.0.1:0",
                    "EIDER_ROLES": roles}
        with self.log.open("w") as out:
            self.child = subprocess.Popen([PROGRAM, "up"], stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=out, env=self.env, cwd=PLACE)
        give_up = time.monotonic() + 120
        while not URL.search(self.log.read_text()):
            if self.child.poll() is not None or time.monotonic() > give_up:
                raise Unmeasured(f"the daemon did not come up: {self.log.read_text()[-300:]}")
            time.sleep(0.05)
        self.at = URL.search(self.log.read_text()).group(1)
        self.token = self.eider("tokens", "add", "bench", "--role", "admin", "-o", "json")["token"]

    def eider(self, *args):
        done = subprocess.run([PROGRAM, *args], env=self.env, cwd=PLACE, check=True,
                              capture_output=True, text=True)
        return json.loads(done.stdout)

    def get(self, path):
        request = urllib.request.Request(f"http://{self.at}{path}",
                                         headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def wrk(self, path, script=None):
        """(requests per second, p50 ms, p99 ms); an answer that is none of 2xx is a failure."""
        command = ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{SECONDS}s", "--latency",
                   "-H", f"Authorization: Bearer {self.token}"]
        if script:
            command += ["-s", str(script)]
        done = subprocess.run([*command, f"http://{self.at}{path}"], check=True,
                              capture_output=True, text=True)
        if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
            raise Unmeasured(f"{path}: {done.stdout[-300:]}")
        quantiles = {share: float(value) * UNITS[unit]
                     for share, value, unit in LATENCY.findall(done.stdout)}
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout).group(1))
        return rate, quantiles["50"], quantiles["99"]

    def stop(self):
        self.child.terminate()
        self.child.wait()


@contextlib.contextmanager
def daemon_on(store, folder=None, roles="api"):
    shutil.rmtree(PLACE / "home", ignore_errors=True)
    daemon = Daemon(store, folder or PLACE / "none", roles)
    try:
        yield daemon
    finally:
        daemon.stop()


def with_history(store, tasks):
    """A store in which so many tasks are over."""
    dags = min(DAGS_MAX, tasks // DAY_TASKS)
    store.make_anew()
    loop("schedule_loop", store.url, "keep-day", dags, DAY_TASKS)
    loop("schedule_loop", store.url, "play", tasks // DAY_TASKS // dags)
    store.settle()


def median_of(options, function):
    results = [function() for _ in range(options.passes)]
    return tuple(statistics.median(column) for column in zip(*results))


# Rows: each gives the cells of one line

def row_one(store, options):
    """GET one run, a million tasks in the store"""
    with_history(store, options.history)
    with daemon_on(store) as daemon:
        some = daemon.get("/api/v1/dags/~/dagRuns?limit=1")["dag_runs"][0]
        path = f"/api/v1/dags/{some['dag_id']}/dagRuns/{some['dag_run_id']}"
        empty = median_of(options, lambda: daemon.wrk("/api/v1/x/ping"))
        rate, p50, p99 = median_of(options, lambda: daemon.wrk(path))
    share = rate / empty[0]
    return row(f"{per_second(rate)}, p50 {p50:.1f} ms, p99 {p99:.1f} ms",
               f"{per_second(empty[0])} (empty handler)", share, ">= 40 %, p99 < 20 ms",
               share >= 0.4 and p99 < 20, rate=rate, p99_ms=p99, empty=empty)


def row_list(store, options):
    """GET 100 task instances, a million tasks in the store"""
    with_history(store, options.history)
    folder = PLACE / "wide"
    dag_files.make(folder, 1, lambda i: "dag: wide\ntasks:\n" + "".join(
        f"  t{k}: {{noop: true}}\n" for k in range(100)))
    # Who makes the run also removes what is old, so another one answers.
    with daemon_on(store, folder, "api,worker,scheduler") as daemon:
        run = daemon.eider("dags", "trigger", "wide", "-o", "json")
        daemon.eider("runs", "wait", run["number"], "-o", "json")
    with daemon_on(store) as daemon:
        path = f"/api/v1/dags/wide/dagRuns/{run['dag_run_id']}/taskInstances?limit=100"
        rate, p50, p99 = median_of(options, lambda: daemon.wrk(path))
    return row(f"{per_second(rate)}, p50 {p50:.1f} ms, p99 {p99:.1f} ms", "", None,
               ">= 2,000/s, p99 < 20 ms", rate >= 2000 and p99 < 20, rate=rate, p99_ms=p99)


def row_post(store, options):
    """POST dagRuns, durable"""
    folder = PLACE / "one"
    dag_files.make(folder, 1, lambda i: "dag: one\ntasks: {a: {noop: true}}\n")
    store.make_anew()
    script = PLACE / "post.lua"
    script.write_text('wrk.method = "POST"\nwrk.body = "{\\"conf\\": {}}"\n'
                      'wrk.headers["Content-Type"] = "application/json"\n')
    with daemon_on(store, folder) as daemon:
        rate, p50, p99 = median_of(options, lambda: daemon.wrk("/api/v1/dags/one/dagRuns", script))
    bar = {"SQLite": 2000, "PostgreSQL": 1500}[store.name]
    return row(f"{per_second(rate)}, p50 {p50:.1f} ms, p99 {p99:.1f} ms", "", None,
               f">= {bar:,}/s", rate >= bar, rate=rate, p99_ms=p99)


def list_pages(daemon):
    """Paths of the lists and views that people meet; some name the newest run or dates in it."""
    newest = daemon.get("/api/v1/x/runs?limit=1")["dag_runs"][0]
    number, dag = newest["number"], newest["dag_id"]
    named = f"{dag}/dagRuns/{urllib.parse.quote(newest['dag_run_id'], safe='')}"
    at = datetime.datetime.fromisoformat(newest["logical_date"]) - datetime.timedelta(hours=2)
    since, until = (f"{(at + datetime.timedelta(minutes=minutes)):%Y-%m-%dT%H:%M:%SZ}"
                    for minutes in (0, 20))
    oldest = daemon.get("/api/v1/x/runs?limit=1&order_by=id")["dag_runs"][0]
    ends = [datetime.datetime.fromisoformat(run["logical_date"]) for run in (oldest, newest)]
    middle = f"{(ends[0] + (ends[1] - ends[0]) / 2):%Y-%m-%dT%H:%M:%SZ}"
    runs = "/api/v1/dags/~/dagRuns?limit=100"
    tasks = "/api/v1/dags/~/dagRuns/~/taskInstances?limit=100"
    events = "/api/v1/eventLogs?limit=100"
    return [
        "/api/v1/dags", "/api/v1/dags?limit=100&order_by=-dag_id",
        "/api/v1/dags?limit=100&offset=9000",
        "/api/v1/dags?limit=100&paused=true", "/api/v1/dags?limit=100&dag_id_pattern=d99",
        "/api/v1/dags?limit=100&tags=some", "/api/v1/x/dags?limit=100",
        "/api/v1/x/dag-rows?limit=40", "/api/v1/x/dag-rows?limit=100",
        "/api/v1/x/search?q=d99", "/api/v1/x/search?q=t19", "/api/v1/x/search?q=not-there",
        runs, f"{runs}&state=failed", f"{runs}&state=success", f"{runs}&state=running",
        f"{runs}&offset=10000", f"{runs}&order_by=-start_date", f"{runs}&order_by=execution_date",
        f"{runs}&execution_date_gte={since}&execution_date_lte={until}",
        f"{runs}&start_date_gte={since}&start_date_lte={until}",
        f"{runs}&end_date_gte={since}&end_date_lte={until}",
        f"{runs}&execution_date_gte={since}&order_by=-id",
        f"{runs}&updated_at_gte={since}&order_by=-id",
        *(f"{runs}&{key}_gte={middle}" for key in DATES),
        *(f"{runs}&{key}_lte={middle}&order_by=-id" for key in DATES if key != "start_date"),
        f"{runs}&start_date_gte={middle}&state=failed", f"{runs}&order_by=-start_date&state=failed",
        f"{runs}&order_by=execution_date&state=queued", f"{runs}&order_by=end_date&state=running",
        "/api/v1/x/runs", "/api/v1/x/runs?limit=100&dag=d77&order_by=-duration",
        "/api/v1/x/runs?limit=100&state=failed&order_by=-duration",
        f"/api/v1/x/runs?limit=100&logical_from={since}&logical_to={until}&order_by=-duration",
        tasks, f"{tasks}&state=failed", f"{tasks}&state=success", f"{tasks}&offset=10000",
        f"{tasks}&start_date_gte={since}&start_date_lte={until}",
        "/api/v1/dags/d77/dagRuns/~/taskInstances?limit=100&offset=100",
        f"/api/v1/dags/{named}/taskInstances", f"/api/v1/x/runs/{number}/tasks",
        events, f"{events}&order_by=-event_log_id", f"{events}&offset=1000",
        f"{events}&order_by=-event_log_id&dag_id={dag}", f"{events}&owner=somebody",
        f"{events}&event=run_reopened", f"{events}&after={since}",
        f"{events}&task_id=t19", f"{events}&task_id=t19&order_by=-event_log_id",
        f"{events}&task_id=not-there", f"{events}&map_index=3", f"{events}&before={middle}",
        f"{events}&before={middle}&order_by=-event_log_id", f"{events}&after={middle}&task_id=t3",
        f"/api/v1/x/audit?limit=100&all=true&to={middle}",
        "/api/v1/x/events?limit=100", "/api/v1/x/events?limit=100&dag=d77",
        "/api/v1/x/audit?limit=100", "/api/v1/x/audit?limit=100&dag=d77", "/api/v1/x/dlq?limit=100",
        "/api/v1/x/home", "/api/v1/x/grid/d77", "/api/v1/x/grid/d77?limit=365",
        f"/api/v1/x/gantt/{number}", "/api/v1/x/calendar/d77?year=2023", "/api/v1/x/graph/d77",
        "/api/v1/x/running", "/api/v1/x/pools", "/api/v1/x/hosts?all=true", "/api/v1/x/queues",
        "/api/v1/x/jobs", "/api/v1/x/assets", "/api/v1/datasets/events?limit=100",
        "/api/v1/x/sla", "/api/v1/x/sla/report", "/api/v1/x/backfills", "/api/v1/importErrors",
        "/api/v1/x/notifications", "/api/v1/x/namespaces", "/api/v1/x/variables",
    ]


def row_page(store, options):
    """the slowest of the list pages, ten million tasks in the store"""
    tasks = PAGES_TIMES * options.history
    with_history(store, tasks)
    with daemon_on(store) as daemon:
        took = {}
        for path in list_pages(daemon):
            daemon.get(path)
            took[path] = statistics.median(timed_get(daemon, path) for _ in range(options.passes))
    worst = max(took, key=took.get)
    return row(f"{took[worst]:.0f} ms ({worst})", f"{tasks:,} tasks", None, "< 100 ms",
               took[worst] < 100, pages_ms=took)


def timed_get(daemon, path):
    """Milliseconds."""
    began = time.monotonic()
    daemon.get(path)
    return (time.monotonic() - began) * 1e3


async def listen(daemon, streams, late, expected):
    """So many streams of events; `late` gets the milliseconds from each event to its arrival."""
    host, port = daemon.at.split(":")

    async def one():
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /api/v1/x/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
                     f"Authorization: Bearer {daemon.token}\r\n\r\n".encode())
        streams.append(writer)
        seen = 0
        while seen < expected:
            line = await reader.readline()
            if not line:
                raise Unmeasured("a stream ended")
            if line.startswith(b"data: ") and b'"run_created"' in line:
                made = datetime.datetime.fromisoformat(json.loads(line[6:])["at"])
                late.append((time.time() - made.timestamp()) * 1e3)
                seen += 1
        writer.close()

    await asyncio.gather(*(one() for _ in range(STREAMS)))


def row_live(store, options):
    """state change to SSE client, 200 clients, p95"""
    folder = PLACE / "one"
    dag_files.make(folder, 1, lambda i: "dag: one\ntasks: {a: {noop: true}}\n")
    store.make_anew()
    late, streams = [], []
    with daemon_on(store, folder, "api,worker,scheduler") as daemon:
        def change():
            while len(streams) < STREAMS:
                time.sleep(0.1)
            time.sleep(1)
            for _ in range(CHANGES):
                request = urllib.request.Request(
                    f"http://{daemon.at}/api/v1/dags/one/dagRuns", data=b"{}", method="POST",
                    headers={"Authorization": f"Bearer {daemon.token}",
                             "Content-Type": "application/json"})
                urllib.request.urlopen(request, timeout=60).read()
                time.sleep(0.05)
        changer = threading.Thread(target=change)
        changer.start()
        asyncio.run(asyncio.wait_for(listen(daemon, streams, late, CHANGES), 120))
        changer.join()
    late.sort()
    p95 = late[int(len(late) * 0.95)]
    return row(f"{p95:.1f} ms (median {statistics.median(late):.1f})", f"{len(late):,} arrivals",
               None, "< 100 ms", p95 < 100, p95_ms=p95)


def drain_rate(daemon):
    """Tasks per second of a run of so many no-ops."""
    began = time.monotonic()
    run = daemon.eider("dags", "trigger", "many", "-o", "json")
    daemon_wait = subprocess.run([PROGRAM, "runs", "wait", run["number"]], env=daemon.env,
                                 cwd=PLACE, check=False, capture_output=True)
    if daemon_wait.returncode != 0:
        raise Unmeasured("the run did not succeed")
    return JOBS / (time.monotonic() - began)


def row_beside(store, options):
    """task throughput while 500 paced requests/s hit the API"""
    folder = PLACE / "many"
    dag_files.make(folder, 1, lambda i: "dag: many\ntasks:\n  all:\n    foreach: "
                                        f"\"{{{{ range({JOBS}) }}}}\"\n    noop: true\n")
    store.make_anew()
    with daemon_on(store, folder, "api,worker,scheduler") as daemon:
        drain_rate(daemon)
        alone = statistics.median(drain_rate(daemon) for _ in range(options.passes))
        over = threading.Event()
        asked = [0]

        def ask():
            server = http.client.HTTPConnection(daemon.at, timeout=60)
            due = time.monotonic()
            while not over.is_set():
                server.request("GET", "/api/v1/dags/many/dagRuns?limit=10",
                               headers={"Authorization": f"Bearer {daemon.token}"})
                answer = server.getresponse()
                answer.read()
                if answer.status != 200:
                    raise Unmeasured(f"the API answered {answer.status}")
                asked[0] += 1
                due += 4 / PACED
                time.sleep(max(0, due - time.monotonic()))
        askers = [threading.Thread(target=ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        began = time.monotonic()
        beside = statistics.median(drain_rate(daemon) for _ in range(options.passes))
        pace = asked[0] / (time.monotonic() - began)
        over.set()
        for asker in askers:
            asker.join()
    share = beside / alone
    return row(f"{per_second(beside)} beside {pace:.0f} requests/s", f"{per_second(alone)} alone",
               share, ">= 80 %", share >= 0.8, alone=alone, beside=beside, pace=pace)


def rss_mb(daemon):
    status = pathlib.Path(f"/proc/{daemon.child.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1e3


def row_idle(store, options):
    """memory of an idle daemon that has answered a request"""
    store.make_anew()
    with daemon_on(store, None, "api,worker,scheduler") as daemon:
        daemon.get("/api/v1/dags")
        time.sleep(3)
        size = rss_mb(daemon)
    return row(f"{size:.1f} MB", "", None, "< 30 MB", size < 30, mb=size)


async def hold(daemon, count, inside):
    """So many streams at once, and `inside` while they are open."""
    host, port = daemon.at.split(":")
    writers = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /api/v1/x/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
                     f"Authorization: Bearer {daemon.token}\r\n\r\n".encode())
        if b" 200 " not in await reader.readline():
            raise Unmeasured("a stream was refused")
        writers.append(writer)
    inside()
    for writer in writers:
        writer.close()


def row_streams(store, options):
    """memory of 500 streams of events"""
    store.make_anew()
    sizes = []
    with daemon_on(store) as daemon:
        daemon.get("/api/v1/dags")
        before = rss_mb(daemon)
        asyncio.run(hold(daemon, 500, lambda: sizes.append(rss_mb(daemon))))
    grown = sizes[0] - before
    return row(f"{grown:.1f} MB", f"{before:.1f} MB before", None, "< 50 MB", grown < 50, mb=grown)


def quickest(daemon, path):
    """Milliseconds of the quickest of five."""
    return min(timed_get(daemon, path) for _ in range(5))


def layered(name, tasks):
    """A DAG of so many tasks; each needs up to three of the fifty before it."""
    chance = random.Random(7)
    lines = [f"dag: {name}", "tasks:"]
    for i in range(tasks):
        needs = sorted({chance.randrange(max(0, i - 50), i) for _ in range(3)}) if i > 10 else []
        lines.append(f"  t{i}: {{noop: true, needs: [{', '.join(f't{k}' for k in needs)}]}}")
    return "\n".join(lines) + "\n"


def row_graph(store, options):
    """a graph of 1,000 and of 5,000 tasks, laid out"""
    folder = PLACE / "graphs"
    sizes = (1000, 5000)
    dag_files.make(folder, len(sizes), lambda i: layered(f"g{sizes[i]}", sizes[i]))
    store.make_anew()
    with daemon_on(store, folder, "api,scheduler") as daemon:
        while daemon.get("/api/v1/dags")["total_entries"] < len(sizes):
            time.sleep(0.1)
        small, large = (quickest(daemon, f"/api/v1/x/graph/g{size}") for size in sizes)
    return row(f"{small:.0f} ms, {large:.0f} ms", "", None, "< 200 ms, < 2,000 ms",
               small < 200 and large < 2000, small_ms=small, large_ms=large)


def row_log(store, options):
    """the end of a log of 1 GB, and the memory it takes"""
    folder = PLACE / "talk"
    dag_files.make(folder, 1, lambda i: "dag: talk\ntasks:\n  a:\n    run: yes 'a line of this log,"
                                        " of which there are very many' | head -c 1000000000\n")
    store.make_anew()
    with daemon_on(store, folder, "api,worker,scheduler") as daemon:
        run = daemon.eider("dags", "trigger", "talk", "-o", "json")
        daemon.eider("runs", "wait", run["number"], "-o", "json")
        before = rss_mb(daemon)
        tail = quickest(daemon, f"/api/v1/x/runs/{run['number']}/tasks/a/log?tail=100")
        grown = rss_mb(daemon) - before
    return row(f"{tail:.1f} ms, {grown:.1f} MB more", "", None, "< 100 ms, flat",
               tail < 100 and grown < 10, ms=tail, mb=grown)


ROWS = {"one": row_one, "list": row_list, "post": row_post, "page": row_page, "live": row_live,
        "beside": row_beside, "idle": row_idle, "streams": row_streams, "graph": row_graph,
        "log": row_log}
FILE_ONLY = {"streams", "graph", "log"}  # the kind of store does not matter


def main():
    parser = parser_of(__doc__, ROWS, 3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the history")
    parser.add_argument("--history", type=int, default=1_000_000, help="tasks in the store")
    options = parser.parse_args()
    options.history //= 10 if options.quick else 1
    prepare(PLACE)
    began = time.monotonic()
    results = {}
    with both_stores.both(PLACE) as (stores, version):
        for name in options.rows or ROWS:
            for store in stores[:1] if name in FILE_ONLY else stores:
                print(f"measuring: {ROWS[name].__doc__}, {store.name}", file=sys.stderr)
                cells = measure(ROWS[name], store, options)
                cells["what"] = f"{ROWS[name].__doc__}, {store.name}"
                results[f"{name} {store.name}"] = cells
    shutil.rmtree(PLACE, ignore_errors=True)
    note = (f"{options.passes} passes, medians; {version}; {os.cpu_count()} cores; "
            f"{time.monotonic() - began:.0f} s")
    return publish("bench-api", results, note, options)


if __name__ == "__main__":
    sys.exit(main())
