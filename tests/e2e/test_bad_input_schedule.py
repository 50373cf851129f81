"""Bad input of scheduling and control: what is said, where, and that nothing else suffers."""
import contextlib
import datetime
import re
import sqlite3
import time

import pytest
from fleet import LONG, Daemon, finish_all, let_go, started, wait_for_state
from harness import rows_of, wait_for


@pytest.fixture(params=["sqlite", "postgres"])
def up(request, eider):
    """Starts a daemon on either store; all are stopped at the end."""
    if request.param == "postgres":
        request.getfixturevalue("server")
    daemons = []

    def start(**env):
        daemons.append(Daemon(eider, name=f"up-{len(daemons)}",
                              env={"EIDER_SLOTS": "4", **env}))
        return daemons[-1].wait_until_up()

    yield start
    finish_all(daemons)


def is_offered(eider, dag="dag"):
    return eider("dags", "show", dag, "-o", "json").out.find('"status": "active"') >= 0


# --- schedules -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text, place, words", [
    ('schedule: "0 0 30 2 *"', "1:11", ["never comes", "day of the month"]),
    ('schedule: "61 * * * *"', "1:11", ["'61' is not a minute", "0 to 59"]),
    ('schedule: "0 25 * * *"', "1:14", ["'25' is not an hour"]),
    ('schedule: "* * * * * * *"', "1:11", ["this one has 7", "leave the year out"]),
    ('schedule: "0 0 * *"', "1:11", ["5 fields", "this one has 4"]),
    ('schedule: "0 12 * * * 2026"', "1:23", ["'2026' is a year", "6 fields"]),
    ('schedule: "@dayly"', "1:11", ["did you mean '@daily'?"]),
    ('schedule: daily', "1:11", ["did you mean '@daily'?"]),
    ('schedule: "evry 5m"', "1:11", ["an interval is written every 15m"]),
    ("schedule: {cron: '@daily', tz: Europe/Berln}", "1:32", ["did you mean 'Europe/Berlin'?"]),
    ("schedule: {cron: '@daily', tz: Mars/Base}", "1:32", ["no time zone 'Mars/Base'", "UTC"]),
    ("schedule: '@daily'\ntz: Europe/Berlin", "2:1", ["of its schedule", "tz: Europe/Berlin}"]),
    ("schedule: '@daily'\nstart_date: 2026-02-01\nend_date: 2026-01-01", "3:11",
     ["ends (2026-01-01) before it starts (2026-02-01)"]),
    ("start_date: 2026-02-01\nend_date: 2026-01-01", "2:11", ["before it starts"]),
])
def test_a_schedule_that_cannot_be_is_shown_at_its_place(eider, text, place, words):
    path = eider.write("dag.yaml", text + "\ntasks: {a: {run: 'true'}}\n")
    validated = eider("validate", path)
    for done in (validated, eider("run", path)):
        said = done.out + done.err
        assert done.code == 6, done
        assert f"dag.yaml:{place}: " in said, said
        assert all(word in said for word in words), said
    line, column = map(int, place.split(":"))
    shown = validated.out.splitlines()
    at = next(i for i, row in enumerate(shown) if row.endswith(text.splitlines()[line - 1]))
    assert shown[at + 1].index("^") == shown[at].index("| ") + 1 + column, "the caret"
    assert eider.runs() == []


def test_a_schedule_without_a_tick_is_warned_of(eider):
    path = eider.write("dag.yaml", """\
        schedule: "@yearly"
        start_date: 2026-02-01
        end_date: 2026-03-01
        tasks: {a: {run: "true"}}
    """)
    assert "dag.yaml:1:11: warning: the schedule has no tick" in eider("validate", path, code=0).out


