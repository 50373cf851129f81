"""Runs from events: datasets, ends of other DAGs, files that arrive and calls; real daemons."""
import json
import os
import pathlib
import signal

import pytest
from fleet import Daemon, finish_all, wait_for_state
from harness import wait_for


# Whatever else the machine does, the daemons of a test work.
BUSY = {"EIDER_CPU_MOST": "1000000"}


@pytest.fixture
def up(eider):
    """Starts daemons; those that still run at the end are stopped with all they left."""
    daemons = []

    def start(*args, times=1, **options):
        daemon = Daemon(eider, *args, env=BUSY, **options)
        daemons.append(daemon)
        return daemon.wait_until_up(times)

    yield start
    finish_all(daemons)


def runs_of(eider, dag):
    return [row for row in eider.runs() if row["dag_id"] == dag]


def ended(eider, dag):
    return [row for row in runs_of(eider, dag) if row["state"] in ("success", "failed")]


def wait_for_runs(eider, dag, count):
    wait_for(lambda: len(ended(eider, dag)) == count and len(runs_of(eider, dag)) == count,
             f"{count} runs of {dag}: {eider.runs()}")
    return runs_of(eider, dag)


PRODUCER = """
    params: {day: {default: one}}
    tasks:
      write: {run: "true", outputs: ["s3://raw/{{ params.day }}", s3://raw/all]}
      fail: {needs: [write], run: "false", outputs: [s3://raw/never], allow_failure: true}
"""
CONSUMER = """
    schedule: {datasets: [s3://raw/all, s3://lookup]}
    tasks:
      read:
        run: >
          echo from
          {{ triggering_dataset_events['s3://raw/all'][0].source_dag_id }}
          {{ triggering_dataset_events['s3://lookup'][0].extra.rows }}
"""


def test_a_consumer_runs_when_what_it_needs_was_updated(eider, up):
    eider.write("dags/producer.yaml", PRODUCER)
    eider.write("dags/consumer.yaml", CONSUMER)
    eider.write("dags/never.yaml", "{schedule: {datasets: s3://raw/never}, tasks: {a: {noop: }}}")
    up()
    shown = eider("dags", "show", "consumer", "-o", "json", code=0).json()
    assert shown["missing"] == "s3://raw/all and s3://lookup"

    eider("dags", "trigger", "producer", "-p", "day=two", code=0)
    wait_for_state(eider, "success", "producer")
    shown = eider("dags", "show", "consumer", "-o", "json", code=0).json()
    assert shown["missing"] == "s3://lookup"
    assert [need["waiting"] for need in shown["waits_for"]] == [0, 1]
    eider("assets", "emit", "s3://lookup", "--extra", '{"rows": 12}', code=0)

    [run] = wait_for_runs(eider, "consumer", 1)
    assert run["state"] == "success" and run["run_type"] == "dataset"
    assert "from producer 12" in eider.log("consumer", "read")
    causes = eider("runs", "show", "consumer", "-o", "json", code=0).json()["caused_by"]
    assert [cause["name"] for cause in causes] == ["s3://raw/all", "s3://lookup"]
    assert causes[0]["task_id"] == "write" and causes[1]["extra"] == {"rows": 12}
    assert runs_of(eider, "never") == []
    listed = eider("assets", "list", "-o", "json", code=0).json()["assets"]
    assert {row["uri"]: row["updates"] for row in listed} == {
        "s3://lookup": 1, "s3://raw/all": 1, "s3://raw/two": 1, "s3://raw/never": 0}
    asset = eider("assets", "show", "s3://raw/all", "-o", "json", code=0).json()
    assert asset["waiting_dags"] == [{"dag_id": "consumer", "paused": False, "waiting": 0,
                                      "missing": "s3://raw/all and s3://lookup"}]
    eider("store", "check", code=0)


