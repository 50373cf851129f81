"""Fixtures: the binary with a state directory of its own, a file for evidence, and fleets.

Several pytest may share the tests: all are given the same ones and the same empty folder in
EIDER_TEST_SHARE, and each test runs in the one that claims it first.
"""
import hashlib
import itertools
import os
import pathlib
import signal
import subprocess

import pytest

from fleet import Daemon, Server, finish_all
from harness import BINARY, ROOT, Eider
from receiver import MailServers, Receiver

DATABASES = itertools.count(1)


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"{BINARY} does not exist; build it (make dev) or set EIDER_BIN", returncode=3)


def pytest_configure(config):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored, by our children too
    config.addinivalue_line("markers", "in_order: tests of a file that build on each other")


def claimed(items, folder):
    """Those that nobody else has; of a file whose tests build on each other all or none."""
    mine = set()
    for item in items:
        key = item.nodeid
        if item.get_closest_marker("in_order"):
            key = key.partition("::")[0]
        if key not in mine:
            try:
                (folder / hashlib.sha1(key.encode()).hexdigest()).touch(exist_ok=False)
            except FileExistsError:
                continue
            mine.add(key)
        yield item


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """As pytest does it, but claims a test before it runs, one ahead."""
    folder = os.environ.get("EIDER_TEST_SHARE")
    if folder is None or session.testsfailed or session.config.option.collectonly:
        return None
    todo = claimed(session.items, pathlib.Path(folder))
    item = next(todo, None)
    while item is not None:
        following = next(todo, None)  # fixtures that it shares with the item stay
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True


@pytest.fixture
def eider(tmp_path):
    program = Eider(tmp_path)
    yield program
    program.close()


@pytest.fixture
def evidence(eider):
    return eider.evidence


@pytest.fixture(scope="session")
def cluster():
    """One PostgreSQL for all tests; whoever stops it starts it again."""
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="session")
def clock_shim(tmp_path_factory):
    """A library that makes the wall clock of a process wrong by what a file says."""
    path = tmp_path_factory.mktemp("shim") / "clock_shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", path,
                    ROOT / "tests/chaos/clock_shim.c", "-ldl"], check=True)
    return path


@pytest.fixture
def server(cluster, eider, monkeypatch):
    """An empty database is the store of every command; its name is server.database."""
    cluster.database = f"e2e_{next(DATABASES)}"
    cluster.sql(f"CREATE DATABASE {cluster.database}")
    url = cluster.url_of(cluster.database)
    usual = eider.environment
    monkeypatch.setattr(eider, "environment",
                        lambda extra=None: usual({"EIDER_STORE": url, **(extra or {})}))
    yield cluster
    cluster.sql(f"DROP DATABASE {cluster.database} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def world(request, eider):
    """The program with either kind of store."""
    if request.param == "postgres":
        request.getfixturevalue("server")
    return eider


@pytest.fixture
def postgres(cluster):
    """The URL of an empty database."""
    name = f"e2e_{next(DATABASES)}"
    cluster.sql(f"CREATE DATABASE {name}")
    yield cluster.url_of(name)
    cluster.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def up(eider):
    """Starts daemons; those that still run at the end are stopped with all they left."""
    daemons = []

    def start(*args, times=1, **options):
        daemon = Daemon(eider, *args, **options)
        daemons.append(daemon)
        return daemon.wait_until_up(times)

    yield start
    finish_all(daemons)


@pytest.fixture
def fleet_up(eider, server):
    """Starts daemons, each with a home of its own; all are stopped at the end."""
    daemons = []

    def start(name, *args, times=1, waits=True, **env):
        daemon = Daemon(eider, "--host-name", name, *args, name=name,
                        env={"EIDER_HOME": str(eider.folder / name), "EIDER_SLOTS": "4", **env})
        daemons.append(daemon)
        return daemon.wait_until_up(times) if waits else daemon

    yield start
    finish_all(daemons)


@pytest.fixture
def receiver():
    server = Receiver()
    yield server
    server.close()


@pytest.fixture
def mail():
    servers = MailServers()
    yield servers
    servers.close()
