"""`eider explain`: each condition that is not met, by its code and with its numbers."""
import signal

from explained import (WAITS, answer, conditions, has_started, numbers, of_dag, trigger, up,
                       wait_for_code)
from harness import ROOT, rows_of, wait_for

# --- queues and hosts ----------------------------------------------------------------------------


def test_queues_that_are_paused_or_full(eider, up):
    eider("queues", "set", "side", "--max-running", "1", code=0)
    eider("queues", "set", "still", code=0)
    eider("queues", "pause", "still", code=0)
    up()
    trigger(eider, f"""
        tasks:
          a: {{ run: "{WAITS}", queue: side }}
          b: {{ run: "{WAITS}", queue: side, priority: -1 }}
          c: {{ run: "{WAITS}", queue: still }}
          d: {{ run: "true", queue: still, needs: [a] }}
        """)
    has_started(eider, "a")
    full = wait_for_code(eider, "queue_full", "dag", "b")
    assert numbers(full, "queue", "max_running", "running") == ("side", 1, 1)
    assert "eider queues set side --max-running" in full["change"]
    paused = wait_for_code(eider, "queue_paused", "dag", "c")
    assert numbers(paused, "queue", "pending", "running") == ("still", 1, 0)
    assert "eider queues resume still" in paused["change"]
    assert set(conditions(eider, "dag", "d")) == {"parents", "queue_paused"}
    assert "nobody works" not in eider("explain", "dag", code=0).out


def test_a_share_of_a_queue(eider, up):
    eider("queues", "set", "late", "--max-share", "50", code=0)
    up()
    trigger(eider, f"""
        defaults: {{ queue: late }}
        tasks:
          a: {{ run: "{WAITS}" }}
          b: {{ run: "{WAITS}" }}
          c: {{ run: "{WAITS}", priority: -1 }}
        """)
    has_started(eider, "a", "b")
    share = wait_for_code(eider, "queue_share", "dag", "c")
    assert numbers(share, "max_share", "slots", "slots_used") == (50, 2, 2)
    assert "hosts_full" not in conditions(eider, "dag", "c")


def test_hosts_that_lack_something(eider, up):
    up("--queues", "default", "--slots", "1", "--host-name", "one")
    trigger(eider, f"""
        tasks:
          a: {{ run: "{WAITS}", priority: 5 }}
          b: {{ run: "true", priority: 1 }}
          c: {{ run: "true" }}
          gpu: {{ run: "true", worker: [gpu, eu] }}
          side: {{ run: "true", queue: side }}
        """)
    has_started(eider, "a")
    label = wait_for_code(eider, "no_host_with_label", "dag", "gpu")
    assert numbers(label, "labels", "hosts_serving", "hosts_able") == ("eu gpu", 1, 0)
    assert "eider up --labels 'eu gpu'" in label["change"]
    queue = conditions(eider, "dag", "side")["no_host_for_queue"]
    assert numbers(queue, "queue", "hosts", "hosts_serving") == ("side", 1, 0)
    full = wait_for_code(eider, "hosts_full", "dag", "b")
    assert numbers(full, "hosts", "slots", "slots_used") == (1, 1, 1)
    assert conditions(eider, "dag", "c")["turn"]["ahead"] == 1
    eider("hosts", "drain", "one", code=0)
    draining = wait_for_code(eider, "hosts_draining", "dag", "c")
    assert "eider hosts resume one" in draining["change"] and draining["hosts_able"] == 1


def test_a_host_that_stops_is_named(eider, up):
    daemon = up("--slots", "1", "--host-name", "one", EIDER_DRAIN_GRACE="10m")
    trigger(eider, f'tasks: {{ a: {{ run: "{WAITS}", priority: 5 }}, b: {{ run: "true" }} }}')
    has_started(eider, "a")
    wait_for_code(eider, "hosts_full", "dag", "b")
    daemon.signal(signal.SIGTERM)
    stops = wait_for_code(eider, "hosts_stopping", "dag", "b")
    assert "'one'" in stops["because"] and "eider up" in stops["change"]
    assert numbers(stops, "hosts", "hosts_able", "hosts_taking") == (1, 1, 0)
    [host] = rows_of(eider("hosts", "list", "-o", "json", code=0).json())
    assert host["status"] == "stopping"
    refused = eider("hosts", "resume", "one")
    assert refused.code != 0 and "told to end" in refused.err


