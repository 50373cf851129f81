"""`eider simulate`: load, pools that are short and deadlines that will be missed."""
import datetime

import pytest
from fleet import Daemon, finish_all
from harness import rows_of, wait_for

# Six hours with a tick in each. No task ever ran, so each takes a minute.
SPAN = ("--from", "2027-01-01", "--to", "2027-01-01T06:00:00Z", "--slots", "8")
SHORT = """
    schedule: "0 * * * *"
    sla: 3m
    tasks:
      a: { run: "true", pool: small }
      b: { run: "true", pool: small }
      c: { run: "true", pool: small }
      d: { run: "true", pool: small }
"""


@pytest.fixture(params=["sqlite", "postgres"])
def up(request, eider):
    if request.param == "postgres":
        request.getfixturevalue("server")
    daemons = []

    def start():
        daemons.append(Daemon(eider))
        return daemons[-1].wait_until_up()

    yield start
    finish_all(daemons)


def simulate(eider, *args):
    return eider("simulate", *SPAN, *args, "-o", "json", code=0).json()


def test_pools_and_deadlines_of_the_coming_hours(eider, up):
    eider.write("dags/short.yaml", SHORT)
    eider.write("dags/off.yaml", 'schedule: "0 * * * *"\ntasks: { a: { run: "true" } }')
    eider("pools", "set", "small", "--slots", "1", code=0)
    up()
    wait_for(lambda: eider("dags", "pause", "off").code == 0, "the DAG is offered")
    wait_for(lambda: eider("dags", "pause", "short").code == 0, "the other, too")
    eider("dags", "unpause", "short", code=0)

    told = simulate(eider)
    assert told["runs"] == 6, "the DAG that is paused stays so"
    pool, = told["pools"]
    assert (pool["name"], pool["slots"], pool["most_used"], pool["tasks"]) == ("small", 1, 1, 24)
    assert (pool["hours_waited"], pool["most_waiting"], pool["longest_wait"]) == (6, 3, 180)
    miss, = told["misses"]
    assert (miss["dag_id"], miss["task_id"], miss["count"], miss["worst"]) == (
        "short", None, 6, 60)
    assert miss["first"] == "2027-01-01T00:03:00Z"
    said = eider("simulate", *SPAN, code=0)
    assert "see --pools" in said.err and "see --misses" in said.err, said
    assert "small" in eider("simulate", *SPAN, "--pools", code=0).out
    assert "short" in eider("simulate", *SPAN, "--misses", code=0).out

    eider("pools", "set", "small", "--slots", "4", code=0)
    told = simulate(eider)
    pool, = told["pools"]
    assert (pool["most_used"], pool["hours_waited"], pool["longest_wait"]) == (4, 0, 0)
    assert told["misses"] == []


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_files_are_played_before_the_first_start(eider, store, request):
    if store == "postgres":
        request.getfixturevalue("server")
    nothing = eider("simulate", *SPAN)
    assert nothing.code != 0 and "there is no" in nothing.err, nothing
    eider.write("dags/short.yaml", SHORT.replace(", pool: small", ""))
    eider.write("dags/deep/other.yaml", 'schedule: "@daily"\ntasks: { a: { run: "true" } }')
    eider.write("dags/broken.yaml", "schedule: never\ntasks: 7")
    told = simulate(eider)
    assert {dag["dag_id"]: dag["runs"] for dag in told["dags"]} == {"short": 6, "other": 1}
    again = eider("simulate", *SPAN, "--by-dag", code=0)
    assert "short" in again.out
    assert not list(eider.home.glob("**/*.db")), "no store is made for it"
    paused = eider("simulate", *SPAN, "-o", "json", env={"EIDER_DAGS_PAUSED_AT_CREATION": "true"},
                   code=0).json()
    assert paused["runs"] == 0