def test_every_end_of_a_dag_starts_the_one_that_follows_it(eider, up):
    eider.write("dags/first.yaml", "params: {n: {default: 0}}\n"
                "tasks: {a: {run: 'exit {{ params.n }}'}}")
    eider.write("dags/good.yaml", "schedule: {after: {dag: first, conf: true}}\n"
                "params: {n: {default: 5}}\n"
                "tasks: {a: {run: 'echo n={{ params.n }} after"
                " {{ conf.triggering_runs[0].run_id }}'}}")
    eider.write("dags/bad.yaml", "schedule: {after: {dag: first, states: failed}}\n"
                "tasks: {a: {noop: }}")
    up()
    for run_id, conf in (("one", "{}"), ("two", '{"n": 1}'), ("three", '{"n": 0}')):
        eider("dags", "trigger", "first", "--run-id", run_id, "--conf", conf, code=0)
    wait_for_runs(eider, "first", 3)
    good = wait_for_runs(eider, "good", 2)
    wait_for_runs(eider, "bad", 1)
    texts = sorted(eider.log(row["number"], "a") for row in good)
    assert "n=0 after three" in texts[0] and "n=5 after one" in texts[1], texts


def test_a_file_that_arrives_starts_one_run_over_restarts(eider, up):
    before = pathlib.Path(eider.write("dags/landing/before.csv", "old"))
    landing = before.parent
    eider.write("dags/load.yaml", "schedule: {file: {path: landing/*.csv, settle: 100ms}}\n"
                "tasks: {a: {run: 'echo got {{ conf.file.path | basename }}'}}")
    daemon = up()
    (landing / "note.txt").write_text("x")
    (landing / "one.csv").write_text("1")
    [run] = wait_for_runs(eider, "load", 1)
    assert "got one.csv" in eider.log("load", "a") and run["run_type"] == "event"
    # Moved in from elsewhere, as careful writers do.
    (eider.folder / "two.tmp").write_text("22")
    os.rename(eider.folder / "two.tmp", landing / "two.csv")
    wait_for_runs(eider, "load", 2)
    daemon.signal(signal.SIGKILL)
    daemon.wait()
    (landing / "three.csv").write_text("333")
    up(times=2)
    wait_for_runs(eider, "load", 3)
    # Written anew it is another arrival; that also proves that nothing else was on its way.
    (landing / "one.csv").write_text("1111")
    wait_for_runs(eider, "load", 4)
    paths = sorted(row["conf"]["file"]["path"].rsplit("/", 1)[1] for row in runs_of(eider, "load"))
    assert paths == ["one.csv", "one.csv", "three.csv", "two.csv"]


def test_a_call_with_a_token_starts_a_run(eider, up):
    eider.write("dags/deploy.yaml", "schedule: {webhook: true}\nparams: {ref: {default: none}}\n"
                "tasks: {a: {run: 'echo ref {{ params.ref }}'}}")
    up()
    made = eider("webhooks", "create", "deploy", "-o", "json", code=0).json()
    token = made["token"]
    fired = eider("webhooks", "fire", token, "--body", '{"ref": "main"}', "--key", "k", "-o",
                  "json", code=0).json()
    again = eider("webhooks", "fire", "--body", '{"ref": "main"}', "--key", "k", "-o", "json",
                  input=token + "\n", code=0).json()
    assert fired["number"] == again["number"]
    [run] = wait_for_runs(eider, "deploy", 1)
    assert run["state"] == "success" and "ref main" in eider.log("deploy", "a")
    assert "standard input" in eider("webhooks", "fire", "-").err
    refused = eider("webhooks", "fire", "ewh_0")
    assert refused.code == 4 and "token" in refused.err, refused
    listed = eider("webhooks", "list", "deploy", "-o", "json", code=0).json()["webhooks"]
    assert listed[0]["calls"] == 1 and "token" not in listed[0]
    assert eider("webhooks", "delete", listed[0]["id"]).code == 2
    eider("webhooks", "delete", listed[0]["id"], "--yes", code=0)
    assert eider("webhooks", "fire", token).code == 4
    assert eider("webhooks", "create", "deploy", "--name", "other").code == 5


def test_bad_events_are_refused_with_a_reason(eider):
    refused = eider("assets", "emit", "a b")
    assert refused.code == 2 and "blanks" in refused.err, refused
    refused = eider("assets", "emit", "a", "--extra", "{")
    assert refused.code == 2 and "JSON" in refused.err, refused
    eider("assets", "emit", "a", code=0)
    refused = eider("assets", "show", "b")
    assert refused.code == 3 and "assets list" in refused.err, refused


