"""Sensors: tasks that wait for files, times, commands and other DAGs, without a slot."""
import os
import signal
import subprocess

import pytest
from fleet import keepers_of, wait_for_state
from harness import wait_for


def trigger(eider, text, name="dag"):
    path = eider.write(f"dags/{name}.yaml", text)
    eider("dags", "trigger", path, code=0)


def wait_until(eider, task, state, run="dag"):
    wait_for(lambda: eider.states(run)[task] == state, f"{task} is {state}")


def check(eider):
    eider("store", "check", code=0)


# --- each kind -----------------------------------------------------------------------------------


def test_a_file_is_waited_for(eider, up):
    up()
    trigger(eider, """
        tasks:
          one: {sensor: {file: "in/{{ ds_nodash }}.csv", every: 100ms}}
          any: {sensor: {file: in/*.csv, every: 100ms, backoff: 1.5, max_every: 300ms}}
          after: {needs: [one, any], run: echo found}
    """)
    wait_until(eider, "one", "deferred")
    wait_until(eider, "any", "deferred")
    (eider.work / "dags/in").mkdir()
    (eider.work / "dags/in/other.csv").touch()
    wait_until(eider, "any", "success")
    assert eider.states()["one"] == "deferred"
    date = eider.runs()[0]["logical_date"][:10].replace("-", "")
    (eider.work / f"dags/in/{date}.csv").touch()
    wait_for_state(eider, "success")
    assert "found" in eider.log("dag", "after")
    check(eider)


def test_what_is_there_already_is_no_wait(eider):
    eider.write("here.txt", "")
    eider.run("""
        tasks:
          file: {sensor: {file: here.txt}}
          time: {sensor: {time: "2020-01-01 06:30", tz: UTC}}
          command: {sensor: {run: test -e here.txt}}
    """)
    assert set(eider.states().values()) == {"success"}
    check(eider)


def test_durations_and_times_end_at_their_instant(eider):
    eider.run("""
        tasks:
          short: {sensor: {duration: 300ms}}
          at: {sensor: {time: "{{ params.at }}"}}
          poked: {sensor: {duration: 300ms, mode: poke}}
          after: {needs: [short, at, poked], noop: true}
        params: {at: {type: string}}
    """, "-p", "at=" + soon())
    assert set(eider.states().values()) == {"success"}
    for task in ("short", "poked"):
        assert eider.tasks()[task]["duration"] >= 0.2, task
    check(eider)


def soon():
    """An instant in a second, as text."""
    return subprocess.run(["date", "-u", "-d", "1 second", "+%Y-%m-%dT%H:%M:%S.%6NZ"], check=True,
                          capture_output=True, text=True).stdout.strip()


def test_a_command_is_asked_again_without_using_tries(eider, evidence):
    eider.run("""
        tasks:
          ask:
            retries: 1
            sensor:
              run: |
                echo try {{ try_number }} $EIDER_TRY_NUMBER >> @evidence
                [ $(wc -l < @evidence) -ge 3 ] || exit 5
              not_yet: [5]
              every: 100ms
    """)
    assert evidence.lines() == ["try 1 1"] * 3
    assert eider.tasks()["ask"]["try_number"] == 1
    check(eider)


def test_a_command_that_breaks_fails_and_is_retried(eider, evidence):
    eider.run("""
        tasks:
          ask:
            retries: 1
            retry_delay: 100ms
            sensor: {run: "echo {{ try_number }} >> @evidence; exit 2", every: 100ms}
    """, code=1)
    assert evidence.lines() == ["1", "2"]
    assert eider.tasks()["ask"]["exit_code"] == 2


def test_another_dag_is_waited_for_by_date(eider, up):
    up()
    gate = eider.folder / "gate"
    dates = {"same": "", "latest": ", date: latest", "before": ", date: -1d"}
    waits = "\n".join(f"  {name}: {{sensor: {{dag: up, every: 100ms{date}}}}}"
                      for name, date in dates.items())
    down = eider.write("dags/down.yaml", f"""tasks:
{waits}
  task: {{sensor: {{dag: up, task: first, every: 100ms}}}}
""")
    source = eider.write("dags/up.yaml", f"""
        tasks:
          first: {{run: 'true'}}
          last: {{needs: [first], run: 'while [ ! -e {gate} ]; do sleep 0.05; done'}}
    """)
    eider("dags", "trigger", down, "--date", "2026-01-15", code=0)
    wait_for(lambda: set(eider.states("down").values()) == {"deferred"}, "all wait")
    eider("dags", "trigger", source, "--date", "2026-01-15", code=0)
    wait_until(eider, "task", "success", "down")
    assert eider.states("down")["same"] == "deferred"
    gate.touch()
    wait_until(eider, "same", "success", "down")
    wait_until(eider, "latest", "success", "down")
    assert eider.states("down")["before"] == "deferred"
    eider("dags", "trigger", source, "--date", "2026-01-14", code=0)
    wait_for_state(eider, "success", "down")
    check(eider)


