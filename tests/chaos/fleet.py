"""The daemons under test: each with a home, a link and a restart of its own.

A daemon is known by its $HOME, FOLDER/hosts/NAME: the keeper inherits it, and so do tasks, which
also carry EIDER_CLAIM. Nothing else is ever signalled.
"""
import dataclasses
import os
import pathlib
import signal
import subprocess
import threading
import time

import history as h
import processes
from cluster import Cluster
from proxy import Proxies

SETTINGS = {"EIDER_LEASE": "3s", "EIDER_RENEW": "1s", "EIDER_MARGIN": "500ms",
            "EIDER_SWEEP": "1s", "EIDER_POLL": "1s"}
WATCH_SECONDS = 0.1
SAMPLE_SECONDS = 2.0
TMPFS_BYTES = 64 << 20
FILL_PIECE = 1 << 20
STOP_SECONDS = 30.0


@dataclasses.dataclass
class Setup:
    """What a fleet is made of."""

    program: pathlib.Path
    folder: pathlib.Path
    slots: int = 8
    settings: dict[str, str] = dataclasses.field(default_factory=lambda: dict(SETTINGS))
    extra_env: dict[str, str] = dataclasses.field(default_factory=dict)


class Daemon:
    """One host: a process that is started again whenever it ended."""

    def __init__(self, setup: Setup, name: str, port: int) -> None:
        self.setup = setup
        self.name = name
        self.home = setup.folder / "hosts" / name
        self.home.mkdir(parents=True)
        self.is_small = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES}", "chaos", str(self.home)],
            check=False, stderr=subprocess.DEVNULL).returncode == 0
        self.url = f"postgresql://eider@127.0.0.1:{port}/eider?sslmode=disable"
        self.process: subprocess.Popen[bytes] | None = None
        self.asked_us: int | None = None
        self.may_run = True  # false while the nemesis keeps it down

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.home),
                "LANG": "C.UTF-8", "USER": "chaos", **self.setup.settings, **self.setup.extra_env}

    def start(self) -> None:
        with (self.setup.folder / f"{self.name}.err").open("ab") as out:
            self.process = subprocess.Popen(
                [str(self.setup.program), "up", "--store", self.url, "--home",
                 str(self.home / "state"), "--host-name", self.name, "--slots",
                 str(self.setup.slots)],
                env=self.environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                cwd=self.setup.folder, start_new_session=True)

    def pid(self) -> int | None:
        return self.process.pid if self.process and self.process.poll() is None else None

    def keepers(self) -> list[int]:
        """Processes of the host that are neither the daemon nor tasks."""
        own = self.pid()
        return [pid for pid, is_task in processes.of_host(str(self.home))
                if not is_task and pid != own]

    def tasks(self) -> list[int]:
        return [pid for pid, is_task in processes.of_host(str(self.home)) if is_task]

    def signal(self, number: signal.Signals, keeper_too: bool) -> int:
        """How many heard it."""
        own = self.pid()
        pids = ([own] if own else []) + (self.keepers() if keeper_too else [])
        return processes.send(pids, number)

    # --- a full disk

    def fill(self) -> int:
        """Fills the home; 1 when it is full now."""
        if not self.is_small:
            return 0
        try:
            with (self.home / "filler").open("ab", buffering=0) as filler:
                while True:
                    filler.write(b"\0" * FILL_PIECE)
                    if os.statvfs(self.home).f_bavail == 0:
                        return 1
        except OSError:
            return 1

    def free(self) -> None:
        (self.home / "filler").unlink(missing_ok=True)

    def close(self) -> None:
        self.may_run = False
        if self.pid():
            self.signal(signal.SIGKILL, keeper_too=True)
        for _ in range(3):
            processes.send([pid for pid, _ in processes.of_host(str(self.home))], signal.SIGKILL)
        if self.process:
            self.process.wait(timeout=STOP_SECONDS)
        if self.is_small:
            subprocess.run(["umount", "-l", str(self.home)], check=False)


class Fleet:
    """Several daemons, watched: who ends is noted and started again."""

    def __init__(self, setup: Setup, cluster: Cluster, links: Proxies, hosts: int) -> None:
        self.setup = setup
        self.cluster = cluster
        self.record = setup.folder / "process.jsonl"
        self.lock = threading.Lock()
        self.daemons = {}
        for number in range(1, hosts + 1):
            name = f"h{number}"
            self.daemons[name] = Daemon(setup, name, links.add(name))
        self.is_over = threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)

    def note(self, what: str, host: str = "", **values: object) -> None:
        with self.lock:
            h.append(self.record, h.Sample(what, processes.wall_us(), host, values))

    def start(self) -> None:
        for daemon in self.daemons.values():
            daemon.start()
        self.watcher.start()

    def _watch(self) -> None:
        sampled = 0.0
        while not self.is_over.wait(WATCH_SECONDS):
            for daemon in self.daemons.values():
                code = daemon.process.poll() if daemon.process else None
                if code is not None:
                    self._note_exit(daemon, code)
                if daemon.process is None and daemon.may_run:
                    daemon.start()
            if time.monotonic() - sampled > SAMPLE_SECONDS:
                sampled = time.monotonic()
                self._sample()

    def _note_exit(self, daemon: Daemon, code: int) -> None:
        self.note("exit", daemon.name, code=code, asked_us=daemon.asked_us)
        daemon.process = None

    def _sample(self) -> None:
        for daemon in self.daemons.values():
            pid = daemon.pid()
            values = processes.size(pid) if pid else None
            if values:
                self.note("daemon", daemon.name, **values)
        try:
            with self.cluster.session() as cursor:
                cursor.execute("SELECT (SELECT count(*) FROM ready),"
                               " (SELECT coalesce(max(id), 0) FROM event)")
                ready, progress = cursor.fetchone()
        except Exception:  # the database is away, or has no tables yet: nothing to note
            return
        self.note("store", ready=ready, progress=progress,
                  daemons=sum(daemon.pid() is not None for daemon in self.daemons.values()))

    def stop(self) -> None:
        """Tells all daemons to end, and notes how they did and what is left of them."""
        self.is_over.set()
        self.watcher.join()
        for daemon in self.daemons.values():
            daemon.may_run = False
            daemon.asked_us = processes.wall_us()
            if daemon.process:
                daemon.process.terminate()
        for daemon in self.daemons.values():
            if daemon.process:
                try:
                    code: int | None = daemon.process.wait(timeout=STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    code = None
                self.note("exit", daemon.name, code=code, asked_us=daemon.asked_us)
        for daemon in self.daemons.values():
            self._note_left(daemon)

    def _note_left(self, daemon: Daemon) -> None:
        for pid, is_task in processes.of_host(str(daemon.home)):
            self.note("left", daemon.name, text=f"{'task' if is_task else 'process'} {pid}: "
                      + processes.command_line(pid)[:200])
        for path in sorted((daemon.home / "state").glob("scratch/*")):
            self.note("left", daemon.name, text=str(path))

    def close(self) -> None:
        self.is_over.set()
        for daemon in self.daemons.values():
            daemon.close()
