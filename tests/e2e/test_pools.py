"""Pools, limits and shares, as people set them and see them."""
import pytest
from fleet import Daemon, finish_all, wait_for_state
from harness import rows_of, wait_for

# Says that it started, waits for a line "go", says that it ended.
WAITS = ("echo + {{ task.id }} >> @evidence; until grep -q go @evidence; do sleep 0.05; done;"
         " echo - {{ task.id }} >> @evidence")
POOLED = f"""
    defaults: {{ pool: warehouse }}
    tasks:
      a: {{ run: "{WAITS}", slots: 2, priority: 5 }}
      b: {{ run: "{WAITS}", priority: 3 }}
      c: {{ run: "{WAITS}" }}
      free: {{ run: "echo + free >> @evidence", pool: default }}
    """


@pytest.fixture
def up(eider):
    """Starts a daemon with several slots, stopped at the end."""
    daemons = []

    def start(**env):
        daemons.append(Daemon(eider, env={"EIDER_SLOTS": "8", **env}))
        return daemons[-1].wait_until_up()

    yield start
    finish_all(daemons)


def started(eider):
    return {line[2:] for line in eider.evidence.lines() if line.startswith("+ ")}


def pool(eider, *args):
    return eider("pools", "show", "warehouse", *args, "-o", "json", code=0).json()


def explain(eider, run, task):
    return eider("explain", run, task, code=0).out


def let_go(eider):
    with eider.evidence.path.open("a") as out:
        out.write("go\n")


def most_at_once(eider, weights):
    """The most slots that were in use at any moment, by what tasks wrote themselves."""
    now = most = 0
    for line in eider.evidence.lines():
        weight = weights.get(line[2:], 0)
        now += weight if line.startswith("+") else -weight if line.startswith("-") else 0
        most = max(most, now)
    return most


def test_a_pool_from_its_making_to_its_end(eider):
    eider("pools", "list", code=0)
    shown = eider("pools", "set", "warehouse", "--slots", "3", "--description", "for loads", "-o",
                  "json", code=0).json()
    assert (shown["slots"], shown["open_slots"], shown["description"]) == (3, 3, "for loads")
    names = [row["name"] for row in rows_of(eider("pools", "list", "-o", "json", code=0).json())]
    assert names == ["default", "warehouse"]
    eider("pools", "set", "warehouse", "--slots", "5", code=0)
    assert pool(eider)["slots"] == 5 and pool(eider)["description"] == "for loads"
    assert "say --yes" in eider("pools", "delete", "warehouse", code=2).err
    eider("pools", "delete", "warehouse", "--yes", code=0)
    gone = eider("pools", "show", "warehouse")
    assert gone.code == 3 and "there is no pool 'warehouse'" in gone.err
    assert eider("pools", "delete", "default", "--yes").code == 5
    assert eider("pools", "set", "other").code == 2
    assert eider("pools", "set", "other", "--slots", "-1").code == 2


def test_tasks_wait_for_slots_and_say_so(eider, up):
    eider.write("dags/dag.yaml", POOLED)
    eider("pools", "set", "warehouse", "--slots", "2", code=0)
    up()
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: started(eider) == {"a", "free"}, "the first tasks to start")
    wait_for(lambda: pool(eider)["waiting"] == 2, "the others to wait")
    shown = pool(eider)
    assert (shown["occupied_slots"], shown["queued_slots"], shown["open_slots"]) == (2, 2, 0)
    said = explain(eider, "dag", "c")
    assert "it needs 1 of 2 slots of the pool 'warehouse', 2 are held; 1 come before it" in said
    assert "eider pools set warehouse" in said

    eider("pools", "set", "warehouse", "--slots", "3", code=0)
    wait_for(lambda: "b" in started(eider), "a larger pool to let in the next")
    assert "c" not in started(eider)
    let_go(eider)
    wait_for_state(eider, "success")
    assert most_at_once(eider, {"a": 2, "b": 1, "c": 1}) == 3
    assert pool(eider)["occupied_slots"] == 0
    eider("store", "check", code=0)


@pytest.mark.usefixtures("world")
def test_instances_of_a_mapped_task_that_wait_are_seen(eider, up):
    eider.write("dags/dag.yaml", f"""
        tasks:
          m: {{ foreach: [1, 2, 3, 4, 5, 6], pool: warehouse, run: "{WAITS}" }}
        """)
    eider("pools", "set", "warehouse", "--slots", "1", code=0)
    up()
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: eider.evidence.count("+ m") == 1, "the first instance")
    shown = pool(eider)
    assert (shown["occupied_slots"], shown["queued_slots"], shown["waiting"]) == (1, 5, 5)
    states = [row["state"] for row in eider.instances() if row["map_index"] >= 0]
    assert states == ["running"] + 5 * ["none"]
    said = explain(eider, "dag", "m")
    assert "0 of 6 instances are over; 1 running; 5 to come" in said
    assert "it needs 1 of 1 slots of the pool 'warehouse', 1 are held" in said
    assert "come before it" not in said
    waits = eider("mark", "dag", "m", "success", "--map-index", "3")
    assert waits.code == 3 and "instance 3 of 'm' has not started yet" in waits.err
    eider("limits", "set", "dag", "dag", "--max-running", "1", code=0)
    limits = rows_of(eider("limits", "list", "-o", "json", code=0).json())
    assert (limits[0]["running"], limits[0]["waiting"]) == (1, 5)
    assert "dag 'dag' may have 1 tasks running and has 1" in explain(eider, "dag", "m")
    let_go(eider)
    wait_for_state(eider, "success")
    assert pool(eider)["waiting"] == 0


