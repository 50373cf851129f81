"""Stopping, retrying, marking, asking why."""
import json
import signal
import subprocess

import pytest

from harness import is_alive, rows_of, wait_for

# Waits until the evidence file has a line "go"; says that it started first.
WAITS = "echo {{ task.id }} $$ >> @evidence; until grep -q go @evidence; do sleep 0.05; done"

SLOW = f"""
    tasks:
      before: {{ run: "true" }}
      slow: {{ needs: [before], run: "{WAITS}" }}
      after: {{ needs: [slow], run: "echo after >> @evidence" }}
    finally:
      clean: {{ run: "echo clean >> @evidence" }}
    """


def start_slow(eider, text=SLOW):
    child = eider.start("run", eider.write("dag.yaml", text))
    wait_for(lambda: any(line.startswith("slow") for line in eider.evidence.lines()),
             "the slow task to start")
    return child


def pid_of(evidence, task):
    [line] = [line for line in evidence.lines() if line.startswith(task)]
    return int(line.split()[1])


def test_one_interrupt_stops_gently(eider, evidence):
    child = start_slow(eider)

    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)

    assert child.returncode == 130, errors
    assert not is_alive(pid_of(evidence, "slow"))
    assert eider.run_state() == "cancelled"
    states = eider.states()
    assert states["before"] == "success"
    assert states["slow"] == "cancelled"
    assert states["after"] in ("cancelled", "upstream_failed", "skipped")
    assert evidence.count("clean") == 1, "finally runs on cancel too"
    assert evidence.count("after") == 0
    eider("store", "check", code=0)


def test_a_second_interrupt_kills(eider, evidence):
    stubborn = SLOW.replace('run: "echo', """run: "trap '' TERM INT; echo""", 1)
    child = start_slow(eider, stubborn)
    pid = pid_of(evidence, "slow")

    child.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=1.0)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)

    assert child.returncode == 130, errors
    wait_for(lambda: not is_alive(pid), "the stubborn task to be killed")
    assert eider.run_state() == "cancelled"
    eider("store", "check", code=0)


def test_ctrl_c_on_a_terminal(eider, evidence):
    terminal = eider.terminal("run", eider.write("dag.yaml", SLOW))
    terminal.wait_until(evidence.lines, "the slow task to start")

    terminal.type("\x03")

    assert terminal.wait() == 130
    assert eider.run_state() == "cancelled"


def test_a_run_is_stopped_from_another_process(eider, evidence):
    child = start_slow(eider)

    eider("stop", "dag", code=0)
    _, errors = child.communicate(timeout=60)

    assert child.returncode == 9, errors
    assert not is_alive(pid_of(evidence, "slow"))
    assert eider.run_state() == "cancelled"


def test_a_run_that_only_waits_is_stopped_from_another_process(eider):
    child = eider.start("run", eider.write("dag.yaml", """
        tasks:
          a: { run: "exit 1", retries: 1, retry_delay: 1h }
        """))
    wait_for(lambda: eider.runs() and eider.states().get("a") == "up_for_retry",
             "the task to wait for its retry")

    eider("stop", "dag", code=0)
    child.communicate(timeout=60)

    assert child.returncode != 0
    assert eider.run_state() == "cancelled"


def test_a_closed_terminal_stops_gently(eider, evidence):
    child = start_slow(eider)

    child.send_signal(signal.SIGHUP)
    child.communicate(timeout=60)

    assert not is_alive(pid_of(evidence, "slow"))
    assert eider.run_state() == "cancelled"
    assert evidence.count("clean") == 1


def test_stopping_what_is_over_changes_nothing(eider):
    eider.run("tasks: { a: { run: 'true' } }")

    result = eider("stop", "dag")

    assert result.code in (0, 5)
    assert eider.run_state() == "success"
    assert eider("stop", "nowhere").code == 3


def test_retry_runs_only_what_failed_and_what_follows(eider, evidence):
    eider.run("""
        tasks:
          good: { run: "echo good >> @evidence" }
          bad: { needs: [good], run: "echo bad >> @evidence; test -e @evidence.fixed" }
          after: { needs: [bad], run: "echo after >> @evidence" }
        """, code=1)
    evidence.path.with_name("evidence.fixed").touch()

    eider("retry", "dag", code=0)

    assert evidence.lines() == ["good", "bad", "bad", "after"]
    assert eider.run_state() == "success"
    assert set(eider.states().values()) == {"success"}
    assert eider.tasks()["bad"]["try_number"] == 2, "attempts keep counting"


def test_retry_of_a_named_task_runs_it_and_its_downstream_again(eider, evidence):
    eider.run("""
        tasks:
          a: { run: "echo a >> @evidence" }
          b: { needs: [a], run: "echo b >> @evidence" }
          c: { needs: [b], run: "echo c >> @evidence" }
          other: { run: "echo other >> @evidence" }
        """)

    eider("retry", "dag", "b", code=0)

    assert {name: evidence.count(name) for name in ("a", "b", "c", "other")} == {
        "a": 1, "b": 2, "c": 2, "other": 1}


