"""tools/setup, with a package manager of our own."""
import os
import pathlib
import shutil
import stat
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["bash", "sh", "env", "mktemp", "rm", "tail", "dirname", "cat", "grep", "touch"]

# Knows what is installed from a file; installs by appending to it.
QUERY = """#!/bin/sh
for name in "$@"; do grep -qx "$name" "$STATE/installed" && printf 'installed:%s ' "$name"; done
exit 1
"""
APT = """#!/bin/sh
echo "$*" >> "$STATE/calls"
case "$*" in
*update*) touch "$STATE/fresh"; exit 0 ;;
esac
[ -e "$STATE/needs-update" ] && [ ! -e "$STATE/fresh" ] && { echo "no such package"; exit 100; }
[ -e "$STATE/broken" ] && { echo "the mirror is away"; exit 100; }
for name in "$@"; do
    case $name in -* | install) ;; *) echo "$name" >> "$STATE/installed" ;; esac
done
"""
IDENTITY = '#!/bin/sh\ncat "$STATE/uid"\n'


class Machine:
    def __init__(self, folder):
        self.bin = folder / "bin"
        self.state = folder / "state"
        self.bin.mkdir()
        self.state.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.program("dpkg-query", QUERY)
        self.program("apt-get", APT)
        self.program("id", IDENTITY)
        (self.state / "installed").touch()
        (self.state / "uid").write_text("0\n")

    def program(self, name, text):
        path = self.bin / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def setup(self, *args):
        return subprocess.run([self.bin / "bash", ROOT / "tools/setup", *args], text=True,
                              env={"PATH": str(self.bin), "STATE": str(self.state)},
                              capture_output=True, check=False)

    def calls(self):
        path = self.state / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_installs_what_is_missing_and_then_nothing(machine):
    (machine.state / "installed").write_text("gcc\ncmake\n")

    first = machine.setup("build")
    second = machine.setup("build")

    assert first.returncode == 0, first.stderr
    assert "ninja-build" in first.stderr and "libsqlite3-dev" in first.stderr
    assert " gcc" not in first.stderr
    assert len(machine.calls()) == 1
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")


def test_tests_need_more_than_the_build(machine):
    machine.setup("build")

    result = machine.setup("test")

    assert result.returncode == 0, result.stderr
    assert "libcriterion-dev" in result.stderr and "clang-14" in result.stderr
    assert "chromium nodejs npm" in result.stderr
    assert "ninja-build" not in result.stderr


def test_refreshes_the_lists_once_when_they_are_old(machine):
    (machine.state / "needs-update").touch()

    result = machine.setup("build")

    assert result.returncode == 0, result.stderr
    assert len(machine.calls()) == 3
    assert sum("update" in call for call in machine.calls()) == 1


def test_says_what_went_wrong(machine):
    (machine.state / "broken").touch()

    result = machine.setup("build")

    assert result.returncode == 1
    assert "the mirror is away" in result.stderr
    assert "could not install" in result.stderr and "libuv1-dev" in result.stderr


def test_without_root_it_needs_sudo(machine):
    (machine.state / "uid").write_text("1000\n")

    alone = machine.setup("build")
    assert alone.returncode == 1
    assert "apt-get install" in alone.stderr and "gcc" in alone.stderr

    machine.program("sudo", '#!/bin/sh\nexec "$@"\n')
    assert machine.setup("build").returncode == 0


def test_unknown_arguments_are_refused(machine):
    assert machine.setup().returncode == 2
    assert machine.setup("everything").returncode == 2


def test_it_is_quick_when_there_is_nothing_to_do():
    if subprocess.run([ROOT / "tools/setup", "build"], check=False,
                      capture_output=True).returncode != 0:
        pytest.skip("this machine cannot install packages")
    times = []
    for _ in range(5):
        started = time.monotonic()
        subprocess.run([ROOT / "tools/setup", "build"], check=True, env=os.environ)
        times.append(time.monotonic() - started)
    assert min(times) < 0.2
