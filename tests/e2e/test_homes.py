"""One home and several stores, one store and several homes: nobody touches what is another's."""
import shutil

import pytest
from fleet import LONG, let_go, started, wait_for_state
from harness import is_alive, wait_for

BIG = 200_000  # bytes of a value: far more than the store keeps in a row


def say(eider, words, env=None):
    eider.run(f"tasks: {{a: {{run: 'echo {words}'}}}}", env=env)


def shown(eider, run, env=None):
    return eider("logs", run, "a", env=env, code=0).out.strip()


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture(params=["postgresql", "sqlite"])
def other(request):
    """The environment of a second store that is used from the same home."""
    url = request.getfixturevalue("postgres") if request.param == "postgresql" else "sqlite:x.db"
    return {"EIDER_STORE": url}


# --- one home, several stores


def test_a_run_on_another_store_leaves_logs_alone(eider, other):
    for number in (1, 2, 3):
        say(eider, f"ours {number}")
    say(eider, "theirs 1", other)
    assert [shown(eider, number) for number in (1, 2, 3)] == ["ours 1", "ours 2", "ours 3"]
    # The numbers are the same, and nothing is mixed.
    assert shown(eider, 1, other) == "theirs 1"
    eider("runs", "delete", "1", "--yes", env=other, code=0)
    assert shown(eider, 1) == "ours 1"


def test_a_daemon_on_another_store_leaves_logs_alone(eider, other, up):
    say(eider, "ours")
    eider.write("dags/dag.yaml", "tasks: {a: {run: 'echo theirs'}}")
    up(env=other)
    eider("dags", "trigger", "dag", env=other, code=0)
    wait_for(lambda: shown(eider, 1, other) == "theirs", "the log is there")
    assert shown(eider, 1) == "ours"


def test_runs_on_two_stores_at_once(eider, other):
    """Scripts, outputs and locks have numbers too."""
    eider.write("dag.yaml", """
        tasks:
          a:
            run: |
              echo start $$ >> @evidence
              while [ $(grep -c start @evidence) -lt 2 ]; do sleep 0.02; done
              echo {{ params.name }} > $EIDER_OUTPUTS/name
          b: {needs: [a], run: "echo {{ tasks.a.name }}"}
        params: {name: none}
    """)
    path = eider.work / "dag.yaml"
    both = [eider.start("run", path, "-p", "name=ours"),
            eider.start("run", path, "-p", "name=theirs", env=other)]
    for run in both:
        _, said = run.communicate(timeout=60)
        assert run.returncode == 0, said
    assert eider("logs", "1", "b", code=0).out.strip() == "ours"
    assert eider("logs", "1", "b", env=other, code=0).out.strip() == "theirs"


@pytest.mark.parametrize("first_is_ours", [True, False])
def test_a_daemon_leaves_tasks_of_another_store_alone(eider, other, up, evidence, first_is_ours):
    one, two = ({}, other) if first_is_ours else (other, {})
    one = {**one, "EIDER_LEASE": "60s"}
    eider.write("dags/dag.yaml", LONG)
    first = up(env=one)
    eider("dags", "trigger", "dag", env=one, code=0)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    first.kill()

    second = up(name="second", env=two)
    second.wait_until("another store")
    assert "adopted" not in second.text() and "not ours any more" not in second.text()
    let_go(eider)
    wait_for(lambda: not is_alive(pid), "it ends by itself")
    second.finish()

    up(name="third", env=one)
    wait_for(lambda: eider("runs", "show", "1", "-o", "json", env=one).json()["state"] == "success",
             "its daemon hears how it ended")
    assert len(started(evidence)) == 1


# --- one store, several homes


def test_daemons_with_a_home_each_share_values_and_logs(eider, up):
    calm = {"EIDER_POLL": "1h", "EIDER_SWEEP": "200ms"}
    eider.write("dags/dag.yaml", f"""
        tasks:
          a:
            queue: qtwo
            run: "head -c {BIG} /dev/zero | tr '\\\\0' x > $EIDER_OUTPUTS/big; echo there"
          b: {{needs: [a], queue: qone, run: "echo {{{{ tasks.a.big | length }}}}"}}
    """)
    up("--queues", "qone", env=calm)
    up("--queues", "qtwo", name="second",
       env={**calm, "EIDER_HOME": str(eider.folder / "second"), "EIDER_HOST_NAME": "two",
            "EIDER_STORE": f"sqlite:{eider.home}/eider.db"})
    eider("dags", "trigger", "dag", code=0)
    # Nobody looks by itself for an hour: the second daemon knocks.
    wait_for_state(eider, "success")
    assert eider.log("dag", "a").strip() == "there"
    assert eider.log("dag", "b").strip() == str(BIG)
    assert not (eider.folder / "second/blob").exists()