def test_a_fleet_makes_one_run_of_each_event_while_schedulers_die(eider, server, fleet_up):
    landing = eider.folder / "landing"
    landing.mkdir()
    eider.write("dags/follow.yaml", "{schedule: {datasets: x}, max_active_runs: 100,"
                " tasks: {a: {noop: }}}")
    eider.write("dags/load.yaml", "schedule: {file: {path: %s/*.csv, settle: 100ms}}\n"
                "max_active_runs: 100\ntasks: {a: {noop: }}" % landing)
    daemons = [fleet_up(name, EIDER_POLL="200ms",
                        EIDER_SWEEP="200ms", EIDER_LEASE="3s", EIDER_RENEW="500ms",
                        EIDER_MARGIN="1s", **BUSY) for name in ("one", "two", "three")]
    for number in range(30):
        eider("assets", "emit", "x", "--extra", '{"n": %d}' % number, code=0)
        (landing / f"{number}.csv").write_text(str(number))
        if number == 15:
            daemons[0].signal(signal.SIGKILL)
    waiting = """SELECT (SELECT count(*) FROM trigger_pending), (SELECT count(*) FROM run r
        JOIN dag d ON d.id = r.dag WHERE d.dag_id = 'load' AND r.state = 2)"""
    wait_for(lambda: server.sql(waiting, server.database) == "0|30", "everything made its run")
    taken = server.sql("SELECT count(*), count(DISTINCT source) FROM run_cause WHERE kind = 0",
                       server.database)
    assert taken == "30|30"
    files = server.sql("SELECT count(*), count(DISTINCT run) FROM file_arrival", server.database)
    assert files == "30|30"
    eider("store", "check", code=0)


def test_an_event_that_is_refused_can_be_seen(eider, up):
    eider.write("dags/ref.yaml", """
        schedule: { datasets: "ds://ref" }
        params: { x: { type: string } }
        tasks: { a: { run: "true" } }
    """)
    daemon = up("--log-level", "info")
    eider("assets", "emit", "ds://ref", code=0)

    def refused():
        return eider("dags", "show", "ref", "-o", "json", code=0).json()["refused"]

    wait_for(refused, "the refusal is shown")
    assert (refused()["what"], refused()["why"]) == ("ds://ref", "x: is required")
    assert "x: is required" in eider("dags", "show", "ref", code=0).out
    said = eider("explain", "ref", code=0).out
    assert "x: is required" in said and "eider dags trigger ref -p x=..." in said, said
    trail = eider("audit", "list", "--all", "--dag", "ref", "-o", "json", code=0).json()
    entry = trail["entries"][0]
    assert (entry["action"], entry["reason"]) == ("trigger_refused", "x: is required")
    told = eider("events", "--dag", "ref", "-o", "json", code=0).json()["events"][-1]
    assert (told["kind"], told["details"]["why"]) == ("trigger_refused", "x: is required")
    daemon.wait_until("an event cannot start a run")
    assert 'dag="ref"' in daemon.text()


@pytest.fixture(params=["sqlite", "postgres"])
def either(request):
    if request.param == "postgres":
        request.getfixturevalue("server")


def test_following_what_happens(either, eider):
    eider("run", eider.write("dag.yaml", 'tasks: { a: { run: "true" } }'), code=0)
    lines = [json.loads(line) for line in
             eider("events", "-f", "--run", "dag", "-o", "json", code=0).out.splitlines()]
    assert [line["kind"] for line in lines] == ["run_created", "task_ended", "run_ended"]
    assert (lines[1]["task_id"], lines[1]["state"]) == ("a", "success")
    follower = eider.start("events", "-f", "-n", "1", "-o", "json")
    assert json.loads(follower.stdout.readline())["kind"] == "run_ended", "the newest one"
    eider("pools", "set", "gpu", "--slots", "2", "--reason", "more cards", code=0)
    told = json.loads(follower.stdout.readline())
    assert (told["kind"], told["object"], told["details"]["reason"]) == (
        "pool_set", "pool default/gpu", "more cards")
    follower.terminate()
    follower.communicate(timeout=60)
    assert [row["kind"] for row in eider("events", "-n", "2", "-o", "json", code=0).json()["events"]
            ] == ["run_ended", "pool_set"]
    assert "pool_set" in eider("events", code=0).out
    assert "no DAG 'typo'" in eider("events", "--dag", "typo", code=3).err
    assert "typo" in eider("events", "--run", "typo", code=3).err
    assert "no run 99" in eider("events", "--run", "99", code=3).err
    assert "not csv" in eider("events", "-f", "-o", "csv", code=2).err