@pytest.mark.parametrize("args, words", [
    (("simulate", "--from", "2027-02-01", "--to", "2027-01-01"),
     ["ends before it begins", "2027-02-01T00:00:00Z", "2027-01-01T00:00:00Z"]),
    (("simulate", "--from", "2027-01-01", "--to", "2029-01-01"), ["more than a year"]),
    (("simulate", "--from", "soon"), ["'soon'", "2026-01-31"]),
    (("backfill", "plan", "dag", "--from", "2024-02-01", "--to", "2024-01-01"),
     ["ends before it begins", "2024-02-01"]),
    (("dags", "next", "dag", "--from", "2027-02-30"), ["'2027-02-30'", "2026-01-15"]),
    (("audit", "list", "--from", "2027-02-01", "--to", "2027-01-01"), ["ends before it begins"]),
    (("dags", "trigger", "dag", "--date", "0"), ["'0' is no date"]),
])
def test_times_that_cannot_be(eider, args, words):
    eider.write("dags/dag.yaml", "schedule: '@daily'\ntasks: {a: {run: 'true'}}")
    done = eider(*args, code=2)
    assert all(word in done.err for word in words), done


# --- backfills of a million runs -----------------------------------------------------------------


OFTEN = """
    dag: often
    schedule: "* * * * *"
    start_date: 1970-01-01
    catchup: none
    tasks: {a: {run: 'true'}}
"""


def test_a_backfill_of_too_many_runs_is_refused(eider):
    eider.write("dags/often.yaml", OFTEN)
    begun = time.monotonic()
    for verb, first in (("plan", "2000-01-01"), ("create", "1970-01-01")):
        refused = eider("backfill", verb, "often", "--from", first, "--to", "2024-01-01", code=2)
        assert "more than 100000 dates" in refused.err and "backfill_max" in refused.err
        bound = re.search(r"let it end before (\S+Z),", refused.err)
        assert bound and bound[1] in ("2000-03-10T10:40:00Z", "1970-03-11T10:40:00Z"), refused
    plan = eider("backfill", "plan", "often", "--from", "2000-01-01", "--to",
                 "2000-03-10T10:39:00Z", "-o", "json", code=0).json()
    assert plan["size"] == 100000 and plan["needs_approval"]
    assert time.monotonic() - begun < 20
    assert eider("backfill", "list", "-o", "name", code=0).out == ""


def test_a_backfill_of_a_million_runs_waits_for_approval(eider, up):
    eider.write("dags/often.yaml", OFTEN)
    up()
    begun = time.monotonic()
    made = eider("backfill", "create", "often", "--from", "2023-01-01", "--to", "2024-11-20",
                 env={"EIDER_BACKFILL_MAX": "1000000"}, code=0)
    assert f"it has {690 * 1440} dates" in made.err and "eider backfill approve 1" in made.err, made
    assert time.monotonic() - begun < 20
    made = [run for run in eider.runs() if run["run_type"] == "backfill"]
    assert made == [], "nothing is made before somebody approves it"
    shown = eider("backfill", "show", "1", "-o", "json", code=0).json()
    assert (shown["state"], shown["left"]) == ("awaiting_approval", 690 * 1440)
    eider("backfill", "cancel", "1", code=0)
    assert eider("backfill", "approve", "1").code == 5


# --- files ---------------------------------------------------------------------------------------


def test_two_files_with_one_dag(eider):
    for name in ("a", "b"):
        eider.write(f"dags/{name}.yaml", "dag: same\ntasks: {t: {run: 'echo " + name + "'}}\n")
    done = eider("validate", "dags", code=6)
    assert "dags/b.yaml:1:1: error: the DAG 'same' is in dags/a.yaml already" in done.out, done
    assert "give one of them another id" in done.out
    assert eider("dags", "list", "-o", "name", code=0).out.split() == ["same"]
    eider("validate", "dags/a.yaml", "./dags/a.yaml", code=0)


