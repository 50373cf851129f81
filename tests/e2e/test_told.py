"""What people are told where something is not as they think."""
import pytest
from fleet import LONG, Daemon
from harness import rows_of, wait_for

DAG = """
    schedule: "@daily"
    params: { region: { type: string, default: eu } }
    tasks: { a: { run: "true" }, b: { run: "true", needs: a } }
    """


@pytest.fixture
def known(world):
    """A store that knows the DAG, and no daemon."""
    world("queues", "set", "other", code=0)
    world("dags", "trigger", world.write("dag.yaml", DAG), "--run-id", "first", code=0)
    return world


def json_of(eider, *args):
    return eider(*args, "-o", "json", code=0).json()


def test_a_paused_dag_is_shown_as_such(world, up):
    world.write("dags/dag.yaml", DAG)
    up()
    assert " active " in world("dags", "list", code=0).out
    assert "paused" not in world("dags", "next", "dag", code=0).err
    world("dags", "pause", "dag", code=0)
    assert " paused " in world("dags", "list", code=0).out
    assert rows_of(json_of(world, "dags", "list"))[0]["status"] == "active"
    assert "`eider dags unpause dag`" in world("dags", "next", "dag", code=0).err


def test_a_folder_of_dags_that_is_not_there(eider, up):
    assert "no such folder" not in up().text()
    assert "no such folder of DAG files" in Daemon(eider, "--dags", "nodir", env={
        "EIDER_HOME": str(eider.folder / "other")}).wait_until_up(2).text()


@pytest.mark.parametrize("run_id", ["", "x y", "a/b", "-x", "x\ny", 251 * "x"])
def test_ids_that_no_run_can_have(eider, run_id):
    path = eider.write("dag.yaml", DAG)
    eider("queues", "set", "other", code=0)
    for command in (["run", path], ["dags", "trigger", path]):
        refused = eider(*command, f"--run-id={run_id}")
        assert refused.code == 2, refused
    assert not eider.runs()


def test_ids_that_clients_of_airflow_send(known):
    for run_id in ("manual__2025-01-15T00:00:00+00:00", "a.b-c~d@e_F:1", "_x"):
        made = json_of(known, "dags", "trigger", "dag", "--run-id", run_id)
        assert made["dag_run_id"] == run_id


@pytest.mark.parametrize("noun", ["runs", "backfill", "notify"])
def test_lists_of_a_dag_that_there_is_not(known, noun):
    refused = known(noun, "list", "--dag", "dagg")
    assert refused.code == 3 and "did you mean 'dag'" in refused.err
    assert known(noun, "list", "--dag", "dag").code == 0


def test_a_host_that_was_killed_is_lost(eider, up, evidence):
    child = eider.start("run", eider.write("dag.yaml", LONG.replace("@evidence", str(evidence))))
    wait_for(lambda: evidence.lines(), "its task")
    child.kill()
    child.wait()
    up()
    hosts = wait_for(lambda: [row["status"] for row in rows_of(
        json_of(eider, "hosts", "list", "--all")) if row["ended_at"]], "it to be buried")
    assert hosts == ["lost"]


def test_what_is_not_json_is_said_once(eider):
    bad = eider("webhooks", "fire", "token", "--body", "{", code=2)
    assert bad.err.count("--body") == 1 and "JSON" in bad.err


def total(eider, *args):
    return json_of(eider, *args)["total_entries"]


def test_the_total_counts_what_is_on_other_pages(known):
    for number in range(3):
        known("dags", "trigger", "dag", "--run-id", f"r{number}", code=0)
        known("enqueue", "other", "noop", code=0)
        known("assets", "emit", f"s3://lake/{number}", code=0)
        known("backfill", "create", "dag", "--from", f"2025-01-0{number + 1}", "--to",
              f"2025-01-0{number + 1}", code=0)
    known("enqueue", "default", "noop", code=0)
    for page in (["-n", "1"], ["-n", "2", "--offset", "3"], []):
        assert total(known, "runs", "list", *page) == total(
            known, "runs", "list", "--dag", "dag", *page) == 4
    assert total(known, "runs", "list", "-n", "1", "-s", "failed") == 0
    last = rows_of(json_of(known, "jobs", "list", "-n", "1"))[0]["id"]
    assert total(known, "jobs", "list", "-n", "1", "--before", last) == 4
    assert total(known, "jobs", "list", "-n", "1", "-s", "pending") == 4
    assert total(known, "jobs", "list", "-n", "1", "-s", "failed") == 0
    assert total(known, "jobs", "list", "-n", "1", "--queue", "other") == 3
    assert total(known, "assets", "list", "-n", "1") == 3
    assert total(known, "assets", "list", "-n", "1", "--contains", "lake/2") == 1
    assert total(known, "backfill", "list", "-n", "1") == 3
    entries = total(known, "audit", "list", "-n", "1")
    assert entries == len(rows_of(json_of(known, "audit", "list", "-n", "1000"))) > 10
    for noun in ("dlq", "notify", "sla"):
        assert total(known, noun, "list", "-n", "1") == 0


