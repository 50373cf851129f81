#!/usr/bin/python3
"""Mistakes made on purpose: each must be found by a scenario that is made for it.

    saboteurs.py [--program build/sabotage/eider] [--control] [NAME..]

The program is one built with -DEIDER_SABOTAGE=ON; EIDER_SABOTAGE names the mistake it makes. With
--control the same scenarios run without a mistake and must find nothing. Exit code 0 when every
mistake was found (or, with --control, none).
"""
import argparse
import dataclasses
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable

import checker
import history as h
from joined import Bounds
from nemesis import Plan
from processes import wall_us
from product import ROOT
from run import Scene

START_SECONDS = 30.0
LONG_MS = 12_000
SLOW = {"EIDER_LEASE": "6s", "EIDER_RENEW": "2s"}  # longer, so that a fault fits in between
SLOW_BOUNDS = Bounds(lease=6_000_000)


def starts(scene: Scene) -> list[h.Probe]:
    """Processes that started so far, oldest first."""
    rows = h.read_probes((scene.folder / "probe").glob("*.jsonl"))
    return sorted((row for row in rows if row.op == "start"), key=lambda row: row.at_us)


def next_start(scene: Scene, after_us: int, host: str = "") -> h.Probe:
    """The first process that starts after an instant (on a host)."""
    found: list[h.Probe] = []

    def look() -> bool:
        found[:] = [row for row in starts(scene) if row.at_us > after_us and host in ("", row.host)]
        return bool(found)

    scene.wait(look, "a task to start", START_SECONDS)
    return found[0]


def do(scene: Scene, kind: str, host: str = "", ms: int = 0, value: float = 0.0) -> h.Fault:
    return scene.nemesis.do(Plan(0, kind, host, ms, value))


def job(scene: Scene, plan: str, *options: str) -> h.Call:
    """A job without a dedupe key, which only the store's own care keeps single."""
    op = scene.load.take_ops(1)[0]
    handler = f"$ {scene.load.command} {plan}"
    return scene.load.call("job", "", {"handler": handler, "as_op": op}, "enqueue", "default",
                           handler, f'{{"op": {op}}}', *options, "-o", "json")


# --- scenarios ----------------------------------------------------------------------------------

def plain_work(scene: Scene) -> None:
    """Some of everything, and no fault but one restart."""
    rng = random.Random(1)
    for _ in range(40):
        scene.load.step(rng)
    do(scene, "kill", "h1", 200)
    for _ in range(20):
        scene.load.step(rng)


def late_outcome(scene: Scene) -> None:
    """A host that was cut off delivers its outcome while another runs the next attempt."""
    for _ in range(3):
        asked = wall_us()
        job(scene, "ms=7000", "--on-lost-lease", "finish")
        host = next_start(scene, asked).host
        do(scene, "cut", host, 9000)
        scene.drain()


def slow_sweeper(scene: Scene) -> None:
    """Outcomes arrive while sweepers, whose every message takes long, take the same tasks back."""
    for turn in range(4):
        asked = wall_us()
        for number in range(24):
            job(scene, f"ms={3000 + number * 150}", "--on-lost-lease", "finish")
        host = next_start(scene, asked).host
        for other in scene.fleet.daemons:
            if other != host:
                scene.nemesis.tell(other, "delay", seconds=0.15)
        do(scene, "cut", host, 3400 + turn * 300)
        for other in scene.fleet.daemons:
            scene.nemesis.tell(other, "pass")
        scene.drain()


def poison(scene: Scene) -> None:
    """A job whose owner dies again and again."""
    asked = wall_us()
    made = job(scene, "ms=60000")
    for _ in range(5):
        try:
            start = next_start(scene, asked)
        except TimeoutError:
            return  # it was put aside
        do(scene, "kill_both", start.host, 100)
        asked = start.at_us
    scene.load.call("cancel_job", "", {"id": int(made.reply["id"])}, "jobs", "cancel",
                    made.reply["id"])


def cut_off(scene: Scene) -> None:
    """A host loses the store for longer than its lease; its task must be gone by then."""
    for _ in range(3):
        asked = wall_us()
        job(scene, f"ms={LONG_MS}")
        do(scene, "cut", next_start(scene, asked).host, 8000)
        scene.drain()


def cut_off_with_wrong_clock(scene: Scene) -> None:
    """The same, and the host's wall clock goes back by an hour meanwhile."""
    asked = wall_us()
    job(scene, f"ms={LONG_MS}")
    host = next_start(scene, asked).host
    (scene.folder / "clock").write_bytes(struct.pack("q", -3600 * 1_000_000))
    do(scene, "cut", host, 9000)
    (scene.folder / "clock").write_bytes(struct.pack("q", 0))
    scene.drain()


def late_answer(scene: Scene) -> None:
    """The answer to a renewal is late, and then nothing gets through any more."""
    for _ in range(4):
        asked = wall_us()
        job(scene, f"ms={LONG_MS}")
        host = next_start(scene, asked).host
        do(scene, "one_way", host, 1900)
        do(scene, "other_way", host, 9000)
        scene.drain()


def swallowed_answers(scene: Scene) -> None:
    """COMMITs that worked and whose answers are lost, of clients and of hosts."""
    for turn in range(12):
        scene.nemesis.tell("client", "swallow_commit")
        if turn % 2:
            job(scene, "ms=300")
        else:
            scene.load.submit_run("chain")
        scene.nemesis.tell("client", "pass")
        do(scene, "swallow_commit", f"h{turn % len(scene.fleet.daemons) + 1}", 1500)


