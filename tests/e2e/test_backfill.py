"""Backfills with a real daemon: dates of the past, a few at a time, and what people do to them."""
import pytest
from fleet import Daemon, finish_all
from harness import overlap_max, wait_for

FAST = {"EIDER_SLOTS": "4"}
DAILY = """
    dag: daily
    schedule: "0 0 * * *"
    catchup: none
    start_date: 2024-01-01
    params: {region: {type: string, default: eu}}
    tasks:
      load: {run: "echo {{ ds }} {{ params.region }} >> @evidence"}
      report: {needs: [load], run: "true"}
"""
# Waits until it is told to go on, except that a run may be let go alone.
HELD = """
    dag: daily
    schedule: "0 0 * * *"
    catchup: none
    start_date: 2024-01-01
    tasks:
      load:
        run: |
          echo "+ {{ ds }}" >> @evidence
          while [ ! -e @evidence.go ]; do sleep 0.02; done
          echo "- {{ ds }}" >> @evidence
"""
FAILS = """
    dag: daily
    schedule: "0 0 * * *"
    catchup: none
    start_date: 2024-01-01
    tasks:
      load: {run: "echo load {{ ds }} >> @evidence"}
      check: {needs: [load], run: "test -e @evidence.fixed"}
"""


@pytest.fixture(params=["sqlite", "postgres"])
def up(request, eider):
    """Writes the DAG and starts a daemon on it."""
    if request.param == "postgres":
        request.getfixturevalue("server")
    daemons = []

    def start(text, **env):
        eider.write("dags/daily.yaml", text.replace("@evidence", str(eider.evidence)))
        daemons.append(Daemon(eider, env={**FAST, **env}, name=f"up-{len(daemons)}"))
        return daemons[-1].wait_until_up()

    yield start
    finish_all(daemons)


def create(eider, *args, first="2024-01-01", last="2024-01-05", **options):
    result = eider("backfill", "create", "daily", "--from", first, "--to", last, *args, "-o",
                   "json", code=0, **options)
    return result.json()["backfill"]


def show(eider, number, *args):
    return eider("backfill", "show", number, *args, "-o", "json", code=0).json()


def wait_for_state(eider, number, state):
    wait_for(lambda: show(eider, number)["state"] == state, f"the backfill is {state}")
    return show(eider, number)


def states(eider, number):
    return {date["logical_date"][:10]: date["state"]
            for date in show(eider, number, "--dates")["dates"]}


def test_every_date_of_the_range_runs_once(eider, up, evidence):
    up(DAILY)
    number = create(eider, "-p", "region=us", "--max-active", "3", "--reason", "new rule",
                    "--note", "again")
    done = wait_for_state(eider, number, "success")
    assert done["succeeded"] == done["created"] == done["size"] == 5 and done["left"] == 0
    assert done["reason"] == "new rule" and done["actor"]
    assert sorted(evidence.lines()) == [f"2024-01-0{day} us" for day in range(1, 6)]
    run = eider("runs", "show", "daily/backfill__2024-01-02T00:00:00+00:00", "-o", "json",
                code=0).json()
    assert run["run_type"] == "backfill" and run["note"] == "again"
    assert eider("backfill", "list", "-o", "name", code=0).out.split() == [number]
    assert eider("backfill", "list", "--state", "running", "-o", "name", code=0).out == ""
    assert eider("store", "check").code == 0


def test_the_newest_date_comes_first_and_one_at_a_time(eider, up, evidence):
    up(DAILY)
    wait_for_state(eider, create(eider, "--order", "desc"), "success")
    assert evidence.lines() == [f"2024-01-0{day} eu" for day in range(5, 0, -1)]


def test_no_more_go_at_once_than_were_asked_for(eider, up, evidence):
    up(HELD)
    number = create(eider, "--max-active", "2", last="2024-01-06")
    wait_for(lambda: len(evidence.lines()) == 2, "two have started")
    assert show(eider, number)["active"] == 2
    (eider.folder / "evidence.go").touch()
    wait_for_state(eider, number, "success")
    assert overlap_max(evidence.lines()) <= 2
    assert len(evidence.lines()) == 12


def test_what_failed_is_redone_and_nothing_else(eider, up, evidence):
    up(FAILS)
    number = create(eider, last="2024-01-03")
    assert wait_for_state(eider, number, "failed")["failed"] == 3
    (eider.folder / "evidence.fixed").touch()
    again = create(eider, "--redo", "failed", last="2024-01-04")
    done = wait_for_state(eider, again, "success")
    assert (done["redone"], done["created"], done["kept"]) == (3, 1, 0)
    assert len(evidence.lines()) == 4, "what succeeded before did not run again"
    third = create(eider, "--redo", "failed", last="2024-01-04")
    assert wait_for_state(eider, third, "success")["kept"] == 4
    every = create(eider, "--redo", "all", last="2024-01-02")
    assert wait_for_state(eider, every, "success")["redone"] == 2
    assert len(evidence.lines()) == 6


