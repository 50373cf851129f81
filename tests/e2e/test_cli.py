"""The command line itself: help, completion, output formats, mistakes."""
import csv
import io
import json
import re
import subprocess

import pytest

from harness import wait_for

COMMANDS = """run validate init test logs ps explain retry stop mark doctor version completion
runs|list runs|show runs|tasks runs|graph runs|gantt runs|wait runs|cancel runs|delete runs|note
runs|values tasks|list tasks|show tasks|render tasks|states tasks|clear
dags|list dags|show dags|graph dags|source
store|check store|backup store|restore store|export store|import store|migrate
config|list config|get""".split()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(eider, command):
    words = command.split("|")

    result = eider(*words, "--help", code=0)

    assert words[-1] in result.out
    assert len(result.out.splitlines()) >= 3
    assert not any(len(line) > 100 for line in result.out.splitlines())


def test_help_lists_every_command(eider):
    result = eider("--help", code=0)

    for command in COMMANDS:
        assert re.search(rf"\b{command.split('|')[0]}\b", result.out), command
    assert eider("help", code=0).out == result.out


@pytest.mark.parametrize("typed, meant", [("rnu", "run"), ("valdiate", "validate"),
                                          ("lgos", "logs"), ("sotp", "stop")])
def test_an_unknown_command_gets_a_suggestion(eider, typed, meant):
    result = eider(typed, code=2)

    assert "did you mean" in result.err and meant in result.err
    assert result.out == ""


@pytest.mark.parametrize("args", [
    ["run"], ["run", "a", "b", "c"], ["run", "--no-such-option", "x"], ["logs"],
    ["runs", "nonsense"], ["mark", "x"], ["version", "-o", "nonsense"], ["run", "-p"],
    ["completion", "tcsh"], ["run", "x", "--run-id", ""]])
def test_usage_errors_exit_2_and_say_how(eider, args):
    result = eider(*args)

    assert result.code == 2, result
    assert result.err.strip()


def test_an_unknown_option_gets_a_suggestion(eider):
    result = eider("logs", "x", "--tial", "3", code=2)

    assert "--tail" in result.err


def test_version(eider):
    result = eider("version", code=0)

    assert re.search(r"\d+\.\d+\.\d+", result.out)
    assert eider("--version", code=0).out.strip()
    assert "version" in json.dumps(eider("version", "-o", "json", code=0).json())