def test_a_pool_that_is_missing_is_said_before_and_while(eider, up):
    path = eider.write("dags/dag.yaml", POOLED)
    eider("pools", "list", code=0)
    up()
    warned = eider("validate", path, code=0)
    assert "there is no pool 'warehouse' in namespace 'default'" in warned.out + warned.err
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: started(eider) == {"free"}, "what needs no such pool to start")
    wait_for(lambda: "which is not there" in explain(eider, "dag", "a"), "the rest to wait")
    let_go(eider)
    eider("pools", "set", "warehouse", "--slots", "4", code=0)
    wait_for_state(eider, "success")
    assert "no pool" not in eider("validate", path, code=0).err


def test_a_run_in_the_foreground_keeps_to_pools(eider):
    eider("pools", "set", "warehouse", "--slots", "1", code=0)
    done = eider("run", eider.write("dag.yaml", """
        defaults: { pool: warehouse }
        tasks:
          a: { run: "echo + a >> @evidence; sleep 0.2; echo - a >> @evidence" }
          b: { run: "echo + b >> @evidence; sleep 0.2; echo - b >> @evidence" }
          m: { foreach: [1, 2], run: "echo + m >> @evidence; sleep 0.1; echo - m >> @evidence" }
        """), timeout=60)
    assert done.code == 0, done
    assert most_at_once(eider, {"a": 1, "b": 1, "m": 1}) == 1
    eider("pools", "delete", "warehouse", "--yes", code=0)
    child = eider.start("run", eider.write("dag.yaml", """
        tasks: { a: { run: "true", pool: warehouse } }
        """))
    assert "there is no pool 'warehouse'" in child.stderr.readline()
    wait_for(lambda: eider.states().get("a") == "scheduled", "it to wait")
    eider("pools", "set", "warehouse", "--slots", "1", code=0)
    assert child.wait(timeout=60) == 0


def test_limits_of_namespaces_and_dags(eider, up):
    eider.write("dags/dag.yaml", POOLED.replace("pool: warehouse", "pool: default"))
    eider("limits", "set", "dag", "dag", "--max-running", "2", code=0)
    up()
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: {"a", "b"} <= started(eider), "two to start")
    rows = rows_of(eider("limits", "list", "-o", "json", code=0).json())
    assert [(row["kind"], row["name"], row["max_running"]) for row in rows] == [("dag", "dag", 2)]
    wait_for(lambda: "dag 'dag' may have 2 tasks running and has 2" in explain(eider, "dag", "c"),
             "the next to be held")
    eider("limits", "set", "namespace", "default", "--max-running", "9", code=0)
    eider("limits", "delete", "dag", "dag", "--yes", code=0)
    wait_for(lambda: "c" in started(eider), "the limit to be lifted")
    let_go(eider)
    wait_for_state(eider, "success")
    assert eider("limits", "delete", "dag", "dag", "--yes").code == 3
    assert eider("limits", "set", "planet", "x", "--max-running", "1").code == 2
    assert eider("limits", "set", "dag", "x", "--max-running", "0").code == 2
    eider("store", "check", code=0)


def test_a_share_keeps_slots_for_production(eider, up):
    eider("queues", "set", "backfill", "--max-share", "50", "--priority", "-1", code=0)
    assert eider("queues", "show", "backfill", "-o", "json", code=0).json()["max_share"] == 50
    eider.write("dags/late.yaml", f"""
        defaults: {{ queue: backfill }}
        tasks: {{ m: {{ foreach: [1, 2, 3, 4, 5, 6], run: "{WAITS}" }} }}
        """)
    eider.write("dags/prod.yaml", """
        tasks: { p: { run: "echo + p >> @evidence" }, q: { run: "echo + q >> @evidence" } }
        """)
    up(EIDER_SLOTS="4")
    eider("dags", "trigger", "late", code=0)
    wait_for(lambda: eider.evidence.count("+ m") == 2, "half of the slots to be in use")
    eider("dags", "trigger", "prod", code=0)
    wait_for_state(eider, "success", "prod")
    assert eider.evidence.count("+ m") == 2, "the rest stays free for others"
    let_go(eider)
    wait_for_state(eider, "success", "late")
    assert eider.evidence.count("- m") == 6