def test_what_is_redone_keeps_its_version_and_what_is_new_gets_the_newest(eider, up, evidence):
    up(DAILY)
    wait_for_state(eider, create(eider, last="2024-01-02"), "success")
    eider.write("dags/daily.yaml",
                DAILY.replace("{{ ds }}", "second {{ ds }}").replace("@evidence", str(evidence)))
    show_dag = ("dags", "show", "daily", "-o", "json")
    wait_for(lambda: eider(*show_dag, code=0).json()["dag_version"] == 2, "the edit is read")
    again = create(eider, "--redo", "all", "--dag-version", "original", last="2024-01-03")
    wait_for_state(eider, again, "success")
    assert sorted(evidence.lines()) == ["2024-01-01 eu"] * 2 + ["2024-01-02 eu"] * 2 + \
        ["second 2024-01-03 eu"]


def test_a_paused_one_waits_and_goes_on_even_with_another_daemon(eider, up, evidence):
    daemon = up(HELD)
    number = create(eider, "--max-active", "1")
    wait_for(lambda: len(evidence.lines()) == 1, "the first has started")
    eider("backfill", "pause", number, "--reason", "too much", code=0)
    (eider.folder / "evidence.go").touch()
    wait_for(lambda: show(eider, number)["succeeded"] == 1, "the first has ended")
    assert show(eider, number)["state"] == "paused"
    daemon.kill()
    up(HELD)
    assert show(eider, number)["created"] == 1
    assert eider("backfill", "pause", number).code == 5
    eider("backfill", "resume", number, code=0)
    wait_for_state(eider, number, "success")
    assert len([line for line in evidence.lines() if line.startswith("+")]) == 5


def test_a_cancel_lets_runs_end_unless_they_are_stopped_too(eider, up, evidence):
    up(HELD)
    number = create(eider, "--max-active", "2")
    wait_for(lambda: len(evidence.lines()) == 2, "two have started")
    assert eider("backfill", "cancel", number, "-o", "json",
                 code=0).json()["state"] == "cancelling"
    assert set(states(eider, number).values()) == {"running"}
    eider("backfill", "cancel", number, "--running", code=0)
    done = wait_for_state(eider, number, "cancelled")
    assert done["cancelled"] == 2 and done["created"] == 2
    assert set(states(eider, number).values()) == {"cancelled"}
    assert eider("backfill", "resume", number).code == 5


def test_only_some_tasks(eider, up, evidence):
    up(DAILY)
    number = create(eider, "--task", "load", last="2024-01-01")
    wait_for_state(eider, number, "success")
    run = "daily/backfill__2024-01-01T00:00:00+00:00"
    assert eider.states(run) == {"load": "success", "report": "removed"}
    both = create(eider, "--task", "load", "--with-downstream", first="2024-01-02",
                  last="2024-01-02")
    assert show(eider, both)["tasks"] == ["load", "report"]
    wait_for_state(eider, both, "success")


def test_a_large_one_waits_for_approval(eider, up, evidence):
    few = {"EIDER_BACKFILL_APPROVAL": "3"}
    up(DAILY, **few)
    result = eider("backfill", "create", "daily", "--from", "2024-01-01", "--to", "2024-01-04",
                   env=few, code=0)
    assert "eider backfill approve 1" in result.err
    assert show(eider, "1")["state"] == "awaiting_approval"
    assert eider("backfill", "pause", "1").code == 5
    small = create(eider, env=few, first="2024-02-01", last="2024-02-03")
    wait_for_state(eider, small, "success")
    assert show(eider, "1")["created"] == 0, "the small one was worked off before it"
    eider("backfill", "approve", "1", code=0)
    wait_for_state(eider, "1", "success")


def test_it_has_a_lane_of_its_own(eider, up, evidence):
    up(HELD)
    eider("queues", "set", "history", "--max-running", "1", code=0)
    number = create(eider, "--queue", "history", "--max-active", "3")
    wait_for(lambda: len(evidence.lines()) == 1, "one has started")
    wait_for(lambda: show(eider, number)["active"] == 3, "three are there")
    run = "daily/backfill__2024-01-01T00:00:00+00:00"
    assert eider.tasks(run)["load"]["queue"] == "history"
    assert eider("queues", "delete", "history", "--yes").code == 5
    (eider.folder / "evidence.go").touch()
    wait_for_state(eider, number, "success")
    assert overlap_max(evidence.lines()) == 1