def test_a_file_that_goes_away_under_its_run(eider, up, evidence):
    """The run goes on as it began, to its last task and with its own script."""
    eider.write("dags/last.sh", "echo last as it was >> @evidence\n")
    eider.write("dags/dag.yaml", LONG + """
      last: {needs: [work], script: {file: last.sh}}
""")
    up()
    wait_for(lambda: is_offered(eider), "the DAG is offered")
    eider("dags", "trigger", "dag", "--run-id", "one", code=0)
    wait_for(lambda: started(evidence), "the first task runs")
    for path in (eider.work / "dags").iterdir():
        path.unlink()
    wait_for(lambda: not is_offered(eider), "the file is gone")
    let_go(eider)
    wait_for_state(eider, "success")
    assert evidence.lines()[-1] == "last as it was"
    gone = eider("dags", "trigger", "dag")
    assert gone.code == 5 and "inactive" in gone.err, gone
    assert eider.log("dag", "last") is not None and eider.states() == {
        "work": "success", "last": "success"}
    eider("store", "check", code=0)


# --- clocks --------------------------------------------------------------------------------------


class Clock:
    """The wall clock of a daemon, which can be set; commands have the right one."""

    def __init__(self, eider, shim):
        self.path = eider.folder / "offset"
        self.path.write_bytes(bytes(8))
        asan = eider.environment()["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
        self.env = {"LD_PRELOAD": str(shim), "CHAOS_CLOCK": str(self.path), "ASAN_OPTIONS": asan}

    def set(self, hours):
        """To the right time, and so many hours."""
        with self.path.open("r+b") as file:
            file.write((hours * 3_600_000_000).to_bytes(8, "little", signed=True))


def dates_of(eider, dag):
    rows = eider("runs", "list", "--dag", dag, "-n", "1000", "-o", "json", code=0).json()
    return [datetime.datetime.fromisoformat(row["logical_date"].replace("Z", "+00:00"))
            for row in rows["dag_runs"]]


def test_a_clock_that_is_set_forward_and_back(eider, up, clock_shim, evidence, request):
    """Every tick has one run, what runs goes on, and the daemon says what happened to its clock."""
    eider.write("dags/dag.yaml", LONG)
    eider.write("dags/steady.yaml", """
        schedule: {cron: "*/10 * * * *", catchup: all, overlap: allow}
        tasks: {a: {run: "true"}}
    """)
    eider.write("dags/quick.yaml", """
        schedule: {cron: "* * * * * *", grace: 0s, overlap: allow}
        tasks: {a: {run: "true"}}
    """)
    is_own_clock = "sqlite" in request.node.name
    clock = Clock(eider, clock_shim)
    daemon = up(**clock.env)
    wait_for(lambda: is_offered(eider), "the DAG is offered")
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: started(evidence), "the task runs")
    wait_for(lambda: dates_of(eider, "quick"), "ticks come")

    clock.set(1)
    if is_own_clock:
        daemon.wait_until("the clock was set forward")
        wait_for(lambda: len(dates_of(eider, "steady")) >= 6, "the ticks of the hour are made up")
        wait_for(lambda: max(dates_of(eider, "quick")) - min(dates_of(eider, "quick")) >
                 datetime.timedelta(minutes=50), "the other goes on from the new time")
        missed = wait_for(lambda: eider("dags", "next", "quick", "--missed", "-o", "json",
                                        code=0).json()["missed"], "what it missed is kept")
        assert sum(stretch["count"] for stretch in missed) > 3500, missed
    clock.set(0)
    if is_own_clock:
        daemon.wait_until("the clock was set back")
    clock.set(-1)
    if is_own_clock:
        wait_for(lambda: daemon.text().count("the clock was set back") == 2, "and once more")
    seen = len(dates_of(eider, "quick"))
    clock.set(2)
    wait_for(lambda: len(dates_of(eider, "quick")) > seen, "it goes on")
    if is_own_clock:
        wait_for(lambda: len(dates_of(eider, "steady")) >= 12, "so do the others")
        steps = re.findall(r"the clock was set (\w+) seconds=(\d+)", daemon.text())
        assert [(way, round(int(seconds) / 3600)) for way, seconds in steps] == [
            ("forward", 1), ("back", 1), ("back", 1), ("forward", 3)], steps
    else:
        assert "the clock was set" not in daemon.text(), "the clock of the database counts"
    let_go(eider)
    wait_for_state(eider, "success")
    assert len(started(evidence)) == 1 and eider.tasks()["work"]["try_number"] == 1
    for dag in ("quick", "steady"):
        dates = dates_of(eider, dag)
        assert len(dates) == len(set(dates)), "no tick has two runs"
    steady = sorted(dates_of(eider, "steady"))
    assert all(later - earlier == datetime.timedelta(minutes=10)
               for earlier, later in zip(steady, steady[1:])), "and none is left out"
    eider("store", "check", code=0)