# --- homes of before


def log_of_before(eider, text, task=1):
    """Where every store of a home once kept its logs."""
    path = eider.home / f"blob/1/{task}/1.log"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_logs_that_waited_in_the_common_folder_are_brought(eider, postgres):
    env = {"EIDER_STORE": postgres}
    eider.run("tasks: {a: {run: 'true'}}", env=env)
    ours = log_of_before(eider, "waited\n")
    foreign = log_of_before(eider, "of another store\n", task=77)
    say(eider, "next", env)
    wait_for(lambda: shown(eider, 1, env) == "waited", "it is brought to the store")
    assert not ours.exists()
    assert foreign.read_text() == "of another store\n"


def test_logs_in_the_common_folder_stay_with_the_store_of_the_home(eider, postgres):
    env = {"EIDER_STORE": postgres}
    eider.run("tasks: {a: {run: 'true'}}", env=env)
    say(eider, "ours")
    say(eider, "next", env)
    assert shown(eider, 1) == "ours" and shown(eider, 1, env) == ""


def test_logs_of_a_store_with_another_name_are_found(eider):
    env = {"EIDER_STORE": "sqlite:x.db"}
    eider.run("tasks: {a: {run: 'echo one; seq -s, 30000 > $EIDER_OUTPUTS/big'},"
              " b: {needs: [a], run: 'false'}}", code=None, env=env)
    shutil.move(eider.home / "x.db.d/blob", eider.home / "blob")
    shutil.rmtree(eider.home / "x.db.d")
    assert shown(eider, 1, env) == "one"
    value = eider("runs", "values", "1", "-o", "json", env=env, code=0).out
    say(eider, "two", env)
    assert [shown(eider, number, env) for number in (1, 2)] == ["one", "two"]
    assert eider("runs", "values", "1", "-o", "json", env=env, code=0).out == value
    assert files(eider.home / "blob") == []


def test_a_process_of_before_that_still_works_is_not_taken_for_dead(eider, evidence):
    env = {"EIDER_STORE": "sqlite:x.db"}
    child = eider.start("run", eider.write("dag.yaml", LONG), env=env)
    pid = wait_for(lambda: started(evidence), "the task runs")[0]
    # Where it held its locks.
    for lock in list((eider.home / "x.db.d/hosts").iterdir()):
        lock.rename(eider.home / "hosts" / lock.name)

    for command in (["stop", "1"], ["run", eider.work / "dag.yaml"], ["retry", "1"]):
        refused = eider(*command, env=env)
        assert refused.code != 0
        assert f"an older eider still works on this store (process {child.pid}" in refused.err
    assert is_alive(pid)
    let_go(eider)
    assert child.wait(timeout=60) == 0
    assert len(started(evidence)) == 1
    say(eider, "next", env)


def test_a_store_that_is_new_in_an_old_home_has_its_own_logs(eider):
    env = {"EIDER_STORE": "sqlite:x.db"}
    foreign = log_of_before(eider, "of another store\n")
    eider("queues", "set", "side", env=env, code=0)
    dag = eider.write("dag.yaml", "tasks: {a: {run: 'true'}}")
    eider("dags", "trigger", dag, env=env, code=0)
    assert eider("logs", "1", "a", env=env).out == ""
    eider("stop", "1", env=env, code=0)
    eider("runs", "delete", "1", "--yes", env=env, code=0)
    assert foreign.read_text() == "of another store\n"


def test_what_a_daemon_of_before_left_is_taken_over(eider, other, up, evidence):
    env = {**other, "EIDER_LEASE": "60s"}
    eider.write("dags/dag.yaml", LONG)
    first = up(env=env)
    eider("dags", "trigger", "dag", env=env, code=0)
    wait_for(lambda: started(evidence), "the task runs")
    first.kill()
    kept, = (eider.home / "stores").iterdir()
    for path in list(kept.iterdir()):
        if path.name == "daemon.json" or path.name.startswith(("keeper.sock", "outcomes.db")):
            path.rename(eider.home / "hosts" / path.name)

    # Whoever comes first makes no use of it.
    second = up(name="second")
    assert "adopted" not in second.text()
    second.finish()
    third = up(name="third", env=env)
    third.wait_until("adopted a task")
    let_go(eider)
    wait_for(lambda: eider("runs", "show", "1", "-o", "json", env=env).json()["state"] == "success",
             "it ends")
    assert len(started(evidence)) == 1
