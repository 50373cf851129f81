#!/usr/bin/python3
"""The chaos run: a fleet under load and faults, then a checker that decides.

    run.py [--kills 200] [--pauses 100] [--restarts 20] [--minutes 12] [--hosts 3] [--seed N]
    run.py --short                    about two minutes, every kind of fault
    run.py --replay FILE              the faults of an earlier run, from its schedule.jsonl

Exit code 0 valid, 1 violated, 3 inconclusive. Everything of a run stays in build/chaos/SEED; check
it again with checker.py.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

import psycopg2.errors

import check_life
import checker
import dump
import fleet as fleets
import history as h
import load as loads
import nemesis as nemeses
import timed
from cluster import Cluster
from joined import Bounds, Joined, Violation
from processes import wall_us
from product import BACKFILL_FINAL, FINAL, ROOT, RUN_FINAL
from proxy import Proxies

CANARIES = 10
WARM_SECONDS = 60.0
DRAIN_SECONDS = 240.0
POLL = 0.2
BITES_MAX = 5
SOON_SECONDS = 60  # a tick to come within these is waited for
LOSS_SECONDS = 6.0  # until what a fault took from its host is taken back
SHORT = {"kills": 16, "pauses": 8, "restarts": 3, "others": 2, "minutes": 1.3}
PROOFS = ("backfill", "waiting")
SHORT_WAITS = 200  # of `eider prove waiting`, which has 10,000 otherwise
FULL = {"kills": 200, "pauses": 100, "restarts": 20, "others": 12, "minutes": 11.5}


class Scene:
    """Everything that a run needs, in one folder; closed whatever happens."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, hosts: int, seed: int,
                 settings: dict[str, str] | None = None, env: dict[str, str] | None = None,
                 clients: int = 3) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "probe").mkdir(parents=True)
        self.folder, self.program = folder, program
        self.drain_seconds = DRAIN_SECONDS
        self.probe = folder / "probe.bin"
        subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-O1", "-o", str(self.probe),
                        str(pathlib.Path(__file__).parent / "probe.c")], check=True)
        self.cluster = Cluster()
        self.links = Proxies(self.cluster.socket)
        setup = fleets.Setup(program, folder, extra_env=env or {})
        setup.settings.update(settings or {})
        self.fleet = fleets.Fleet(setup, self.cluster, self.links, hosts)
        url = f"postgresql://eider@127.0.0.1:{self.links.add('client')}/eider?sslmode=disable"
        self.load = loads.Load(loads.Setup(program, folder, self.probe, url, seed, clients,
                                           env or {}))
        self.nemesis = nemeses.Nemesis(folder, self.cluster, self.links, self.fleet, self.load)

    def start(self) -> None:
        """All daemons, the first of which makes the schema; returns when the store knows each."""
        self.fleet.start()
        self.wait(self.is_complete, "hosts to join", WARM_SECONDS)
        self.load.prepare()

    def is_complete(self) -> bool:
        try:
            names = self.ask("SELECT name FROM host WHERE ended_at_us IS NULL")
        except psycopg2.errors.UndefinedTable:
            return False
        return set(self.fleet.daemons) <= {row[0] for row in names}

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        with self.cluster.session() as cursor:
            cursor.execute(sql)
            rows: list[tuple[object, ...]] = cursor.fetchall()
            return rows

    @staticmethod
    def wait(condition: Callable[[], bool], what: str, seconds: float, poll: float = POLL) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {seconds:.0f} s for {what}")
            time.sleep(poll)

    def is_drained(self) -> bool:
        run_states = ", ".join(map(str, sorted(RUN_FINAL)))
        task_states = ", ".join(map(str, sorted(FINAL)))
        backfill_states = ", ".join(map(str, sorted(BACKFILL_FINAL)))
        return self.ask(
            f"SELECT (SELECT count(*) FROM run WHERE state NOT IN ({run_states}))"
            f" + (SELECT count(*) FROM task WHERE run = 0 AND state NOT IN ({task_states}))"
            " + (SELECT count(*) FROM ready) + (SELECT count(*) FROM running)"
            " + (SELECT count(*) FROM trigger_pending) + (SELECT count(*) FROM waiting)"
            f" + (SELECT count(*) FROM backfill WHERE state NOT IN ({backfill_states}))"
            # Timetables end with the load; those that tick once a day do not count.
            " + (SELECT count(*) FROM schedule WHERE next_us < "
            f"{wall_us() + SOON_SECONDS * 1_000_000})"
        )[0][0] == 0

    def drain(self) -> bool:
        try:
            self.wait(self.is_drained, "the rest to end", self.drain_seconds)
        except TimeoutError:
            return False
        return True

    def settle(self) -> None:
        """Faults are over: everything must end, and what is new must start at once."""
        self.fleet.note("healed")
        if self.drain():
            self.fleet.note("drained")
            if self.load.is_timed:
                self.load.offer(timed.CANARY_SECONDS, timed.CANARY)
            for _ in range(CANARIES):
                self.load.submit_job("ms=50", canary=True)
            self.drain()
        self.fleet.stop()

    def history(self) -> h.History:
        """Reads the store, and everything that was written down."""
        connection = self.cluster.connect()
        with connection.cursor() as cursor:
            homes = [daemon.home / "state/blob" for daemon in self.fleet.daemons.values()]
            stored = dump.read_store(cursor, True, homes)
        connection.close()
        h.save_store(self.folder, stored)
        return h.load(self.folder)

    def close(self) -> None:
        self.fleet.close()
        self.links.close()
        self.cluster.close()


