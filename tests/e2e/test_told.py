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
