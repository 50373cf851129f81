"""The C library as a user has it: installed, found by pkg-config, used by the example programs."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from harness import BINARY, PATIENCE, ROOT, wait_for

BUILD = BINARY.parent if (BINARY.parent / "CMakeCache.txt").exists() else ROOT / "build/release"
LEASE_MS = "60000"       # no stall of the machine takes a job away
SHORT_LEASE_MS = "1500"  # where the test waits for it to pass
pytestmark = pytest.mark.skipif(not (BUILD / "CMakeCache.txt").exists(),
                                reason="the binary is not in its build folder")


def must(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def sanitizer_flags():
    """A library with a sanitizer in it wants programs that have it too."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    found = re.search(r"^EIDER_SANITIZE:\w+=(.+)$", cache, re.M)
    return [f"-fsanitize={found[1]}"] if found else []


class Installed:
    """A prefix with the library, and the examples built against it."""

    def __init__(self, folder):
        self.prefix = folder / "prefix"
        self.examples = folder / "examples"
        must(["cmake", "--install", BUILD, "--component", "library", "--prefix", self.prefix])
        shutil.copytree(ROOT / "examples/c", self.examples)
        self.env = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = " ".join(["-std=c99 -g -Wall -Wextra -pedantic -Werror", *sanitizer_flags()])
        must(["make", "-C", self.examples, f"CFLAGS={flags}"], env=self.env)

    def pkg_config(self, *args):
        return must(["pkg-config", *args, "eider"], env=self.env).split()

    def symbols(self, name, *options):
        listing = must(["nm", "--extern-only", "--defined-only", *options,
                        self.prefix / "lib" / name])
        return {line.split()[-1] for line in listing.splitlines() if len(line.split()) == 3}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"))


class Programs:
    """The example programs on the store of an `eider`."""

    def __init__(self, eider, installed, url=None):
        self.eider = eider
        self.installed = installed
        self.url = url or f"sqlite:{eider.home}/eider.db"
        self.env = {"EIDER_STORE": self.url}
        self.workers = []
        eider.home.mkdir(mode=0o700)

    def environment(self):
        return self.eider.environment({"LD_LIBRARY_PATH": str(self.installed.prefix / "lib")})

    def produce(self, *args):
        out = must([self.installed.examples / "producer", self.url, *args],
                   env=self.environment())
        return out.split()

    def worker(self, queue="default", lease_ms=LEASE_MS):
        log = open(self.eider.folder / f"worker{len(self.workers)}.log", "w+", encoding="utf-8")
        child = subprocess.Popen([self.installed.examples / "worker", self.url, queue, lease_ms],
                                 stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                 env=self.environment())
        child.log_path = pathlib.Path(log.name)
        log.close()
        self.workers.append(child)
        return child

    def job(self, number):
        return self.eider("jobs", "show", number, "-o", "json", env=self.env, code=0).json()

    def wait_until(self, number, status):
        return wait_for(lambda: (job := self.job(number))["status"] == status and job,
                        f"job {number} is {status}")

    def close(self):
        for child in self.workers:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.send_signal(signal.SIGTERM)
                assert child.wait(timeout=PATIENCE) == 0, child.log_path.read_text()


@pytest.fixture(params=["sqlite", "postgresql"])
def programs(request, eider, installed):
    url = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    made = Programs(eider, installed, url)
    yield made
    made.close()


def said(worker, text):
    return wait_for(lambda: text in worker.log_path.read_text(), f"the worker says '{text}'")


def test_only_our_names_are_visible(installed):
    header = (ROOT / "include/eider.h").read_text()
    declared = set(re.findall(r"EIDER_API [^;(]*?\b(eider_\w+)\(", header))
    assert len(declared) > 15
    assert installed.symbols("libeider.so", "--dynamic") == declared
    assert installed.symbols("libeider.a") == declared
    soname = must(["readelf", "-d", installed.prefix / "lib/libeider.so"])
    assert "[libeider.so.0.1]" in soname


@pytest.mark.parametrize("compiler", [["gcc", "-std=c99", "-xc"], ["g++", "-std=c++11", "-xc++"]])
def test_the_header_stands_alone(installed, tmp_path, compiler):
    source = tmp_path / "main"
    source.write_text("#include <eider.h>\nint main(void) { return eider_version()[0] != '0'; }\n")
    program = tmp_path / "program"
    must([compiler[0], "-Wall", "-Wextra", "-pedantic", "-Werror", *compiler[1:], source, "-xnone",
          "-o", program, *sanitizer_flags(), *installed.pkg_config("--cflags", "--libs")])
    must([program], env={"LD_LIBRARY_PATH": str(installed.prefix / "lib")})


