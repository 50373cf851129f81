"""Faults by a seeded schedule: made, written down, replayed, carried out, and ended.

A schedule is JSON lines, each {"at_ms", "kind", "host", "ms", "value"}; host "" means the database
or the clients. Faults of one host do not overlap, those of different hosts and the database do.
"""
import dataclasses
import json
import pathlib
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import history as h
import processes
from cluster import Cluster
from fleet import Fleet
from load import Load
from proxy import Proxies

LEASE_MS = 3000
CLIENT_POLL = 0.01
COMMIT_SECONDS = 20.0
# kind -> how long it lasts, in milliseconds
LENGTHS = {
    "kill": (50, 1500), "kill_both": (50, 6000),
    "pause": (LEASE_MS + 500, 6000), "pause_both": (LEASE_MS + 500, 6000),
    "cut": (500, 7000), "one_way": (500, 7000), "reset": (0, 50), "delay": (500, 4000),
    "other_way": (500, 7000), "swallow_commit": (500, 3000), "lose_commit": (500, 3000),
    "disk_full": (1000, 4000),
    "restart": (0, 50), "restart_immediate": (0, 50), "kill_postgres": (0, 50),
    "stop_backends": (500, 6000), "terminate": (0, 50), "kill_client": (1000, 3000),
}
OF_DATABASE = ("restart", "restart_immediate", "kill_postgres", "stop_backends", "terminate",
               "kill_client")
COUNTERS = {"swallow_commit": "swallowed", "lose_commit": "lost"}  # what they wait for
OF_LINK = ("cut", "one_way", "other_way", "reset", "delay", "swallow_commit", "lose_commit")


@dataclasses.dataclass(frozen=True)
class Plan:
    """One fault to be."""

    at_ms: int
    kind: str
    host: str
    ms: int
    value: float = 0.0


@dataclasses.dataclass(frozen=True)
class Amounts:
    """How much of what."""

    kills: int
    pauses: int
    restarts: int
    others: int  # of each further kind

    def kinds(self, with_disk: bool) -> list[str]:
        """One entry for each fault."""
        chosen = [("kill", "kill", "kill_both")[number % 3] for number in range(self.kills)]
        chosen += [("pause", "pause_both")[number % 2] for number in range(self.pauses)]
        chosen += [("restart", "restart_immediate", "kill_postgres")[number % 3]
                   for number in range(self.restarts)]
        further = [*OF_LINK, "stop_backends", "terminate", "kill_client"]
        further += ["disk_full"] if with_disk else []
        return chosen + further * self.others


def delay_of(rng: random.Random, kind: str) -> float:
    return round(rng.uniform(0.05, 0.8), 3) if kind == "delay" else 0.0


def lay_out(rng: random.Random, kinds: list[str], total_ms: int) -> Iterable[tuple[int, str, int]]:
    """Places faults one after the other with random gaps: (at, kind, length)."""
    lengths = [rng.randint(*LENGTHS[kind]) for kind in kinds]
    room = total_ms - sum(lengths)
    if room < 0:
        raise ValueError(f"{len(kinds)} faults need {sum(lengths) / 60000:.1f} minutes on one host;"
                         " ask for fewer, for more hosts or for more time")
    cuts = sorted(rng.uniform(0, room) for _ in kinds)
    spent = 0
    for cut, kind, length in zip(cuts, kinds, lengths):
        yield int(cut + spent), kind, length
        spent += length


def again(rng: random.Random, kind: str, hosts: list[str], at_ms: int) -> Plan:
    """One more fault of a kind, somewhere."""
    host = "" if kind in OF_DATABASE else rng.choice(hosts)
    return Plan(at_ms, kind, host, rng.randint(*LENGTHS[kind]), delay_of(rng, kind))


def make(seed: int, amounts: Amounts, hosts: list[str], total_ms: int, with_disk: bool
         ) -> list[Plan]:
    """The same seed and amounts give the same schedule."""
    rng = random.Random(seed)
    lanes: dict[str, list[str]] = {host: [] for host in ["", *hosts]}
    kinds = amounts.kinds(with_disk)
    for number, kind in enumerate(kinds):
        lanes["" if kind in OF_DATABASE else hosts[number % len(hosts)]].append(kind)
    plans = []
    for host, own in lanes.items():
        rng.shuffle(own)
        for at, kind, length in lay_out(rng, own, total_ms):
            plans.append(Plan(at, kind, host, length, delay_of(rng, kind)))
    return sorted(plans, key=lambda plan: (plan.at_ms, plan.host))


def save(path: pathlib.Path, plans: list[Plan]) -> None:
    path.write_text("".join(json.dumps(dataclasses.asdict(plan)) + "\n" for plan in plans))


def load(path: pathlib.Path) -> list[Plan]:
    return [Plan(**row) for row in h.read_lines(path)]


