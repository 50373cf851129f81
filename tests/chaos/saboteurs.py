#!/usr/bin/python3
"""Mistakes made on purpose: each must be found by a scenario that is made for it.

    saboteurs.py [--control | --both] [--jobs N] [NAME..]

The program (--program, build/sabotage/eider) is one built with -DEIDER_SABOTAGE=ON; EIDER_SABOTAGE
names the mistake it makes. With --control the same scenarios are played with an ordinary program
(--ordinary, build/eider) and must find nothing; --both does one and the other. Exit code 0 when
every mistake was found and no ordinary program was blamed.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator

import checker
import history as h
from joined import Bounds
from nemesis import COUNTERS, Plan
from processes import wall_us
from product import OWNER_LOSSES_MAX, ROOT
from run import Scene

START_SECONDS = 30.0
DRAIN_SECONDS = 30.0
BITE_SECONDS = 3.0
WATCH_SECONDS = 0.02
HOSTS = 3
TRIES_ALONE = 3
LONG_MS = 9_000
TICK_US, AFTER_TICK_US = 3_000_000, 700_000  # of `ticking`, and while a late one is being made
# Whoever is cut off, somebody sweeps at once; a host that has nothing to tell stays silent.
COMMON = {"EIDER_SWEEP_BY": "every", "EIDER_POLL": "5s"}
SLOW = {"EIDER_LEASE": "6s", "EIDER_RENEW": "2s"}  # longer, so that a fault fits in between
SLOW_BOUNDS = Bounds(lease=6_000_000)


def probes_after(scene: Scene, op: str, instant: int, host: str = "") -> list[h.Probe]:
    """What processes wrote after an instant (on a host), oldest first."""
    rows = h.read_probes((scene.folder / "probe").glob("*.jsonl"))
    return sorted((row for row in rows if row.op == op and row.at_us > instant
                   and host in ("", row.host)), key=lambda row: row.at_us)


def starts_after(scene: Scene, instant: int, host: str = "") -> list[h.Probe]:
    """Processes that started after an instant (on a host), oldest first."""
    return probes_after(scene, "start", instant, host)


def next_start(scene: Scene, instant: int, host: str = "") -> h.Probe:
    scene.wait(lambda: bool(starts_after(scene, instant, host)), "a task to start", START_SECONDS)
    return starts_after(scene, instant, host)[0]


def do(scene: Scene, kind: str, host: str = "", ms: int = 0, value: float = 0.0) -> h.Fault:
    return scene.nemesis.do(Plan(0, kind, host, ms, value))


@contextlib.contextmanager
def broken(scene: Scene, kind: str, *links: str) -> Iterator[None]:
    """Links that are faulty meanwhile, and until a fault that waits for a COMMIT met one."""
    before = {link: scene.nemesis.tell(link, kind) for link in links}
    start = wall_us()
    yield
    name = COUNTERS.get(kind)
    with contextlib.suppress(TimeoutError):
        scene.wait(lambda: name is None or any(
            scene.nemesis.tell(link, "count")[name] > before[link][name] for link in links),
            "a COMMIT", BITE_SECONDS)
    for link in links:
        after = scene.nemesis.tell(link, "pass")
        effect = {name: after[name] - before[link][name] for name in after}
        h.append(scene.nemesis.record, h.Fault(1, kind, link, start, wall_us(), effect))


def job(scene: Scene, plan: str, *options: str) -> h.Call:
    """A job without a dedupe key, which only the store's own care keeps single."""
    op = scene.load.take_ops(1)[0]
    handler = f"$ {scene.load.command} {plan}"
    return scene.load.call("job", "", {"handler": handler, "as_op": op}, "enqueue", "default",
                           handler, f'{{"op": {op}}}', *options, "-o", "json")


def first_host(scene: Scene, count: int, plan: str, *options: str) -> str:
    """Asks for jobs; the host on which the first of them started."""
    asked = wall_us()
    for _ in range(count):
        job(scene, plan, *options)
    return next_start(scene, asked).host


