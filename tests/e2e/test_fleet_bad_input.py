"""Wrong settings, servers that refuse, and trouble of all kinds: said clearly, and nothing lost."""
import json
import random
import subprocess
import time

import pytest
from fleet import FAST, OWNER, Server, free_port, wait_for_state
from harness import rows_of, wait_for

SECRET = "tellnobody"


def assert_refused(result, code, *words):
    assert result.code == code, result
    for word in words:
        assert word in result.err, (word, result)
    assert "internal error" not in result.err, result
    assert len(result.err.strip().splitlines()) == 1, result
    assert SECRET not in result.out + result.err, result


def tables(server):
    return server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'",
                      server.database)


# --- the URL


def commands(eider):
    """One that reads, one that writes, one that runs."""
    return [("runs", "list"), ("enqueue", "default", "noop"),
            ("run", eider.write("dag.yaml", "tasks: {a: {run: 'true'}}"))]


@pytest.mark.parametrize(("url", "code", "words"), [
    ("postgresql://eider:{secret}@no-such-host.invalid/eider", 8,
     ["no-such-host", "check the host"]),
    ("postgresql://eider:{secret}@127.0.0.1:{closed}/eider", 8,
     ["{closed}", "Connection refused", "check that the server runs"]),
    ("postgresql://eider:{secret}@127.0.0.1:99999/eider", 2, ["99999", "port"]),
    ("postgresql://guarded:{secret}@127.0.0.1:{port}/postgres", 4,
     ["guarded", "check the user and the password"]),
    ("postgresql://guarded@127.0.0.1:{port}/postgres", 4, ["password", ".pgpass"]),
    ("postgresql://nobody:{secret}@127.0.0.1:{port}/postgres", 4, ["nobody", "create the user"]),
    ("postgresql://postgres:{secret}@127.0.0.1:{port}/nosuch", 2,
     ["nosuch", "create the database"]),
    ("postgresql://postgres:{secret}@127.0.0.1:{port}/postgres?nosuch=1", 2, ["URL"]),
    ("mysql://eider:{secret}@127.0.0.1/eider", 2, ["mysql", "postgresql://"]),
    ("{secret}", 2, ["postgresql://"]),
])
def test_a_wrong_url_is_refused(eider, cluster, url, code, words):
    if not cluster.sql("SELECT 1 FROM pg_roles WHERE rolname = 'guarded'"):
        cluster.sql("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    names = {"secret": SECRET, "port": cluster.port, "closed": free_port()}
    if url == "{secret}":
        names["secret"] = "nonsense"
    env = {"EIDER_STORE": url.format(**names)}
    for command in commands(eider):
        assert_refused(eider(*command, env=env), code,
                       *[word.format(**names) for word in words])
    if code != 8:
        assert_refused(eider("up", env={**FAST, **env}), code)
    shown = eider("config", "list", env=env, code=0)
    assert SECRET not in shown.out + shown.err
    assert SECRET not in eider("doctor", env=env).out


# --- rights


def test_a_user_without_create_is_refused(eider, server):
    server.sql("CREATE ROLE guest LOGIN" if not server.sql(
        "SELECT 1 FROM pg_roles WHERE rolname = 'guest'") else "SELECT 1")
    env = {"EIDER_STORE": server.url_of(server.database, "guest")}
    for command in commands(eider)[1:]:
        assert_refused(eider(*command, env=env), 4, "permission denied", "grant")
    assert_refused(eider("up", env={**FAST, **env}), 4, "permission denied", "grant")
    assert tables(server) == "0"


def test_a_user_who_may_only_read_reads(eider, server):
    eider("enqueue", "default", "noop", code=0)
    server.sql("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN")
    server.sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", server.database)
    env = {"EIDER_STORE": server.url_of(server.database, "reader")}
    jobs = rows_of(eider("jobs", "list", "-o", "json", env=env, code=0).json())
    assert len(jobs) == 1
    for command in commands(eider)[1:]:
        assert_refused(eider(*command, env=env), 4, "permission denied", "grant")
    assert_refused(eider("up", env={**FAST, **env}), 4, "permission denied", "grant")
    assert len(rows_of(eider("jobs", "list", "-o", "json", code=0).json())) == 1
    server.sql("DROP OWNED BY reader; DROP ROLE reader", server.database)


# --- servers that cannot be written


def test_a_read_only_server_is_only_read(eider, server, fleet_up):
    number = eider("enqueue", "-o", "name", "default", "noop", code=0).out.strip()
    server.sql(f"ALTER DATABASE {server.database} SET default_transaction_read_only = on")
    eider("jobs", "show", number, code=0)
    assert_refused(eider("enqueue", "default", "noop"), 8, "read-only")
    waiting = fleet_up("first", waits=False)
    waiting.wait_until("read-only")
    server.sql(f"ALTER DATABASE {server.database} RESET default_transaction_read_only")
    waiting.wait_until_up()
    wait_for(lambda: eider("jobs", "show", number, "-o", "json").json()["status"] == "completed",
             "the job is done")


class Standby(Server):
    """Follows another server."""

    def make(self):
        self.run("pg_basebackup", "-h", self.primary.folder, "-p", self.primary.port, "-U", OWNER,
                 "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")

    def __init__(self, primary):
        self.primary = primary
        super().__init__()


@pytest.fixture
def standby(server):
    follower = Standby(server)
    yield follower
    follower.close()


def test_a_standby_is_read_and_the_primary_is_found(eider, server, standby):
    number = eider("enqueue", "-o", "name", "default", "noop", code=0).out.strip()
    env = {"EIDER_STORE": standby.tcp_url_of(server.database)}
    wait_for(lambda: eider("jobs", "show", number, env=env).code == 0, "the standby has it")
    assert_refused(eider("enqueue", "default", "noop", env=env), 8, "read-only", "URL")
    both = (f"postgresql://{OWNER}@127.0.0.1:{standby.port},127.0.0.1:{server.port}"
            f"/{server.database}")
    eider("enqueue", "default", "noop", env={"EIDER_STORE": both}, code=0)


# --- what is in the database


def test_a_store_of_a_newer_program_is_left_alone(eider, server):
    eider("enqueue", "default", "noop", code=0)
    server.sql("UPDATE store SET schema = 99, oldest_schema = 99", server.database)
    for command in [*commands(eider), ("jobs", "list"), ("store", "migrate")]:
        assert_refused(eider(*command), 5, "99", "newer eider")
    assert_refused(eider("up", env=FAST), 5, "99", "newer eider")
    server.sql("UPDATE store SET oldest_schema = 1", server.database)
    assert len(rows_of(eider("jobs", "list", "-o", "json", code=0).json())) == 1
    assert server.sql("SELECT schema FROM store", server.database) == "99"


@pytest.mark.parametrize("table", ["task", "store", "event"])
def test_tables_of_others_are_left_alone(eider, server, table):
    server.sql(f"CREATE TABLE {table} (theirs text); INSERT INTO {table} VALUES ('precious')",
               server.database)
    for command in commands(eider)[1:]:
        assert_refused(eider(*command), 5, table, "of its own")
    assert_refused(eider("up", env=FAST), 5, table, "of its own")
    assert server.sql(f"SELECT theirs FROM {table}", server.database) == "precious"
    assert tables(server) == "1"


def test_a_migration_that_is_killed_leaves_nothing(eider, server):
    chance = random.Random(5)
    began = time.monotonic()
    eider("queues", "set", "q", "--priority", "1", code=0)
    whole = time.monotonic() - began
    full = tables(server)
    seen = set()
    for _ in range(12):
        server.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public", server.database)
        child = eider.start("queues", "set", "q", "--priority", "1")
        try:
            child.communicate(timeout=chance.uniform(0.2, 1.0) * whole)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
        wait_for(lambda: server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name"
                                    f" = 'eider' AND datname = '{server.database}'") == "0",
                 "its session is over")
        seen.add(tables(server))
        assert tables(server) in ("0", full)
    eider("queues", "set", "q", "--priority", "1", code=0)
    assert tables(server) == full
    assert "0" in seen, "no kill came early enough to prove anything"


