"""Eider's side of the fleet benchmark: its store, its hosts, and the work they are given."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from run import PROGRAM, Unmeasured

CHANNEL_WORK = "eider_work"  # src/store/channel.h
SUCCESS = 4                  # src/model/task_state.h
FINAL = "4, 5, 6, 7, 12, 13"
POLL_SECONDS = 0.1
START_SECONDS = 20
STOP_SECONDS = 15
DRAIN_SECONDS = 300
DRAIN_SLOTS = 500


class Host:
    """One `eider up` with a home of its own."""

    def __init__(self, url, home, slots, settings):
        self.name = home.name
        home.mkdir(parents=True)
        self.log = home / "stderr"
        self.mark = f"HOME={home}\0".encode()
        with self.log.open("w") as log:
            self.child = subprocess.Popen(
                [PROGRAM, "up", "--store", url, "--home", home, "--host-name", self.name,
                 "--slots", str(slots)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                env={**os.environ, **settings, "HOME": str(home)}, cwd=home)

    def processes(self):
        """The daemon, its keeper and whatever that started: all of them have this $HOME."""
        pids = []
        for place in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if place.name.isdigit() and self.mark in (place / "environ").read_bytes():
                    pids.append(int(place.name))
        return pids

    def kill_all(self):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.child.wait()

    def last_words(self):
        return " ".join(self.log.read_text().strip().splitlines()[-1:])


class Store:
    """A fleet's store in a database that is empty before."""

    def __init__(self, server, place):
        server.recreate()
        self.server = server
        self.place = place / f"hosts-{time.monotonic_ns()}"
        self.place.mkdir(parents=True)
        self.living = []

    def ask(self, sql):
        with self.server.session() as session:
            return session.ask(sql)

    def ask_number(self, sql):
        return float(self.ask(sql)[0][0] or 0)

    def eider(self, *args):
        done = subprocess.run([PROGRAM, *args, "--store", self.server.socket_url, "--home",
                               self.place / "client"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unmeasured(f"eider {args[0]}: exit {done.returncode} {done.stderr.strip()}")

    # Work. The program itself makes one of a kind, and its rows are copied: so what is measured
    # is what the program writes, and a hundred thousand of them take seconds.

    def keep_template(self, tables):
        for table in tables:
            self.ask(f"CREATE TABLE bench_{table} AS SELECT * FROM {table}")
        # Far from the ids that hosts are going to hand out.
        self.ask("UPDATE store SET next_run = next_run + 10000000,"
                 " next_task = next_task + 100000000")

    def copy(self, table, numbers, changes):
        """SQL that copies a template's rows t for each i of `numbers`, with `changes` over both."""
        pairs = ", ".join(f"'{column}', {value}" for column, value in changes.items())
        return (f"INSERT INTO {table} SELECT r.* FROM bench_{table} t, {numbers}, LATERAL"
                f" jsonb_populate_record(t, jsonb_build_object({pairs})) r")

    def settle(self):
        self.ask("ANALYZE job; ANALYZE task; ANALYZE ready; ANALYZE run; CHECKPOINT")

    def job_copies(self, numbers):
        return [self.copy("job", numbers, {"id": "t.id + i"}),
                self.copy("task", numbers, {"id": "t.id + i"}),
                self.copy("ready", numbers, {"task": "t.task + i"})]

    def add_jobs(self, handler, payload, count):
        self.eider("enqueue", "default", handler, json.dumps(payload))
        self.keep_template(["job", "task", "ready"])
        for sql in self.job_copies(f"generate_series(1, {count - 1}) AS i"):
            self.ask(sql)
        self.settle()

    def add_runs(self, count, tasks):
        lines = ["tasks:", "  t0: { noop: {} }"]
        lines += [f"  t{i}: {{ needs: [t{(i - 1) // 2}], noop: {{}} }}" for i in range(1, tasks)]
        path = self.place / "runs.yaml"
        path.write_text("\n".join(lines) + "\n")
        self.eider("dags", "trigger", str(path))
        self.keep_template(["run", "task", "ready", "block"])
        numbers, moved = f"generate_series(1, {count - 1}) AS i", f"i * {tasks}"
        for table, changes in {
            "run": {"id": "t.id + i", "run_id": "t.run_id || '-' || i",
                    "logical_at_us": "t.logical_at_us + i",
                    "first_task": f"t.first_task + {moved}"},
            "task": {"id": f"t.id + {moved}", "run": "t.run + i"},
            "ready": {"task": f"t.task + {moved}", "run": "t.run + i"},
            "block": {"run": "t.run + i", "first": f"t.first + {moved}"},
        }.items():
            self.ask(self.copy(table, numbers, changes))
        self.settle()

    def single_job_statements(self):
        """SQL that commits one no-op job and returns its id, and SQL that asks for job $1."""
        self.add_jobs("noop", {}, 1)
        self.ask("CREATE SEQUENCE bench_number")
        job, task, ready = self.job_copies("number")
        insert = (f"WITH number AS MATERIALIZED (SELECT nextval('bench_number') AS i),"
                  f" job_made AS ({job} RETURNING id),"
                  f" task_made AS ({task}),"
                  f" ready_made AS ({ready})"
                  f" SELECT id, pg_notify('{CHANNEL_WORK}', '') FROM job_made")
        probe = (f"SELECT started_at_us, ended_at_us FROM task WHERE id = $1::BIGINT"
                 f" AND state IN ({FINAL})")
        return insert, probe

    # Hosts

    @contextlib.contextmanager
    def hosts(self, count, slots=DRAIN_SLOTS, first=0, **settings):
        """Hosts that are up and known to the store; they are stopped at the end."""
        hosts = []
        try:
            for i in range(first, first + count):
                hosts.append(Host(self.server.socket_url, self.place / f"host{i}", slots, settings))
            self.living += hosts
            names = ", ".join(f"'{host.name}'" for host in hosts)
            self.wait(f"SELECT count(*) >= {count} FROM host WHERE ended_at_us IS NULL"
                      f" AND name IN ({names})", START_SECONDS, f"{count} hosts up")
            yield hosts
        finally:
            self.living = [host for host in self.living if host not in hosts]
            self.stop(hosts)

    def stop(self, hosts):
        for host in hosts:
            host.child.terminate()
        give_up = time.monotonic() + STOP_SECONDS
        for host in hosts:
            with contextlib.suppress(subprocess.TimeoutExpired):
                host.child.wait(max(0, give_up - time.monotonic()))
            host.kill_all()

    def wait(self, condition, seconds, what):
        """Polls for a condition in SQL. A host that ended of its own accord is a failure."""
        give_up = time.monotonic() + seconds
        with self.server.session() as session:
            while True:
                asked = time.monotonic()
                if session.ask(condition)[0][0] == "t":
                    return
                for host in self.living:
                    if host.child.poll() not in (None, -signal.SIGKILL):
                        raise Unmeasured(f"eider up: exit {host.child.returncode} "
                                         f"{host.last_words()}")
                if time.monotonic() > give_up:
                    raise Unmeasured(f"not within {seconds} s: {what}")
                # Behind many dead rows the question itself is work: ask less often then.
                time.sleep(max(POLL_SECONDS, 20 * (time.monotonic() - asked)))

    def wait_until_done(self, seconds):
        self.wait("SELECT NOT EXISTS (SELECT FROM ready) AND NOT EXISTS (SELECT FROM running)"
                  " AND NOT EXISTS (SELECT FROM run WHERE state IN (0, 1))", seconds, "all done")

    def drain(self, hosts, seconds=None):
        """Tasks per second, from the first claim to the last finish, or within `seconds`."""
        with self.hosts(hosts):
            try:
                self.wait_until_done(seconds or DRAIN_SECONDS)
            except Unmeasured:
                if not seconds or any(host.child.poll() is not None for host in self.living):
                    raise
            done, spent, bad = self.ask(
                f"SELECT count(*) FILTER (WHERE state = {SUCCESS}),"
                " (max(ended_at_us) - min(started_at_us) FILTER (WHERE started_at_us > 0)) / 1e6,"
                f" count(*) FILTER (WHERE state IN ({FINAL}) AND state <> {SUCCESS}) FROM task")[0]
        if int(bad) > 0 or float(spent or 0) <= 0:
            raise Unmeasured(f"{done} tasks succeeded, {bad} did not")
        return int(done) / float(spent)

    # What the store tells

    def renewal_lag(self):
        """Seconds since the host that is latest renewed its lease."""
        return self.ask_number("SELECT max(extract(epoch FROM clock_timestamp())"
                               " - renewed_at_us / 1e6) FROM host WHERE ended_at_us IS NULL")

    def connections(self):
        """Of the hosts: ours are psql's."""
        return self.ask_number("SELECT count(*) FROM pg_stat_activity WHERE"
                               " datname = current_database() AND application_name <> 'psql'")

    def verdicts(self):
        """How many tasks succeeded, how many have two verdicts, when second attempts began."""
        succeeded = self.ask_number(f"SELECT count(*) FROM task WHERE state = {SUCCESS}")
        doubled = self.ask_number(
            "SELECT count(*) FROM (SELECT FROM event WHERE task IS NOT NULL AND new_state IN"
            f" ({FINAL}) GROUP BY task, generation HAVING count(*) > 1) AS twice")
        again = self.ask("SELECT started_at_us / 1e6 FROM task WHERE attempt > 1")
        return int(succeeded), int(doubled), [float(cells[0]) for cells in again]