# --- who is told ---------------------------------------------------------------------------------


def notices(eider):
    """By the task they are about."""
    rows = rows_of(eider("notify", "list", "-n", "100", "-o", "json", code=0).json())
    return {row["task_id"]: row for row in rows}


def test_targets_that_cannot_be_reached(eider, up, receiver, mail, request):
    """Nobody of them changes the run; each shows what it said, and when it is asked again."""
    about = mail.about
    (eider.work / "connections.yaml").write_text(
        f"post: {{conn_type: smtp, host: 127.0.0.1, port: {about['smtp']},"
        " extra: {from: eider@example.com, security: none}}\n")
    (eider.work / "eider.yaml").write_text("")
    receiver.hold()
    targets = {
        "closed": (f"webhook: 'http://127.0.0.1:{about['closed']}/'", "pending", "onnect"),
        "unknown": ("webhook: 'http://no-such-host.invalid/'", "pending", "no-such-host.invalid"),
        "forged": (f"webhook: 'https://127.0.0.1:{about['stranger']}/'", "pending", "certificate"),
        "busy": (f"webhook: 'http://127.0.0.1:{about['http']}/status/500'", "pending", "HTTP 500"),
        "gone": (f"webhook: 'http://127.0.0.1:{about['http']}/status/410'", "failed", "HTTP 410"),
        "later": ("email: {to: later@example.com, connection: post}", "pending", "451"),
        "nobody": ("email: {to: gone@example.com, connection: post}", "failed", "550"),
        "unnamed": ("slack: nowhere", "pending", "nowhere"),
        "slow": (f"webhook: '{receiver.url()}'", "sending", ""),
    }
    eider.write("dags/dag.yaml", "tasks:\n" + "".join(
        f"  {task}: {{run: 'true', on_success: [{{{target}}}]}}\n"
        for task, (target, _, _) in targets.items()))
    daemon = up()
    wait_for(lambda: is_offered(eider), "the DAG is offered")
    eider("dags", "trigger", "dag", code=0)
    wait_for_state(eider, "success")

    def is_settled():
        rows = notices(eider)
        return set(rows) == set(targets) and all(
            row["state"] == targets[task][1] for task, row in rows.items()) and rows

    rows = wait_for(is_settled, "each was tried once")
    for task, (_, state, words) in targets.items():
        assert words in (rows[task]["answer"] or ""), rows[task]
        assert rows[task]["attempts"] == 1
        assert bool(rows[task]["next_try"]) == (state == "pending"), rows[task]
    shown = eider("notify", "list", code=0).out
    assert "HTTP 500" in shown and "HTTP 410" in shown
    wait_for(lambda: daemon.text().count("a message could not be delivered") == 2, "both are told")
    assert set(eider.states().values()) == {"success"}

    # A day later.
    statement = ("UPDATE notice SET due_at_us = 1, first_at_us = first_at_us - 86400000000"
                 " WHERE state = 0")
    if "postgres" in request.node.name:
        server = request.getfixturevalue("server")
        server.sql(statement, server.database)
    else:
        with contextlib.closing(sqlite3.connect(eider.home / "eider.db", timeout=30)) as db:
            db.execute(statement)
            db.commit()
    others = set(targets) - {"slow"}
    wait_for(lambda: {notices(eider)[task]["state"] for task in others} == {"failed"},
             "they are given up in the end")
    given_up = notices(eider)
    assert "given up after 2 tries" in given_up["busy"]["answer"], given_up["busy"]
    assert "HTTP 500" in given_up["busy"]["answer"]
    receiver.let_go()
    wait_for(lambda: notices(eider)["slow"]["state"] == "sent", "what is slow arrives")
    failed = rows_of(eider("notify", "list", "--failed", "-n", "100", "-o", "json", code=0).json())
    assert {row["task_id"] for row in failed} == others, failed
    eider("notify", "retry", given_up["busy"]["id"], code=0)
    wait_for(lambda: notices(eider)["busy"]["attempts"] >= 3, "by hand it is tried again")
    assert eider.run_state() == "success"


