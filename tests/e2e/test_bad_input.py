"""Hostile, broken or huge input, and a machine that does not play along."""
import os
import shutil
import sqlite3
import subprocess

import pytest

ONE_TASK = "tasks: { a: { run: echo hello } }"
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MiB, or a skip where mounting is not allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", "-l", place], check=False)


def said(result):
    return (result.err + result.out).lower()


# The state directory

def test_a_file_in_place_of_the_state_directory(eider):
    eider.home.write_text("I am a file")

    result = eider.run(ONE_TASK, code=None)

    assert result.code in (4, 5, 8), result
    assert str(eider.home) in result.err
    assert eider.home.read_text() == "I am a file"


@ROOT_ONLY
def test_a_state_directory_that_cannot_be_written(eider, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)

    result = eider.run(ONE_TASK, code=None, env={"EIDER_HOME": str(small_disk / "state")})

    assert result.code in (4, 8), result
    assert "read-only" in said(result)


@ROOT_ONLY
def test_a_full_disk_is_said_and_survived(eider, small_disk, evidence):
    env = {"EIDER_HOME": str(small_disk / "state")}
    eider.run("tasks: { a: { run: 'true' } }", name="first.yaml", env=env)
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass

    result = eider.run("tasks: { a: { run: 'echo a >> @evidence' } }", env=env, code=None)

    assert 0 < result.code < 128, result
    assert "space" in said(result) or "full" in said(result), result
    ballast.unlink()
    eider("store", "check", env=env, code=0)
    eider.run(ONE_TASK, name="second.yaml", env=env)


@ROOT_ONLY
def test_a_log_that_fills_the_disk_takes_nothing_else_with_it(eider, small_disk):
    env = {"EIDER_HOME": str(small_disk / "state")}

    result = eider.run("tasks: { a: { run: 'yes | head -c 20000000' } }", env=env, code=None)

    assert 0 <= result.code < 128, result
    for log in small_disk.rglob("*"):
        if log.is_file() and ".db" not in log.name and log.stat().st_size > 1 << 20:
            log.unlink()
    eider("store", "check", env=env, code=0)
    eider.run(ONE_TASK, name="second.yaml", env=env)


# The store

def store_of(eider):
    [path] = eider.home.glob("*.db")
    return path


def test_a_store_of_a_newer_version_is_refused_and_left_alone(eider):
    eider.run(ONE_TASK)
    with sqlite3.connect(store_of(eider)) as db:
        db.execute("UPDATE store SET schema = 999, oldest_schema = 999")
    db.close()

    result = eider("runs", "list")

    assert result.code in (5, 8), result
    assert "newer" in said(result) or "999" in said(result)
    assert eider.run(ONE_TASK, code=None).code == result.code
    with sqlite3.connect(store_of(eider)) as db:
        assert db.execute("SELECT schema FROM store").fetchone() == (999,)
    db.close()


def test_a_locked_store_is_said_so_and_works_again_later(eider):
    eider.run(ONE_TASK)
    holder = sqlite3.connect(store_of(eider), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    result = eider.run(ONE_TASK, code=8, timeout=120, env={"EIDER_BUSY_TIMEOUT": "500ms"})

    assert "lock" in said(result) or "busy" in said(result)
    holder.execute("ROLLBACK")
    holder.close()
    eider.run(ONE_TASK)


def test_a_store_that_is_no_database(eider):
    eider.run(ONE_TASK)
    path = store_of(eider)
    for extra in eider.home.glob(path.name + "-*"):
        extra.unlink()
    path.write_bytes(b"this is not a database\n" * 1000)

    result = eider("runs", "list", code=8)

    assert "database" in said(result)
    assert path.read_bytes().startswith(b"this is not")


def test_a_cut_store_is_found_by_the_check(eider):
    for number in range(5):
        eider.run(ONE_TASK, name=f"d{number}.yaml")
    path = store_of(eider)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(8192))

    result = eider("store", "check", code=None)

    assert 0 < result.code < 128, result


def test_backup_and_restore(eider):
    eider.run(ONE_TASK, name="first.yaml")
    eider("store", "backup", eider.folder / "copy.db", code=0)
    eider.run(ONE_TASK, name="second.yaml")
    assert {row["dag_id"] for row in eider.runs()} == {"first", "second"}

    eider("store", "restore", eider.folder / "copy.db", "--yes", code=0)

    assert {row["dag_id"] for row in eider.runs()} == {"first"}
    eider("store", "check", code=0)
    assert eider("store", "restore", eider.folder / "nowhere.db", "--yes").code == 3


# Files

