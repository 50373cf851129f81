"""Checks of what must happen once faults are over: L1 L2 L4 L5 L6 L8; and whether faults bit."""
import bisect
import collections
import signal
from collections.abc import Callable, Iterator

import history as h
from check_store import final_phase, stored_ops
from joined import Joined, Violation, ends_attempt, is_loss
from product import FINAL, RUN_FINAL, STATE_NAME

Found = Iterator[Violation]
HOST_AWAY = frozenset(("kill_both", "pause_both", "pause"))


def samples(joined: Joined, what: str) -> list[h.Sample]:
    return [sample for sample in joined.history.process if sample.what == what]


def healed_at(joined: Joined) -> int | None:
    healed = samples(joined, "healed")
    return healed[-1].at_us if healed else None


def check_claimed(joined: Joined) -> Found:
    """L1: what is asked for after the last heal starts within the poll interval."""
    made = stored_ops(joined)
    starts: dict[int, int] = {}
    for process in joined.processes:
        owner = joined.owner.get(process.nonce)
        if owner:
            starts[owner[0]] = min(starts.get(owner[0], process.start), process.start)
    for op, call in final_phase(joined.history).items():
        if call.phase != "o" or not call.body.get("canary"):
            continue
        for row in made.get(op, ()):
            if not isinstance(row, h.Job):
                continue
            start = starts.get(row.id)
            waited = None if start is None else start - call.at_us
            if waited is None or waited > joined.bounds.poll + joined.bounds.patience:
                told = "never" if waited is None else f"after {waited / 1e6:.2f} s"
                yield Violation("L1", f"job {row.id} was asked for when all was well and started"
                                f" {told}", (call, row))


def check_detected(joined: Joined) -> Found:
    """L2: what a dead host held is taken back within lease and sweep."""
    bounds = joined.bounds
    bound = bounds.lease + bounds.sweep + bounds.patience
    host_of = attempt_hosts(joined)
    away: dict[str, list[h.Fault]] = collections.defaultdict(list)
    for fault in sorted(joined.history.nemesis, key=lambda fault: fault.from_us):
        # One that is back before its lease ends was not dead.
        if fault.kind == "kill_both" or (
                fault.kind in HOST_AWAY and fault.to_us - fault.from_us > bounds.lease):
            away[fault.host].append(fault)
    for event in joined.history.event:
        processes = joined.by_nonce.get(event.nonce or "")
        if not is_loss(event) or not processes:
            continue
        faults = away.get(host_of.get(event.nonce or "", processes[0].host), [])
        place = bisect.bisect_left(faults, event.at_us, key=lambda fault: fault.from_us)
        fault = faults[place - 1] if place else None
        if fault is None or fault.from_us < processes[0].start or (
                event.at_us - fault.from_us <= bound):
            continue
        # Somebody must have been there to take it back.
        others = [other for other in joined.history.nemesis if other.host != fault.host
                  and other.from_us < event.at_us and other.to_us > fault.from_us]
        if not others:
            yield Violation("L2", f"task {event.task} was taken back"
                            f" {(event.at_us - fault.from_us) / 1e6:.2f} s after its host"
                            f" {fault.host} was gone", (fault, event))


def attempt_hosts(joined: Joined) -> dict[str, str]:
    names: dict[str, str] = {}
    for row in (*joined.history.task, *joined.history.attempt):
        if row.nonce and row.host in joined.hosts:
            names[row.nonce] = joined.hosts[row.host]
    return names


def check_drains(joined: Joined) -> Found:
    """L4: a daemon that is told to end does, within grace, with code 0."""
    for sample in samples(joined, "exit"):
        asked = sample.values.get("asked_us")
        if asked is None:
            continue
        took = sample.at_us - asked
        if took > joined.bounds.grace + joined.bounds.patience:
            yield Violation("L4", f"{sample.host} took {took / 1e6:.1f} s to end", (sample,))
        if sample.values.get("code") != 0:
            yield Violation("L4", f"{sample.host} ended with {sample.values.get('code')} when it"
                            " was told to end", (sample,))


def check_done(joined: Joined) -> Found:
    """L5: after the faults everything that was asked for ends."""
    if healed_at(joined) is None:
        return
    for run in joined.history.run:
        if run.state not in RUN_FINAL:
            yield Violation("L5", f"run {run.id} never ended",
                            (run, *[task for task in joined.run_tasks[run.id]
                                    if task.state not in FINAL][:3]))
    for job in joined.history.job:
        row = joined.tasks.get(job.id)
        if row is None or row.state not in FINAL:
            yield Violation("L5", f"job {job.id} never ended: it is"
                            f" {STATE_NAME[row.state] if row else 'without a row'}",
                            (job, *([row] if row else [])))
    for sample in samples(joined, "drained"):
        took = sample.at_us - (healed_at(joined) or 0)
        if took > joined.bounds.drain:
            yield Violation("L5", f"the rest took {took / 1e6:.0f} s after the last heal",
                            (sample,))