def test_a_program_may_have_the_library_in_itself(installed, eider, tmp_path):
    program = tmp_path / "producer"
    libraries = [word for word in installed.pkg_config("--static", "--libs")
                 if word in ("-ljansson", "-lsqlite3", "-lpq", "-pthread", "-lm")]
    must(["gcc", installed.examples / "producer.c", "-o", program, *sanitizer_flags(),
          *installed.pkg_config("--cflags"), installed.prefix / "lib/libeider.a", *libraries])
    eider.home.mkdir(mode=0o700)
    out = must([program, f"sqlite:{eider.home}/eider.db", "default", "noop"],
               env=eider.environment())
    assert out.strip().isdigit()


def test_a_daemon_does_what_a_program_enqueued(programs, up):
    up("--store", programs.url)
    for number in programs.produce("default", "noop", "{}", "3"):
        programs.wait_until(number, "completed")


def test_a_program_does_what_was_enqueued(programs):
    answer = programs.eider("enqueue", "default", "echo", '{"a": [1, 2]}', "-o", "json",
                            env=programs.env, code=0).json()
    number = answer.get("id") or answer["jobs"][0]["id"]
    refused = programs.produce("default", "refuse")[0]
    worker = programs.worker()
    assert programs.wait_until(number, "completed")["result"] == {"a": [1, 2]}
    assert "never succeeds" in programs.wait_until(refused, "failed")["error"]
    hosts = programs.eider("hosts", "list", "-o", "json", env=programs.env, code=0).out
    assert '"client"' in hosts and '"active"' in hosts
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=PATIENCE) == 0, worker.log_path.read_text()


def test_a_wish_to_stop_reaches_a_program(programs):
    worker = programs.worker()
    number = programs.produce("default", "sleep", '{"seconds": 600}')[0]
    said(worker, f"claimed {number}")
    programs.eider("jobs", "cancel", number, env=programs.env, code=0)
    programs.wait_until(number, "cancelled")
    said(worker, f"ended {number} ok")


def test_a_program_that_stops_hands_back(programs):
    worker = programs.worker()
    number = programs.produce("default", "sleep", '{"seconds": 600}')[0]
    said(worker, f"claimed {number}")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=PATIENCE) == 0, worker.log_path.read_text()
    assert programs.job(number)["status"] == "pending"


def test_a_store_that_a_program_uses_is_not_replaced(eider, installed):
    programs = Programs(eider, installed)
    worker = programs.worker()
    number = programs.produce("default", "echo", "1")[0]
    programs.wait_until(number, "completed")
    copy = eider.folder / "copy.db"
    eider("store", "backup", copy, code=0)
    refused = eider("store", "restore", copy, "--yes")
    assert refused.code != 0 and f"process {worker.pid}" in refused.err, refused
    programs.close()
    eider("store", "restore", copy, "--yes", code=0)


def test_another_program_does_what_a_killed_one_held(programs):
    killed = programs.worker(lease_ms=SHORT_LEASE_MS)
    number = programs.produce("default", "sleep", '{"seconds": 2}')[0]
    said(killed, f"claimed {number}")
    killed.kill()
    killed.wait(timeout=PATIENCE)
    programs.worker(lease_ms=SHORT_LEASE_MS)
    job = programs.wait_until(number, "completed")
    assert job["attempts"] >= 2 and job["result"] == "slept well"


def test_a_daemon_does_what_a_killed_program_held(programs, up):
    killed = programs.worker(lease_ms=SHORT_LEASE_MS)
    number = programs.produce("default", "sleep", '{"seconds": 2}')[0]
    said(killed, f"claimed {number}")
    up("--store", programs.url)
    killed.kill()
    killed.wait(timeout=PATIENCE)
    assert programs.wait_until(number, "completed")["attempts"] >= 2


def test_a_program_that_was_silent_too_long_changes_nothing(programs, up):
    silent = programs.worker(lease_ms=SHORT_LEASE_MS)
    number = programs.produce("default", "sleep", '{"seconds": 2}')[0]
    said(silent, f"claimed {number}")
    silent.send_signal(signal.SIGSTOP)
    up("--store", programs.url)
    programs.wait_until(number, "completed")
    silent.send_signal(signal.SIGCONT)
    wait_for(lambda: re.search(rf"ended {number} (the lease|the claim)",
                               silent.log_path.read_text()), "the worker learns that it lost")
    job = programs.job(number)
    assert job["attempts"] >= 2 and job["result"] != "slept well"
