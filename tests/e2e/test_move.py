"""A store moves into another one: everything is there, and what was half done goes on.

Also through PostgreSQL.
"""
import json
import os
import pathlib
import signal
import tempfile

from harness import wait_for

DAG = """\
tasks:
  quick: { run: "echo quick >> @evidence; echo said something" }
  large: { run: "seq -s, 30000 > $EIDER_OUTPUTS/text" }
  many:
    needs: [quick]
    foreach: [1, 2, 3]
    run: "echo many {{ item }} >> @evidence"
  gate:
    needs: [many, large]
    run: "echo at the gate >> @evidence; while [ ! -e @evidence.open ]; do sleep 0.02; done"
  last:
    needs: [gate, large]
    run: "echo last {{ tasks.large.text | length }} >> @evidence"
"""
LAST = f"last {len(','.join(map(str, range(1, 30001))))}"


def half_done(eider):
    """A run whose process was killed in the middle."""
    run = eider.start("run", eider.write("dag.yaml", DAG))
    wait_for(lambda: eider.evidence.count("at the gate") == 1, "the task at the gate")
    run.send_signal(signal.SIGKILL)
    run.wait()


# Durations grow while something runs; whether its owner lives is for each place to say.
PASSING = {"duration", "owner_alive", "reason"}


def lasting(value):
    if isinstance(value, dict):
        return {key: lasting(member) for key, member in value.items() if key not in PASSING}
    if isinstance(value, list):
        return [lasting(member) for member in value]
    return value


def everything(eider, env=None):
    """What a user can see of all runs."""
    shown = {}
    runs = eider("runs", "list", "-o", "json", env=env, code=0).json()["dag_runs"]
    for run in runs:
        number = run["number"]
        shown[number] = [
            eider("runs", "show", number, "-o", "json", env=env, code=0).json(),
            eider("runs", "tasks", number, "-o", "json", env=env, code=0).json(),
            eider("runs", "values", number, "-o", "json", env=env, code=0).json(),
        ]
    return lasting(shown)


def home(eider, name):
    return {"EIDER_HOME": str(eider.folder / name)}


def test_a_store_moves_and_a_half_done_run_is_finished_there(eider):
    eider.run('tasks: { a: { run: "echo before" } }', name="before.yaml")
    half_done(eider)
    before = everything(eider)
    there = home(eider, "there")

    eider("store", "export", eider.folder / "all", "--logs", code=0)
    eider("store", "import", eider.folder / "all", env=there, code=0)

    assert everything(eider, there) == before
    assert "said something" in eider("logs", "dag", "quick", env=there, code=0).out
    eider("store", "check", env=there, code=0)
    (eider.folder / "evidence.open").touch()
    eider("retry", "dag", env=there, code=0)
    lines = eider.evidence.lines()
    assert lines.count("quick") == 1, "what was done is not done again"
    assert lines.count(LAST) == 1, "with a value that is kept beside the store"
    assert everything(eider) == before, "the old store is as it was"


def test_through_a_pipe_and_while_it_is_in_use(eider):
    run = eider.start("run", eider.write("dag.yaml", DAG))
    wait_for(lambda: eider.evidence.count("at the gate") == 1, "the task at the gate")
    there = home(eider, "there")

    sent = eider("store", "export", "-", code=0)
    eider("store", "import", "-", env=there, input=sent.out, code=0)

    assert all(json.loads(line) for line in sent.out.splitlines())
    assert everything(eider, there).keys() == {"1"}
    (eider.folder / "evidence.open").touch()
    assert run.wait(timeout=60) == 0
    assert eider.run_state() == "success"


def test_a_file_below_dev_is_a_file_and_a_pipe_is_written_to(eider):
    eider("run", eider.write("one.yaml", "tasks: { a: { run: echo } }"), code=0)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = pathlib.Path(folder, "all.jsonl")
        eider("store", "export", path, code=0)
        lines = path.read_text().splitlines()
        assert len(lines) > 5
        assert "exists" in eider("store", "export", path, code=5).err
    pipe = eider.folder / "pipe"
    os.mkfifo(pipe)
    export = eider.start("store", "export", pipe)
    assert len(pipe.read_text().splitlines()) == len(lines)
    assert export.wait() == 0


def test_what_cannot_be_moved_is_said_and_nothing_changes(eider):
    eider.run('tasks: { a: { run: "true" } }')
    there = home(eider, "there")
    export = eider.folder / "all"
    eider("store", "export", export, code=0)

    assert "exists" in eider("store", "export", export, code=5).err
    assert "1 runs" in eider("store", "import", export, code=5).err
    export.write_bytes(export.read_bytes()[:-20])
    assert "cut" in eider("store", "import", export, env=there).err
    assert "no store" in eider("runs", "show", "1", env=there).err
    assert "No such file" in eider("store", "import", "nowhere", env=there).err
    env = {"EIDER_STORE": "postgresql://nobody@/nowhere?host=/nowhere"}
    assert "eider store export" in eider("store", "backup", "copy", env=env).err
    assert "eider store import" in eider("store", "restore", "copy", "--yes", env=env).err


def test_to_postgresql_and_back(eider, postgres):
    eider.run('tasks: { a: { run: "echo before" } }', name="before.yaml")
    half_done(eider)
    before = everything(eider)
    server = {"EIDER_STORE": postgres, **home(eider, "elsewhere")}
    back = home(eider, "back")

    eider("store", "export", eider.folder / "there.jsonl", "--logs", code=0)
    eider("store", "import", eider.folder / "there.jsonl", env=server, code=0)
    assert everything(eider, server) == before
    assert "said something" in eider("logs", "dag", "quick", env=server, code=0).out
    eider("store", "check", env=server, code=0)
    eider("store", "export", eider.folder / "back.jsonl", "--logs", env=server, code=0)
    eider("store", "import", eider.folder / "back.jsonl", env=back, code=0)

    assert everything(eider, back) == before
    assert "said something" in eider("logs", "dag", "quick", env=back, code=0).out
    (eider.folder / "evidence.open").touch()
    eider("retry", "dag", env=back, code=0)
    assert eider.evidence.count("quick") == 1
    assert eider.evidence.count(LAST) == 1
    assert "2 runs" in eider("store", "import", eider.folder / "back.jsonl", env=server).err


def test_a_move_in_one_state_folder_leaves_the_old_logs_alone(eider, postgres):
    eider.run('tasks: { a: { run: "echo before" } }')
    server = {"EIDER_STORE": postgres}

    eider("store", "export", eider.folder / "all", "--logs", code=0)
    eider("store", "import", eider.folder / "all", env=server, code=0)

    assert "before" in eider.log("dag", "a")
