"""What people do with a fleet: two daemons on one database, and commands from a third place."""
import signal

import pytest
from fleet import FAST, LONG, Daemon, let_go, started, wait_for_state
from harness import is_alive, rows_of, wait_for

BIG = 200_000  # bytes of a value: far more than the store keeps in a row


@pytest.fixture
def pair(fleet_up):
    return fleet_up("first"), fleet_up("second")


def trigger(eider, text, name="dag", **options):
    return eider("dags", "trigger", eider.write(f"dags/{name}.yaml", text), code=0, **options)


def hosts_of(eider, run="dag"):
    return {row["task_id"]: row.get("hostname") for row in eider.instances(run)}


def elsewhere(eider, name="third"):
    """The environment of a command on a machine that never ran anything."""
    return {"EIDER_HOME": str(eider.folder / name)}


# --- runs


def test_every_kind_of_dag_runs_on_both(eider, pair, evidence):
    """Tasks that are not very short, so that none is claimed ahead of a free slot."""
    trigger(eider, """
        tasks:
          list: {run: "sleep 0.2; echo '[1, 2, 3, 4, 5, 6]' > $EIDER_OUTPUTS/items"}
          each:
            needs: [list]
            foreach: "{{ tasks.list.items }}"
            run: |
              echo start $$ >> @evidence
              while [ $(grep -c start @evidence) -lt 6 ]; do sleep 0.02; done
          flaky:
            needs: [list]
            retries: 2
            retry_delay: 100ms
            run: "sleep 0.2; [ $EIDER_TRY_NUMBER = 3 ]"
          broken: {needs: [each, flaky], run: "exit 4"}
          after: {needs: [broken], run: "true"}
        finally:
          tidy: {run: "echo tidy >> @evidence"}
    """)
    wait_for_state(eider, "failed")
    states = eider.states()
    assert states == {"list": "success", "each": "success", "flaky": "success",
                      "broken": "failed", "after": "upstream_failed", "tidy": "success"}
    assert {row["hostname"] for row in eider.mapped("each")} == {"first", "second"}
    assert eider.tasks()["flaky"]["try_number"] == 3
    assert evidence.count("tidy") == 1


def test_large_values_travel_between_hosts(eider, fleet_up):
    fleet_up("first", EIDER_LABELS="left")
    fleet_up("second", EIDER_LABELS="right")
    trigger(eider, f"""
        tasks:
          make:
            worker: [left]
            run: |
              head -c {BIG} /dev/zero | tr '\\0' x > $EIDER_OUTPUTS/big
              echo '{{"small": 1}}' > $EIDER_OUTPUTS/doc
          take:
            needs: [make]
            worker: [right]
            env: {{DOC: "{{{{ tasks.make.doc.small }}}}"}}
            script: |
              printf '%s' '{{{{ tasks.make.big }}}}' | wc -c
              echo "doc $DOC"
    """)
    wait_for_state(eider, "success")
    assert hosts_of(eider) == {"make": "first", "take": "second"}
    log = eider("logs", "dag", "take", env=elsewhere(eider), code=0).out
    assert str(BIG) in log and "doc 1" in log


def test_jobs_are_shared_and_their_logs_are_everywhere(eider, pair, evidence):
    command = (f"echo start $$ >> {evidence}; echo from job $EIDER_JOB_ID;"
               f" while [ $(grep -c start {evidence}) -lt 6 ]; do sleep 0.02; done")
    ids = [eider("enqueue", "-o", "name", "default", "--", command, code=0).out.strip()
           for _ in range(6)]

    def jobs():
        return [eider("jobs", "show", number, "-o", "json", code=0).json() for number in ids]

    wait_for(lambda: {row["status"] for row in jobs()} == {"completed"}, "all jobs are over")
    assert {row["claimed_by"] for row in jobs()} == {"first", "second"}
    for number in ids:
        log = eider("jobs", "logs", number, env=elsewhere(eider), code=0).out
        assert log == f"from job {number}\n"


