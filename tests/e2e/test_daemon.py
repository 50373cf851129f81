"""`eider up`: claims what is triggered, survives its own death, stops without losing anything."""
import os
import signal
import socket

from fleet import (FAST, LONG, keepers_of, let_go, started,
                   wait_for_state)
from harness import is_alive, wait_for


def write_dag(eider, text, name="dag.yaml"):
    return eider.write(f"dags/{name}", text)


def test_a_triggered_run_is_worked_off(eider, up):
    write_dag(eider, """
        params: {name: {default: world}}
        tasks:
          first: {run: "echo hello {{ params.name }}"}
          many: {needs: [first], foreach: [1, 2, 3], run: "echo {{ item }}"}
          last: {needs: [many], noop: true}
    """)
    daemon = up()
    shown = eider("dags", "trigger", "dag", "-p", "name=moon", "-o", "json", code=0).json()
    assert shown["dag_id"] == "dag" and shown["state"] in ("queued", "running")
    wait_for_state(eider, "success")
    assert "hello moon" in eider.log("dag", "first")
    assert daemon.child.poll() is None


def test_files_are_looked_at_again_on_hangup(eider, up):
    daemon = up()
    looks = daemon.text().count("DAG files folder")
    daemon.signal(signal.SIGHUP)
    wait_for(lambda: daemon.text().count("DAG files folder") > looks, "the daemon says so")
    assert daemon.child.poll() is None


def test_detach_needs_somebody_who_works(eider, up):
    path = eider.write("dag.yaml", "tasks: {a: {run: 'true'}}")
    refused = eider("run", path, "--detach")
    assert refused.code == 8 and "eider up" in refused.err, refused
    eider("run", path, code=0)
    assert eider("run", path, "--detach").code == 8
    daemon = up()
    eider("run", path, "--detach", "--run-id", "mine", code=0)
    wait_for(lambda: {row["state"] for row in eider.runs()} == {"success"}, "both runs are over")
    daemon.signal(signal.SIGTERM)
    assert daemon.wait() == 0
    assert eider("run", path, "--detach").code == 8


def test_run_by_name_triggers_and_follows(eider, up):
    write_dag(eider, """
        tasks:
          a: {run: "echo from the daemon"}
          b: {needs: [a], run: "exit 3"}
    """)
    up()
    done = eider("run", "dag", "--logs", code=1)
    assert "from the daemon" in done.err, done
    assert "b" in done.out, done
    assert eider.states() == {"a": "success", "b": "failed"}
    write_dag(eider, """
        tasks:
          a: {run: "echo from the daemon"}
          b: {needs: [a], run: "exit 0"}
    """)
    assert eider("retry", "dag").code == 1  # a run keeps its version
    assert eider.tasks()["a"]["try_number"] == 1
    assert eider.tasks()["b"]["try_number"] == 2


def test_what_belongs_to_daemons_waits_for_one(eider, up):
    write_dag(eider, "tasks: {a: {run: 'exit 1'}}")
    daemon = up()
    eider("run", "dag", code=1)
    daemon.signal(signal.SIGTERM)
    assert daemon.wait() == 0
    refused = eider("retry", "dag")
    assert refused.code == 8 and "eider up" in refused.err, refused
    eider("run", "dag", code=1)  # without a daemon it runs here


def test_a_killed_daemon_goes_on_with_its_tasks(eider, up, evidence):
    write_dag(eider, LONG)
    daemon = up()
    eider("dags", "trigger", "dag", code=0)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    daemon.kill()
    assert is_alive(pid)
    daemon = up(times=2)
    wait_for(lambda: "adopted a task" in daemon.text(), "the task is adopted")
    assert is_alive(pid)
    let_go(eider)
    wait_for_state(eider, "success")
    assert evidence.lines() == [f"start {pid}", f"end {pid}"]
    assert eider.tasks()["work"]["try_number"] == 1


def test_what_ended_while_the_daemon_was_away_counts(eider, up, evidence):
    write_dag(eider, LONG)
    daemon = up()
    eider("dags", "trigger", "dag", code=0)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    daemon.kill()
    let_go(eider)
    wait_for(lambda: not is_alive(pid), "the task ends on its own")
    up(times=2)
    wait_for_state(eider, "success")
    assert started(evidence) == [pid]
    assert eider.tasks()["work"]["try_number"] == 1


def test_a_task_without_its_keeper_counts_as_lost(eider, up, evidence):
    write_dag(eider, LONG)
    daemon = up()
    eider("dags", "trigger", "dag", code=0)
    first = wait_for(lambda: started(evidence), "the task runs")[0]
    keepers = keepers_of(eider.home)
    daemon.freeze()
    for keeper in keepers:
        os.kill(keeper, signal.SIGKILL)
    daemon.kill()
    daemon = up(times=2)
    wait_for(lambda: len(started(evidence)) == 2, "the task runs again")
    assert not is_alive(first)
    let_go(eider)
    wait_for_state(eider, "success")
    assert eider.tasks()["work"]["try_number"] == 2


