"""`eider explain`: what it says to do helps, for every condition that people can change."""
import datetime
import signal

import pytest
from explained import (WAITS, answer, commands, conditions, follow, has_started, numbers, of_dag,
                       trigger, up, wait_for_code)
from fleet import FAST, LONG, let_go, started, wait_for_state
from harness import wait_for

# What is the same whatever the store; test_explain.py asks both for the conditions themselves.
EMBEDDED = pytest.mark.parametrize("up", ["sqlite"], indirect=True)


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def wait_for_task(eider, task, state="success", run="dag"):
    wait_for(lambda: eider.states(run)[task] == state, f"{task} is {state}")


def run_codes(eider, run):
    return {row["code"]: row for row in answer(eider, run)["conditions"]}


def go(eider):
    """Everything that waits by WAITS ends."""
    with eider.evidence.path.open("a") as out:
        out.write("go\n")


# --- room ----------------------------------------------------------------------------------------


def test_queues_and_pools_are_widened(eider, up):
    eider("queues", "set", "side", "--max-running", "1", code=0)
    eider("queues", "set", "still", code=0)
    eider("queues", "pause", "still", code=0)
    eider("pools", "set", "small", "--slots", "1", code=0)
    up()
    trigger(eider, f"""
        tasks:
          one: {{ run: "{WAITS}", queue: side }}
          two: {{ run: "true", queue: side, priority: -1 }}
          three: {{ run: "true", queue: still }}
          four: {{ run: "{WAITS}", pool: small }}
          five: {{ run: "true", pool: small, priority: -1 }}
          six: {{ run: "true", pool: small, slots: 3, priority: -9 }}
          seven: {{ run: "true", pool: nowhere, slots: 2 }}
        """)
    has_started(eider, "one", "four")
    follow(eider, wait_for_code(eider, "queue_full", "dag", "two"), number=2)
    wait_for_task(eider, "two")
    follow(eider, wait_for_code(eider, "queue_paused", "dag", "three"))
    wait_for_task(eider, "three")
    full = wait_for_code(eider, "pool_full", "dag", "five")
    assert numbers(full, "slots", "slots_used", "slots_needed") == (1, 1, 1)
    follow(eider, full, number=2)
    wait_for_task(eider, "five")
    small = wait_for_code(eider, "pool_too_small", "dag", "six")
    assert numbers(small, "name", "slots", "slots_used", "slots_needed") == ("small", 2, 1, 3)
    follow(eider, small, number=4)
    wait_for_task(eider, "six")
    follow(eider, wait_for_code(eider, "pool_missing", "dag", "seven"), number=2)
    wait_for_task(eider, "seven")
    go(eider)
    wait_for_state(eider, "success")


@EMBEDDED
def test_limits_are_raised(eider, up):
    eider("limits", "set", "dag", "dag", "--max-running", "1", code=0)
    eider("limits", "set", "namespace", "team", "--max-running", "2", code=0)
    up()
    trigger(eider, f"""
        namespace: team
        tasks:
          one: {{ run: "{WAITS}", priority: 9 }}
          two: {{ run: "{WAITS}", priority: 5 }}
          three: {{ run: "true" }}
        """)
    has_started(eider, "one")
    held = wait_for_code(eider, "dag_limit", "dag", "two")
    assert numbers(held, "running", "most", "ahead") == (1, 1, 0)
    assert wait_for_code(eider, "dag_limit", "dag", "three")["ahead"] == 1
    follow(eider, held, number=3)
    has_started(eider, "two")
    held = wait_for_code(eider, "namespace_limit", "dag", "three")
    assert numbers(held, "name", "running", "most") == ("team", 2, 2)
    follow(eider, held, number=3)
    wait_for_task(eider, "three")