def test_the_old_attempts_stay_after_a_retry(eider, evidence):
    eider.run("""
        tasks:
          a: { run: "echo attempt $EIDER_TRY_NUMBER; test -e @evidence" }
        """, code=1)
    evidence.path.touch()
    eider("retry", "dag", code=0)

    assert eider.log("dag", "a", "--try", "1").strip() == "attempt 1"
    assert eider.log("dag", "a", "--try", "2").strip() == "attempt 2"


def test_the_idempotency_key_changes_with_a_retry_by_hand(eider, evidence):
    eider.run("tasks: { a: { run: 'echo $EIDER_IDEMPOTENCY_KEY >> @evidence' } }")

    eider("retry", "dag", "a", code=0)

    assert len(set(evidence.lines())) == 2


def test_marking_a_failed_task_lets_the_run_go_on(eider, evidence):
    eider.run("""
        tasks:
          bad: { run: "echo bad >> @evidence; exit 1" }
          after: { needs: [bad], run: "echo after >> @evidence" }
        """, code=1)

    eider("mark", "dag", "bad", "success", code=0)
    eider("retry", "dag", code=0)

    assert evidence.lines() == ["bad", "after"]
    assert eider.states() == {"bad": "success", "after": "success"}
    assert "mark" in json.dumps(eider.tasks()["bad"]["reason"])


def test_a_mark_that_makes_no_sense_is_refused(eider):
    eider.run("tasks: { a: { run: 'true' } }")

    assert eider("mark", "dag", "a", "wonderful").code == 2
    assert eider("mark", "dag", "nope", "success").code == 3
    assert eider.states() == {"a": "success"}


def test_ps_shows_what_runs(eider, evidence):
    child = start_slow(eider)

    running = rows_of(eider("ps", "-o", "json", code=0).json())

    assert any("slow" in json.dumps(row) for row in running)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert rows_of(eider("ps", "-o", "json", code=0).json()) == []


def test_explain_says_why(eider, evidence):
    eider.run("""
        tasks:
          bad: { run: "exit 7" }
          after: { needs: [bad], run: "true" }
          skip: { if: "{{ false }}", run: "true" }
          late: { needs: [skip], run: "true" }
        """, code=1)

    assert "7" in eider("explain", "dag", "bad", code=0).out
    assert "bad" in eider("explain", "dag", "after", code=0).out
    assert "if" in eider("explain", "dag", "skip", code=0).out
    assert "skip" in eider("explain", "dag", "late", code=0).out
    assert eider("explain", "dag", code=0).out
    assert "after" in eider("explain", "dag", "aftr", code=3).err


def test_explain_a_waiting_task(eider, evidence):
    child = start_slow(eider)

    said = eider("explain", "dag", "after", code=0).out

    assert "slow" in said
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)


def test_live_progress_on_a_terminal(eider, evidence):
    terminal = eider.terminal("run", eider.write("dag.yaml", SLOW))
    terminal.read_until("slow")
    terminal.wait_until(evidence.lines, "the slow task to start")
    with evidence.path.open("a") as file:
        file.write("go\n")

    assert terminal.wait() == 0
    assert "\x1b[" in terminal.seen, "it draws"
    assert "after" in terminal.seen and "clean" in terminal.seen


def test_plain_lines_when_nobody_watches(eider):
    result = eider.run("tasks: { a: { run: 'true' }, b: { run: 'true', needs: [a] } }")

    assert "\x1b" not in result.out + result.err
    assert "a" in result.err and "b" in result.err


def test_runs_are_named_by_number_by_id_and_by_dag(eider):
    eider.run("tasks: { a: { run: 'true' } }", "--date", "2025-01-15")
    [run] = eider.runs()
    number = run.get("number", run.get("id"))
    run_id = run.get("run_id", run.get("dag_run_id"))

    for name in (str(number), f"dag/{run_id}", "dag"):
        assert eider.states(name) == {"a": "success"}
    assert eider("runs", "show", "dag/nope").code == 3
    assert eider("runs", "show", "999999").code == 3


def test_the_newest_run_is_meant_by_the_dag_alone(eider):
    path = eider.write("dag.yaml", "tasks: { a: { run: 'echo {{ ds }}' } }")
    eider("run", path, "--date", "2025-01-15", code=0)
    eider("run", path, "--date", "2025-01-16", code=0)

    assert eider.log("dag", "a").strip() == "2025-01-16"
    assert len(eider.runs()) == 2


def test_two_runs_side_by_side_share_one_store(eider, evidence):
    first = eider.start("run", eider.write("one.yaml", "tasks: { a: { run: '%s' } }" % WAITS))
    wait_for(lambda: len(evidence.lines()) == 1, "the first run to start its task")
    second = eider.start("run", eider.write("two.yaml", "tasks: { b: { run: '%s' } }" % WAITS))
    wait_for(lambda: len(evidence.lines()) == 2, "the second run to start its task")
    with evidence.path.open("a") as file:
        file.write("go\n")

    for child in (first, second):
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 0, errors
    assert {row["state"] for row in eider.runs()} == {"success"}
