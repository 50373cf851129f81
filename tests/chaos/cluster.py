"""A private PostgreSQL: made, stopped, killed and frozen by us alone.

Durability is as shipped. The server listens on a unix socket in its own folder; the product reaches
it through proxies (proxy.py), as the role `eider`, so that its sessions can be told from ours.
"""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any

import psycopg2

from processes import is_alive
from product import ROOT

PORT = 5432  # part of the socket's name only
ROLE = "eider"
START_SECONDS = 60.0
POLL = 0.05
OWNER = "postgres"


def binaries() -> pathlib.Path:
    """The newest installed version."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"),
                   key=lambda path: int(path.parts[-3]))
    if not found:
        raise FileNotFoundError("PostgreSQL is not installed; run tools/setup test")
    return found[-1].parent


class Cluster:
    """One server with an empty database `eider`."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="eider-pg-"))
        self.data = self.folder / "data"
        self.bin = binaries()
        self.as_owner: list[str] = []
        if os.geteuid() == 0:
            owner = pwd.getpwnam(OWNER)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self.as_owner = ["runuser", "-u", OWNER, "--"]
        self.folder.chmod(0o755)
        made = subprocess.run([ROOT / "tools/with-postgres", "--template"], check=True, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout.strip()
        subprocess.run(["cp", "-a", made, self.data], check=True)
        self.start()
        with self.session("postgres") as cursor:
            cursor.execute(f"CREATE ROLE {ROLE} LOGIN")
            cursor.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")

    def _run(self, program: str, *args: object, check: bool = True) -> int:
        command = [*self.as_owner, str(self.bin / program), *map(str, args)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False, cwd=self.folder)
        if check and done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr.strip()}\n{self.log()[-2000:]}")
        return done.returncode

    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def socket(self) -> str:
        return str(self.folder / f".s.PGSQL.{PORT}")

    def start(self) -> None:
        """Starts; after a kill the server's orphans may hold its memory for a moment."""
        settings = f"-k {self.folder} -p {PORT} -c listen_addresses='' -c max_connections=200"
        deadline = time.monotonic() + START_SECONDS
        while self._run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", settings,
                        "start", check=False) != 0:
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start:\n{self.log()[-2000:]}")
            time.sleep(POLL)

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def restart(self, mode: str = "fast") -> None:
        self.stop(mode)
        self.start()

    def postmaster(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """Kills the postmaster as a crash would; start() brings the server back."""
        pid = self.postmaster()
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + START_SECONDS
        while is_alive(pid) and time.monotonic() < deadline:
            time.sleep(POLL)

    # --- sessions

    def connect(self, database: str = ROLE, user: str = OWNER) -> Any:
        return psycopg2.connect(host=str(self.folder), port=PORT, dbname=database, user=user,
                                connect_timeout=10)

    @contextlib.contextmanager
    def session(self, database: str = ROLE, user: str = OWNER) -> Any:
        """A cursor whose statements commit one by one."""
        connection = self.connect(database, user)
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    def backends(self) -> list[int]:
        """Processes that serve the product."""
        with self.session("postgres") as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE usename = %s ORDER BY random()",
                           (ROLE,))
            return [row[0] for row in cursor.fetchall()]

    def terminate(self, most: int) -> int:
        """Ends random sessions of the product; how many."""
        with self.session("postgres") as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity"
                " WHERE usename = %s ORDER BY random() LIMIT %s) AS chosen", (ROLE, most))
            return sum(row[0] for row in cursor.fetchall())

    def stop_backends(self) -> list[int]:
        """Freezes every session of the product; returns whom to wake."""
        stopped = []
        for pid in self.backends():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                stopped.append(pid)
        return stopped

    @staticmethod
    def wake(pids: list[int]) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", self.data, "-w", "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