# --- ends ----------------------------------------------------------------------------------------


def test_a_timeout_fails_or_skips(eider):
    done = eider.run("""
        tasks:
          hard: {retries: 3, sensor: {file: never, timeout: 300ms}}
          soft: {sensor: {file: never, timeout: 300ms, soft_fail: true}}
          held: {sensor: {file: never, timeout: 300ms, soft_fail: true, mode: poke, every: 100ms}}
          asked: {retries: 3, sensor: {run: exit 1, timeout: 300ms, every: 100ms}}
          looped: {sensor: {run: exit 1, timeout: 500ms, soft_fail: true, mode: poke, every: 100ms}}
    """, code=1)
    assert eider.states() == {"hard": "failed", "soft": "skipped", "held": "skipped",
                              "asked": "failed", "looped": "skipped"}
    for task in eider.tasks().values():
        assert task["reason"] == "timeout" and task["try_number"] == 1, task
    assert "waited 300ms in vain for file" in done.out + done.err, done
    check(eider)


def test_a_run_that_waits_can_be_stopped(eider, up):
    up()
    trigger(eider, """
        tasks:
          file: {sensor: {file: never}}
          held: {sensor: {file: never, mode: poke, every: 100ms}}
          asked: {sensor: {run: exit 1, every: 100ms}}
          after: {needs: [file], noop: true}
    """)
    wait_until(eider, "file", "deferred")
    wait_until(eider, "held", "running")
    eider("stop", "dag", code=0)
    wait_for_state(eider, "cancelled")
    assert set(eider.states().values()) == {"cancelled"}
    check(eider)


def test_a_foreground_run_that_waits_can_be_interrupted(eider):
    path = eider.write("dag.yaml", """
        tasks:
          file: {sensor: {file: never}}
          held: {sensor: {file: never, mode: poke, every: 100ms}}
    """)
    child = eider.start("run", path)
    wait_for(lambda: eider("runs", "list", "-o", "name", code=0).out.strip(), "there is a run")
    wait_until(eider, "file", "deferred")
    wait_until(eider, "held", "running")
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert eider.run_state() == "cancelled"
    check(eider)


def test_a_waiting_task_can_be_marked_and_cleared(eider, up):
    up()
    trigger(eider, """
        tasks:
          file: {sensor: {file: never, every: 100ms}}
          after: {needs: [file], run: 'true'}
    """)
    wait_until(eider, "file", "deferred")
    eider("tasks", "clear", "dag", "file", code=0)
    wait_until(eider, "file", "deferred")
    eider("mark", "dag", "file", "success", code=0)
    wait_for_state(eider, "success")
    check(eider)


def test_explain_says_what_is_waited_for(eider, up):
    up("--host-name", "looker")
    trigger(eider, """
        tasks:
          file: {sensor: {file: never, every: 30s, timeout: 90m}}
          asked: {sensor: {run: exit 1, every: 10m}}
          later: {sensor: {duration: 2h}}
    """)
    for task in ("file", "asked", "later"):
        wait_until(eider, task, "deferred")
    said = eider("explain", "dag", "file", code=0).out
    assert "it waits for file '" in said and "never' since " in said, said
    assert "every 30s by host looker" in said and "it gives up at " in said, said
    assert "next look at " in eider("explain", "dag", "asked", code=0).out
    assert "(2h)" in eider("explain", "dag", "later", code=0).out


# --- slots and hosts -----------------------------------------------------------------------------


def test_waiting_holds_no_slot(eider, up):
    up(env={"EIDER_SLOTS": "1", "EIDER_CLAIM_RATIO": "100"})
    trigger(eider, """
        tasks:
          many: {foreach: [1, 2, 3, 4, 5], sensor: {file: "go", every: 100ms}}
          asked: {sensor: {run: test -e go, every: 100ms}}
    """)
    wait_for(lambda: [row["state"] for row in eider.mapped("many")] == ["deferred"] * 5, "all wait")
    trigger(eider, "tasks: {a: {run: 'true'}}", "other")
    wait_for_state(eider, "success", "other")
    assert eider.run_state() == "running"
    (eider.work / "dags/go").touch()
    wait_for_state(eider, "success")
    check(eider)


def test_a_daemon_that_is_killed_loses_no_wait(eider, up):
    daemon = up()
    trigger(eider, """
        tasks:
          file: {sensor: {file: go, every: 100ms}}
          time: {sensor: {duration: 500ms}}
          asked: {sensor: {run: test -e go, every: 100ms}}
    """)
    wait_until(eider, "file", "deferred")
    daemon.kill()
    (eider.work / "dags/go").touch()
    up(times=2)
    wait_for_state(eider, "success")
    assert eider.tasks()["file"]["try_number"] == 1
    check(eider)