def test_many_first_starts_make_one_store(eider, server):
    children = [eider.start("enqueue", "default", "noop") for _ in range(8)]
    for child in children:
        _, err = child.communicate(timeout=60)
        assert child.returncode == 0, err
    assert server.sql("SELECT count(*) FROM store", server.database) == "1"
    assert len(rows_of(eider("jobs", "list", "-o", "json", code=0).json())) == 8


def test_a_store_belongs_to_one_fleet(eider, server, fleet_up):
    first = fleet_up("first", EIDER_FLEET="red")
    fleet_up("second", EIDER_FLEET="red")
    env = {**FAST, "EIDER_HOME": str(eider.folder / "third"), "EIDER_FLEET": "blue",
           "EIDER_HOST_NAME": "third"}
    assert_refused_daemon(eider("up", env=env), "'red'", "'blue'", "EIDER_FLEET")
    assert_refused_daemon(eider("up", env={**env, "EIDER_FLEET": None}), "'red'", "'default'")
    assert server.sql("SELECT fleet FROM store", server.database) == "red"
    assert first.child.poll() is None


def assert_refused_daemon(result, *words):
    assert result.code == 5, result
    assert all(word in result.err for word in words), result


# --- jobs


def test_jobs_that_cannot_be_are_refused(eider, server):
    eider("enqueue", "default", "noop", code=0)
    assert_refused(eider("enqueue", "default", "noop", "{not json"), 2, "JSON")
    big = eider.write("big.json", json.dumps({"x": "y" * (5 << 20)}))
    assert_refused(eider("enqueue", "default", "noop", f"@{big}"), 2, "bytes")
    assert_refused(eider("queues", "show", "nosuch"), 3, "nosuch")
    assert_refused(eider("jobs", "show", "123456789"), 3, "123456789")
    assert_refused(eider("jobs", "show", "abc"), 2, "abc")
    assert len(rows_of(eider("jobs", "list", "-o", "json", code=0).json())) == 1