@pytest.mark.parametrize("shell, check", [
    ("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])])
def test_completion_scripts_parse(eider, shell, check):
    script = eider("completion", shell, code=0).out
    assert "eider" in script
    path = eider.write(f"completion.{shell}", script)
    try:
        done = subprocess.run([*check, path], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{shell} is not installed")
    assert done.returncode == 0, done.stderr


def test_bash_completes_commands_and_options(eider):
    path = eider.write("completion.bash", eider("completion", "bash", code=0).out)
    complete = """
        source "$1"
        spec=$(complete -p eider)
        function=$(sed 's/.*-F \\([^ ]*\\).*/\\1/' <<< "$spec")
        COMP_WORDS=(eider va); COMP_CWORD=1; COMP_LINE='eider va'; COMP_POINT=8
        "$function" eider va eider
        echo "${COMPREPLY[@]}"
        """

    done = subprocess.run(["bash", "-c", complete, "bash", path], capture_output=True, text=True,
                          env=eider.environment({"COMP_TYPE": "9"}), check=False)

    assert done.returncode == 0, done.stderr
    assert "validate" in done.stdout.split(), done.stdout + done.stderr


# Output formats

@pytest.fixture
def with_run(eider):
    eider.run("tasks: { a: { run: 'true' }, b: { needs: [a], run: 'true' } }")
    return eider


READS = [line.split() for line in """
runs list
runs show dag
runs tasks dag
runs values dag
tasks list dag
tasks show dag a
tasks states dag
tasks render dag a
dags list
dags show dag
ps
explain dag
config list
version
doctor
""".strip().splitlines()]


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_every_read_speaks_json(with_run, command):
    result = with_run(*command, "-o", "json", code=0)

    json.loads(result.out)


@pytest.mark.parametrize("command", [["runs", "list"], ["runs", "tasks", "dag"]], ids=" ".join)
def test_lists_speak_the_other_formats(with_run, command):
    table = with_run(*command, "-o", "table", code=0).out
    wide = with_run(*command, "-o", "wide", code=0).out
    names = with_run(*command, "-o", "name", code=0).out
    rows = list(csv.reader(io.StringIO(with_run(*command, "-o", "csv", code=0).out)))
    as_yaml = with_run(*command, "-o", "yaml", code=0).out

    assert "success" in table and "success" in wide and "success" in as_yaml
    assert names.strip() and all(len(line.split()) == 1 for line in names.splitlines())
    assert len({len(row) for row in rows}) == 1 and len(rows) >= 2


def test_identifiers_and_states_in_json(with_run):
    [run] = with_run.runs()
    tasks = with_run.tasks()

    assert run["dag_id"] == "dag" and run["state"] == "success"
    assert set(tasks) == {"a", "b"}
    assert tasks["a"]["state"] == "success"
    assert tasks["a"]["try_number"] == 1


def test_colours_only_on_a_terminal_and_not_with_no_color(with_run):
    assert "\x1b" not in with_run("runs", "list", code=0).out

    terminal = with_run.terminal("runs", "list")
    assert terminal.wait() == 0
    assert "\x1b[" in terminal.seen

    terminal = with_run.terminal("runs", "list", env={"NO_COLOR": "1"})
    assert terminal.wait() == 0
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.seen)


def test_nothing_to_list_is_no_error(eider):
    assert eider.runs() == []
    eider("ps", code=0)


# DAGs, projects, settings

@pytest.mark.parametrize("form, sign", [
    ("text", "b"), ("dot", "digraph"), ("mermaid", "flowchart"), ("svg", "<svg")])
def test_a_dag_is_drawn(with_run, form, sign):
    out = with_run("dags", "graph", "dag", "--format", form, code=0).out

    assert sign in out
    assert "a" in out and "b" in out


def test_the_source_is_kept_as_written(with_run):
    with_run.write("c.yaml", "# a comment\ntasks: { a: { run: 'true' } }\n")
    with_run("run", "c.yaml", code=0)

    assert with_run("dags", "source", "c", code=0).out == (
        "# a comment\ntasks: { a: { run: 'true' } }\n")


def test_a_new_project_runs(eider):
    eider("init", "shop", code=0)

    files = sorted(path for path in (eider.work / "shop").rglob("*.yaml")
                   if path.name != "eider.yaml")
    assert files
    for path in files:
        eider("validate", path, code=0)
    eider("run", files[0], code=0)
    eider("--home", "fresh", "--dags", "shop/dags", "run", "hello", code=0)  # never ran there

    files[0].write_text("# mine\n")
    eider("init", "shop")
    assert files[0].read_text() == "# mine\n", "what is there is not changed"
    broken = eider("--home", "other", "--dags", "shop/dags", "run", "hello", code=6)
    assert "hello.yaml" in broken.err, "a file that cannot be used is not 'no such DAG'"


def test_a_folder_is_no_dag(eider):
    result = eider("run", ".", code=2)

    assert "DAG '.'" not in result.err


def test_explain_says_one_task_in_a_sentence(with_run):
    assert len(with_run("explain", "dag", "a", code=0).out.splitlines()) == 1


def test_only_instances_have_an_index(with_run):
    lines = with_run("runs", "tasks", "dag", code=0).out.splitlines()

    assert [line.split()[1] for line in lines] == ["INDEX", "-", "-"]


def test_settings_show_where_they_come_from(eider):
    out = json.dumps(eider("config", "list", "-o", "json", code=0).json())

    assert "EIDER_HOME" in out or "environment" in out
    assert eider("config", "get", "no_such_setting").code == 3


def test_without_a_home_the_state_lives_beside_the_user(eider):
    eider.run("tasks: { a: { run: 'true' } }", env={"EIDER_HOME": None})

    assert (eider.work / ".eider").is_dir()
    assert not eider.home.exists()


def test_the_doctor_is_content(eider):
    eider("doctor", code=0)


def test_templates_are_shown_filled_in(eider):
    eider.write("dag.yaml", "tasks: { a: { run: 'echo {{ ds }}' } }")

    out = eider("tasks", "render", "dag.yaml", "a", "--date", "2025-01-15", code=0).out

    assert "echo 2025-01-15" in out


def test_values_are_shown(eider):
    eider.run("tasks: { a: { run: 'echo 42 > $EIDER_OUTPUTS/answer' } }")

    out = eider("runs", "values", "dag", "a", "-o", "json", code=0).out

    assert "answer" in out and "42" in out


def test_a_run_is_deleted_with_its_logs(eider):
    eider.run("tasks: { a: { run: echo distinctive words } }")

    eider("runs", "delete", "dag", "--yes", code=0)

    assert eider.runs() == []
    for path in eider.home.rglob("*"):
        if path.is_file() and not path.name.endswith(("-wal", "-shm", ".db")):
            assert b"distinctive words" not in path.read_bytes()


def test_waiting_for_a_run_tells_its_verdict(eider, evidence):
    eider.run("tasks: { a: { run: 'true' } }", name="good.yaml")
    eider.run("tasks: { a: { run: 'false' } }", name="bad.yaml", code=1)

    eider("runs", "wait", "good", code=0)
    eider("runs", "wait", "bad", code=1)
    child = eider.start("run", eider.write("slow.yaml", """
        tasks:
          a: { run: "touch @evidence; sleep 300" }
        """))
    wait_for(evidence.path.exists, "the slow task to start")
    eider("runs", "wait", "slow", "--timeout", "1", code=7)
    eider("stop", "slow", code=0)
    eider("runs", "wait", "slow", code=9)
    child.communicate(timeout=60)


def test_a_manual_page_can_be_made(eider):
    out = eider("man", code=0).out

    assert out.startswith((".TH", '.\\"'))
    assert "validate" in out


def test_a_project_is_found_from_its_subfolders(eider):
    """The state and the DAGs of a project are the same wherever in it one stands."""
    eider.write("project/eider.yaml", "log_level: warn\n")
    path = eider.write("project/dags/deep/hello.yaml", "tasks: { a: { run: 'true' } }")
    env = {"EIDER_HOME": ""}
    project = path.parent.parent.parent

    eider("run", path, cwd=path.parent, env=env, code=0)

    assert (project / ".eider" / "eider.db").exists()
    assert not (path.parent / ".eider").exists()
    assert "hello" in eider("runs", "list", cwd=project, env=env, code=0).out
    assert "success" in eider("run", "hello", cwd=path.parent, env=env, code=0).out
