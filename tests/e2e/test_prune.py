"""What is old is counted, and removed when asked."""
from harness import rows_of, wait_for


def test_old_runs_are_counted_and_removed(eider):
    eider.write("d.yaml", "tasks: { a: { run: echo hello } }")
    eider("run", "d.yaml", code=0)
    eider("run", "d.yaml", code=0)
    env = {"EIDER_KEEP_RUNS_PER_DAG": "1"}
    counted = eider("store", "prune", "--dry-run", "-o", "json", env=env, code=0).json()
    assert counted["runs"] == 1 and counted["dry_run"]
    removed = eider("store", "prune", "-o", "json", env=env, code=0).json()
    assert removed["runs"] == 1
    assert eider("store", "prune", "-o", "json", env=env, code=0).json()["runs"] == 0
    eider("store", "check", code=0)
    assert "hello" in eider.log("d", "a")


def test_a_daemon_removes_what_is_old(eider, up):
    eider.write("d.yaml", "tasks: { a: { run: echo hello } }")
    eider("run", "d.yaml", code=0)
    eider("run", "d.yaml", code=0)
    up(env={"EIDER_KEEP_RUNS_PER_DAG": "1"})
    wait_for(lambda: len(rows_of(eider("runs", "list", "-o", "json", code=0).json())) == 1,
             "one run is left")


def test_a_log_that_is_not_kept_is_told_of(eider):
    eider.write("d.yaml", "tasks: { a: { run: echo hello }, b: { run: 'true', needs: [a] } }")
    eider("run", "d.yaml", code=0)
    assert not eider("logs", "d", code=0).err
    wait_for(lambda: eider("store", "prune", "-o", "json", env={"EIDER_KEEP_LOGS": "1s"},
                           code=0).json()["runs_without_logs"] == 1, "the log is old enough")
    told = eider("logs", "d", "a", code=0)
    assert not told.out and "not kept any more" in told.err
    assert not eider("logs", "d", "b", code=0).err, "which printed nothing"


def test_a_wrong_age_is_an_error(eider):
    result = eider("store", "prune", env={"EIDER_KEEP_RUNS": "soon"}, code=2)
    assert "keep_runs" in result.err