# --- scenarios ----------------------------------------------------------------------------------

def plain_work(scene: Scene) -> None:
    """Some of everything, and no fault but one restart."""
    rng = random.Random(1)
    for _ in range(24):
        scene.load.step(rng)
    do(scene, "kill", "h1", 200)
    for _ in range(12):
        scene.load.step(rng)


def late_outcome(scene: Scene) -> None:
    """A host that was cut off delivers its outcome while another runs the next attempt."""
    host = first_host(scene, 1, "ms=3000", "--on-lost-lease", "finish")
    cut = wall_us()
    with broken(scene, "cut", host):
        next_start(scene, cut)
        # One that still ran would be ended by its host, which hears that it was given up.
        scene.wait(lambda: bool(probes_after(scene, "end", cut, host)), "the first attempt to end",
                   START_SECONDS, WATCH_SECONDS)
    scene.drain()


def is_swept(scene: Scene, host: str) -> bool:
    """Whether somebody is ending a host or did."""
    return not scene.ask(f"SELECT id FROM host WHERE name = '{host}' AND ended_at_us IS NULL"
                         " FOR UPDATE SKIP LOCKED")


def outcome_while_swept(scene: Scene) -> None:
    """A host that was cut off delivers its outcomes just when its tasks are taken back."""
    host = first_host(scene, 6, "ms=2000", "--on-lost-lease", "finish")
    with broken(scene, "cut", host):
        scene.wait(lambda: is_swept(scene, host), "a sweep", START_SECONDS, WATCH_SECONDS)
    scene.drain()


def poison(scene: Scene) -> None:
    """A job whose owner dies again and again."""
    asked = wall_us()
    made = job(scene, "ms=60000")
    for _ in range(OWNER_LOSSES_MAX + 2):
        scene.wait(lambda: scene.is_drained() or bool(starts_after(scene, asked)),
                   "a start or the end", START_SECONDS)
        if scene.is_drained():
            return  # it was put aside
        start = starts_after(scene, asked)[0]
        do(scene, "kill_both", start.host, 100)
        asked = start.at_us
    scene.load.call("cancel_job", "", {"id": int(made.reply["id"])}, "jobs", "cancel",
                    made.reply["id"])


def cut_off(scene: Scene) -> None:
    """A host loses the store for longer than its lease; its task must be gone by then."""
    do(scene, "cut", first_host(scene, 3, f"ms={LONG_MS}"), LONG_MS)
    scene.drain()


def set_clock(folder: pathlib.Path, seconds: int) -> None:
    """In place: the daemons have the file mapped, and one that is cut short ends them."""
    with (folder / "clock").open("r+b") as clock:
        clock.write(struct.pack("q", seconds * 1_000_000))


def cut_off_with_wrong_clock(scene: Scene) -> None:
    """The same, and the host's wall clock goes back by an hour meanwhile."""
    host = first_host(scene, 3, f"ms={LONG_MS}")
    set_clock(scene.folder, -3600)
    do(scene, "cut", host, LONG_MS)
    set_clock(scene.folder, 0)
    scene.drain()


def late_answer(scene: Scene) -> None:
    """The answer to a renewal comes when the lease has nearly ended, and then nothing does."""
    host = first_host(scene, 3, "ms=14000")
    renewed = f"SELECT max(renewed_at_us) FROM host WHERE name = '{host}'"
    before = scene.ask(renewed)
    scene.wait(lambda: scene.ask(renewed) != before, "a renewal", START_SECONDS, WATCH_SECONDS)
    # The next one is sent 2 s from now; what the last one allows ends 5.5 s from now.
    with broken(scene, "hold_commit", host):
        time.sleep(5)
        with broken(scene, "other_way", host):
            time.sleep(7)
    scene.drain()


