"""`make up`: a daemon with the examples, on a terminal, from its first word to Ctrl-C."""
import contextlib
import os
import signal
import subprocess

import pytest
from harness import BINARY, ROOT, Terminal

CTRL_C = "\x03"


@pytest.fixture
def up(eider):
    terminals = []

    def start():
        command = ["make", "--old-file=build", "up", f"UP={BINARY} {eider.home}"]
        terminal = Terminal(command, eider.environment({"TERM": "xterm-256color"}), ROOT,
                            columns=200)
        terminals.append(terminal)
        return terminal

    yield start
    for terminal in terminals:
        if terminal.process.poll() is None:
            terminal.type(2 * CTRL_C)
            with contextlib.suppress(subprocess.TimeoutExpired):
                terminal.process.wait(timeout=20)
        terminal.close()


def succeeded(eider, dag):
    return any((row["dag_id"], row["state"]) == (dag, "success") for row in eider.runs())


def test_it_says_where_everything_is_runs_an_example_and_ends_on_ctrl_c(eider, up):
    terminal = up()
    terminal.read_until(r"is up\r\n")
    for place in (eider.home, eider.home / "eider.db", eider.home / "blob", ROOT / "examples"):
        assert str(place) in terminal.seen
        assert place.exists()

    assert "`sign in` below" in terminal.seen

    # What it says is to be typed in another terminal works there.
    assert "schedule" in eider("dags", "list", "-o", "name", code=0).out.split()
    assert eider("dags", "next", "schedule", "-o", "json", code=0).json()["ticks"]
    eider("dags", "trigger", "hello", code=0)
    terminal.wait_until(lambda: succeeded(eider, "hello"), "an example runs to its end")
    assert eider.log("hello", "hello") == "hello\n"

    terminal.type(CTRL_C)
    assert terminal.wait() == 0, terminal.seen
    assert "stopping" in terminal.seen
    eider("store", "check", code=0)


def test_what_it_kept_is_there_when_it_starts_again(eider, up):
    first = up()
    first.read_until(r"is up\r\n")
    eider("dags", "trigger", "hello", code=0)
    first.wait_until(lambda: succeeded(eider, "hello"), "an example runs to its end")
    first.type(CTRL_C)
    assert first.wait() == 0, first.seen
    second = up()
    second.read_until(r"is up\r\n")
    assert succeeded(eider, "hello")
    second.type(CTRL_C)
    assert second.wait() == 0, second.seen


def test_without_a_terminal_an_interrupt_of_all_its_processes_ends_it(eider):
    with subprocess.Popen([ROOT / "tools/up", BINARY, eider.home], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=eider.environment(), process_group=0) as child:
        lines = iter(child.stdout)
        assert any(line.endswith(" is up\n") for line in lines)
        os.killpg(child.pid, signal.SIGINT)
        rest = "".join(lines)
        assert child.wait() == 0, rest


def test_alone_it_builds_and_takes_a_home_in_the_tree():
    told = subprocess.run(["make", "--no-print-directory", "--dry-run", "up"], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout
    assert "cmake --build" in told
    assert told.splitlines()[-1] == "tools/up build/eider build/up"