@pytest.mark.parametrize("task_id", [
    "../../etc/passwd", "a/b", "a b", "x'; DROP TABLE run; --", "-rf", ".hidden", "a\\b", "",
    "a" * 251, "ü", "a\tb", "$(reboot)"])
def test_hostile_ids_are_refused(eider, task_id):
    quoted = task_id.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")

    result = eider.run(f'tasks:\n  "{quoted}": {{ run: "true" }}\n', code=6)

    assert "dag.yaml:2:" in result.err + result.out
    eider.run(f'dag: "{quoted}"\ntasks: {{ a: {{ run: "true" }} }}\n', code=6)


def test_the_longest_id_works_everywhere(eider):
    name = "a" * 250
    eider.run(f"dag: {name}\ntasks: {{ {name}: {{ run: echo fine }} }}\n")

    assert eider.log(name, name).strip() == "fine"


@pytest.mark.parametrize("run", ["../x", "a/../b", "x'; --", "", "99999999999999999999", "-1"])
def test_hostile_run_names_find_nothing(eider, run):
    eider.run(ONE_TASK)

    assert eider("runs", "show", "--", run).code in (2, 3)
    assert eider("logs", "--", run, "a").code in (2, 3)


def test_an_alias_bomb_is_bounded(eider):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for i in range(1, 12):
        lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]")
    result = eider.run("\n".join(lines) + "\ntasks: { a: { run: 'true' } }\n", code=6, timeout=30)

    assert "dag.yaml" in result.err + result.out


def test_a_deep_file_is_bounded(eider):
    deep = "[" * 5000 + "]" * 5000

    eider.run(f"tasks: {deep}\n", code=6, timeout=30)
    eider.run(f"tasks: {{ a: {{ run: 'true', doc: {deep} }} }}\n", code=6, timeout=30)


def test_a_file_beyond_the_size_limit(eider):
    path = eider.work / "dag.yaml"
    with path.open("wb") as file:
        file.truncate(65 << 20)

    result = eider("run", path, code=6, timeout=60)

    assert "64" in result.err + result.out or "large" in said(result)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"tasks: \xc3\x28\n", b"\0" * 64,
                                     b"tasks:\n  a: {run: \"\\x00\"}\n", b"%YAML 9.9\n---\n"])
def test_files_that_are_no_text(eider, content):
    path = eider.work / "dag.yaml"
    path.write_bytes(content)

    result = eider("run", path)

    assert result.code == 6, result


def test_what_is_given_as_a_file_but_is_none(eider):
    (eider.work / "folder.yaml").mkdir()
    os.mkfifo(eider.work / "pipe.yaml")

    for name in ("folder.yaml", "pipe.yaml", "/dev/zero"):
        result = eider("run", name, timeout=30)
        assert result.code in (2, 3, 6), result
        assert name in result.err
    assert eider("run", "missing.yaml").code == 3


def test_a_template_that_would_run_for_ever_is_bounded(eider):
    eider.run("""
        tasks:
          a:
            run: "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"
        """, code=1, timeout=120)

    assert eider.tasks()["a"]["state"] == "failed"


def test_a_missing_shell_tool_is_the_tasks_failure_not_ours(eider):
    eider.run("tasks: { a: { run: no_such_program_anywhere } }", code=1)

    assert "no_such_program_anywhere" in eider.log("dag", "a")
    assert eider.tasks()["a"]["reason"] == "exit"


def test_outputs_that_are_no_plain_files(eider):
    result = eider.run("""
        tasks:
          a:
            run: |
              mkdir $EIDER_OUTPUTS/folder
              ln -s /etc/passwd $EIDER_OUTPUTS/link
              mkfifo $EIDER_OUTPUTS/pipe
              echo 1 > $EIDER_OUTPUTS/fine
        """, code=None)

    assert 0 <= result.code <= 1, result
    assert "root:" not in eider("runs", "values", "dag", "a", "-o", "json").out


def test_a_task_may_remove_its_outputs_folder(eider):
    result = eider.run("tasks: { a: { run: 'rm -rf $EIDER_OUTPUTS' } }", code=None)

    assert 0 <= result.code <= 1, result


def test_a_huge_command_is_refused_or_run_but_never_breaks(eider):
    command = "true " + "x" * 300000
    result = eider.run(f"tasks: {{ a: {{ run: '{command}' }} }}", code=None)

    assert 0 <= result.code <= 1, result
    assert eider.states()["a"] in ("success", "failed")


def test_the_state_directory_removed_under_a_finished_run(eider):
    eider.run(ONE_TASK)
    shutil.rmtree(eider.home)

    assert eider.runs() == []
