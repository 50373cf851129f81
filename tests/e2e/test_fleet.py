"""Daemons on PostgreSQL: leases, restarts of the database, work that changes hands."""
import os
import signal
import sqlite3

import pytest
from fleet import LONG, keepers_of, let_go, started, wait_for_state
from harness import is_alive, wait_for


@pytest.fixture
def up(fleet_up):
    return fleet_up


def trigger_long(eider, evidence):
    """Starts the long task; its process."""
    eider.write("dags/dag.yaml", LONG)
    eider("dags", "trigger", eider.work / "dags/dag.yaml", code=0)
    return wait_for(lambda: started(evidence), "the task runs")[0]


def test_a_killed_daemon_goes_on_with_its_tasks(eider, up, evidence):
    first = up("first")
    pid = trigger_long(eider, evidence)
    first.kill()
    first = up("first", times=2)
    first.wait_until("adopted a task")
    let_go(eider)
    wait_for_state(eider, "success")
    assert evidence.lines() == [f"start {pid}", f"end {pid}"]
    assert eider.tasks()["work"]["try_number"] == 1


def test_a_frozen_daemon_loses_its_tasks_before_others_start_them(eider, up, evidence):
    first = up("first")
    pid = trigger_long(eider, evidence)
    second = up("second")
    first.signal(signal.SIGSTOP)
    wait_for(lambda: len(started(evidence)) == 2, "the task runs elsewhere")
    assert not is_alive(pid), "its keeper ended it when the lease was over"
    first.signal(signal.SIGCONT)
    first.wait_until("this is a new host now")
    let_go(eider)
    wait_for_state(eider, "success")
    assert eider.tasks()["work"]["try_number"] == 2
    assert "took back" in second.text()


def test_a_dead_machine_is_replaced(eider, up, evidence):
    first = up("first")
    pid = trigger_long(eider, evidence)
    keepers = keepers_of(eider.folder / "first")
    up("second")
    first.kill()
    for process in [*keepers, pid]:
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: len(started(evidence)) == 2, "the task runs elsewhere")
    let_go(eider)
    wait_for_state(eider, "success")
    assert eider.tasks()["work"]["try_number"] == 2


def waiting_outcomes(home):
    path = next(home.glob("stores/*/outcomes.db"), None)
    if path is None:
        return 0
    with sqlite3.connect(path) as journal:
        tables = [row[0] for row in journal.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'outcome'")]
        return journal.execute("SELECT count(*) FROM outcome").fetchone()[0] if tables else 0


def test_what_ends_while_the_database_restarts_is_delivered(eider, server, up, evidence):
    up("first", EIDER_LEASE="60s")
    trigger_long(eider, evidence)
    server.stop()
    let_go(eider)
    wait_for(lambda: waiting_outcomes(eider.folder / "first") == 1, "the outcome is on the disk")
    server.start()
    wait_for_state(eider, "success")
    wait_for(lambda: waiting_outcomes(eider.folder / "first") == 0, "the journal is empty")
    assert len(started(evidence)) == 1
    assert eider.tasks()["work"]["try_number"] == 1


def test_a_journal_is_delivered_by_the_next_daemon(eider, server, up, evidence):
    first = up("first", EIDER_LEASE="60s")
    trigger_long(eider, evidence)
    server.stop()
    let_go(eider)
    wait_for(lambda: waiting_outcomes(eider.folder / "first") == 1, "the outcome is on the disk")
    first.kill()
    server.start()
    first = up("first", times=2, EIDER_LEASE="60s")
    wait_for_state(eider, "success")
    assert "outcomes of an earlier program" in first.text()
    assert len(started(evidence)) == 1
    assert eider.tasks()["work"]["try_number"] == 1


def test_without_the_database_tasks_end_before_their_lease(eider, server, up, evidence):
    up("first")
    pid = trigger_long(eider, evidence)
    server.stop()
    wait_for(lambda: not is_alive(pid), "the task is ended")
    server.start()
    wait_for(lambda: len(started(evidence)) == 2, "it runs again")
    let_go(eider)
    wait_for_state(eider, "success")
    assert eider.tasks()["work"]["try_number"] == 2


def test_any_host_shows_the_logs_and_stops_the_run(eider, up, evidence):
    up("first")
    pid = trigger_long(eider, evidence)
    eider("stop", "dag", code=0)
    wait_for_state(eider, "cancelled")
    assert not is_alive(pid)
    eider.write("dags/talk.yaml", "tasks: {say: {run: 'echo far away'}}")
    eider("dags", "trigger", eider.work / "dags/talk.yaml", code=0)
    wait_for_state(eider, "success", "talk")
    wait_for(lambda: "far away" in eider.log("talk", "say"), "the log is in the store")


def test_a_retry_leaves_alone_what_runs(eider, up, evidence):
    up("first")
    pid = trigger_long(eider, evidence)
    retry = eider.start("retry", "dag")  # nothing is to be done again: it watches
    assert retry.stderr.readline().startswith("run manual__")
    assert is_alive(pid)
    let_go(eider)
    assert retry.wait(timeout=60) == 0
    assert started(evidence) == [pid]
    assert eider.tasks()["work"]["try_number"] == 1


def test_a_name_belongs_to_one_living_host(eider, up):
    up("first")
    again = eider("up", "--host-name", "first", env={"EIDER_HOME": str(eider.folder / "other")})
    assert again.code == 5 and "--host-name" in again.err, again
