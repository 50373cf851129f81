"""kill -9 at any moment: the store opens, a retry goes on, nothing finished runs twice."""
import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from harness import BINARY, is_alive, wait_for

KILLS = int(os.environ.get("EIDER_CRASH_KILLS", "8"))
LEVELS, WIDTH = 5, 4


def layered_dag():
    """Levels of tasks, each needing the whole level before; a mapped one in the middle."""
    lines = ["tasks:"]
    above = []
    for level in range(LEVELS):
        names = [f"t{level}_{i}" for i in range(WIDTH)]
        for name in names:
            lines.append(f"  {name}:\n    needs: [{', '.join(above)}]")
            lines.append(f'    run: "echo start {name} >> @evidence; sleep 0.05;'
                         f' echo end {name} >> @evidence"')
        above = names
        if level == 2:
            lines.append(f"  mapped:\n    needs: [{', '.join(above)}]\n    foreach: [0, 1, 2, 3]")
            lines.append('    run: "echo start m{{ item }} >> @evidence; sleep 0.05;'
                         ' echo end m{{ item }} >> @evidence"')
            above = ["mapped"]
    return "\n".join(lines) + "\n"


def names_done(eider):
    """Evidence names of the tasks that the store says have succeeded."""
    done = set()
    for row in eider.instances():
        if row["state"] != "success":
            continue
        index = row.get("map_index", -1)
        if row["task_id"] != "mapped":
            done.add(row["task_id"])
        elif index not in (-1, None):
            done.add(f"m{index}")
    return done


def test_killed_at_random_moments_a_run_still_ends_and_repeats_nothing(eider, evidence):
    seed = int(os.environ.get("EIDER_SEED", random.randrange(1 << 30)))
    chance = random.Random(seed)
    print(f"EIDER_SEED={seed}")  # pytest shows it when the test fails
    path = eider.write("dag.yaml", layered_dag())
    counts = {}  # starts of each task at the time it was known to be done

    def check_nothing_repeated():
        for name, starts in counts.items():
            assert evidence.count(f"start {name}") == starts, f"{name} ran again after success"

    for _ in range(KILLS):
        known = bool(eider.runs()) if eider.home.exists() else False
        child = eider.start("retry", "dag") if known else eider.start("run", path)
        try:
            child.wait(timeout=chance.uniform(0.02, 1.2))
            finished = True
        except subprocess.TimeoutExpired:  # still running: the moment to kill it
            child.send_signal(signal.SIGKILL)
            child.communicate(timeout=60)
            finished = False

        check = eider("store", "check")
        # Killed before it had made a store, there is nothing to check yet.
        assert check.code == 0 or "there is no store" in check.err, check
        check_nothing_repeated()
        if eider.runs():
            for name in names_done(eider):
                counts.setdefault(name, evidence.count(f"start {name}"))
        if finished:
            break

    if eider.runs():
        if eider.run_state() != "success":
            eider("retry", "dag", code=0, timeout=120)
    else:
        eider("run", path, code=0, timeout=120)

    check_nothing_repeated()
    assert eider.run_state() == "success"
    assert len(names_done(eider)) == LEVELS * WIDTH + 4
    for name in names_done(eider):
        assert evidence.count(f"end {name}") >= 1
    eider("store", "check", code=0)


def start_and_kill(eider, evidence, text):
    """Kills the run while its task 'a' sleeps; gives the pid of that task."""
    child = eider.start("run", eider.write("dag.yaml", text))
    wait_for(evidence.lines, "the task to start")
    pid = int(evidence.lines()[0])
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)
    return pid


SLEEPER = """
    tasks:
      a: { run: "echo $$ >> @evidence; [ $(wc -l < @evidence) -ge 2 ] || sleep 300" }
      b: { needs: [a], run: "true" }
    """


def test_the_tasks_of_a_killed_run_are_ended(eider, evidence):
    pid = start_and_kill(eider, evidence, SLEEPER)

    wait_for(lambda: not is_alive(pid), "the orphaned task to end")


def test_a_lost_owner_is_recorded_as_such_and_costs_no_retry(eider, evidence):
    pid = start_and_kill(eider, evidence, SLEEPER)
    wait_for(lambda: not is_alive(pid), "the orphaned task to end")

    eider("retry", "dag", code=0)

    assert len(evidence.lines()) == 2
    row = eider.tasks()["a"]
    assert row["state"] == "success"
    assert row["try_number"] == 2
    assert "lost_owner" in eider("explain", "dag", "a", "-o", "json", code=0).out


def test_a_run_that_lost_its_owner_says_so_before_it_is_retried(eider, evidence):
    start_and_kill(eider, evidence, SLEEPER)

    said = eider("explain", "dag", code=0).out

    assert "retry" in said or "owner" in said, said


