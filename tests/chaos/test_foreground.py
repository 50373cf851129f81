"""The probe, the dump and the checker on the real program: foreground runs in an SQLite file."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

import pytest

import checker
import dump
import history as h
import load
from joined import Joined
from product import KIND, REASON, ROOT

PROGRAM = pathlib.Path(os.environ.get("EIDER_BIN", ROOT / "build/dev/eider"))
PATIENCE = 60.0


class Bench:
    """The program with a home and probes of its own."""

    def __init__(self, folder, probe):
        self.folder = folder
        self.home = folder / "h1"
        self.evidence = folder / "probe"
        self.evidence.mkdir()
        self.home.mkdir()
        self.command = f"{probe} {self.evidence}"
        self.op = 0

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8",
                "EIDER_HOME": str(self.home / "state")}

    def eider(self, *args):
        return subprocess.run([PROGRAM, *map(str, args)], env=self.environment(),
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def write(self, name):
        path = self.folder / f"{name}.yaml"
        path.write_text(load.text_of(name, self.command, self.folder))
        return path

    def start(self, name):
        return subprocess.Popen([PROGRAM, "run", self.write(name), "-p", "op=1"],
                                env=self.environment(), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def lines(self):
        return h.read_probes(self.evidence.glob("*.jsonl"))

    def history(self):
        connection = sqlite3.connect(self.home / "state/eider.db")
        history = dump.read_store(connection.cursor(), False, [self.home / "state/blob"])
        connection.close()
        history.probe = self.lines()
        history.process.append(h.Sample("healed", time.time_ns() // 1000, "", {}))
        return history


@pytest.fixture(scope="session")
def probe(tmp_path_factory):
    path = tmp_path_factory.mktemp("probe") / "probe"
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", path,
                    pathlib.Path(__file__).parent / "probe.c"], check=True)
    return path


@pytest.fixture
def bench(tmp_path, probe):
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} does not exist; build it or set EIDER_BIN")
    return Bench(tmp_path, probe)


def assert_valid(history):
    report = checker.check(history)
    assert not report.violations, json.dumps(report.as_json(), indent=1)[:4000]


@pytest.mark.parametrize("shape", [name for name in load.SHAPES if name != "closing"])
def test_a_real_run_keeps_every_promise(bench, shape):
    bench.eider("pools", "set", load.POOL, "--slots", str(load.POOL_SLOTS))
    bench.eider("run", bench.write(shape), "-p", "op=1")
    history = bench.history()
    assert_valid(history)
    assert len(Joined(history, checker.Bounds()).processes) >= 3
    assert history.log and history.event and history.run


def test_a_cleared_run_keeps_every_promise(bench):
    bench.eider("run", bench.write("diamond"), "-p", "op=1")
    bench.eider("retry", "1")
    history = bench.history()
    assert any(event.kind == KIND["TASK_CLEARED"] for event in history.event)
    assert_valid(history)


def test_a_run_whose_owner_was_killed_keeps_every_promise(bench):
    child = bench.start("closing")
    deadline = time.monotonic() + PATIENCE
    while not any(line.op == "tick" for line in bench.lines()):
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    bench.eider("retry", "1")
    history = bench.history()
    assert any(event.reason == REASON["LOST_OWNER"] for event in history.event)
    assert_valid(history)


def test_a_real_history_with_one_row_changed_is_found_out(bench):
    bench.eider("run", bench.write("chain"), "-p", "op=1")
    history = bench.history()
    history.task[1] = history.task[1]._replace(attempt=history.task[1].attempt + 1)
    assert checker.check(history).code == checker.VIOLATED


def test_the_probe_tells_what_it_did(tmp_path, probe):
    env = {"HOME": "/somewhere/h9", "EIDER_CLAIM": "0123456789abcdef", "EIDER_TRY_NUMBER": "1"}
    done = subprocess.run([probe, tmp_path, "ms=450", "lines=4", "fail=1"], env=env,
                          capture_output=True, text=True, check=False)
    rows = h.read_probes(tmp_path.glob("h9.jsonl"))
    assert done.returncode == 1
    first, *ticks, last = [row.op for row in rows]
    assert (first, set(ticks), last) == ("start", {"tick"}, "end")
    assert len(ticks) <= 3  # fewer when the machine has no time for it
    assert rows[-1].code == 1 and rows[-1].out == 4
    assert done.stdout == "".join(f"L 01234567 {number}\n" for number in range(1, 5))
    env["EIDER_TRY_NUMBER"] = "2"
    assert subprocess.run([probe, tmp_path, "ms=0", "fail=1"], env=env, stdout=subprocess.DEVNULL,
                          check=False).returncode == 0