@pytest.mark.parametrize("worker", ["[]", "[1]", "{a: b}", "''", "[left, left]"])
def test_labels_of_any_shape_are_survived(eider, fleet_up, worker):
    fleet_up("first", EIDER_LABELS="left")
    trigger(eider, f"tasks: {{a: {{worker: {worker}, outputs: [x], run: 'true'}}}}")
    wait_for_state(eider, "success")


# --- logs


def test_a_log_is_followed_from_a_third_host_to_its_last_byte(eider, pair, evidence):
    trigger(eider, """
        tasks:
          talk:
            run: |
              echo begin
              echo start $$ >> @evidence
              while [ ! -e @evidence.go ]; do sleep 0.02; done
              seq 1 40000
              printf last
    """)
    wait_for(lambda: started(evidence), "it runs")
    follower = eider.start("logs", "dag", "talk", "-f", env=elsewhere(eider))
    assert follower.stdout.readline() == "begin\n"
    let_go(eider)
    out, err = follower.communicate(timeout=60)
    wanted = "".join(f"{n}\n" for n in range(1, 40001)) + "last"
    assert out == wanted, (len(out), len(wanted), err)
    assert follower.returncode == 0
    whole = eider("logs", "dag", "talk", env=elsewhere(eider, "fourth"), code=0)
    assert whole.out == "begin\n" + wanted


def test_a_log_is_whole_right_after_the_end(eider, pair):
    for number in range(5):
        eider("run", eider.write("dags/dag.yaml", "tasks: {a: {run: 'seq 1 5000; echo end'}}"),
              "--detach", "--run-id", f"r{number}", env=elsewhere(eider), code=0)
        eider("runs", "wait", f"r{number}", code=0)
        log = eider("logs", f"r{number}", "a", env=elsewhere(eider), code=0).out
        assert log.endswith("5000\nend\n"), log[-200:]


def test_the_log_of_every_try_is_followed(eider, pair):
    trigger(eider, """
        tasks:
          a:
            retries: 1
            retry_delay: 500ms
            run: "echo try $EIDER_TRY_NUMBER; [ $EIDER_TRY_NUMBER = 2 ]"
    """)
    followed = eider("logs", "dag", "-f", env=elsewhere(eider), code=0)
    assert "try 2\n" in followed.out
    assert eider("logs", "dag", "a", "--try", "1", env=elsewhere(eider), code=0).out == "try 1\n"


def test_a_watcher_elsewhere_sees_the_whole_output(eider, pair):
    eider.write("dags/dag.yaml", "tasks: {a: {run: 'seq 1 3000; echo the end'}}")
    eider("run", eider.work / "dags/dag.yaml", "--detach", code=0)
    wait_for_state(eider, "success")
    done = eider("run", "dag", "--logs", env=elsewhere(eider), code=0)
    assert "the end" in done.err, done


# --- hands on


def test_a_running_task_is_stopped_from_elsewhere(eider, pair, evidence):
    trigger(eider, LONG)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    eider("stop", "dag", env=elsewhere(eider), code=0)
    wait_for_state(eider, "cancelled")
    assert not is_alive(pid)
    again = eider("stop", "dag", env=elsewhere(eider))
    assert again.code == 5, again


def test_a_failed_run_is_retried_from_elsewhere(eider, pair):
    trigger(eider, """
        tasks:
          a: {run: "true"}
          b: {needs: [a], run: "echo failing; [ $EIDER_TRY_NUMBER = 2 ]"}
    """)
    wait_for_state(eider, "failed")
    eider("retry", "dag", env=elsewhere(eider), code=0)
    assert eider.states() == {"a": "success", "b": "success"}
    assert eider.tasks()["a"]["try_number"] == 1