def test_the_log_of_a_killed_attempt_can_be_read(eider, evidence):
    start_and_kill(eider, evidence, SLEEPER.replace("echo $$", "echo words; echo $$"))

    assert eider.log("dag", "a").splitlines()[0] == "words"


def test_a_killed_keeper_ends_the_run_cleanly(eider, evidence):
    child = eider.start("run", eider.write("dag.yaml", SLEEPER))
    wait_for(evidence.lines, "the task to start")
    task = int(evidence.lines()[0])
    keepers = [int(name) for name in os.listdir("/proc") if name.isdigit()
               and parent_of(int(name)) == child.pid]
    assert keepers, "the keeper is a child of the run"
    for pid in keepers:
        os.kill(pid, signal.SIGKILL)

    child.communicate(timeout=60)

    assert child.returncode != 0
    assert child.returncode > 0, "an error, not a crash"
    eider("store", "check", code=0)
    wait_for(lambda: not is_alive(task), "the task to end with its keeper", timeout=30)
    eider("retry", "dag", code=0)


# A task whose grandchild leaves its session, and which does nothing when it runs again.
STRAYS = """
    tasks:
      a:
        run: |
          [ ! -s @evidence ] || exit 0
          setsid sh -c 'echo $$ >> @evidence; exec sleep 300' &
          sleep 300
    """


def start_strays(eider, evidence):
    child = eider.start("run", eider.write("dag.yaml", STRAYS))
    wait_for(evidence.lines, "the grandchild to start")
    keepers = [int(name) for name in os.listdir("/proc") if name.isdigit()
               and parent_of(int(name)) == child.pid]
    return child, keepers, int(evidence.lines()[0])


def test_a_killed_keeper_leaves_no_process_behind(eider, evidence):
    child, keepers, stray = start_strays(eider, evidence)

    for pid in keepers:
        os.kill(pid, signal.SIGKILL)
    child.communicate(timeout=60)

    assert child.returncode == 8
    wait_for(lambda: not is_alive(stray), "the grandchild to end")
    eider("retry", "dag", code=0)


def test_a_retry_ends_what_a_dead_run_and_its_keeper_left(eider, evidence):
    child, keepers, stray = start_strays(eider, evidence)

    for pid in [child.pid, *keepers]:
        os.kill(pid, signal.SIGKILL)
    child.communicate(timeout=60)

    eider("retry", "dag", code=0)

    assert not is_alive(stray)


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_a_run_that_was_suspended_goes_on(eider, evidence):
    child = eider.start("run", eider.write("dag.yaml", SLEEPER.replace("sleep 300", "sleep 1")))
    wait_for(evidence.lines, "the task to start")
    child.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    child.send_signal(signal.SIGCONT)

    _, errors = child.communicate(timeout=60)

    assert child.returncode == 0, errors


CHAIN = """
tasks:
  a: { run: "echo start a >> @evidence; echo 1 > $EIDER_OUTPUTS/n" }
  m:
    needs: [a]
    foreach: [0, 1]
    run: "echo start m{{ item }} >> @evidence"
  z: { needs: [m], run: "echo start z {{ tasks.a.n }} >> @evidence" }
finally:
  end: { run: "echo start end >> @evidence" }
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("call", ["fdatasync", "sendmsg"])
def test_killed_exactly_at_each_commit_and_each_message(eider, evidence, call):
    """Death at the n-th call for every n, until a run gets through without meeting it."""
    path = eider.write("dag.yaml", CHAIN)
    for when in range(1, 200):
        home = eider.home.with_name(f"state-{when}")
        env = {"EIDER_HOME": str(home), "ASAN_OPTIONS": "detect_leaks=0"}
        killed = subprocess.run(
            ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}",
             "-e", f"inject={call}:signal=SIGKILL:when={when}", str(BINARY), "run", str(path)],
            env=eider.environment(env), capture_output=True, check=False)
        if killed.returncode == 0:
            assert when > 3, "the kill never bit"
            return
        # Killed before there was a run: a second try starts from nothing.
        runs = eider("runs", "list", "-o", "json", env=env)
        known = runs.code == 0 and '"dag_run_id"' in runs.out
        again = eider("retry", "dag", env=env) if known else eider("run", path, env=env)
        # Killed after the last verdict: there is nothing left to do, and it says so.
        assert again.code == 0 or (again.code == 5 and "succeeded" in again.err), again
        assert '"ok": true' in eider("store", "check", "-o", "json", code=0, env=env).out
        shutil.rmtree(home)
    raise AssertionError("the run never got through")