def test_hosts_come_and_resume(eider, up):
    daemons = [up("--host-name", "one", "--queues", "default")]
    trigger(eider, """
        tasks:
          able: { run: "true", worker: [gpu, eu] }
          far: { run: "true", queue: far }
        """)
    label = wait_for_code(eider, "no_host_with_label", "dag", "able")
    queue = wait_for_code(eider, "no_host_for_queue", "dag", "far")
    for number, condition in enumerate((label, queue)):
        (words,) = commands(condition)
        store = eider.environment().get("EIDER_STORE", f"sqlite:{eider.home}/eider.db")
        daemons.append(up(*words[1:], "--host-name", f"more-{number}", EIDER_STORE=store,
                          EIDER_HOME=str(eider.folder / f"home-{number}")))
    wait_for_state(eider, "success")
    for host, daemon in zip(("one", "more-0", "more-1"), daemons):
        eider("hosts", "drain", host, code=0)
        daemon.wait_until("asked to drain")
    eider("dags", "trigger", "dag", "--run-id", "again", code=0)
    draining = wait_for_code(eider, "hosts_draining", "dag/again", "able")
    assert numbers(draining, "hosts", "hosts_able", "hosts_taking") == (3, 1, 0)
    follow(eider, draining)
    wait_for_task(eider, "able", run="dag/again")


# --- owners --------------------------------------------------------------------------------------


def test_a_run_in_the_foreground_whose_process_died(eider, up, evidence):
    """With no daemon around, which would note at once that the owner is lost."""
    path = eider.write("dag.yaml", LONG + "      after: {needs: [work], run: 'true'}\n")
    child = eider.start("run", path, env=FAST)
    wait_for(lambda: started(evidence), "the task runs")
    assert {"parents"} == set(conditions(eider, "dag", "after"))
    child.kill()
    child.communicate()
    lost = wait_for_code(eider, "owner_lost", "dag", "work")
    assert str(child.pid) in lost["because"]
    assert {"parents", "nobody_works"} <= set(conditions(eider, "dag", "after"))
    nobody = run_codes(eider, "dag")["nobody_works"]
    assert commands(nobody) == commands(lost)
    assert nobody["change"] in eider("explain", "dag", code=0).out
    let_go(eider)
    follow(eider, lost)
    assert eider.run_state() == "success" and eider.tasks()["work"]["try_number"] == 2


def test_a_daemon_that_died(eider, up, evidence):
    daemon = up()
    trigger(eider, "\n    max_active_runs: 1" + LONG, "--run-id", "one")
    wait_for(lambda: started(evidence), "the task runs")
    eider("dags", "trigger", "dag", "--run-id", "two", code=0)
    assert numbers(wait_for_code(eider, "max_active_runs", "dag/two", "work"),
                   "going", "most", "ahead") == (1, 1, 0)
    daemon.kill()
    # Until its lease is over it counts as one that could take it back.
    wait_for(lambda: "`eider up`" in (conditions(eider, "dag/one", "work")
                                      .get("owner_lost", {}).get("change", "")),
             "nobody else is there to take it")
    waits = run_codes(eider, "dag/two")
    assert {"max_active_runs", "no_scheduler"} <= set(waits), waits
    assert {"max_active_runs", "no_scheduler"} <= set(conditions(eider, "dag/two", "work"))
    assert commands(waits["no_scheduler"]) == [["up"]]
    let_go(eider)
    up()
    wait_for(lambda: {row["state"] for row in eider.runs()} == {"success"}, "both go on")


