"""Looks at processes through /proc: who is there, what belongs to a host, how big it is."""
import contextlib
import os
import pathlib
import signal
import time
from collections.abc import Iterator


def wall_us() -> int:
    return time.time_ns() // 1000


def is_alive(pid: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def environment(pid: int) -> dict[str, str]:
    """As it was at the start; empty when it is gone or not ours to see."""
    try:
        data = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (entry.decode(errors="replace").partition("=") for entry in data.split(b"\0") if entry)
    return {name: value for name, _, value in pairs}


def command_line(pid: int) -> str:
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(
            errors="replace")
    return ""


def every_pid() -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            yield int(name)


def of_host(home: str) -> Iterator[tuple[int, bool]]:
    """Living processes of the host with this $HOME: (pid, is it a task's)."""
    for pid in every_pid():
        found = environment(pid)
        is_task = "EIDER_CLAIM" in found
        if found.get("HOME") == home and is_alive(pid):
            yield pid, is_task


def send(pids: list[int], number: signal.Signals) -> int:
    """Signals those that are still there; how many."""
    sent = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            sent += 1
    return sent


def size(pid: int) -> dict[str, int] | None:
    """Resident memory and open files; None when it is gone."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        fds = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    rss = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return {"pid": pid, "rss_kb": int(rss[0]) if rss else 0, "fds": fds}