# --- keys of secrets -----------------------------------------------------------------------------


NEEDS_SECRET = """
    tasks:
      sealed: {env: {T: "{{ secrets.tok }}"}, run: 'expr length $T'}
      plain: {run: "echo fine"}
"""


def break_key(key, way):
    kept = key.read_bytes()
    if way == "missing":
        key.unlink()
    elif way == "truncated":
        key.write_bytes(kept[:20])
    elif way == "empty":
        key.write_bytes(b"")
    elif way == "readable":
        key.chmod(0o644)
    elif way == "other":
        key.write_bytes(bytes(kept[:1] == b"A" and b"B" or b"A") + kept[1:])
    return kept


@pytest.mark.parametrize("way, code, words, advice", [
    ("missing", 4, "no key for secrets", "set EIDER_SECRET_KEY or secret_key_file"),
    ("truncated", 2, "is no key", "it has 20 characters"),
    ("empty", 2, "there is no key in it", "put the key back"),
    ("readable", 4, "others may use", "chmod 600"),
    ("other", 4, "sealed with another key", "give it that key"),
])
def test_a_wrong_key_of_secrets(eider, way, code, words, advice):
    """Said clearly, nothing is overwritten, and what needs no secret runs."""
    path = eider.write("dag.yaml", NEEDS_SECRET)
    eider("secrets", "set", "tok", input="value-one", code=0)
    key = eider.home / "secret.key"
    kept = break_key(key, way)
    broken = key.read_bytes() if key.exists() else None
    eider("run", path, code=1)
    assert eider.states() == {"sealed": "failed", "plain": "success"}
    message = eider.tasks()["sealed"]["message"]
    assert words in message and advice in message, message
    assert "'tok'" in message and "dag.yaml:3" in message, message
    for name in ("tok", "more"):
        refused = eider("secrets", "set", name, input="value-two", code=code)
        assert "key" in refused.err, refused
    assert words in eider("secrets", "rotate", code=code).err
    assert (key.read_bytes() if key.exists() else None) == broken
    doctor = eider("doctor").out
    assert "1 of them with a key that is not here" in doctor
    assert way == "other" or words in doctor, doctor
    listed = rows_of(eider("secrets", "list", "-o", "json", code=0).json())
    assert [row["name"] for row in listed] == ["tok"]

    key.write_bytes(kept)
    key.chmod(0o600)
    eider("retry", "dag", code=0)
    assert eider.log("dag", "sealed").splitlines()[-1] == "9", "nothing was lost"


def test_a_daemon_takes_the_key_once_it_is_there(eider):
    path = eider.write("dags/dag.yaml", NEEDS_SECRET)
    eider("secrets", "set", "tok", input="value-one", code=0)
    kept = break_key(eider.home / "secret.key", "truncated")
    daemon = Daemon(eider)
    try:
        daemon.wait_until_up()
        eider("dags", "trigger", path, code=0)
        wait_for_state(eider, "failed")
        assert eider.states() == {"sealed": "failed", "plain": "success"}
        (eider.home / "secret.key").write_bytes(kept)
        eider("retry", "dag", code=0)
        wait_for_state(eider, "success")
    finally:
        finish_all([daemon])