def test_nobody_is_there(eider, up):
    daemon = up()
    trigger(eider, f'tasks: {{ a: {{ run: "{WAITS}" }}, b: {{ run: "true", needs: [a] }} }}')
    has_started(eider, "a")
    assert set(conditions(eider, "dag", "a")) == {"running"}
    daemon.finish()
    assert "eider up" in wait_for_code(eider, "no_host", "dag", "a")["change"]
    assert {"parents", "no_host"} <= set(conditions(eider, "dag", "b"))
    assert [row["code"] for row in answer(eider, "dag")["conditions"]] == ["no_host"]


def test_a_run_in_the_foreground_has_the_labels_of_its_process(eider):
    path = eider.write("dag.yaml", f"""
        defaults: {{ worker: gpu }}
        tasks: {{ a: {{ run: "{WAITS}" }}, b: {{ needs: [a], run: "true" }} }}
        """)
    child = eider.start("run", path)
    wait_for(lambda: eider("explain", "dag", "a").code == 0, "the run is there")
    label = wait_for_code(eider, "no_host_with_label", "dag", "a")
    assert "in the foreground" in label["because"] and "EIDER_LABELS='gpu'" in label["change"]
    assert numbers(label, "labels", "hosts", "hosts_able") == ("gpu", 1, 0)
    child.terminate()
    child.communicate(timeout=60)
    able = eider.start("run", path, env={"EIDER_LABELS": "gpu"})
    has_started(eider, "a")
    assert set(conditions(eider, "dag", "b")) == {"parents"}
    able.terminate()
    able.communicate(timeout=60)


# --- pools and limits ----------------------------------------------------------------------------


def test_pools(eider, up):
    eider("pools", "set", "small", "--slots", "1", code=0)
    up()
    trigger(eider, f"""
        tasks:
          a: {{ run: "{WAITS}", pool: small, priority: 9 }}
          b: {{ run: "true", pool: small, priority: 5 }}
          c: {{ run: "true", pool: small }}
          wide: {{ run: "true", pool: small, slots: 2, priority: -5 }}
          lost: {{ run: "true", pool: nowhere }}
        """)
    has_started(eider, "a")
    full = wait_for_code(eider, "pool_full", "dag", "c")
    assert numbers(full, "name", "slots", "slots_used", "slots_needed") == ("small", 1, 1, 1)
    wait_for(lambda: conditions(eider, "dag", "c")["pool_full"]["ahead"] == 1, "b is before c")
    assert wait_for_code(eider, "pool_too_small", "dag", "wide")["slots_needed"] == 2
    missing = wait_for_code(eider, "pool_missing", "dag", "lost")
    assert "eider pools set nowhere" in missing["change"]


def test_limits_of_dags_namespaces_and_runs(eider, up):
    eider("limits", "set", "dag", "dag", "--max-running", "1", code=0)
    eider("limits", "set", "namespace", "default", "--max-running", "1", code=0)
    up()
    trigger(eider, f"""
        max_active_tasks: 1
        tasks:
          a: {{ run: "{WAITS}", priority: 5 }}
          b: {{ run: "true" }}
        """)
    has_started(eider, "a")
    own = wait_for_code(eider, "max_active_tasks", "dag", "b")
    assert numbers(own, "running", "most") == (1, 1)
    held = conditions(eider, "dag", "b")
    assert numbers(held["dag_limit"], "name", "running", "most") == ("dag", 1, 1)
    assert numbers(held["namespace_limit"], "name", "running", "most") == ("default", 1, 1)
    assert "eider limits set dag dag" in held["dag_limit"]["change"]
    eider("limits", "set", "tier", "default", "--max-running", "1", code=0)
    tier = conditions(eider, "dag", "b")["tier_limit"]
    assert numbers(tier, "name", "running", "most") == ("default", 1, 1)
    assert "eider limits set tier default" in tier["change"]


