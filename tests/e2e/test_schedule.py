"""Runs from time: one per tick whatever crashes; pause; limits; what is shown of it."""
import datetime
import time

from fleet import LONG, let_go, started, wait_for_state
from harness import wait_for

SECONDLY = """
    schedule: {cron: "* * * * * *", catchup: all, overlap: allow}
    tasks: {a: {run: "echo {{ ts }} >> @evidence"}}
"""


def ticks_of(eider, dag="dag"):
    """Seconds since 1970 of the scheduled runs, ascending."""
    rows = eider("runs", "list", "--dag", dag, "-n", "1000", "-o", "json", code=0).json()
    return sorted(int(datetime.datetime.fromisoformat(row["logical_date"].replace("Z", "+00:00"))
                      .timestamp()) for row in rows["dag_runs"] if row["run_type"] == "scheduled")


def expect_every_tick_once(eider, evidence):
    ticks = ticks_of(eider)
    assert ticks == list(range(ticks[0], ticks[-1] + 1)), "each second has its run, and one"
    ran = evidence.lines()
    assert len(ran) == len(set(ran))
    eider("store", "check", code=0)


def state_of(eider, run):
    return eider("runs", "show", run, "-o", "json", code=0).json()["state"]


def settle(eider):
    """Paused, and every run over."""
    eider("dags", "pause", "dag", code=0)
    wait_for(lambda: {row["state"] for row in eider.runs()} == {"success"}, "all runs are over")


def test_a_killed_daemon_misses_no_tick_and_doubles_none(eider, up, evidence):
    eider.write("dags/dag.yaml", SECONDLY)
    for times in (1, 2, 3):
        daemon = up(times=times)
        before = len(ticks_of(eider))
        wait_for(lambda: len(ticks_of(eider)) >= before + 3, "runs come by themselves")
        daemon.kill()
    up(times=4)
    wait_for(lambda: len(evidence.lines()) >= 8, "what was missed is caught up")
    settle(eider)
    expect_every_tick_once(eider, evidence)


def test_schedulers_of_a_fleet_start_each_tick_once(eider, fleet_up, evidence):
    path = eider.write("dags/dag.yaml", SECONDLY)
    daemons = [fleet_up(name, "--dags", path.parent) for name in ("first", "second", "third")]
    wait_for(lambda: len(ticks_of(eider)) >= 4, "runs come by themselves")
    daemons[0].kill()
    more = len(ticks_of(eider)) + 3
    wait_for(lambda: len(ticks_of(eider)) >= more, "others go on")
    eider("dags", "pause", "dag", code=0)
    wait_for(lambda: len(set(evidence.lines())) == len(ticks_of(eider)), "all runs ran")
    expect_every_tick_once(eider, evidence)


def test_a_tick_starts_in_time(eider, up):
    eider.write("dags/dag.yaml", """
        schedule: {cron: "* * * * * *", overlap: allow}
        tasks: {a: {noop: true}}
    """)
    up()
    wait_for(lambda: len(ticks_of(eider)) >= 4, "runs come by themselves")
    rows = eider("runs", "list", "-o", "json", code=0).json()["dag_runs"]
    late = [(datetime.datetime.fromisoformat(row["queued_at"].replace("Z", "+00:00"))
             - datetime.datetime.fromisoformat(row["logical_date"].replace("Z", "+00:00")))
            .total_seconds() for row in rows]
    assert min(late) >= 0, "never before its time"
    assert sorted(late)[len(late) // 2] < 1, late


def test_what_is_paused_starts_nothing_by_itself(eider, up, evidence):
    eider.write("dags/dag.yaml", SECONDLY.replace("catchup: all", "grace: 0s"))
    up(env={"EIDER_DAGS_PAUSED_AT_CREATION": "true"})
    shown = eider("dags", "show", "dag", "-o", "json", code=0).json()
    assert shown["is_paused"] and shown["next_run"] is None
    eider("dags", "trigger", "dag", code=0)
    wait_for_state(eider, "success")
    begun = time.monotonic()
    wait_for(lambda: time.monotonic() > begun + 4, "ticks go by")
    assert not ticks_of(eider), "only what was asked for ran"

    told = eider("dags", "unpause", "dag", "-o", "json", code=0).json()["dags"]
    assert told == [{"dag_id": "dag", "is_paused": False, "changed": True}]
    wait_for(lambda: ticks_of(eider), "it goes on")
    missed = eider("dags", "next", "dag", "--missed", "-o", "json", code=0).json()["missed"]
    assert missed and missed[-1]["because"] == "late or paused", missed
    assert eider("dags", "next", "dag", "--missed", code=0).out.startswith("FIRST")
    assert eider("dags", "pause", "dag", "nobody").code == 3
    settle(eider)


def test_runs_of_a_dag_wait_for_each_other(eider, up, evidence):
    eider.write("dags/dag.yaml", LONG)
    up()
    eider("dags", "trigger", "dag", "--run-id", "one", code=0)
    wait_for(lambda: started(evidence), "the first runs")
    eider("dags", "trigger", "dag", "--run-id", "two", code=0)
    eider("dags", "trigger", "dag", "--run-id", "three", code=0)
    shown = eider("runs", "show", "dag/two", code=0)
    assert "max_active_runs: 1 of 1 runs of 'dag' go now" in shown.out, shown
    told = eider("explain", "dag/two", code=0)
    assert "may not start yet" in told.out + told.err, told
    eider("stop", "dag/two", code=0)
    assert state_of(eider, "dag/two") == "cancelled"
    assert len(started(evidence)) == 1
    let_go(eider)
    wait_for(lambda: state_of(eider, "dag/three") == "success", "the third is over")
    assert len(started(evidence)) == 2
    eider("runs", "delete", "dag/two", "--yes", code=0)
    eider("store", "check", code=0)


def test_next_shows_the_ticks_of_a_file(eider):
    path = eider.write("dag.yaml", """
        schedule: {cron: "30 2 * * *", tz: Europe/Berlin}
        tasks: {a: {run: "true"}}
    """)
    shown = eider("dags", "next", path, "-n", "3", "--from", "2026-03-28T00:00:00Z", "-o", "json",
                  code=0).json()
    assert [tick["local"] for tick in shown["ticks"]] == [
        "2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
    assert shown["ticks"][0]["data_interval_start"] == "2026-03-27T01:30:00Z"
    assert not shown["is_scheduled"]
    path = eider.write("hand.yaml", "tasks: {a: {run: 'true'}}")
    assert "does not run by itself" in (eider("dags", "next", path, code=0).err)
    assert eider("dags", "next", path, "-n", "0").code == 2
    assert eider("dags", "next", path, "--from", "soon").code == 2
    assert eider("dags", "next", "nobody").code == 3


def test_templates_know_the_neighbouring_ticks(eider):
    path = eider.write("dag.yaml", """
        schedule: "@daily"
        tasks:
          a:
            run: |
              echo {{ prev_execution_date }} {{ next_execution_date }}
              echo {{ data_interval_start }} {{ data_interval_end }}
              echo {{ ts | tz('Asia/Kolkata') }}
    """)
    eider("run", path, "--date", "2026-01-15T06:00:00Z", code=0)
    log = eider.log("dag", "a")
    assert "2026-01-15T00:00:00+00:00 2026-01-16T00:00:00+00:00" in log, log
    assert "2026-01-14T00:00:00+00:00 2026-01-15T00:00:00+00:00" in log, log
    assert "2026-01-15T11:30:00+05:30" in log, log
