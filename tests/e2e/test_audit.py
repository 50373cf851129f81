"""Who changed what, and why; notes of tasks; which tasks are cleared."""
import getpass

from harness import rows_of

CHAIN = """
    params: { region: eu }
    tasks:
      a: { run: "echo a >> @evidence" }
      b: { needs: [a], run: "grep -q go @evidence" }
      c: { needs: [b], run: "echo c >> @evidence" }
    """


def failed_run(eider):
    eider("run", eider.write("dag.yaml", CHAIN), code=1)


def trail(eider, *args):
    return eider("audit", "list", "-o", "json", *args, code=0).json()["entries"]


def names(result):
    return [row["task_id"] for row in rows_of(result.json())]


def test_every_way_to_change_a_run_is_told_with_its_reason(eider, evidence):
    failed_run(eider)
    evidence.path.write_text("go\n")
    steps = [
        (("tasks", "note", "dag", "b", "no file"), "task_note"),
        (("retry", "dag"), "task_cleared"),
        (("mark", "dag", "c", "failed"), "task_marked"),
        (("tasks", "clear", "dag", "c"), "task_cleared"),
        (("runs", "cancel", "dag"), "run_cancel_asked"),
        (("runs", "note", "dag", "odd"), "run_note"),
        (("dags", "trigger", "dag", "-c", '{"region": "us"}', "--date", "2026-01-15"),
         "run_created"),
        (("stop", "dag/manual__2026-01-15T00:00:00+00:00", "b"), "task_cancel_asked"),
        (("runs", "cancel", "dag/manual__2026-01-15T00:00:00+00:00"), "run_cancel_asked"),
        (("runs", "rerun", "1", "--version", "newest"), "run_created"),
        (("runs", "delete", "1", "--yes"), "run_deleted"),
    ]
    for number, (words, action) in enumerate(steps):
        eider(*words, "--reason", f"reason {number}", code=0)
        entry = trail(eider, "-n", "1")[0]
        assert (entry["action"], entry["reason"], entry["actor"], entry["dag_id"]) == (
            action, f"reason {number}", getpass.getuser(), "dag"), words

    assert [entry["action"] for entry in trail(eider, "--run", "1")] == ["run_deleted"]
    assert trail(eider, "--dag", "other") == []
    eider("store", "check", code=0)


def test_changes_around_runs_are_told_without_values(eider):
    eider("run", eider.write("dag.yaml", 'tasks: { a: { run: "true" } }'), code=0)
    steps = [
        (("vars", "set", "bucket", "canary-17"), "variable_set", "variable default/bucket"),
        (("pools", "set", "gpu", "--slots", "2"), "pool_set", "pool default/gpu"),
        (("queues", "set", "mail", "--priority", "3"), "queue_set", "queue mail"),
        (("queues", "pause", "mail"), "queue_set", "queue mail"),
        (("limits", "set", "dag", "dag", "--max-running", "2"), "limit_set", "limit dag dag"),
        (("dags", "pause", "dag"), "dag_paused", "dag dag"),
        (("assets", "emit", "s3://x"), "asset_emitted", "asset s3://x"),
        (("store", "prune"), "store_pruned", "store"),
    ]
    for words, _, _ in steps:
        eider(*words, "--reason", "because", code=0)

    told = trail(eider, "-n", str(len(steps)))

    assert [(entry["action"], entry["object"]) for entry in reversed(told)] == [
        (action, thing) for _, action, thing in steps]
    assert {entry["reason"] for entry in told} == {"because"}
    assert "canary-17" not in eider("audit", "list", "-o", "wide", code=0).out
    shown = eider("audit", "list", code=0).out.splitlines()
    assert shown[0].split()[:4] == ["AT", "BY", "ACTION", "OBJECT"]


def test_bad_questions_about_the_trail_are_refused(eider):
    assert trail(eider) == [], "without a store nothing was changed"
    eider("run", eider.write("dag.yaml", 'tasks: { a: { run: "true" } }'), code=0)
    assert "'from'" in eider("audit", "list", "--from", "soon").err
    assert "no_such" in eider("audit", "list", "--run", "no_such").err
    result = eider("runs", "note", "dag", "x", "--reason", "y" * 5000)
    assert result.code != 0
    assert "4096" in result.err
    assert [entry["action"] for entry in trail(eider)] == ["run_created", "dag_version"]


def test_what_is_cleared_can_be_widened_and_narrowed(eider):
    failed_run(eider)

    def cleared(*args):
        return names(eider("tasks", "clear", "dag", *args, "--dry-run", "-o", "json", code=0))

    assert cleared("b") == ["b", "c"]
    assert cleared("b", "--upstream") == ["a", "b", "c"]
    assert cleared("b", "--upstream", "--failed") == ["b", "c"]
    assert cleared("a", "--failed") == []
    assert cleared("a", "--failed", "--downstream") == ["b", "c"]
    assert eider.states()["b"] == "failed", "nothing was changed"


def test_a_task_keeps_its_note_when_it_runs_again(eider, evidence):
    failed_run(eider)
    eider("tasks", "note", "dag", "b", "no file", code=0)
    evidence.path.write_text("go\n")
    eider("retry", "dag", code=0)

    def note():
        rows = rows_of(eider("runs", "tasks", "dag", "-o", "json", code=0).json())
        return {row["task_id"]: row["note"] for row in rows}["b"]

    assert note() == "no file"
    eider("tasks", "note", "dag", "b", "", code=0)
    assert note() is None
    assert "no task" in eider("tasks", "note", "dag", "x", "?").err


def test_who_put_a_store_back_is_known(eider):
    failed_run(eider)
    eider("store", "backup", eider.folder / "copy.db", code=0)
    eider("store", "restore", eider.folder / "copy.db", "--yes", code=0)
    (restored,) = [row for row in trail(eider) if row["action"] == "store_restored"]
    assert restored["actor"] == getpass.getuser()

    eider("store", "export", eider.folder / "all", code=0)
    there = {"EIDER_HOME": str(eider.folder / "there")}
    eider("store", "import", eider.folder / "all", env=there, code=0)
    moved = eider("audit", "list", "-o", "json", env=there, code=0).json()["entries"]
    assert [row["actor"] for row in moved if row["action"] == "store_restored"] == \
        [getpass.getuser()] * 2
