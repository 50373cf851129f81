"""A daemon and a folder of DAG files: how long until they are in the store, and an edit of one."""
import os
import pathlib
import re
import shutil
import subprocess
import time

WAIT_SECONDS = 120
STEP_SECONDS = 0.002
SEEN = re.compile(r"DAG files .*files=(\d+) read=(\d+) changed=(\d+)")


def make(folder, count, text_of=None):
    """`count` DAGs in a hundred folders, by default of five tasks each."""
    shutil.rmtree(folder, ignore_errors=True)
    for i in range(count):
        path = folder / f"g{i % 100}" / f"d{i}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(i) if text_of else text(i, "check"))


def text(i, word):
    return f"""dag: pipeline_{i}
tags: [bench, g{i % 100}]
params: {{region: {{type: string, default: eu}}}}
defaults: {{retries: 2, retry_delay: 30s}}
tasks:
  extract: {{run: "echo extract {{{{ ds }}}} {i}"}}
  transform: {{needs: [extract], run: "echo transform"}}
  load: {{needs: [transform], run: "echo load {{{{ params.region }}}}"}}
  check: {{needs: [load], run: "echo {word}"}}
  done: {{needs: [check], noop: true}}
"""


class Daemon:
    """`eider up` on the folder; its messages are what is measured."""

    def __init__(self, program, place, folder, store=None):
        self.log = pathlib.Path(place) / "up.log"
        env = {**os.environ, "EIDER_HOME": str(pathlib.Path(place) / "daemon"),
               "EIDER_DAGS": str(folder), **({"EIDER_STORE": store} if store else {})}
        self.began = time.monotonic()
        with self.log.open("w") as out:
            self.child = subprocess.Popen([program, "up"], stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=out, env=env, cwd=place)

    def looks(self):
        """(files, read, changed) of each look that was told of."""
        return [tuple(map(int, found)) for found in SEEN.findall(self.log.read_text())]

    def wait(self, count):
        """Seconds since `began` until so many looks were told of."""
        while len(self.looks()) < count:
            if self.child.poll() is not None or time.monotonic() - self.began > WAIT_SECONDS:
                raise ValueError(f"the daemon did not get there: {self.log.read_text()[-200:]}")
            time.sleep(STEP_SECONDS)
        return time.monotonic() - self.began

    def cpu(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.child.terminate()
        self.child.wait()


def load(program, place, count, store=None):
    """First load, restart with everything unchanged, and idle processor share (each in seconds)."""
    folder = pathlib.Path(place) / "many"
    make(folder, count)
    shutil.rmtree(pathlib.Path(place) / "daemon", ignore_errors=True)
    daemon = Daemon(program, place, folder, store)
    first = daemon.wait(1)
    found = daemon.looks()[0]
    daemon.stop()
    if found != (count, count, count):
        raise ValueError(f"expected {count} files read, got {found}")
    daemon = Daemon(program, place, folder, store)
    again = daemon.wait(1)
    found = daemon.looks()[0]
    before = daemon.cpu()
    time.sleep(2)
    idle = (daemon.cpu() - before) / 2
    daemon.stop()
    if found != (count, 0, 0):
        raise ValueError(f"expected nothing to be read again, got {found}")
    return first, again, idle


def edits(program, place, count, times, store=None):
    """Seconds from an edit to its effect, each time, among `count` files."""
    folder = pathlib.Path(place) / "edited"
    make(folder, count)
    shutil.rmtree(pathlib.Path(place) / "daemon", ignore_errors=True)
    daemon = Daemon(program, place, folder, store)
    daemon.wait(1)
    took = []
    for i in range(times):
        daemon.began = time.monotonic()
        (folder / "g0" / "d0.yaml").write_text(text(0, f"word{i}"))
        took.append(daemon.wait(2 + i))
    daemon.stop()
    return took