def test_what_is_ready_and_what_is_stopped(eider, up):
    daemon = up(EIDER_LEASE="60s")
    trigger(eider, f'tasks: {{ a: {{ run: "{WAITS}" }}, b: {{ run: "true" }} }}', "--run-id", "one")
    has_started(eider, "a")
    wait_for_task(eider, "b", run="dag/one")
    daemon.freeze()
    eider("dags", "trigger", "dag", "--run-id", "two", code=0)
    assert set(conditions(eider, "dag/one", "a")) == {"running"}
    _, stop = commands(conditions(eider, "dag/one", "a")["running"])
    eider(*stop, code=0)
    assert "stopping" in run_codes(eider, "dag/one")
    daemon.signal(signal.SIGCONT)
    wait_for(lambda: "cancelled" in conditions(eider, "dag/one", "a"), "it was stopped")
    again = conditions(eider, "dag/one", "a")["cancelled"]
    go(eider)
    follow(eider, again)
    wait_for(lambda: {row["state"] for row in eider.runs()} == {"success"}, "both are over")
    daemon.freeze()
    eider("dags", "trigger", "dag", "--run-id", "three", code=0)
    assert set(conditions(eider, "dag/three", "a")) == {"ready"}
    assert conditions(eider, "dag/three", "b")["turn"]["ahead"] == 1
    daemon.signal(signal.SIGCONT)
    wait_for_task(eider, "b", run="dag/three")


# --- tasks ---------------------------------------------------------------------------------------


@EMBEDDED
def test_waits_and_retries_have_their_times(eider, up):
    up()
    begun = now()
    trigger(eider, f"""
        tasks:
          bad: {{ run: "exit 3", retries: 2, retry_delay: 1h }}
          file: {{ sensor: {{ file: never, timeout: 2h }} }}
          each: {{ foreach: [x], sensor: {{ file: "{{{{ item }}}}", timeout: 2h }} }}
          none: {{ needs: [bad], trigger_rule: all_failed, run: "true" }}
        """)
    due = wait_for_code(eider, "retry_due", "dag", "bad")
    assert numbers(due, "retry", "retries") == (1, 2)
    wait = instant(due["due"]) - begun
    assert datetime.timedelta(minutes=55) < wait < datetime.timedelta(minutes=80), "with jitter"
    parents = conditions(eider, "dag", "none")["parents"]
    assert numbers(parents, "rule", "parents", "not_over") == ("all_failed", 1, 1)
    sensor = wait_for_code(eider, "sensor", "dag", "file")
    assert instant(sensor["deadline"]) - instant(sensor["since"]) == datetime.timedelta(hours=2)
    follow(eider, sensor)
    wait_for_task(eider, "file")

    def of_instance():
        rows = [row for row in answer(eider, "dag", "each")["tasks"] if row["map_index"] == 0]
        return rows and rows[0]["conditions"][0]

    wait_for(lambda: (of_instance() or {}).get("code") == "sensor", "the instance waits")
    follow(eider, of_instance())
    wait_for_task(eider, "each")


@EMBEDDED
def test_ends_say_what_can_be_done(eider, up):
    up()
    trigger(eider, """
        params: { on: false }
        tasks:
          bad: { run: "exit 7" }
          after: { needs: [bad], run: "true" }
          off: { if: "{{ params.on }}", run: "true" }
          late: { needs: [off], run: "true" }
          fine: { run: "true" }
          many: { foreach: [0, 1], run: "[ -e @evidence.ok ] || exit {{ item }}" }
        """.replace("@evidence", str(eider.evidence)))
    wait_for_state(eider, "failed")
    assert set(conditions(eider, "dag", "fine")) == {"success"}
    after = answer(eider, "dag", "after")["tasks"][0]
    assert after["caused_by"] == "bad" and after["conditions"][0]["code"] == "upstream"
    late = answer(eider, "dag", "late")["tasks"][0]
    assert late["caused_by"] == "off" and late["conditions"][0]["code"] == "upstream"
    skipped = conditions(eider, "dag", "off")["skipped"]
    assert "params.on" in skipped["because"]
    follow(eider, skipped)
    wait_for_state(eider, "failed")

    instance = next(row for row in answer(eider, "dag", "many")["tasks"] if row["map_index"] == 1)
    logs, retry, mark = commands(instance["conditions"][0])
    eider(*logs, code=0)
    eider(*mark, code=0)
    assert eider.mapped("many")[1]["state"] == "success", "the instance, not all of them"
    failed = conditions(eider, "dag", "bad")["failed"]
    assert "exit code 7" in failed["because"]
    logs, retry, mark = commands(failed)
    eider(*logs, code=0)
    eider(*mark, code=0)
    wait_for_state(eider, "success")
    assert set(conditions(eider, "dag", "after")) == {"success"}
    eider(*retry)  # there is nothing left to retry, which is no crash
    assert eider.run_state() == "success"