def test_an_instant_comes_where_nothing_is_claimed(eider, up):
    daemon = up()
    trigger(eider, """
        tasks:
          time: {sensor: {duration: 1s}}
          file: {sensor: {file: go, every: 100ms}}
          after: {needs: [time, file], run: 'true'}
    """)
    wait_until(eider, "file", "deferred")
    host = eider("hosts", "list", "-o", "name", code=0).out.split()[0]
    eider("hosts", "drain", host, code=0)
    daemon.wait_until("asked to drain")
    (eider.work / "dags/go").touch()
    wait_until(eider, "time", "success")
    wait_until(eider, "file", "success")
    assert eider.states()["after"] == "queued"
    check(eider)


def test_another_host_goes_on_looking(eider, fleet_up):
    first = fleet_up("first")
    trigger(eider, """
        tasks:
          file: {sensor: {file: go, every: 100ms}}
          time: {sensor: {duration: 100ms}}
          asked: {sensor: {run: test -e go, every: 100ms}}
          after: {needs: [file, time, asked], run: 'true'}
    """)
    wait_until(eider, "file", "deferred")
    fleet_up("second")
    keepers = keepers_of(eider.folder / "first")
    first.kill()
    for keeper in keepers:
        os.kill(keeper, signal.SIGKILL)
    (eider.work / "dags/go").touch()
    wait_for_state(eider, "success")
    assert eider.tasks()["file"]["try_number"] == 1
    check(eider)


def test_only_a_host_that_serves_the_queue_looks(eider, fleet_up):
    fleet_up("first", EIDER_QUEUES="default")
    trigger(eider, """
        tasks:
          file: {queue: far, sensor: {file: go, every: 100ms}}
          near: {sensor: {duration: 100ms}}
    """)
    (eider.work / "dags/go").touch()
    wait_until(eider, "near", "success")
    assert eider.states()["file"] == "queued"
    fleet_up("second", EIDER_QUEUES="far")
    wait_for_state(eider, "success")
    check(eider)


# --- poke and the platform -----------------------------------------------------------------------


def test_a_poke_keeps_its_slot(eider, up):
    up(env={"EIDER_SLOTS": "1", "EIDER_CLAIM_RATIO": "100"})
    trigger(eider, "tasks: {held: {sensor: {file: go, mode: poke, every: 100ms}}}")
    wait_until(eider, "held", "running")
    trigger(eider, "tasks: {a: {run: 'true'}}", "other")
    wait_until(eider, "a", "queued", "other")
    (eider.work / "dags/go").touch()
    wait_for_state(eider, "success")
    wait_for_state(eider, "success", "other")


def test_the_platform_can_refuse_long_pokes(eider):
    path = eider.write("dag.yaml", """
        tasks:
          long: {sensor: {file: x, mode: poke}}
          short: {sensor: {file: dag.yaml, mode: poke, timeout: 5m}}
    """)
    eider("validate", path, code=0)
    strict = {"EIDER_POKE_MAX": "10m"}
    refused = eider("validate", path, env=strict)
    assert refused.code != 0, refused
    assert "dag.yaml:3:" in refused.out + refused.err, refused
    assert "may keep its slot for 1h, and this platform allows 10m" in refused.out + refused.err
    done = eider("run", path, env=strict, code=1)
    assert "this platform allows 10m (setting poke_max)" in done.out + done.err, done
    assert eider.states() == {"long": "failed", "short": "success"}


# --- processes that ask for it themselves --------------------------------------------------------


def test_a_process_can_ask_to_go_on_later(eider, evidence):
    eider.run("""
        tasks:
          job:
            protocol: true
            run: |
              echo run $EIDER_TRY_NUMBER >> @evidence
              [ $(wc -l < @evidence) -ge 3 ] && exit 0
              echo '{"type": "defer", "after": "200ms", "reason": "the job elsewhere"}' >&4
    """)
    assert evidence.lines() == ["run 1"] * 3
    assert eider.tasks()["job"]["try_number"] == 1
    check(eider)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sensor, line, said", [
    ("{}", 3, "say what it waits for: file, time, duration, dag or run"),
    ("{file: a, sql: b}", 3, "cannot wait for 'sql' in this version"),
    ("{fle: a}", 3, "did you mean 'file'?"),
    ("{time: noon}", 3, "expected a time such as 06:30"),
    ("{time: '06:30', tz: Mars/Olympus}", 3, "Mars/Olympus"),
    ("{dag: a, date: yesterday}", 3, "same, latest, or an offset"),
    ("{run: x, every: 1ms}", 3, "'every' is at least 100ms"),
])
def test_what_cannot_be_meant_is_said_with_its_place(eider, sensor, line, said):
    path = eider.write("dag.yaml", f"tasks:\n  a:\n    sensor: {sensor}\n")
    refused = eider("validate", path)
    assert refused.code == 6 and said in refused.out + refused.err, refused
    assert f"dag.yaml:{line}:" in refused.out + refused.err, refused


def test_a_template_that_gives_no_time_fails_the_task(eider):
    done = eider.run("""
        params: {at: {default: noon}}
        tasks: {a: {sensor: {time: "{{ params.at }}"}}}
    """, code=1)
    assert "'noon' is no time such as 06:30" in done.out + done.err, done
