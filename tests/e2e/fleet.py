"""A PostgreSQL server of the test's own, and daemons in the background."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile

from harness import ROOT, wait_for

OWNER = "postgres"
LEASE = 3.0  # seconds; see FAST
FAST = {"EIDER_SWEEP": "200ms", "EIDER_POLL": "200ms", "EIDER_LEASE": "3s", "EIDER_RENEW": "500ms",
        "EIDER_MARGIN": "1s"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Listens in its own folder and on a loopback port, where the user `guarded` needs a password.

    Stopped with everything it holds at the end.
    """

    def __init__(self):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
        assert found, "PostgreSQL is not installed; run tools/setup test"
        self.bin = found[-1].parent
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="eider-pg-"))
        self.prefix = []
        if os.geteuid() == 0:
            owner = pwd.getpwnam(OWNER)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self.prefix = ["runuser", "-u", OWNER, "--"]
        self.folder.chmod(0o755)
        self.data = self.folder / "data"
        self.port = free_port()
        self.make()
        self.start()

    def make(self):
        made = subprocess.run([ROOT / "tools/with-postgres", "--template"], check=True, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout.strip()
        subprocess.run(["cp", "-a", made, self.data], check=True)

    @property
    def url(self):
        return self.url_of("postgres")

    def url_of(self, database, user=OWNER):
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def tcp_url_of(self, database, user=OWNER):
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def sql(self, text, database="postgres"):
        """What a superuser gets: lines, columns separated by '|'."""
        done = subprocess.run([str(self.bin / "psql"), "-X", "-At", "-q", "-v", "ON_ERROR_STOP=1",
                               self.url_of(database), "-c", text], check=False,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, program, *args):
        subprocess.run([*self.prefix, str(self.bin / program), *map(str, args)], check=True,
                       cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o",
                 f"-k {self.folder} -p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off",
                 "start")

    def stop(self, mode="immediate"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def close(self):
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)


class Daemon:
    """`eider up` in the background, its messages in a file."""

    def __init__(self, eider, *args, env=None, name="up"):
        self.home = (env or {}).get("EIDER_HOME", str(eider.home))
        self.log_path = eider.folder / f"{name}.log"
        self.log = open(self.log_path, "a", encoding="utf-8")
        self.child = eider.start("up", *args, env={**FAST, **(env or {})}, stdout=self.log,
                                 stderr=self.log)

    def text(self):
        return self.log_path.read_text()

    def wait_until_up(self, times=1):
        wait_for(lambda: self.text().count(" is up\n") >= times or self.child.poll() is not None,
                 "the daemon is up")
        assert self.child.poll() is None, self.text()
        return self

    def wait_until(self, words):
        wait_for(lambda: words in self.text(), f"the daemon says: {words}")

    def signal(self, number):
        self.child.send_signal(number)

    def freeze(self):
        """Stands still, but not in the middle of a transaction, where all others would wait."""
        store = pathlib.Path(self.home) / "eider.db"
        stat = pathlib.Path(f"/proc/{self.child.pid}/stat")
        while True:
            self.signal(signal.SIGSTOP)
            wait_for(lambda: ") T " in stat.read_text(), "the daemon stands still")
            if not store.exists() or is_free(store):
                return
            self.signal(signal.SIGCONT)

    def wait(self):
        code = self.child.wait(timeout=60)
        self.log.close()
        return code

    def kill(self):
        self.signal(signal.SIGKILL)
        self.wait()

    def finish(self):
        """Stops it now, with what it runs."""
        if self.child.poll() is None:
            heard = self.text().count("stopping")
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            # Two that arrive at once are one.
            wait_for(lambda: self.text().count("stopping") > heard or self.child.poll() is not None,
                     "the daemon stops")
            self.signal(signal.SIGTERM)
            assert self.wait() == 0, self.text()
        # UBSan, beside ASan, speaks where the daemon does.
        assert ": runtime error: " not in self.text(), self.text()[-8000:]


def is_free(path):
    """Whether nobody holds the lock of those who write to the file."""
    with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as session:
        try:
            session.execute("BEGIN IMMEDIATE")
            session.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return False
    return True


def finish_all(daemons):
    """Stops them; then the keepers of killed ones, which wait for a daemon to come."""
    for daemon in daemons:
        daemon.finish()
    for keeper in {pid for daemon in daemons for pid in keepers_of(daemon.home)}:
        os.kill(keeper, signal.SIGKILL)


def keepers_of(home):
    """Processes named eider-keeper that serve a daemon of this home."""
    found = []
    wanted = f"EIDER_HOME={home}\0".encode()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            name = pathlib.Path(f"/proc/{entry}/comm").read_text().strip()
            environment = pathlib.Path(f"/proc/{entry}/environ").read_bytes()
        except OSError:
            continue
        if name == "eider-keeper" and wanted in environment:
            found.append(int(entry))
    return found


LONG = """
    tasks:
      work:
        run: |
          echo start $$ >> @evidence
          while [ ! -e @evidence.go ]; do sleep 0.05; done
          echo end $$ >> @evidence
"""


def started(evidence):
    return [int(line.split()[1]) for line in evidence.lines() if line.startswith("start")]


def let_go(eider):
    (eider.folder / "evidence.go").touch()


def wait_for_state(eider, state, dag="dag"):
    wait_for(lambda: eider.run_state(dag) == state, f"{dag} is {state}")
