"""A PostgreSQL of the benchmark's own: Debian's defaults, durable, gone when it is closed."""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

USER = "postgres"  # the server refuses to run as root
DATABASE = "bench"
START_SECONDS = 60


def find_binaries():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"),
                   key=lambda path: int(path.parent.parent.name))
    if not found:
        raise FileNotFoundError("no PostgreSQL server below /usr/lib/postgresql")
    return found[-1].parent


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A cluster below `parent` on a unix socket and a loopback port; a context manager."""

    def __init__(self, parent, settings=()):
        self.binaries = find_binaries()
        self.port = free_port()
        self.settings = settings
        parent.mkdir(parents=True, exist_ok=True)
        self.data = parent / "postgres"
        # A socket's path is at most 107 bytes long, so it does not lie below ours.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-pg-"))
        self.child = None

    @property
    def url(self):
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{DATABASE}"

    @property
    def socket_url(self):
        return f"postgresql:///{DATABASE}?host={self.sockets}&port={self.port}&user={USER}"

    def command(self, program, *args):
        as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        return [*(as_user if os.getuid() == 0 else []), str(self.binaries / program), *args]

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        if os.getuid() == 0:
            owner = pwd.getpwnam(USER)
            for folder in (self.data, self.sockets):
                os.chown(folder, owner.pw_uid, owner.pw_gid)
        subprocess.run(self.command("initdb", "-D", str(self.data), "-U", USER, "--auth=trust",
                                    "--encoding=UTF8", "--locale=C.UTF-8"),
                       stdout=subprocess.DEVNULL, cwd="/", check=True)
        options = ["-k", str(self.sockets), "-p", str(self.port), "-h", "127.0.0.1"]
        for setting in self.settings:
            options += ["-c", setting]
        with (self.data.parent / "postgres.log").open("w") as log:
            self.child = subprocess.Popen(self.command("postgres", "-D", str(self.data), *options),
                                          stdout=log, stderr=log, cwd="/")
        give_up = time.monotonic() + START_SECONDS
        while subprocess.run([self.binaries / "pg_isready", "-q", "-h", self.sockets, "-p",
                              str(self.port)], check=False).returncode != 0:
            if self.child.poll() is not None or time.monotonic() > give_up:
                raise OSError(f"PostgreSQL did not start: {self.data.parent / 'postgres.log'}")
            time.sleep(0.05)
        with Session(self.socket_url.replace(f"/{DATABASE}?", "/postgres?")) as session:
            session.ask(f"CREATE DATABASE {DATABASE}")

    def __exit__(self, *_):
        if self.child and self.child.poll() is None:
            self.child.terminate()  # no new connections; those that are open may end
            try:
                self.child.wait(2)
            except subprocess.TimeoutExpired:
                self.child.send_signal(2)  # break them off
                self.child.wait()
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.rmtree(self.sockets, ignore_errors=True)

    def recreate(self):
        """An empty database again, and nothing left to be written from before."""
        with Session(self.socket_url.replace(f"/{DATABASE}?", "/postgres?")) as session:
            session.ask(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            session.ask(f"CREATE DATABASE {DATABASE}")
            session.ask("CHECKPOINT")

    def version(self):
        with self.session() as session:
            return session.ask("SHOW server_version")[0][0]

    def session(self):
        return Session(self.socket_url)


class Session:
    """One connection that stays open: a psql that is spoken to. A context manager."""

    END = "--end of the answer--"

    def __init__(self, url):
        self.child = subprocess.Popen(
            ["psql", "-qAtX", "-F", "\t", "-v", "ON_ERROR_STOP=1", url], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, sql):
        """The answer as a list of rows, each a list of texts."""
        self.child.stdin.write(f"{sql};\n\\echo {self.END!r}\n")
        self.child.stdin.flush()
        rows = []
        for line in self.child.stdout:
            if line.rstrip("\n") == self.END:
                return rows
            rows.append(line.rstrip("\n").split("\t"))
        raise OSError(f"{sql[:60]}: {self.child.stderr.read().strip()}")

    def number(self, sql):
        """The one value of the answer; 0 when it is null."""
        rows = self.ask(sql)
        return float(rows[0][0] or 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.stderr.close()
        self.child.wait()