def check_progress(joined: Joined) -> Found:
    """L6: no daemon ends unasked without saying so, none lives on without claiming."""
    for sample in samples(joined, "exit"):
        code = sample.values.get("code")
        if sample.values.get("asked_us") is not None or code == -signal.SIGKILL:
            continue
        if code == 0:
            yield Violation("L6", f"{sample.host} ended by itself with code 0", (sample,))
        elif isinstance(code, int) and code < 0:
            yield Violation("L6", f"{sample.host} was ended by signal {-code}", (sample,))
    since: h.Sample | None = None
    for sample in samples(joined, "store"):
        if sample.at_us < (healed_at(joined) or 1 << 62):
            continue
        moved = since is None or sample.values["progress"] != since.values["progress"]
        if moved or not sample.values["ready"] or not sample.values["daemons"]:
            since = sample
        elif since and sample.at_us - since.at_us > joined.bounds.stuck:
            yield Violation("L6", f"{sample.values['ready']} tasks were claimable for"
                            f" {(sample.at_us - since.at_us) / 1e6:.0f} s and nobody moved",
                            (since, sample))
            since = sample


def check_delivered(joined: Joined) -> Found:
    """L6: the end of a process becomes a verdict soon, whoever still holds its output."""
    bounds = joined.bounds
    for event in joined.history.event:
        processes = joined.by_nonce.get(event.nonce or "")
        if not processes or not ends_attempt(event) or processes[0].end is None:
            continue
        waited = event.at_us - processes[0].end
        if waited > bounds.poll + bounds.patience and not joined.faults(
                processes[0].host, processes[0].start - bounds.lease, event.at_us):
            yield Violation("L6", f"task {event.task} ended {waited / 1e6:.1f} s before its"
                            " verdict", (processes[0].last_row, event))


def check_quiet(joined: Joined) -> Found:
    """L8: at the end nothing is held, nothing runs, nothing lies about, nothing grew."""
    if healed_at(joined) is None:
        return
    for place in joined.history.place:
        yield Violation("L8", f"task {place.task} is still in {place.table}", (place,))
    for sample in samples(joined, "left"):
        yield Violation("L8", f"left behind on {sample.host}: {sample.values.get('text')}",
                        (sample,))
    by_daemon: dict[tuple[str, int], list[h.Sample]] = collections.defaultdict(list)
    # One that still waits for the store has opened nothing yet.
    joined_at = {row.pid: row.started_at_us for row in
                 sorted(joined.history.host, key=lambda row: -row.started_at_us)}
    for sample in samples(joined, "daemon"):
        if sample.at_us >= joined_at.get(sample.values["pid"], 0):
            by_daemon[sample.host, sample.values["pid"]].append(sample)
    for (host, _), seen in by_daemon.items():
        if len(seen) < 4:
            continue
        first, last = seen[len(seen) // 4], seen[-1]
        bounds = (("rss_kb", joined.bounds.rss_growth_kb), ("fds", joined.bounds.fd_growth))
        for what, most in bounds:
            grown = last.values[what] - first.values[what]
            if grown > most:
                yield Violation("L8", f"{host}: {what} grew by {grown}", (first, last))


CHECKS = (check_claimed, check_detected, check_drains, check_done, check_progress, check_delivered,
          check_quiet)


# --- bite ---------------------------------------------------------------------------------------

def lost_after(joined: Joined, fault: h.Fault) -> bool:
    """Something of the host was taken back or delivered around the fault."""
    bounds = joined.bounds
    until = fault.to_us + bounds.lease + bounds.sweep + bounds.patience
    hosts = attempt_hosts(joined)
    return any(is_loss(event) and fault.from_us <= event.at_us <= until
               and hosts.get(event.nonce or "", fault.host) == fault.host
               for event in joined.history.event)


def ran_through(joined: Joined, fault: h.Fault) -> bool:
    """A process of the host lived through the fault and got its verdict: it was adopted."""
    return any(process.host == fault.host and process.start < fault.from_us
               and process.end is not None and process.end > fault.from_us
               for process in joined.processes)


def effect(name: str) -> Callable[[Joined, h.Fault], bool]:
    """The nemesis itself counted something."""
    return lambda joined, fault: int(fault.effect.get(name, 0)) > 0


BITES: dict[str, Callable[[Joined, h.Fault], bool]] = {
    "kill": lambda joined, fault: ran_through(joined, fault) or lost_after(joined, fault),
    "kill_both": lost_after,
    "pause": lost_after,
    "pause_both": lost_after,
    "kill_client": effect("killed"),
    "restart": effect("disconnected"),
    "restart_immediate": effect("disconnected"),
    "kill_postgres": effect("disconnected"),
    "stop_backends": effect("stopped"),
    "terminate": effect("terminated"),
    "cut": effect("dropped"),
    "one_way": effect("dropped"),
    "other_way": effect("dropped"),
    "reset": effect("reset"),
    "delay": effect("delayed"),
    "swallow_commit": effect("swallowed"),
    "lose_commit": effect("lost"),
    "disk_full": effect("refused"),
}


def toothless(joined: Joined) -> list[str]:
    """C17: kinds of faults that were there and did nothing that anybody could see."""
    bit: dict[str, bool] = {}
    for fault in joined.history.nemesis:
        if not bit.get(fault.kind):
            bit[fault.kind] = BITES.get(fault.kind, lambda joined, fault: False)(joined, fault)
    return sorted(kind for kind, did in bit.items() if not did)