class Nemesis:
    """Carries out a schedule."""

    def __init__(self, folder: pathlib.Path, cluster: Cluster, links: Proxies, fleet: Fleet,
                 clients: Load | None) -> None:
        self.record = folder / "nemesis.jsonl"
        self.cluster, self.links, self.fleet, self.clients = cluster, links, fleet, clients
        self.lock = threading.Lock()
        self.database = threading.Lock()  # one at a time
        self.count = 0
        self.actions: dict[str, Callable[[Plan], dict[str, Any]]] = {
            "kill": self._kill, "kill_both": self._kill, "pause": self._pause,
            "pause_both": self._pause, "restart": self._restart, "restart_immediate": self._restart,
            "kill_postgres": self._restart, "stop_backends": self._stop_backends,
            "terminate": self._terminate, "kill_client": self._kill_client,
            "disk_full": self._disk_full, **{kind: self._link for kind in OF_LINK}}

    def run(self, plans: list[Plan]) -> None:
        """Until the last fault is over."""
        started = time.monotonic()
        threads = []
        for plan in plans:
            time.sleep(max(0.0, started + plan.at_ms / 1000 - time.monotonic()))
            thread = threading.Thread(target=self.do, args=(plan,), daemon=True)
            thread.start()
            threads.append(thread)
        for thread in threads:
            thread.join()

    def do(self, plan: Plan) -> h.Fault:
        """One fault from its start to its end, with its record."""
        start = processes.wall_us()
        effect = self.actions[plan.kind](plan)
        with self.lock:
            self.count += 1
            fault = h.Fault(self.count, plan.kind, plan.host, start, processes.wall_us(), effect)
            h.append(self.record, fault)
        return fault

    def tell(self, host: str, do: str, **more: float) -> dict[str, int]:
        with self.lock:
            counts: dict[str, int] = self.links.tell(host, do, **more)["counts"]
        return counts

    def _kill(self, plan: Plan) -> dict[str, Any]:
        daemon = self.fleet.daemons[plan.host]
        daemon.may_run = False
        hit = daemon.signal(signal.SIGKILL, keeper_too=plan.kind == "kill_both")
        tasks = len(daemon.tasks())
        time.sleep(plan.ms / 1000)
        daemon.may_run = True
        return {"hit": hit, "tasks": tasks}

    def _pause(self, plan: Plan) -> dict[str, Any]:
        daemon = self.fleet.daemons[plan.host]
        pids = [pid for pid in [daemon.pid()] if pid]
        if plan.kind == "pause_both":
            pids += daemon.keepers()
        tasks = len(daemon.tasks())
        hit = processes.send(pids, signal.SIGSTOP)
        time.sleep(plan.ms / 1000)
        processes.send(pids, signal.SIGCONT)
        return {"hit": hit, "tasks": tasks}

    def _link(self, plan: Plan) -> dict[str, Any]:
        before = self.tell(plan.host, "count")
        self.tell(plan.host, plan.kind, seconds=plan.value)
        time.sleep(plan.ms / 1000)
        # A host that is down or shut out just now commits nothing: give it time.
        name = COUNTERS.get(plan.kind)
        give_up = time.monotonic() + COMMIT_SECONDS
        while (name and self.tell(plan.host, "count")[name] == before[name]
               and time.monotonic() < give_up):
            time.sleep(CLIENT_POLL)
        after = self.tell(plan.host, "pass")
        return {name: after[name] - before[name] for name in after}

    def _restart(self, plan: Plan) -> dict[str, Any]:
        names = list(self.fleet.daemons)
        with self.database:
            before = sum(self.tell(name, "count")["disconnected"] for name in names)
            if plan.kind == "kill_postgres":
                self.cluster.kill()
                self.cluster.start()
            else:
                self.cluster.restart("immediate" if plan.kind == "restart_immediate" else "fast")
            after = sum(self.tell(name, "count")["disconnected"] for name in names)
        return {"disconnected": after - before}

    def _stop_backends(self, plan: Plan) -> dict[str, Any]:
        with self.database:
            pids = self.cluster.stop_backends()
            time.sleep(plan.ms / 1000)
            self.cluster.wake(pids)
        return {"stopped": len(pids)}

    def _terminate(self, plan: Plan) -> dict[str, Any]:
        with self.database:
            return {"terminated": self.cluster.terminate(2)}

    def _kill_client(self, plan: Plan) -> dict[str, Any]:
        """Waits until somebody is just calling."""
        killed, deadline = 0, time.monotonic() + plan.ms / 1000
        while self.clients and not killed and time.monotonic() < deadline:
            killed = self.clients.kill_some()
            time.sleep(CLIENT_POLL)
        return {"killed": killed}

    def _disk_full(self, plan: Plan) -> dict[str, Any]:
        daemon = self.fleet.daemons[plan.host]
        refused = daemon.fill()
        time.sleep(plan.ms / 1000)
        daemon.free()
        return {"refused": refused, "tasks": len(daemon.tasks())}