def test_limits_and_queues_count_too(eider, up):
    eider.write("dags/short.yaml", SHORT.replace(", pool: small", ""))
    up()
    eider("limits", "set", "dag", "short", "--max-running", "2", code=0)
    wait_for(lambda: eider("dags", "show", "short").code == 0, "the DAG is offered")
    assert max(hour["most_running"] for hour in simulate(eider)["hours"]) == 2
    eider("queues", "pause", "default", code=0)
    told = simulate(eider)
    assert told["tasks"] == 0
    assert max(hour["most_waiting"] for hour in told["hours"]) == 4, "one run of it goes at a time"


def test_what_was_caught_up_is_not_played_again(eider, up):
    start = datetime.date.today() - datetime.timedelta(days=6)
    for catchup in ("all", "3d", "latest", "none"):
        eider.write(f"dags/c_{catchup}.yaml", f"""
            schedule: {{ cron: "@daily", start: {start}, catchup: {catchup} }}
            max_active_runs: 10
            tasks: {{ a: {{ run: "true" }} }}
        """)
    up()

    def is_caught_up():
        states = [run["state"] for run in rows_of(eider("runs", "list", "-o", "json").json())]
        return len(states) >= 6 + 3 + 1 and set(states) == {"success"}

    wait_for(is_caught_up, "what was missed is made up for")
    told = eider("simulate", "-o", "json", code=0).json()
    assert {dag["dag_id"]: dag["runs"] for dag in told["dags"]} == {
        "c_all": 1, "c_3d": 1, "c_latest": 1, "c_none": 1}
    next_day = start + datetime.timedelta(days=1)
    past = eider("simulate", "--from", str(start), "--to", f"{next_day}T12:00:00Z", "-o", "json",
                 code=0).json()
    assert past["runs"] == 8, "an earlier time is played as if it came"


def test_what_is_played_of_a_day(eider, up):
    eider("pools", "set", "two", "--slots", "2", code=0)
    eider.write("dags/midnight.yaml", 'schedule: "@daily"\ntasks: { a: { run: "true" } }')
    eider.write("dags/label.yaml", """
        schedule: "30 1 * * *"
        tasks: { a: { run: "true", worker: gpu } }
    """)
    eider.write("dags/lists.yaml", """
        schedule: "30 2 * * *"
        tasks:
          a: { run: "true", foreach: [1, 2, 3] }
          b: { run: "true", matrix: { x: [1, 2], y: [1, 2] } }
    """)
    eider.write("dags/waits.yaml", """
        schedule: "30 3 * * *"
        tasks:
          a: { sensor: { duration: 30m } }
          b: { sensor: { time: "04:10" }, needs: [a] }
          c: { run: "true", needs: [b], sla: 1m }
    """)
    eider.write("dags/nopool.yaml", 'schedule: "@daily"\ntasks: { a: { run: "true", pool: no } }')
    eider.write("dags/holds.yaml", """
        schedule: "30 4 * * *"
        tasks: { a: { run: "true", pool: two } }
    """)
    eider.write("dags/wants.yaml", """
        schedule: { cron: "5 30 4 * * *" }
        tasks: { a: { run: "true", pool: two, slots: 2 } }
    """)
    up()

    told = simulate(eider, "--by-dag", "--pools", "--misses")
    dags = {row["dag_id"]: row for row in told["dags"]}
    assert dags["midnight"]["runs"] == 1, "a tick at the beginning counts"
    assert dags["label"]["runs"] == 1 and dags["label"]["unfinished"] == 0
    assert dags["lists"]["tasks"] == 3 + 4 + 2, "instances, and what expands them"
    assert dags["waits"]["busy"] == 60 and dags["waits"]["longest_run"] == 41 * 60
    assert dags["nopool"]["unfinished"] == 1, "nobody will see it end"
    pool, = [row for row in told["pools"] if row["name"] == "two"]
    assert 50 <= pool["longest_wait"] <= 65 and pool["most_waiting"] == 1, pool
    assert not told["misses"], "what takes as long as it may is in time"