def test_a_plan_tells_what_would_happen(eider, up, evidence):
    up(FAILS)
    wait_for_state(eider, create(eider, last="2024-01-02"), "failed")
    plan = eider("backfill", "plan", "daily", "--from", "2024-01-01", "--to", "2024-01-04",
                 "--redo", "failed", "--max-active", "2", "-o", "json", code=0).json()
    assert (plan["size"], plan["to_create"], plan["to_redo"], plan["to_keep"]) == (4, 2, 2, 0)
    assert plan["existing"] == {"failed": 2} and plan["estimate"] is None
    assert [date["action"] for date in plan["dates"]] == ["redo", "redo", "create", "create"]
    (eider.folder / "evidence.fixed").touch()
    wait_for_state(eider, create(eider, "--redo", "failed", last="2024-01-02"), "success")
    plan = eider("backfill", "create", "daily", "--from", "2024-01-01", "--to", "2024-01-06",
                 "--dry-run", "-o", "json", code=0).json()
    assert plan["to_keep"] == 2 and plan["estimate"] > 0
    assert len(rows(eider)) == 2, "nothing was made"


def rows(eider):
    return eider("backfill", "list", "-o", "name", code=0).out.split()


# --- what cannot be


BAD = [
    (["--from", "2024-02-01", "--to", "2024-01-01"], 2, "ends before it begins"),
    (["--from", "2024-01-01"], 2, "--to is missing"),
    (["--from", "yesterday", "--to", "2024-01-01"], 2, "is no date"),
    (["--from", "2999-01-01", "--to", "2999-02-01"], 2, "in the future"),
    (["--from", "2020-01-01", "--to", "2020-02-01"], 2, "has no date in that range"),
    (["--order", "sideways"], 2, "sideways"),
    (["--redo", "some"], 2, "some"),
    (["--max-active", "0"], 2, "max_active"),
    (["--queue", "nowhere"], 3, "nowhere"),
    (["--task", "lode"], 3, "did you mean 'load'"),
    (["--dag-version", "7"], 3, "the newest is 1"),
    (["--dag-version", "old"], 2, "neither a number nor current"),
    (["-p", "zone=1"], 2, "zone"),
    (["--conf", "[]"], 2, "conf"),
]


@pytest.mark.parametrize("args, code, words", BAD)
def test_what_cannot_be_is_refused(eider, args, code, words):
    eider.write("dags/daily.yaml", DAILY.replace("@evidence", "/dev/null"))
    eider("queues", "set", "some", code=0)
    eider("dags", "trigger", "daily", code=0)
    if "--from" not in args:
        args = ["--from", "2024-01-01", "--to", "2024-01-03", *args]
    result = eider("backfill", "create", "daily", *args)
    assert result.code == code and words in result.err, result
    assert rows(eider) == []


def test_names_that_are_not_there(eider):
    eider.write("dags/free.yaml", "dag: free\ntasks: {a: {run: 'true'}}")
    dates = ["--from", "2024-01-01", "--to", "2024-01-03"]
    assert eider("backfill", "create", "nothing", *dates).code == 3
    refused = eider("backfill", "create", "free", *dates)
    assert refused.code == 2 and "eider dags trigger free --date" in refused.err, refused
    assert eider("backfill", "list", code=0).out.strip() in ("", "no backfills")
    eider("queues", "set", "q", code=0)
    for verb in ("show", "pause", "resume", "cancel", "approve"):
        assert eider("backfill", verb, "17").code == 3
        assert eider("backfill", verb, "x").code == 2


def test_a_million_dates_are_refused(eider):
    eider.write("dags/often.yaml", """
        dag: often
        schedule: "* * * * *"
        start_date: 2000-01-01
        tasks: {a: {run: 'true'}}
    """)
    eider("queues", "set", "some", code=0)
    for verb in ("plan", "create"):
        result = eider("backfill", verb, "often", "--from", "2000-01-01", "--to", "2020-01-01")
        assert result.code != 0 and "more than 100000 dates" in result.err, result
        assert "backfill_max" in result.err
    assert rows(eider) == []


def test_a_dag_that_depends_on_its_past_goes_forward(eider, up, evidence):
    up(FAILS.replace("catchup: none", "catchup: none\n    depends_on_past: true"))
    refused = eider("backfill", "create", "daily", "--from", "2024-01-01", "--to", "2024-01-03",
                    "--order", "desc")
    assert refused.code == 2 and "depends on its past" in refused.err
    number = create(eider, "--max-active", "3", last="2024-01-03")
    wait_for(lambda: show(eider, number)["failed"] == 1, "the first has failed")
    assert len(evidence.lines()) == 1 and show(eider, number)["active"] == 2
    first = "backfill__2024-01-01T00:00:00+00:00"
    assert first in show(eider, number)["held_because"]
    assert "eider retry" in show(eider, number)["held_because"]
    last = eider("explain", "daily/backfill__2024-01-03T00:00:00+00:00", "check", code=0).out
    assert first in last and "which is failed" in last and "eider retry" in last, last
    (eider.folder / "evidence.fixed").touch()
    eider("tasks", "clear", "daily/backfill__2024-01-01T00:00:00+00:00", "check", code=0)
    done = wait_for_state(eider, number, "success")
    assert done["succeeded"] == 3 and done["failed"] == 0 and done.get("held_because") is None