def test_a_drained_host_gets_nothing_more(eider, pair, evidence):
    first, second = pair
    trigger(eider, LONG)
    wait_for(lambda: started(evidence), "the task runs")
    busy = hosts_of(eider)["work"]
    eider("hosts", "drain", busy, env=elsewhere(eider), code=0)
    (first if busy == "first" else second).wait_until("asked to drain")
    trigger(eider, "tasks: {a: {foreach: [1, 2, 3, 4, 5], run: 'true'}}", "other")
    wait_for_state(eider, "success", "other")
    assert {row["hostname"] for row in eider.mapped("a", "other")} == {"first", "second"} - {busy}
    rows = {row["name"]: row["status"]
            for row in rows_of(eider("hosts", "list", "-o", "json", code=0).json())}
    assert rows[busy] == "draining"
    assert eider.run_state() == "running"
    let_go(eider)
    wait_for_state(eider, "success")


def test_a_host_that_leaves_hands_back_at_once(eider, fleet_up, evidence):
    """With a lease of minutes, only a task that was given back runs elsewhere soon."""
    patient = {"EIDER_LEASE": "10m", "EIDER_RENEW": "1s", "EIDER_DRAIN_GRACE": "0s"}
    first = fleet_up("first", **patient)
    trigger(eider, LONG)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    fleet_up("second", **patient)
    first.signal(signal.SIGTERM)
    wait_for(lambda: len(started(evidence)) == 2, "the task runs on the other host")
    assert first.wait() == 0, first.text()
    assert not is_alive(pid)
    let_go(eider)
    wait_for_state(eider, "success")
    assert hosts_of(eider) == {"work": "second"}
    rows = {row["name"]: row["status"] for row in rows_of(
        eider("hosts", "list", "--all", "-o", "json", code=0).json())}
    assert rows == {"first": "left", "second": "active"}


# --- who lives


def test_owners_are_judged_by_their_leases(eider, fleet_up, evidence):
    first = fleet_up("first")
    trigger(eider, LONG)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    task = eider("runs", "tasks", "dag", "-o", "json", env=elsewhere(eider), code=0)
    task = rows_of(task.json())[0]
    assert task["hostname"] == "first" and task["owner_alive"] is True
    assert task["pid"] == first.child.pid
    first.signal(signal.SIGSTOP)

    def is_dead():
        shown = eider("runs", "tasks", "dag", "-o", "json", env=elsewhere(eider), code=0).json()
        return rows_of(shown)[0].get("owner_alive") is False

    wait_for(is_dead, "the lease is over")
    shown = eider("runs", "show", "dag", "-o", "json", env=elsewhere(eider), code=0).json()
    assert "owner is dead" in shown["reason"]
    rows = rows_of(eider("hosts", "list", "-o", "json", code=0).json())
    assert [row["status"] for row in rows] == ["expired"]
    first.signal(signal.SIGCONT)
    wait_for(lambda: not is_alive(pid), "the keeper ended what ran")
    let_go(eider)
    wait_for_state(eider, "success")


# --- in the foreground


def test_a_file_runs_in_the_foreground(eider, server, evidence):
    done = eider.run("""
        tasks:
          a: {run: "echo hello > $EIDER_OUTPUTS/word; echo out"}
          b: {needs: [a], foreach: [1, 2], run: "echo {{ tasks.a.word }} {{ item }}"}
    """, "--logs")
    assert "hello 2" in done.err, done
    assert eider.states() == {"a": "success", "b": "success"}
    assert eider("logs", "dag", "a", env=elsewhere(eider), code=0).out == "out\n"
    host = rows_of(eider("hosts", "list", "--all", "-o", "json", code=0).json())[0]
    assert host["kind"] == "foreground" and host["status"] == "left"


def test_the_foreground_shares_a_machine_with_a_daemon(eider, fleet_up):
    fleet_up("same")
    eider.run("tasks: {a: {run: 'true'}}", env={"EIDER_HOST_NAME": "same"})


def start_foreground(eider, evidence, **env):
    child = eider.start("run", eider.write("dag.yaml", LONG), env={**FAST, **env})
    return child, wait_for(lambda: started(evidence), "the task runs")[-1]