def test_instances_at_once(eider, up):
    up()
    trigger(eider, f"""
        tasks:
          m: {{ run: "{WAITS}", foreach: [1, 2], max_parallel: 1 }}
        """)
    has_started(eider, "m")
    most = wait_for_code(eider, "max_parallel", "dag", "m")
    assert numbers(most, "running", "most") == (1, 1)
    assert numbers(conditions(eider, "dag", "m")["instances"], "over", "total") == (0, 2)


# --- tasks ---------------------------------------------------------------------------------------


def test_parents_retries_sensors_and_ends(eider, up):
    up()
    trigger(eider, f"""
        tasks:
          a: {{ run: "{WAITS}" }}
          b: {{ run: "true", needs: [a, bad] }}
          bad: {{ run: "exit 3", retries: 1, retry_delay: 1h }}
          file: {{ sensor: {{ file: never, timeout: 2h }} }}
          other: {{ sensor: {{ dag: nope }} }}
          poke: {{ sensor: {{ file: never, mode: poke }} }}
          own: {{ sensor: {{ dag: dag, date: -1d }} }}
        finally:
          clean: {{ run: "true" }}
        """)
    has_started(eider, "a")
    due = wait_for_code(eider, "retry_due", "dag", "bad")
    assert numbers(due, "retry", "retries") == (1, 1) and due["due"]
    parents = conditions(eider, "dag", "b")["parents"]
    assert numbers(parents, "rule", "parents", "not_over") == ("all_success", 2, 2)
    sensor = wait_for_code(eider, "sensor", "dag", "file")
    assert sensor["sensor"] == "file" and "never" in sensor["waits_for"] and sensor["deadline"]
    assert "no DAG 'nope'" in wait_for_code(eider, "sensor", "dag", "other")["because"]
    assert "waits for file 'never'" in wait_for_code(eider, "running", "dag", "poke")["because"]
    assert "no run of that date" in wait_for_code(eider, "sensor", "dag", "own")["because"]
    assert conditions(eider, "dag", "clean")["finally"]["not_over"] == 7
    eider("stop", "dag", code=0)
    wait_for_code(eider, "cancelled", "dag", "b")


# --- runs ----------------------------------------------------------------------------------------


def test_runs_that_wait_for_others(eider, up):
    up()
    trigger(eider, f'max_active_runs: 1\ntasks: {{ a: {{ run: "{WAITS}" }} }}', "--run-id", "one")
    has_started(eider, "a")
    eider("dags", "trigger", "dag", "--run-id", "two", code=0)
    eider("dags", "trigger", "dag", "--run-id", "three", code=0)
    full = wait_for_code(eider, "max_active_runs", "dag/three", "a")
    assert numbers(full, "going", "most", "ahead") == (1, 1, 1)
    assert [row["code"] for row in answer(eider, "dag/two")["conditions"]] == ["max_active_runs"]


DAILY = """
    dag: daily
    schedule: "0 0 * * *"
    catchup: none
    start_date: 2024-01-01
"""


def backfill(eider, *args, last="2024-01-03"):
    wait_for(lambda: eider("dags", "show", "daily").code == 0, "the DAG is offered")
    eider("backfill", "create", "daily", "--from", "2024-01-01", "--to", last, *args, code=0)


def run_of(eider, day):
    def find():
        rows = eider("runs", "list", "--dag", "daily", "-o", "json", code=0).json()["dag_runs"]
        return [row["number"] for row in rows if row["logical_date"].startswith(day)]
    return wait_for(find, f"a run for {day}")[0]


def test_a_run_waits_for_the_run_before_and_for_its_backfill(eider, up):
    eider.write("dags/daily.yaml", DAILY + """
    depends_on_past: true
    tasks: { a: { run: "exit 3" } }
""")
    up()
    backfill(eider, "--max-active", "2", last="2024-01-02")
    past = wait_for_code(eider, "depends_on_past", run_of(eider, "2024-01-02"), "a")
    assert "2024-01-01" in past["because"] and past["state"] in ("running", "failed")
    assert "eider retry" in past["change"] or "eider explain" in past["change"]
    second = run_of(eider, "2024-01-02")
    assert conditions(eider, second, "a")["backfill_turn"]["most"] == 2
    eider("backfill", "pause", "1", code=0)
    paused = conditions(eider, second, "a")["backfill_paused"]
    assert paused["backfill"] == 1 and "eider backfill resume 1" in paused["change"]