def lost_commits(scene: Scene) -> None:
    """COMMITs that never arrived, of clients and of hosts."""
    for turn in range(12):
        scene.nemesis.tell("client", "lose_commit")
        if turn % 2:
            job(scene, "ms=300")
        else:
            scene.load.submit_run("chain")
        scene.nemesis.tell("client", "pass")
        scene.load.submit_run("fan")
        do(scene, "lose_commit", f"h{turn % len(scene.fleet.daemons) + 1}", 1500)


def dies_young(scene: Scene) -> None:
    """A new host claims and dies before it renewed its lease for the first time."""
    daemon = scene.fleet.daemons["h1"]
    daemon.may_run = False
    daemon.signal(signal.SIGKILL, keeper_too=True)
    scene.wait(lambda: daemon.process is None, "h1 to be gone", START_SECONDS)
    shutil.rmtree(daemon.home / "state", ignore_errors=True)
    for _ in range(40):
        job(scene, "ms=4000")
    asked = wall_us()
    daemon.may_run = True
    start = next_start(scene, asked, "h1")
    daemon.may_run = False
    daemon.signal(signal.SIGKILL, keeper_too=True)
    h.append(scene.nemesis.record, h.Fault(1, "kill_both", "h1", start.at_us, wall_us(), {}))
    scene.drain()
    daemon.may_run = True


def long_outage(scene: Scene) -> None:
    """The database is away for a while, and sessions end again and again."""
    job(scene, "ms=300")
    scene.cluster.stop("fast")
    start = wall_us()
    time.sleep(12)
    scene.cluster.start()
    h.append(scene.nemesis.record, h.Fault(1, "restart", "", start, wall_us(),
                                           {"disconnected": 1}))
    for _ in range(12):
        do(scene, "terminate")
        time.sleep(0.5)


def open_pipe(scene: Scene) -> None:
    """A task ends and leaves a process that holds its output."""
    for _ in range(6):
        job(scene, "ms=100 child=40000")
    scene.drain()


@dataclasses.dataclass(frozen=True)
class Scenario:
    """What is played for a mistake, and which rules may find it."""

    play: Callable[[Scene], None]
    rules: frozenset[str]
    settings: dict[str, str] = dataclasses.field(default_factory=dict)
    bounds: Bounds = Bounds()


def scenario(play: Callable[[Scene], None], *rules: str, slow: bool = False) -> Scenario:
    return Scenario(play, frozenset(rules), SLOW if slow else {},
                    SLOW_BOUNDS if slow else Bounds())


SABOTEURS = {
    "complete_without_nonce": scenario(late_outcome, "S5", "S6", "S7"),
    "rescue_by_id": scenario(slow_sweeper, "S5", "S6", "S7", "S19"),
    "rescue_ignores_limit": scenario(poison, "S9"),
    "counter_nonce": scenario(plain_work, "S4"),
    "wall_clock_lease": scenario(cut_off_with_wrong_clock, "C12"),
    "trust_from_reply": scenario(late_answer, "C12", slow=True),
    "unknown_is_failure": scenario(swallowed_answers, "S1", "S2", "S6", "L5"),
    "unknown_is_success": scenario(lost_commits, "S1", "S5", "L5"),
    "null_heartbeat_skipped": scenario(dies_young, "L2", "L5", slow=True),
    "heartbeat_error_swallowed": scenario(cut_off, "C12"),
    "loop_exits_silently": scenario(long_outage, "L1", "L5", "L6"),
    "pipe_eof_wait": scenario(open_pipe, "L6", "L8"),
    "event_after_commit": scenario(plain_work, "S19"),
}


def play(name: str, options: argparse.Namespace) -> bool:
    """Whether the outcome is as it should be."""
    chosen = SABOTEURS[name]
    folder = ROOT / "build/chaos" / f"{'control' if options.control else 'sabotage'}-{name}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    shim = folder.parent / "clock_shim.so"
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", str(shim),
                    str(pathlib.Path(__file__).parent / "clock_shim.c"), "-ldl"], check=True)
    env = {} if options.control else {"EIDER_SABOTAGE": name}
    if chosen.play is cut_off_with_wrong_clock:
        env |= {"LD_PRELOAD": str(shim), "CHAOS_CLOCK": str(folder / "clock")}
    started = time.monotonic()
    scene = Scene(options.program.resolve(), folder, hosts=3, seed=1, settings=chosen.settings,
                  env=env)
    try:
        (folder / "clock").write_bytes(struct.pack("q", 0))
        scene.start()
        chosen.play(scene)
        scene.settle()
        history = scene.history()
    finally:
        scene.close()
    report = checker.check(history, chosen.bounds)
    found = {violation.rule for violation in report.violations}
    is_right = not found if options.control else bool(found & chosen.rules)
    first = next((v for v in report.violations if v.rule in chosen.rules or options.control), None)
    print(f"{'ok    ' if is_right else 'MISSED' if not options.control else 'FALSE '} {name:<26}"
          f" {time.monotonic() - started:5.0f} s  {' '.join(sorted(found)) or 'nothing'}"
          f"{'  ' + first.text[:100] if first else ''}", flush=True)
    return is_right


def main() -> int:
    parser = argparse.ArgumentParser(description="Mistakes made on purpose must be found.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SABOTEURS))
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/sabotage/eider")
    parser.add_argument("--control", action="store_true", help="no mistake: nothing may be found")
    options = parser.parse_args()
    if unknown := set(options.names) - set(SABOTEURS):
        print(f"saboteurs.py: no saboteur {', '.join(sorted(unknown))}; there are:"
              f" {', '.join(SABOTEURS)}", file=sys.stderr)
        return 2
    if not options.program.exists():
        print(f"saboteurs.py: {options.program} does not exist", file=sys.stderr)
        return 2
    results = [play(name, options) for name in options.names or SABOTEURS]
    print(f"{sum(results)} of {len(results)} as they should be")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
