"""Runs the real binary as a user would, each test in a state directory of its own.

EIDER_BIN names the binary (default build/dev/eider). Whatever a sanitizer has to say, in any
process of a test, fails that test.
"""
import dataclasses
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import termios
import textwrap
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("EIDER_BIN", ROOT / "build/dev/eider")).resolve()
PATIENCE = 60.0  # seconds until something that must happen counts as not happening
POLL = 0.02


def wait_for(condition, what="condition", timeout=PATIENCE):
    """Polls until condition() is true and returns its value."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout:.0f} s for: {what}")
        time.sleep(POLL)


def is_alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def has_pending_signal(pid):
    """Whether one was sent to the process that it has not heard yet."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return re.search(r"^ShdPnd:\s*0*[1-9a-f]", status, re.M) is not None


def rows_of(value):
    """The list inside an answer: a bare list, or the one list member of an object."""
    if isinstance(value, list):
        return value
    lists = [member for member in value.values() if isinstance(member, list)]
    assert len(lists) == 1, f"expected one list in {sorted(value)}"
    return lists[0]


@dataclasses.dataclass
class Result:
    args: tuple
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return (f"eider {' '.join(map(str, self.args))}\nexit code {self.code}\n"
                f"--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-4000:]}")


class Terminal:
    """A program on a pseudo terminal; reads what it draws, types what we say."""

    def __init__(self, command, env, cwd, rows=24, columns=80):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

        def take_terminal():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env,
                                        cwd=cwd, start_new_session=True, preexec_fn=take_terminal)
        os.close(slave)
        self.seen = ""

    def read(self, timeout):
        ready, _, _ = select.select([self.master], [], [], timeout)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)

    def read_until(self, pattern, timeout=PATIENCE):
        deadline = time.monotonic() + timeout
        while not re.search(pattern, self.seen):
            if time.monotonic() > deadline or not (self.read(0.1) or self.process.poll() is None):
                pytest.fail(f"the terminal never showed {pattern!r}; it showed:\n{self.seen}")

    def wait_until(self, condition, what):
        """Polls like wait_for, and reads what the program draws meanwhile."""
        return wait_for(lambda: self.read(0) and False or condition(), what)

    def type(self, text):
        os.write(self.master, text.encode())

    def wait(self, timeout=PATIENCE):
        deadline = time.monotonic() + timeout
        while self.process.poll() is None:
            self.read(POLL)
            if time.monotonic() > deadline:
                self.process.kill()
                pytest.fail(f"still running after {timeout:.0f} s; it showed:\n{self.seen}")
        while self.read(0):
            pass
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


class Evidence:
    """A file outside Eider to which tasks append lines, so that we see what really ran."""

    def __init__(self, path):
        self.path = path

    def __str__(self):
        return str(self.path)

    def lines(self):
        return self.path.read_text().splitlines() if self.path.exists() else []

    def count(self, line):
        return self.lines().count(line)


class Eider:
    """The binary, a state directory, and a folder for files."""

    def __init__(self, folder):
        self.folder = folder
        self.home = folder / "state"
        self.work = folder / "work"
        self.reports = folder / "sanitizer"
        self.work.mkdir()
        self.reports.mkdir()
        self.evidence = Evidence(folder / "evidence")
        self.children = []

    def environment(self, extra=None):
        common = f"log_path={self.reports}/report"
        env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.folder),
            "USER": "tester",
            "LANG": "C.UTF-8",
            "EIDER_HOME": str(self.home),
            "EIDER_LISTEN": "off",
            "ASAN_OPTIONS": f"abort_on_error=1:detect_leaks=1:quarantine_size_mb=8:{common}",
            "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:{common}",
            "TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:{common}",
        }
        env.update(extra or {})
        return {name: value for name, value in env.items() if value is not None}

    def __call__(self, *args, timeout=PATIENCE, cwd=None, env=None, input=None, code=None):
        """Runs to the end. With code=, anything else fails the test."""
        command = [str(BINARY), *map(str, args)]
        stdin = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  timeout=timeout, cwd=cwd or self.work, check=False,
                                  env=self.environment(env), **stdin)
        except subprocess.TimeoutExpired as late:
            pytest.fail(f"eider {' '.join(map(str, args))}: no end after {timeout:.0f} s\n"
                        f"{late.stdout}\n{late.stderr}")
        result = Result(args, done.returncode, done.stdout, done.stderr)
        if code is not None:
            assert result.code == code, result
        return result

    def start(self, *args, env=None, cwd=None, **options):
        """Starts in the background; output goes to pipes unless options say otherwise."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "text": True, **options}
        child = subprocess.Popen([str(BINARY), *map(str, args)], cwd=cwd or self.work,
                                 env=self.environment(env), **options)
        self.children.append(child)
        return child

    def terminal(self, *args, env=None, **size):
        terminal = Terminal([str(BINARY), *map(str, args)],
                            self.environment({"TERM": "xterm-256color", **(env or {})}),
                            self.work, **size)
        self.children.append(terminal)
        return terminal

    def write(self, name, text):
        """Writes a file into the working folder; @evidence stands for the evidence file."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).replace("@evidence", str(self.evidence)))
        return path

    def run(self, text, *args, name="dag.yaml", code=0, **options):
        """Writes a DAG file and runs it to the end."""
        return self("run", self.write(name, text), *args, code=code, **options)

    def runs(self):
        return rows_of(self("runs", "list", "-o", "json", code=0).json())

    def run_state(self, dag="dag"):
        states = [row["state"] for row in self.runs() if row["dag_id"] == dag]
        assert states, f"no run of {dag}"
        return states[0]

    def instances(self, run="dag"):
        return rows_of(self("runs", "tasks", run, "-o", "json", code=0).json())

    def tasks(self, run="dag"):
        """Unmapped tasks, and mapped ones as a whole, by id."""
        return {row["task_id"]: row for row in self.instances(run)
                if row.get("map_index", -1) in (-1, None)}

    def mapped(self, task, run="dag"):
        """Instances of a mapped task, by index."""
        found = [row for row in self.instances(run)
                 if row["task_id"] == task and row.get("map_index", -1) not in (-1, None)]
        return sorted(found, key=lambda row: row["map_index"])

    def states(self, run="dag"):
        return {task: row["state"] for task, row in self.tasks(run).items()}

    def log(self, run, task, *args):
        return self("logs", run, task, *args, code=0).out

    def close(self):
        for child in self.children:
            if isinstance(child, Terminal):
                child.close()
            elif child.poll() is None:
                child.kill()
                child.communicate(timeout=PATIENCE)
        reports = sanitizer_reports(self.reports)
        assert not reports, "a sanitizer complained:\n" + "\n".join(reports)


# What the leak checker writes when the process it looks at is killed under its hands.
KILLED_WHILE_CHECKED = re.compile(r"==\d+==Unable to get registers from thread \d+\.?\s*")


def sanitizer_reports(folder):
    """What the sanitizers said, without a leak check that a kill cut off."""
    reports = [path.read_text(errors="replace") for path in sorted(folder.iterdir())]
    return [report for report in reports if KILLED_WHILE_CHECKED.sub("", report)]


def overlap_max(lines):
    """From lines '+...' and '-...' in order: how many were open at once at most."""
    open_now = most = 0
    for line in lines:
        open_now += 1 if line.startswith("+") else -1
        most = max(most, open_now)
    return most