def test_a_task_waits_for_its_past(eider, up):
    eider.write("dags/daily.yaml", DAILY + f"""
    tasks:
      a: {{ run: "{WAITS}", depends_on_past: true }}
      b: {{ run: "true", needs: [a] }}
""")
    up()
    backfill(eider, "--max-active", "2", last="2024-01-31")
    has_started(eider, "a")
    past = wait_for_code(eider, "depends_on_past", run_of(eider, "2024-01-02"), "a")
    assert "is running" in past["because"]


def test_a_backfill_that_awaits_approval(eider, up):
    eider.write("dags/daily.yaml", DAILY + '    tasks: { a: { run: "true" } }\n')
    up()
    wait_for(lambda: eider("dags", "show", "daily").code == 0, "the DAG is offered")
    eider("backfill", "create", "daily", "--from", "2024-01-01", "--to", "2024-01-03", code=0,
          env={"EIDER_BACKFILL_APPROVAL": "2"})
    awaits = of_dag(eider, "daily")["backfill_approval"]
    assert awaits["backfill"] == 1 and "eider backfill approve 1" in awaits["change"]


# --- DAGs without a run --------------------------------------------------------------------------


def test_what_a_dag_waits_for(eider, up):
    tasks = "\ntasks: { a: { run: 'true' } }\n"
    eider.write("dags/timed.yaml", 'schedule: "0 0 1 1 *"' + tasks)
    eider.write("dags/over.yaml", 'schedule: "0 3 * * *"\nstart_date: 2020-01-01\n'
                                  "end_date: 2020-02-01\ncatchup: none" + tasks)
    eider.write("dags/fed.yaml", 'schedule: { datasets: { all: ["s3://a", "s3://b"] } }' + tasks)
    plain = eider.write("dags/plain.yaml", tasks)
    assert {"not_due", "no_file", "no_scheduler"} == set(of_dag(eider, "timed"))
    up()
    wait_for(lambda: set(of_dag(eider, "timed")) == {"not_due"}, "the file is read")
    assert of_dag(eider, "timed")["not_due"]["next_run"].endswith("-01-01T00:00:00Z")
    eider("dags", "pause", "timed", code=0)
    assert "eider dags unpause timed" in of_dag(eider, "timed")["dag_paused"]["change"]
    assert of_dag(eider, "over")["schedule_over"]["last_run"].startswith("2020-0")
    assert set(of_dag(eider, "plain")) == {"no_schedule"}

    assert of_dag(eider, "fed")["trigger"]["missing"] == "s3://a and s3://b"
    eider("assets", "emit", "s3://a", code=0)
    trigger_of_fed = of_dag(eider, "fed")["trigger"]
    assert trigger_of_fed["missing"] == "s3://b"
    assert [(need["name"], need["waiting"]) for need in trigger_of_fed["needs"]] == [
        ("s3://a", 1), ("s3://b", 0)]

    plain.write_text("tasks: [")
    broken = wait_for(lambda: of_dag(eider, "plain").get("broken_file"), "the problem is seen")
    assert "plain.yaml:" in broken["because"] and broken["since"]
    (eider.work / "dags/over.yaml").unlink()
    wait_for(lambda: "no_file" in of_dag(eider, "over"), "the file is gone")
    nobody = eider("explain", "nobody")
    assert nobody.code == 3 and "nobody" in nobody.err


def test_a_dag_whose_latest_run_is_over(eider, up):
    up()
    trigger(eider, "schedule: '0 0 1 1 *'\ntasks: { a: { run: 'true' } }")
    wait_for(lambda: eider.run_state("dag") == "success", "the run is over")
    told = answer(eider, "dag")
    assert told["state"] == "success"
    assert [row["code"] for row in told["dag"]["conditions"]] == ["not_due"]
    assert "its next tick is at" in eider("explain", "dag", code=0).out
    assert "dag" not in answer(eider, told["number"])


def test_every_code_is_described():
    header = (ROOT / "src/service/explanation.h").read_text()
    codes = [line.split('"')[1] for line in header.splitlines() if line.startswith("    X(")]
    described = (ROOT / "docs/explain.md").read_text()
    assert len(codes) > 40
    assert [code for code in codes if f"| `{code}` |" not in described] == []
