"""A task that runs is stopped, or stopped and run again, while the rest of its run goes on."""
import os
import pwd
import signal

import pytest

from fleet import LONG, keepers_of, let_go, started, wait_for_state
from harness import is_alive, rows_of, wait_for

ME = pwd.getpwuid(os.getuid()).pw_name

# Nobody learns of anything by looking from time to time.
DEAF = {"EIDER_POLL": "10m"}

FAMILY = """
    tasks:
      work:
        retries: 3
        run: |
          sleep 1000 & echo child $! >> @evidence
          setsid sleep 1000 & echo child $! >> @evidence
          echo start $$ >> @evidence
          wait
      after: {needs: [work], run: "echo after >> @evidence"}
      side:
        run: |
          echo side $$ >> @evidence
          while [ ! -e @evidence.go ]; do sleep 0.05; done
      beside: {needs: [side], run: "echo beside >> @evidence"}
"""


class Host:
    """One daemon on one of the two kinds of stores."""

    def __init__(self, eider, request, kind):
        self.is_fleet = kind == "postgres"
        self.start_one = request.getfixturevalue("fleet_up" if self.is_fleet else "up")
        self.home = eider.folder / "one" if self.is_fleet else eider.home
        self.times = 0
        self.daemon = None

    def start(self):
        self.times += 1
        if self.is_fleet:
            self.daemon = self.start_one("one", times=self.times, **DEAF)
        else:
            self.daemon = self.start_one(times=self.times, env=DEAF)

    def kill(self, with_keeper):
        keepers = keepers_of(self.home)
        self.daemon.kill()
        assert keepers
        for keeper in keepers if with_keeper else ():
            os.kill(keeper, signal.SIGKILL)


@pytest.fixture(params=["sqlite", "postgres"])
def host(eider, request):
    one = Host(eider, request, request.param)
    yield one
    eider("store", "check", code=0)


def trigger(eider, evidence, text):
    eider.write("dags/dag.yaml", text)
    eider("dags", "trigger", "dag", code=0)
    return wait_for(lambda: started(evidence), "the task runs")[0]


def wait_for_task(eider, task, state):
    wait_for(lambda: eider.tasks()[task]["state"] == state, f"{task} is {state}")
    return eider.tasks()[task]


def trail(eider):
    rows = rows_of(eider("audit", "list", "--run", "dag", "-o", "json", code=0).json())
    return [(row["action"], row["actor"], row.get("reason")) for row in rows]


def test_a_task_is_stopped_with_all_its_processes_and_the_rest_goes_on(eider, evidence, host):
    eider.write("dags/dag.yaml", FAMILY)
    host.start()
    trigger(eider, evidence, FAMILY)
    wait_for(lambda: len(evidence.lines()) == 4, "both tasks run")
    family = [int(line.split()[1]) for line in evidence.lines() if not line.startswith("side")]

    eider("stop", "dag", "work", "--reason", "wrong file", code=0)

    work = wait_for_task(eider, "work", "cancelled")
    assert work["reason"] == "cancelled" and work["try_number"] == 1
    wait_for(lambda: not any(map(is_alive, family)), "the whole family is gone")
    assert eider.states()["after"] == "upstream_failed"
    assert eider.states()["side"] == "running"
    eider("stop", "dag", "work", code=0)
    let_go(eider)
    wait_for_state(eider, "failed")
    assert eider.states()["beside"] == "success"
    assert evidence.count("after") == 0
    assert trail(eider).count(("task_cancel_asked", ME, "wrong file")) == 1


def test_a_rehearsal_of_a_stop_answers_as_the_stop_would(eider, evidence, host):
    eider.write("dags/dag.yaml", FAMILY)
    host.start()
    trigger(eider, evidence, FAMILY)
    wait_for(lambda: len(evidence.lines()) == 4, "both tasks run")

    would = eider("stop", "dag", "work", "--dry-run", "-o", "json", code=0).json()
    assert (would["stops"], would["dry_run"]) == (["work (running)"], True)
    assert "nothing was changed" in eider("stop", "dag", "after", "--dry-run", code=0).err
    assert eider.states()["work"] == "running" and eider.tasks()["work"].get("reason") is None
    let_go(eider)
    wait_for_task(eider, "beside", "success")
    for refused in (["wokr"], ["beside"], ["work", "--map-index", "3"]):
        real, dry = (eider("stop", "dag", *refused, *more) for more in ([], ["--dry-run"]))
        assert (dry.code, dry.err) == (real.code, real.err) and dry.code != 0
    eider("stop", "dag", "work", code=0)
    wait_for_task(eider, "work", "cancelled")
    assert trail(eider).count(("task_cancel_asked", ME, None)) == 1