def swallowed_answers(scene: Scene) -> None:
    """COMMITs that worked and whose answers are lost, of clients and of hosts."""
    for turn in range(6):
        with broken(scene, "swallow_commit", "client"):
            if turn % 2:
                job(scene, "ms=300")
            else:
                scene.load.submit_run("chain")
        with broken(scene, "swallow_commit", *scene.fleet.daemons):
            job(scene, "ms=300")


def lost_commits(scene: Scene) -> None:
    """COMMITs that never arrived, of clients and of hosts."""
    for turn in range(6):
        with broken(scene, "lose_commit", "client"):
            if turn % 2:
                job(scene, "ms=300")
            else:
                scene.load.submit_run("chain")
        with broken(scene, "lose_commit", *scene.fleet.daemons):
            job(scene, "ms=300")
            scene.load.submit_run("fan")


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
    """The database is away for a while."""
    job(scene, "ms=300")
    scene.cluster.stop("fast")
    start = wall_us()
    time.sleep(12)
    scene.cluster.start()
    h.append(scene.nemesis.record, h.Fault(1, "restart", "", start, wall_us(),
                                           {"disconnected": 1}))


def open_pipe(scene: Scene) -> None:
    """A task ends and leaves a process that holds its output."""
    for _ in range(3):
        job(scene, "ms=100 child=12000")
    scene.drain()


def crowded_pool(scene: Scene) -> None:
    """Runs at once that want twice as many slots of a small pool as it has, and more."""
    for _ in range(2):
        scene.load.submit_run("pooled")
    scene.drain()


def killed_when_due(scene: Scene) -> None:
    """Every scheduler dies a moment after a tick, and comes back."""
    scene.load.offer(3 * TICK_US / 1e6, "ticking")
    for _ in range(2):
        time.sleep((TICK_US + AFTER_TICK_US - wall_us() % TICK_US) / 1e6)
        for name, daemon in scene.fleet.daemons.items():
            at_us = wall_us()
            daemon.signal(signal.SIGKILL, keeper_too=False)
            h.append(scene.nemesis.record, h.Fault(1, "kill", name, at_us, wall_us(), {}))
    scene.drain()


def due_for_all(scene: Scene) -> None:
    """All schedulers act at the same ticks, and the database would let them: no key is left."""
    with scene.cluster.session() as cursor:
        cursor.execute("DROP INDEX run_logical")
        cursor.execute("ALTER TABLE run DROP CONSTRAINT run_dag_run_id_key")
    scene.load.offer(2 * TICK_US / 1e6, "ticking", "queued")
    scene.drain()


@dataclasses.dataclass(frozen=True)
class Scenario:
    """What is played for a mistake, and which rules may find it."""

    play: Callable[[Scene], None]
    rules: frozenset[str]
    settings: dict[str, str] = dataclasses.field(default_factory=dict)
    bounds: Bounds = Bounds()


def scenario(play: Callable[[Scene], None], *rules: str, slow: bool = False) -> Scenario:
    return Scenario(play, frozenset(rules), COMMON | SLOW if slow else COMMON,
                    SLOW_BOUNDS if slow else Bounds())


SABOTEURS = {
    "complete_without_nonce": scenario(late_outcome, "S5", "S6", "S7"),
    "rescue_by_id": scenario(outcome_while_swept, "S5", "S6", "S7", "S19"),
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
    "pool_counted_then_updated": scenario(crowded_pool, "S10"),
    "cursor_moves_apart": scenario(killed_when_due, "S3"),
    "no_unique_date": scenario(due_for_all, "S3"),
}


def make_shim(folder: pathlib.Path) -> None:
    source = pathlib.Path(__file__).parent / "clock_shim.c"
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o",
                    str(folder / "clock_shim.so"), str(source), "-ldl"], check=True)
    (folder / "clock").touch()
    set_clock(folder, 0)