@pytest.mark.parametrize("name", ["typo", "99", "dag/one"])
def test_events_of_a_run_without_a_store(eider, name):
    for extra in ([], ["-f"]):
        said = eider("events", "--run", name, *extra, code=3)
        assert f"no run '{name}'" in said.err and said.out == ""


def after(eider, cursor):
    return eider("events", "--after", cursor, "-n", "100", "-o", "json", code=0).json()


def test_going_on_from_a_cursor(either, eider):
    eider("pools", "set", "one", "--slots", "1", code=0)
    first = eider("events", "-o", "json", code=0).json()
    for name in ("two", "three"):
        eider("pools", "set", name, "--slots", "1", code=0)
    second = after(eider, first["cursor"])
    assert [row["object"] for row in second["events"]] == [
        "pool default/two", "pool default/three"]
    assert "gap" not in second and after(eider, second["cursor"])["events"] == []
    assert "no cursor" in eider("events", "--after", "1.2.3", code=2).err

    # The same store, as it would be after a move: what was read may not be its past.
    exported = eider.folder / "all"
    eider("store", "export", exported, code=0)
    there = {"EIDER_HOME": str(eider.folder / "there"),
             "EIDER_STORE": f"sqlite:{eider.folder}/there.db"}
    eider("store", "import", exported, env=there, code=0)
    moved = eider("events", "--after", second["cursor"], "-n", "1", "-o", "json", env=there,
                  code=0).json()
    assert moved["gap"] == "history" and [row["kind"] for row in moved["events"]] == [
        "store_restored"]
    said = eider("events", "--after", second["cursor"], env=there, code=0)
    assert "earlier state" in said.err and "store_restored" in said.out


def test_a_cursor_of_before_a_restore(eider):
    eider("pools", "set", "one", "--slots", "1", code=0)
    eider("store", "backup", eider.folder / "copy.db", code=0)
    eider("pools", "set", "two", "--slots", "1", code=0)
    cursor = eider("events", "-o", "json", code=0).json()["cursor"]
    eider("store", "restore", eider.folder / "copy.db", "--yes", code=0)
    answer = after(eider, cursor)
    assert answer["gap"] == "history"
    assert [row["kind"] for row in answer["events"]][-2:] == ["pool_set", "store_restored"]
    assert "gap" not in after(eider, answer["cursor"])


def test_a_follower_is_told_of_a_gap(eider):
    path = eider.write("dag.yaml", 'tasks: { a: { run: "true" } }')
    eider("run", path, code=0)
    cursor = eider("events", "-o", "json", code=0).json()["cursor"]
    for _ in range(2):
        eider("run", path, code=0)
    eider("runs", "delete", "2", "--yes", code=0)
    told = [json.loads(line) for line in eider(
        "events", "-f", "--run", "3", "--after", cursor, "-o", "json", code=0).out.splitlines()]
    assert (told[0]["kind"], told[0]["reason"]) == ("gap", "removed")
    assert [line["kind"] for line in told[1:]] == ["run_created", "task_ended", "run_ended"]


def test_dags_that_start_each_other_are_stopped(eider):
    eider.write("dags/l1.yaml", 'schedule: { after: l2 }\ntasks: { a: { run: "true" } }')
    eider.write("dags/l2.yaml", 'schedule: { after: l1 }\ntasks: { a: { run: "true" } }')
    daemon = Daemon(eider, env={**BUSY, "EIDER_TRIGGER_CHAIN": "6"})
    try:
        daemon.wait_until_up()
        eider("dags", "trigger", "l1", code=0)
        # The seventh is l1's: six came before it.
        wait_for(lambda: eider("dags", "show", "l1", "-o", "json", code=0).json()["refused"],
                 "the circle is broken")
        assert len(eider.runs()) == 6
        said = eider("explain", "l1", code=0).out
        assert "6 runs have started each other within an hour" in said, said
        assert 'DAGs start each other in a circle circle="l1 -> l2 -> l1"' in daemon.text()
        assert "in a circle: l1 -> l2 -> l1" in eider("dags", "errors", "l2", code=0).out
        assert "did you mean" in eider("dags", "errors", "l", code=3).err
    finally:
        finish_all([daemon])