def check_store(scene: Scene) -> list[Violation]:
    """What the program itself says of its store."""
    code, reply = scene.load.eider("store", "check", "-o", "json")
    return [] if code == 0 else [Violation("S19", f"eider store check: {str(reply)[:1000]}")]


class Proofs:
    """Proofs that users can run themselves."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path) -> None:
        self.program, self.folder = program, folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *args: str) -> subprocess.Popen[bytes]:
        home = self.folder / f"prove-{name}"
        with home.with_suffix(".txt").open("wb") as out:
            self.running[name] = subprocess.Popen(
                [str(self.program), "prove", name, *args, "--home", str(home)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        return self.running[name]

    def failed(self) -> list[Violation]:
        """Waits for all."""
        return [Violation("proof", f"eider prove {name} failed; see prove-{name}.txt")
                for name, process in self.running.items() if process.wait() != 0]

    def close(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                process.terminate()
                process.wait()


def prove_at_end(scene: Scene, proofs: Proofs) -> list[Violation]:
    """On the same server, in a database of their own, those that did not run meanwhile."""
    with scene.cluster.session("postgres") as cursor:
        cursor.execute("CREATE DATABASE proofs OWNER eider")
    port = scene.links.add("proofs")
    store = f"postgresql://eider@127.0.0.1:{port}/proofs?sslmode=disable"
    for name in PROOFS:
        if name not in proofs.running:
            proofs.start(name, "--store", store).wait()
    return proofs.failed()


def bite_again(scene: Scene, seed: int, started: float) -> list[nemeses.Plan]:
    """Repeats, while the load goes on, kinds of faults that by chance had no visible effect."""
    rng, repeated = random.Random(seed), list[nemeses.Plan]()
    for _ in range(BITES_MAX):
        time.sleep(LOSS_SECONDS)
        kinds = check_life.toothless(Joined(scene.history(), Bounds()))
        if not kinds:
            break
        at_ms = int((time.monotonic() - started) * 1000)
        plans = [nemeses.again(rng, kind, list(scene.fleet.daemons), at_ms) for kind in kinds]
        for plan in plans:
            scene.nemesis.do(plan)
        repeated += plans
    return repeated


def run(options: argparse.Namespace) -> int:
    folder = options.folder or ROOT / f"build/chaos/{options.seed}"
    # Nothing may depend on there being one leader: with every other seed all hosts act as one.
    leaders = {"EIDER_SWEEP_BY": "every" if options.seed % 2 else "leader"}
    scene = Scene(options.program.resolve(), folder.resolve(), options.hosts, options.seed, leaders)
    proofs = Proofs(scene.program, scene.folder)
    try:
        if options.replay:
            plans = nemeses.load(options.replay)
        else:
            with_disk = all(daemon.is_small for daemon in scene.fleet.daemons.values())
            plans = nemeses.make(
                options.seed, nemeses.Amounts(options.kills, options.pauses, options.restarts,
                                              options.others),
                list(scene.fleet.daemons), int(options.minutes * 60_000), with_disk)
        nemeses.save(folder / "schedule.jsonl", plans)
        scene.start()
        scene.load.offer(options.minutes * 60, *timed.DAGS)
        scene.load.backfill(random.Random(options.seed))
        scene.load.start()
        if options.short:  # it takes no longer for it, and the store is one of its own
            proofs.start("waiting", "--count", str(SHORT_WAITS))
        started = time.monotonic()
        scene.nemesis.run(plans)
        nemeses.save(folder / "schedule.jsonl", plans + bite_again(scene, options.seed, started))
        time.sleep(max(0.0, started + options.minutes * 60 - time.monotonic()))
        scene.load.stop()
        scene.settle()
        history = scene.history()
        unproved = [*check_store(scene), *prove_at_end(scene, proofs)]
    finally:
        proofs.close()
        scene.close()
    report = checker.check(history)
    report.violations += unproved
    text = {"seed": options.seed, "replay": f"{folder}/schedule.jsonl", **report.as_json()}
    (folder / "report.json").write_text(json.dumps(text, indent=1))
    checker.show(report)
    print(f"seed {options.seed}; everything is in {folder}")
    return report.code


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a fleet under faults and check what it did.")
    for name, usual in FULL.items():
        parser.add_argument(f"--{name}", type=type(usual), default=None)
    parser.add_argument("--short", action="store_true", help="two minutes, every kind of fault")
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/eider")
    parser.add_argument("--replay", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    for name, usual in (SHORT if options.short else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, usual)
    if not options.program.exists():
        print(f"run.py: {options.program} does not exist; make build", file=sys.stderr)
        return 2
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