def test_a_job_that_nobody_can_do_becomes_a_dead_letter(eider, server, fleet_up):
    number = eider("enqueue", "-o", "name", "default", "nobody", '{"a": 1}', code=0).out.strip()
    fleet_up("first")

    def job():
        return eider("jobs", "show", number, "-o", "json", code=0).json()

    wait_for(lambda: job()["status"] == "failed", "the job is over")
    assert "nobody" in job()["message"] and "noop" in job()["message"]
    letters = rows_of(eider("dlq", "list", "-o", "json", code=0).json())
    assert [letter["id"] for letter in letters] == [number], letters


# --- settings


def test_leases_that_cannot_work_are_refused(eider, server):
    short = {"EIDER_LEASE": "2s", "EIDER_RENEW": "1s"}
    assert_refused(eider("up", env=short), 2, "lease", "three times")
    assert_refused(eider("run", eider.write("dag.yaml", "tasks: {a: {run: 'true'}}"), env=short),
                   2, "lease", "three times")
    assert_refused(eider("up", env={"EIDER_LEASE": "3s", "EIDER_RENEW": "1s",
                                    "EIDER_MARGIN": "2s"}), 2, "margin")


# --- trouble


@pytest.mark.parametrize("hours", [1, -1])
def test_a_wrong_clock_does_no_harm(eider, server, fleet_up, clock_shim, evidence, hours,
                                    tmp_path):
    offset = tmp_path / "offset"
    offset.write_bytes((hours * 3_600_000_000).to_bytes(8, "little", signed=True))
    asan = eider.environment()["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
    wrong = {"LD_PRELOAD": str(clock_shim), "CHAOS_CLOCK": str(offset), "ASAN_OPTIONS": asan}
    fleet_up("right")
    other = fleet_up("wrong", **wrong)
    eider("dags", "trigger", eider.write("dags/dag.yaml", """
        tasks:
          a:
            foreach: [1, 2, 3, 4, 5, 6]
            run: |
              sleep 0.1
              echo start $$ >> @evidence
              while [ $(grep -c start @evidence) -lt 6 ]; do sleep 0.02; done
          b: {needs: [a], retries: 1, retry_delay: 200ms, run: "[ $EIDER_TRY_NUMBER = 2 ]"}
    """), code=0)
    wait_for_state(eider, "success")
    rows = eider.instances()
    assert {row.get("hostname") for row in rows if row["map_index"] >= 0} == {"right", "wrong"}
    assert all(0 <= row["duration"] < 60 for row in rows if row.get("duration") is not None), rows
    spread = server.sql("SELECT max(greatest(started_at_us, ended_at_us))"
                        " - min(least(started_at_us, ended_at_us)) FROM task", server.database)
    assert int(spread) < 60_000_000
    shown = rows_of(eider("hosts", "list", "-o", "json", env=wrong, code=0).json())
    assert all(row["status"] == "active" and row["heartbeat_age"] < 60 for row in shown), shown
    assert "given up" not in other.text()
    doctor = eider("doctor", env=wrong)
    assert "3600 s" in doctor.out or "3599 s" in doctor.out, doctor


def test_a_database_that_restarts_under_load_loses_nothing(eider, server, fleet_up, evidence):
    daemons = [fleet_up(name, EIDER_LEASE="60s") for name in ("first", "second")]
    eider("dags", "trigger", eider.write("dags/dag.yaml", """
        tasks:
          many:
            foreach: "{{ range(120) | list }}"
            run: "echo done {{ item }} >> @evidence; sleep 0.05"
          last: {needs: [many], run: "echo last >> @evidence"}
    """), code=0)
    for share, mode in ((20, "fast"), (60, "immediate")):
        wait_for(lambda: len(evidence.lines()) >= share, "the load runs")
        server.stop(mode)
        server.start()
    wait_for_state(eider, "success")
    lines = evidence.lines()
    assert {f"done {n}" for n in range(120)} <= set(lines) and lines.count("last") == 1
    assert len(lines) == 121, "with a long lease nothing runs twice"
    assert all(daemon.child.poll() is None for daemon in daemons)


@pytest.fixture
def small_disk(tmp_path):
    """A folder that holds 8 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "eider-e2e", str(folder)],
                          check=False, capture_output=True)
    if made.returncode != 0:
        pytest.skip("cannot mount a small disk here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return filler


def test_a_password_stays_with_the_daemon(eider, server, fleet_up):
    """Neither tasks nor messages show it."""
    server.sql("DROP ROLE IF EXISTS guarded; CREATE ROLE guarded SUPERUSER LOGIN PASSWORD"
               f" '{SECRET}'")
    url = server.tcp_url_of(server.database, f"guarded:{SECRET}")
    daemon = fleet_up("first", EIDER_STORE=url)
    env = {"EIDER_STORE": url}
    path = eider.write("dags/dag.yaml", "tasks: {a: {run: 'env; cat /proc/self/environ'}}")
    eider("dags", "trigger", path, env=env, code=0)
    wait_for_state(eider, "success")
    assert "EIDER_RUN_ID" in eider.log("dag", "a")
    assert SECRET not in eider.log("dag", "a")
    assert SECRET not in daemon.text()
    assert SECRET not in eider.run("tasks: {a: {run: env}}", "--logs", env=env).err
    assert SECRET not in server.sql("SELECT string_agg(e::text, ' ') FROM event e",
                                    server.database)


def test_a_full_disk_of_one_host_is_said_and_survived(eider, server, fleet_up, small_disk):
    home = small_disk / "home"
    daemon = fleet_up("first", EIDER_HOME=str(home))
    path = eider.write("dags/dag.yaml",
                       "tasks: {a: {run: 'seq 1 20000'}, b: {run: 'echo yes > $EIDER_OUTPUTS/x'}}")
    eider("dags", "trigger", path, "--run-id", "before", code=0)
    wait_for(lambda: {row["state"] for row in eider.runs()} == {"success"}, "there is room")
    # What the host still has to send would give room again once it is sent.
    wait_for(lambda: not list(home.glob("stores/*/blob/**/*.log")), "its logs are in the store")
    filler = fill(small_disk)
    eider("dags", "trigger", path, "--run-id", "full", code=0)
    wait_for(lambda: any(row["dag_run_id"] == "full" and row["state"] in ("success", "failed")
                         for row in eider.runs()), "the run ends on a full disk")
    tasks = eider.tasks("full")
    assert tasks["a"]["state"] == "success" and tasks["b"]["state"] == "failed"
    for task in tasks.values():
        assert "of its log could not be kept" in task["message"], task
        assert "No space left" in task["message"], task
    assert daemon.child.poll() is None, daemon.text()
    filler.unlink()
    eider("dags", "trigger", path, "--run-id", "after", code=0)
    wait_for(lambda: [row["state"] for row in eider.runs() if row["dag_run_id"] == "after"]
             == ["success"], "there is room again")