def test_the_foreground_keeps_its_lease(eider, fleet_up, evidence):
    """Longer than its lease beside a daemon that sweeps."""
    daemon = fleet_up("daemon")
    child, pid = start_foreground(eider, evidence)
    renewed = set()

    def heartbeats():
        for row in rows_of(eider("hosts", "list", "-o", "json", code=0).json()):
            if row["kind"] == "foreground":
                assert row["status"] == "active", row
                renewed.add(row["last_heartbeat"])
        return len(renewed) >= 10

    wait_for(heartbeats, "the lease is renewed again and again")
    assert is_alive(pid)
    let_go(eider)
    assert child.wait(timeout=60) == 0
    assert started(evidence) == [pid]
    assert "took back" not in daemon.text()


def test_the_foreground_is_stopped_from_elsewhere(eider, server, evidence):
    child, pid = start_foreground(eider, evidence)
    eider("stop", "dag", env=elsewhere(eider), code=0)
    assert child.wait(timeout=60) == 9
    assert not is_alive(pid)
    assert eider.run_state() == "cancelled"


def test_a_killed_foreground_is_continued(eider, server, evidence):
    child, pid = start_foreground(eider, evidence, EIDER_LEASE="10m")
    child.kill()
    child.wait()
    refused = eider("retry", "dag", env={**FAST, **elsewhere(eider)})
    assert refused.code == 5 and "lease" in refused.err, refused
    let_go(eider)
    eider("retry", "dag", env=FAST, code=0)
    assert not is_alive(pid)
    assert eider.run_state() == "success"
    assert eider.tasks()["work"]["try_number"] == 2


def test_a_killed_foreground_is_continued_elsewhere_after_its_lease(eider, server, evidence):
    child, pid = start_foreground(eider, evidence)
    child.kill()
    child.wait()
    let_go(eider)
    wait_for(lambda: eider("retry", "dag", env={**FAST, **elsewhere(eider)}).code == 0,
             "the lease is over")
    assert not is_alive(pid)
    assert eider.tasks()["work"]["try_number"] == 2


def test_a_living_foreground_is_left_alone(eider, server, evidence):
    child, pid = start_foreground(eider, evidence)
    refused = eider("retry", "dag", env={**FAST, **elsewhere(eider)})
    assert refused.code == 5 and str(child.pid) in refused.err, refused
    assert is_alive(pid)
    let_go(eider)
    assert child.wait(timeout=60) == 0
    assert started(evidence) == [pid]


# --- looking after it


def test_the_store_is_looked_after(eider, pair, tmp_path):
    trigger(eider, "tasks: {a: {run: 'true'}}")
    wait_for_state(eider, "success")
    checked = eider("store", "check", env=elsewhere(eider), code=0)
    assert "file" not in checked.out, checked
    doctor = eider("doctor", env=elsewhere(eider), code=0)
    assert "store" in doctor.out, doctor
    backup = eider("store", "backup", tmp_path / "copy", env=elsewhere(eider))
    assert backup.code == 2 and "pg_dump" in backup.err and "export" in backup.err, backup
    eider("store", "export", tmp_path / "all.jsonl", env=elsewhere(eider), code=0)
    assert (tmp_path / "all.jsonl").stat().st_size > 100


def test_a_daemon_waits_for_its_database(eider, server, fleet_up, evidence):
    server.stop()
    try:
        first = fleet_up("first", waits=False)
        first.wait_until("the store cannot be used yet")
        late = Daemon(eider, "--host-name", "late", name="late",
                      env={"EIDER_HOME": str(eider.folder / "late")})
        late.wait_until("the store cannot be used yet")
        late.signal(signal.SIGTERM)
        assert late.wait() == 0, late.text()
    finally:
        server.start()
    first.wait_until_up()
    trigger(eider, "tasks: {a: {run: 'true'}}")
    wait_for_state(eider, "success")