def test_a_stop_waits_for_what_runs(eider, up, evidence):
    write_dag(eider, LONG)
    daemon = up()
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: started(evidence), "the task runs")
    daemon.signal(signal.SIGTERM)
    wait_for(lambda: "stopping" in daemon.text(), "the daemon stops")
    eider("dags", "trigger", "dag", "--run-id", "later", code=0)
    let_go(eider)
    assert daemon.wait() == 0, daemon.text()
    states = {row["dag_run_id"]: row["state"] for row in eider.runs()}
    assert states.pop("later") == "queued"
    assert list(states.values()) == ["success"]


def test_after_the_grace_tasks_are_given_back(eider, up, evidence):
    write_dag(eider, LONG)
    daemon = up(env={"EIDER_DRAIN_GRACE": "100ms"})
    eider("dags", "trigger", "dag", code=0)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    daemon.signal(signal.SIGTERM)
    assert daemon.wait() == 0, daemon.text()
    assert not is_alive(pid)
    assert eider.states() == {"work": "queued"}
    let_go(eider)
    up(times=2)
    wait_for_state(eider, "success")
    assert eider.tasks()["work"]["try_number"] <= 2
    assert eider("explain", "dag").code == 0


def test_a_drained_host_runs_on_and_claims_nothing(eider, up, evidence):
    write_dag(eider, LONG)
    daemon = up("--host-name", "here")
    eider("dags", "trigger", "dag", "--run-id", "first", code=0)
    wait_for(lambda: started(evidence), "the task runs")
    eider("hosts", "drain", "here", code=0)
    wait_for(lambda: "asked to drain" in daemon.text(), "the daemon heard of it")
    eider("dags", "trigger", "dag", "--run-id", "second", code=0)
    let_go(eider)
    wait_for(lambda: {row["dag_run_id"]: row["state"] for row in eider.runs()}
             == {"first": "success", "second": "queued"}, "only the first is over")
    assert daemon.child.poll() is None
    eider("hosts", "resume", "here", code=0)
    wait_for(lambda: {row["state"] for row in eider.runs()} == {"success"}, "both are over")


def test_one_daemon_per_home(eider, up):
    up()
    second = eider("up", env=FAST)
    assert second.code == 5 and "another `eider up`" in second.err, second


def test_two_daemons_share_a_store(eider, up, evidence):
    write_dag(eider, """
        tasks:
          many:
            foreach: [1, 2, 3, 4, 5, 6, 7, 8]
            run: |
              echo start $$ >> @evidence
              while [ ! -e @evidence.go ]; do sleep 0.05; done
    """)
    store = f"sqlite:{eider.home}/eider.db"
    first = up("--slots", "4", env={"EIDER_CLAIM_RATIO": "100"})
    up("--slots", "4", name="second",
       env={"EIDER_HOME": str(eider.folder / "other"), "EIDER_STORE": store,
            "EIDER_CLAIM_RATIO": "100", "EIDER_HOST_NAME": "other"})
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: len(started(evidence)) == 8, "both fill their slots")
    pids = started(evidence)
    # One dies for good: the other takes its tasks back, and none of them runs twice at once.
    first.kill()
    wait_for(lambda: sum(map(is_alive, pids)) == 4, "what the dead one ran is dead")
    let_go(eider)
    wait_for_state(eider, "success")
    assert len(started(evidence)) == 12


def test_a_stop_reaches_running_tasks(eider, up, evidence):
    write_dag(eider, LONG + """
    finally:
      tidy: {run: echo tidy >> @evidence}
    """)
    daemon = up()
    eider("dags", "trigger", "dag", code=0)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    eider("stop", "dag", code=0)
    wait_for_state(eider, "cancelled")
    assert not is_alive(pid)
    assert eider.states()["work"] == "cancelled"
    assert evidence.count("tidy") == 1
    assert daemon.child.poll() is None


def test_a_stop_with_kill_leaves_out_what_comes_at_the_end(eider, up, evidence):
    write_dag(eider, LONG + """
    finally:
      tidy: {run: echo tidy >> @evidence}
    """)
    up()
    eider("dags", "trigger", "dag", code=0)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    refused = eider("stop", "dag", "work", "--kill")
    assert refused.code != 0 and "whole run" in refused.err
    eider("runs", "cancel", "dag", "--kill", code=0)
    wait_for_state(eider, "cancelled")
    assert not is_alive(pid)
    assert evidence.count("tidy") == 0