def test_a_backfill_that_failed_succeeds_when_its_date_is_mended(eider, up, evidence):
    up(FAILS)
    number = create(eider, last="2024-01-02")
    wait_for_state(eider, number, "failed")
    (eider.folder / "evidence.fixed").touch()
    for row in show(eider, number, "--dates")["dates"]:
        if row["state"] == "failed":
            eider("retry", row["run"], code=0)
    assert wait_for_state(eider, number, "success")["failed"] == 0


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_production_beside_a_backfill_is_proved_and_nothing_is_left(eider, request, store):
    if store == "postgres":
        request.getfixturevalue("server")
    folder = eider.folder / "places"
    folder.mkdir()
    done = eider("prove", "backfill", "--tasks", "3", "-o", "json", env={"TMPDIR": str(folder)},
                 timeout=120, code=0).json()
    assert done["ok"] and {check["what"] for check in done["checks"]} == {
        "production runs that succeeded", "production runs that started late",
        "the backfill went on meanwhile"}
    assert rows(eider) == [] and list(folder.iterdir()) == []
    assert eider("runs", "list", "-o", "name", code=0).out.split() == []
    assert eider("queues", "list", "-o", "name", code=0).out.split() == ["default"]
    assert eider("store", "check").code == 0


def test_what_of_the_range_the_schedule_does_not_have_is_said(eider, up):
    up(FAILS)
    for verb in ("plan", "create"):
        cut = eider("backfill", verb, "daily", "--from", "2023-12-01", "--to", "2024-01-02", "-o",
                    "json", code=0).json()
        assert "2024-01-01" in cut["left_out"] and cut["size"] == 2
    whole = eider("backfill", "plan", "daily", "--from", "2024-01-01", "--to", "2024-01-02", "-o",
                  "json", code=0).json()
    assert whole.get("left_out") is None


def test_without_a_daemon_it_says_so(eider):
    eider.write("dags/daily.yaml", FAILS)
    dates = ("--from", "2024-01-01", "--to", "2024-01-02")
    for command in (("backfill", "create", "dags/daily.yaml", *dates),
                    ("dags", "trigger", "dags/daily.yaml")):
        refused = eider(*command)
        assert refused.code == 8 and "eider up" in refused.err, refused
    eider("queues", "set", "q", code=0)
    made = eider("backfill", "create", "dags/daily.yaml", *dates, "-o", "json", code=0)
    assert "no scheduler" in made.json()["held_because"] and "eider up" in made.err
    run = eider("dags", "trigger", "dags/daily.yaml", "-o", "json", code=0).json()
    assert "eider up" in run["waits_because"]


def test_a_removed_file_holds_its_backfill(eider, up, evidence):
    up(FAILS.replace("test -e @evidence.fixed", "true"))
    wait_for(lambda: eider("dags", "show", "daily").code == 0, "the DAG is offered")
    number = create(eider, last="2024-01-02")
    wait_for_state(eider, number, "success")
    next(eider.folder.rglob("daily.yaml")).unlink()
    wait_for(lambda: eider("dags", "list", "--all", "-o", "json", code=0).json()["dags"][0]
             ["status"] == "inactive", "the DAG is inactive")
    refused = eider("backfill", "create", "daily", "--from", "2024-01-03", "--to", "2024-01-04")
    assert refused.code == 5 and "inactive" in refused.err


def test_what_the_platform_says_holds_for_whoever_asks(eider, up):
    eider("queues", "set", "history", "--priority", "-10", code=0)
    up(DAILY, EIDER_BACKFILL_APPROVAL="3", EIDER_BACKFILL_QUEUE="history")
    wait_for(lambda: eider("dags", "show", "daily").code == 0, "the DAG is offered")
    dates = ("--from", "2024-01-01", "--to", "2024-01-04")
    for own, waits in (("1000000", True), ("0", True), ("2", True)):
        plan = eider("backfill", "plan", "daily", *dates, "-o", "json", code=0,
                     env={"EIDER_BACKFILL_APPROVAL": own}).json()
        assert plan["needs_approval"] == waits and plan["queue"] == "history", own
    few = eider("backfill", "plan", "daily", "--from", "2024-01-01", "--to", "2024-01-03",
                "--queue", "default", "-o", "json", code=0).json()
    assert not few["needs_approval"] and few["queue"] == "default"
    number = create(eider, last="2024-01-02")
    assert wait_for_state(eider, number, "success")["queue"] == "history"