def test_a_trigger_that_is_only_tried(known):
    would = json_of(known, "dags", "trigger", "dag", "--dry-run", "-p", "region=us", "--date",
                    "2025-01-15", "--run-id", "mine")
    assert (would["dag_run_id"], would["params"], would["dag_version"], would["dry_run"]) == (
        "mine", {"region": "us"}, 1, True)
    assert would["logical_date"].startswith("2025-01-15")
    assert known("dags", "trigger", "dag", "--dry-run", "--run-id", "first").code == 5
    said = known("runs", "rerun", "dag/first", "--dry-run", code=0)
    assert "nothing was changed" in said.err and "manual__" in said.out
    changed = known.write("dag.yaml", DAG.replace("true", "false"))
    assert json_of(known, "dags", "trigger", changed, "--dry-run")["dag_version"] == 2
    assert len(known.runs()) == 1
    assert len(rows_of(json_of(known, "dags", "versions", "dag"))) == 1
    known("store", "check", code=0)


def test_changes_that_are_only_tried(known):
    assert json_of(known, "mark", "dag/first", "a", "skipped", "--dry-run")["state"] == "skipped"
    assert known.states("dag/first") == {"a": "queued", "b": "none"}
    would = json_of(known, "pools", "set", "db", "--slots", "3", "--dry-run")
    assert (would["slots"], would["dry_run"]) == (3, True)
    assert known("pools", "show", "db").code == 3
    assert known("pools", "set", "db", "--slots", "-1", "--dry-run").code == 2
    number = json_of(known, "backfill", "create", "dag", "--from", "2025-01-01", "--to",
                     "2025-01-02")["backfill"]
    assert json_of(known, "backfill", "cancel", number, "--dry-run")["state"] == "cancelling"
    assert json_of(known, "backfill", "show", number)["state"] == "running"
    assert "Runs made" in known("backfill", "show", number, code=0).out
    known("limits", "set", "dag", "dag", "--max-running", "1", code=0)
    known("limits", "delete", "dag", "dag", "--dry-run", code=0)
    assert known("limits", "list", "-o", "name", code=0).out == "dag\n"
    known("store", "check", code=0)


def test_what_is_refused_is_refused_when_it_is_only_tried(known):
    for command in (["dags", "trigger", "dag", "--run-id", "first"], ["stop", "dag/first", "aa"],
                    ["stop", "dag/first", "a", "--map-index", "0"], ["stop", "dag/second"],
                    ["mark", "dag/first", "c", "success"],
                    ["limits", "delete", "dag", "dag", "--yes"]):
        real, dry = known(*command), known(*command, "--dry-run")
        assert real.code != 0 and (dry.code, dry.err) == (real.code, real.err), command
    assert known.states("dag/first") == {"a": "queued", "b": "none"}


def test_limits_say_what_is_missing(known):
    assert "--max-running is missing" in known("limits", "set", "dag", "dag", code=2).err
    warned = known("limits", "set", "dag", "dagg", "--max-running", "1", code=0)
    assert "did you mean 'dag'" in warned.err
    assert "say --yes" in known("limits", "delete", "dag", "dagg", code=2).err
    known("limits", "delete", "dag", "dagg", "--yes", code=0)
    assert known("limits", "list", code=0).out == ""


def test_the_token_of_a_webhook_is_not_lost(world):
    world("queues", "set", "other", code=0)
    world.write("dags/hook.yaml", "schedule: { webhook: true }\ntasks: { a: { run: 'true' } }")
    world("dags", "trigger", world.work / "dags/hook.yaml", code=0)
    made = world("webhooks", "create", "hook", "--token-file", "token", code=0)
    path = world.work / "token"
    assert path.stat().st_mode & 0o777 == 0o600 and path.read_text().strip() not in made.out
    assert "shown only now" not in made.err
    world("webhooks", "fire", input=path.read_text(), code=0)
    token = world("webhooks", "create", "hook", "-o", "name", code=0).out
    world("webhooks", "fire", input=token, code=0)
    lost = world("webhooks", "create", "hook", "--token-file", "no/such/folder", "-o", "name")
    assert lost.code != 0 and "not in the file" in lost.err
    world("webhooks", "fire", input=lost.out, code=0)


def test_records_are_told_in_words(known):
    known("assets", "emit", "s3://lake/orders", "--extra", '{"rows": 3}', code=0)
    shown = known("assets", "show", "s3://lake/orders", code=0).out
    assert "actor" in shown and "extra: (rows 3)" in shown and '{"' not in shown
    shown = known("runs", "show", "dag/first", code=0).out
    assert "1 none, 1 queued" in shown and "Interval start" in shown and "By " in shown
    shown = known("dags", "show", "dag", code=0).out
    assert "Schedule" in shown and '{"' not in shown.split("Schedule")[1]