def test_a_running_task_stops_and_runs_again(eider, evidence, host):
    eider.write("dags/dag.yaml", LONG)
    host.start()
    pid = trigger(eider, evidence, LONG)
    [dry] = rows_of(eider("tasks", "clear", "dag", "work", "--dry-run", "-o", "json",
                          code=0).json())
    assert dry["stops_first"] is True and is_alive(pid)
    assert "STOPS FIRST" in eider("tasks", "clear", "dag", "work", "--dry-run", code=0).out

    [asked] = rows_of(eider("tasks", "clear", "dag", "work", "--reason", "new file", "-o", "json",
                            code=0).json())

    assert (asked["stops_first"], asked["reason"]) == (True, "clearing") or asked["generation"] == 1
    wait_for(lambda: len(started(evidence)) == 2, "it runs again")
    assert not is_alive(pid)
    let_go(eider)
    wait_for_state(eider, "success")
    work = eider.tasks()["work"]
    assert (work["generation"], work["try_number"]) == (1, 2)
    assert len(started(evidence)) == 2
    changes = trail(eider)
    assert ("task_clear_asked", ME, "new file") in changes
    assert ("task_cleared", ME, "new file") in changes


@pytest.mark.parametrize("with_keeper", [False, True], ids=["daemon", "daemon and keeper"])
@pytest.mark.parametrize("verb", ["stop", "clear"])
def test_a_wish_outlives_the_daemon_that_did_not_hear_it(eider, evidence, host, verb,
                                                         with_keeper):
    eider.write("dags/dag.yaml", LONG)
    host.start()
    pid = trigger(eider, evidence, LONG)
    host.daemon.freeze()
    eider(*(["stop"] if verb == "stop" else ["tasks", "clear"]), "dag", "work", code=0)
    assert eider.tasks()["work"]["reason"] == ("stopping" if verb == "stop" else "clearing")
    assert is_alive(pid)

    host.kill(with_keeper)
    host.start()

    if verb == "stop":
        wait_for_task(eider, "work", "cancelled")
        assert len(started(evidence)) == 1
    else:
        wait_for(lambda: len(started(evidence)) == 2, "it runs again")
        let_go(eider)
        wait_for_state(eider, "success")
        assert eider.tasks()["work"]["generation"] == 1
    wait_for(lambda: not is_alive(pid), "the first attempt is gone")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_task_of_a_run_in_the_foreground_is_stopped_and_run_again(eider, evidence, request,
                                                                    kind):
    if kind == "postgres":
        request.getfixturevalue("server")
    child = eider.start("run", eider.write("dag.yaml", FAMILY), env=DEAF)
    wait_for(lambda: len(evidence.lines()) == 4, "both tasks run")
    first = started(evidence)[0]

    eider("tasks", "clear", "dag", "work", code=0)
    wait_for(lambda: len(started(evidence)) == 2, "it runs again")
    assert not is_alive(first)
    eider("stop", "dag", "work", code=0)
    wait_for_task(eider, "work", "cancelled")
    let_go(eider)

    _, errors = child.communicate(timeout=60)
    assert child.returncode == 1, errors
    assert eider.states() == {"work": "cancelled", "after": "upstream_failed", "side": "success",
                              "beside": "success"}
    eider("store", "check", code=0)


def test_it_is_told_that_a_task_is_being_stopped(eider, evidence, up):
    stubborn = """
    tasks:
      work:
        run: |
          trap 'echo term >> @evidence; until [ -e @evidence.go ]; do sleep 0.05; done' TERM
          echo start $$ >> @evidence
          while [ ! -e @evidence.go ]; do sleep 0.05; done
      """
    eider.write("dags/dag.yaml", stubborn)
    up(env=DEAF)
    trigger(eider, evidence, stubborn)

    eider("stop", "dag", "work", code=0)
    wait_for(lambda: evidence.count("term") == 1, "it is asked to end")

    assert eider.tasks()["work"]["reason"] == "stopping"
    told = eider("explain", "dag", "work", code=0).out
    assert "is being stopped" in told and ME in told
    eider("stop", "dag", "work", code=0)
    let_go(eider)
    wait_for_task(eider, "work", "cancelled")


def test_one_instance_of_a_mapped_task_is_stopped(eider, evidence, up):
    text = """
    tasks:
      each:
        foreach: [1, 2]
        run: |
          echo start $$ {{ item }} >> @evidence
          while [ ! -e @evidence.go ]; do sleep 0.05; done
    """
    eider.write("dags/dag.yaml", text)
    up(env=DEAF)
    trigger(eider, evidence, text)
    wait_for(lambda: len(started(evidence)) == 2, "both instances run")

    eider("stop", "dag", "each", "--map-index", "1", code=0)

    wait_for(lambda: eider.mapped("each")[1]["state"] == "cancelled", "it is stopped")
    assert eider.mapped("each")[0]["state"] == "running"
    let_go(eider)
    wait_for_state(eider, "failed")
    assert eider.mapped("each")[0]["state"] == "success"
    assert eider("stop", "dag", "--map-index", "1").code != 0