# --- runs and DAGs -------------------------------------------------------------------------------


DAILY = """
    dag: daily
    schedule: "0 0 * * *"
    catchup: none
    start_date: 2024-01-01
    tasks:
      a: { depends_on_past: true, run: "exit 3" }
      b: { run: "true" }
"""


def test_the_past_is_mended(eider, up):
    eider.write("dags/daily.yaml", DAILY)
    up()
    wait_for(lambda: eider("dags", "show", "daily").code == 0, "the DAG is offered")
    eider("backfill", "create", "daily", "--from", "2024-01-01", "--to", "2024-01-02",
          "--max-active", "2", "--task", "a", code=0, env={"EIDER_BACKFILL_APPROVAL": "1"})
    follow(eider, of_dag(eider, "daily")["backfill_approval"])
    first, second = (f"daily/backfill__2024-01-0{day}T00:00:00+00:00" for day in (1, 2))
    wait_for(lambda: eider("runs", "show", second).code == 0, "both runs are there")
    wait_for_task(eider, "a", "failed", first)
    past = wait_for_code(eider, "depends_on_past", second, "a")
    assert past["dag_run_id"] == first.split("/")[1] and past["state"] == "failed"
    assert set(conditions(eider, second, "b")) == {"removed"}
    follow(eider, past, nth=1)
    wait_for_task(eider, "a", "failed", second)


@EMBEDDED
def test_dags_are_started_by_what_is_said(eider, up):
    tasks = "\ntasks: { a: { run: 'true' } }\n"
    eider.write("dags/timed.yaml", 'schedule: "* * * * * *"\nmax_active_runs: 8' + tasks)
    eider.write("dags/fed.yaml", 'schedule: { datasets: { all: ["s3://a", "s3://b"] } }' + tasks)
    eider.write("dags/plain.yaml", tasks)
    up(EIDER_DAGS_PAUSED_AT_CREATION="true")
    wait_for(lambda: "dag_paused" in of_dag(eider, "timed"), "it is paused")
    follow(eider, of_dag(eider, "timed")["dag_paused"])
    wait_for(lambda: any(row["dag_id"] == "timed" for row in eider.runs()), "it runs by itself")
    eider("dags", "pause", "timed", code=0)
    follow(eider, of_dag(eider, "fed")["trigger"])
    follow(eider, of_dag(eider, "plain")["no_schedule"])
    wait_for(lambda: {"fed", "plain"} <= {row["dag_id"] for row in eider.runs()}, "both run")


@EMBEDDED
def test_ticks_without_a_run(eider, up):
    """One run goes, and every further tick is left out; then the DAG is full, for a while."""
    eider.write("dags/dag.yaml", f"""
        schedule: {{ cron: "* * * * * *", overlap: skip }}
        tasks: {{ a: {{ run: "{WAITS}" }} }}
        """)
    up()
    has_started(eider, "a")
    wait_for(lambda: eider("dags", "next", "dag", "--missed", "-o", "json",
                           code=0).json()["missed"], "ticks are left out")
    eider("dags", "pause", "dag", code=0)
    eider("dags", "trigger", "dag", "--run-id", "two", code=0)
    eider("stop", "dag/two", code=0)
    told = {row["code"]: row for row in answer(eider, "dag")["dag"]["conditions"]}
    assert numbers(told["max_active_runs"], "going", "most", "waiting") == (1, 1, 0)
    missed = told["missed"]
    assert missed["count"] >= 1 and abs(now() - instant(missed["last"])) < datetime.timedelta(
        minutes=2), missed
    assert missed["change"] is None and missed["because"] in eider("explain", "dag", code=0).out