def record(name: str, is_control: bool, program: pathlib.Path) -> h.History:
    """Plays a scenario; what its witnesses saw."""
    chosen = SABOTEURS[name]
    folder = ROOT / "build/chaos" / f"{'control' if is_control else 'sabotage'}-{name}"
    env = {} if is_control else {"EIDER_SABOTAGE": name}
    has_shim = chosen.play is cut_off_with_wrong_clock
    if has_shim:
        env |= {"LD_PRELOAD": str(folder / "clock_shim.so"), "CHAOS_CLOCK": str(folder / "clock")}
    scene = Scene(program.resolve(), folder, HOSTS, 1, chosen.settings, env)
    try:
        if has_shim:
            make_shim(folder)
        scene.drain_seconds = DRAIN_SECONDS
        scene.start()
        chosen.play(scene)
        scene.settle()
        return scene.history()
    finally:
        scene.close()


def play(name: str, is_control: bool, program: pathlib.Path) -> tuple[bool, str]:
    """Whether the outcome is as it should be, and a line that tells of it."""
    chosen, started = SABOTEURS[name], time.monotonic()
    try:
        report = checker.check(record(name, is_control, program), chosen.bounds)
    except Exception:
        return False, f"BROKEN {name}\n{traceback.format_exc()}"
    found = {violation.rule for violation in report.violations}
    is_right = not found if is_control else bool(found & chosen.rules)
    first = next((v for v in report.violations if v.rule in chosen.rules or is_control), None)
    verdict = "ok" if is_right else "FALSE" if is_control else "MISSED"
    rules = " ".join(sorted(found)) or "nothing"
    return is_right, (f"{verdict:<6} {'control' if is_control else 'mistake'} {name:<26}"
                      f" {time.monotonic() - started:4.0f} s  {rules}"
                      f"{'  ' + first.text[:100] if first else ''}")


def plan(options: argparse.Namespace) -> list[tuple[str, bool, pathlib.Path]]:
    """What to play: (name, whether without its mistake, program)."""
    names = options.names or list(SABOTEURS)
    # Two mistakes may share a scenario, which without a mistake is the same.
    once = {SABOTEURS[name].play: name for name in names}.values()
    mistakes = [] if options.control else [(name, False, options.program) for name in names]
    controls = [(name, True, options.ordinary) for name in once]
    return mistakes + (controls if options.control or options.both else [])


def main() -> int:
    parser = argparse.ArgumentParser(description="Mistakes made on purpose must be found.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SABOTEURS))
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/sabotage/eider")
    parser.add_argument("--ordinary", type=pathlib.Path, default=ROOT / "build/eider")
    parser.add_argument("--control", action="store_true", help="no mistake: nothing may be found")
    parser.add_argument("--both", action="store_true", help="with mistakes and without")
    parser.add_argument("--jobs", type=int, default=4, help="scenarios at once")
    options = parser.parse_args()
    if unknown := set(options.names) - set(SABOTEURS):
        print(f"saboteurs.py: no saboteur {', '.join(sorted(unknown))}; there are:"
              f" {', '.join(SABOTEURS)}", file=sys.stderr)
        return 2
    todo = plan(options)
    for program in {program for _, _, program in todo}:
        if not program.exists():
            print(f"saboteurs.py: {program} does not exist", file=sys.stderr)
            return 2
    wrong = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        games = {pool.submit(play, *args): args for args in todo}
        for one in concurrent.futures.as_completed(games):
            is_right, text = one.result()
            print(text, flush=True)
            if not is_right:
                wrong.append(games[one])
    # On a busy machine a fault may come a moment too late to show anything: again, alone.
    right = len(todo) - len(wrong)
    for args in wrong:
        for _ in range(TRIES_ALONE):
            is_right, text = play(*args)
            print(text, flush=True)
            if is_right:
                right += 1
                break
    print(f"{right} of {len(todo)} as they should be")
    return 0 if right == len(todo) else 1


if __name__ == "__main__":
    sys.exit(main())