def test_a_run_that_takes_too_long_is_stopped(eider, up, evidence):
    write_dag(eider, "    timeout: 1s" + LONG)
    up()
    eider("dags", "trigger", "dag", code=0)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    wait_for_state(eider, "failed")
    assert not is_alive(pid)


def test_a_busy_machine_claims_nothing(eider, up):
    write_dag(eider, "tasks: {a: {run: 'true'}}")
    daemon = up(env={"EIDER_MEMORY_MOST": "1", "EIDER_LOG_LEVEL": "info"})
    wait_for(lambda: "the machine is busy" in daemon.text(), "it says so")
    eider("dags", "trigger", "dag", code=0)
    up(name="second", env={"EIDER_HOME": str(eider.folder / "other"), "EIDER_HOST_NAME": "other",
                           "EIDER_STORE": f"sqlite:{eider.home}/eider.db"})
    wait_for_state(eider, "success")


def test_bad_settings_are_refused(eider):
    short = eider("up", env={"EIDER_LEASE": "2s", "EIDER_RENEW": "1s"})
    assert short.code == 2 and "three times" in short.err, short
    role = eider("up", "--roles", "worker,cook")
    assert role.code == 2 and "cook" in role.err, role


def test_the_supervisor_hears_of_it(eider, up, tmp_path):
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(60)
        daemon = up(env={"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "1000000"})
        heard = []
        wait_for(lambda: heard.append(listener.recv(4096).decode()) or "WATCHDOG=1" in heard,
                 "the watchdog is fed")
        assert any("READY=1" in lines for lines in heard)
        daemon.signal(signal.SIGTERM)
        wait_for(lambda: "STOPPING=1" in listener.recv(4096).decode(), "the stop is told")
        assert daemon.wait() == 0


def job(eider, number):
    return eider("jobs", "show", number, "-o", "json", code=0).json()


def enqueue(eider, *args):
    return eider("enqueue", "-o", "name", "default", *args, code=0).out.strip()


def test_jobs_are_run_by_their_handlers(eider, up, evidence):
    eider.write("eider.yaml", """
        handlers:
          greet:
            run: |
              echo "greet $EIDER_JOB_ID $EIDER_QUEUE $EIDER_TRY_NUMBER $WORD" >> @evidence
              cp $EIDER_PAYLOAD_FILE $EIDER_OUTPUTS/result
              [ "$(cat $EIDER_PAYLOAD_FILE)" = "$EIDER_PAYLOAD" ]
            env: {WORD: hi}
    """)
    daemon = up()
    ids = {
        "greet": enqueue(eider, "greet", '{"to":"ann"}'),
        "shell": enqueue(eider, "--", "echo shell >> " + str(evidence)),
        "noop": enqueue(eider, "noop"),
        "sleep": enqueue(eider, "sleep", '{"seconds": 0.1}'),
        "lazy": enqueue(eider, "sleep", '{"seconds": "many"}'),
        "nobody": enqueue(eider, "nobody"),
    }
    wait_for(lambda: all(job(eider, i)["status"] in ("completed", "failed") for i in ids.values()),
             "every job is over")
    status = {name: job(eider, i)["status"] for name, i in ids.items()}
    assert status == {"greet": "completed", "shell": "completed", "noop": "completed",
                      "sleep": "completed", "lazy": "failed", "nobody": "failed"}
    assert job(eider, ids["greet"])["result"] == {"to": "ann"}
    assert f"greet {ids['greet']} default 1 hi" in evidence.lines()
    assert "shell" in evidence.lines()
    assert "noop, sleep, greet" in job(eider, ids["nobody"])["message"]
    assert "seconds" in job(eider, ids["lazy"])["message"]
    assert daemon.child.poll() is None


def test_jobs_are_stopped_and_survive_the_daemon(eider, up, evidence):
    daemon = up()
    nap = enqueue(eider, "sleep", '{"seconds": 3600}')
    work = enqueue(eider, "--", f"echo start $$ >> {evidence};"
                   f" while [ ! -e {evidence}.go ]; do sleep 0.05; done")
    pid = wait_for(lambda: started(evidence), "the job runs")[0]
    wait_for(lambda: job(eider, nap)["status"] == "claimed", "the other sleeps")
    daemon.kill()
    daemon = up(times=2)
    wait_for(lambda: "adopted a task" in daemon.text(), "the job is adopted")
    let_go(eider)
    wait_for(lambda: job(eider, work)["status"] == "completed", "the job is over")
    assert started(evidence) == [pid]
    wait_for(lambda: job(eider, nap)["status"] == "claimed", "the other sleeps again")
    eider("jobs", "cancel", nap, code=0)
    wait_for(lambda: job(eider, nap)["status"] == "cancelled", "it is stopped")
