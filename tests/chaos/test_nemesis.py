"""Schedules are complete, replayable and within bounds; hosts are found by their home."""
import collections
import os
import signal
import subprocess
import sys
import time

import pytest

import nemesis
import processes

HOSTS = ["h1", "h2", "h3"]
AMOUNTS = nemesis.Amounts(200, 100, 20, 12)
TOTAL_MS = int(11.5 * 60_000)


def make(seed=7):
    return nemesis.make(seed, AMOUNTS, HOSTS, TOTAL_MS, True)


def test_a_schedule_has_what_was_asked_for():
    kinds = collections.Counter(plan.kind for plan in make())
    assert kinds["kill"] + kinds["kill_both"] == 200
    assert kinds["pause"] + kinds["pause_both"] == 100
    assert kinds["restart"] + kinds["restart_immediate"] + kinds["kill_postgres"] == 20
    assert set(kinds) == set(nemesis.LENGTHS)


def test_the_same_seed_gives_the_same_schedule_also_from_a_file(tmp_path):
    nemesis.save(tmp_path / "schedule", make())
    assert make() == nemesis.load(tmp_path / "schedule")
    assert make(8) != make()


@pytest.mark.parametrize("seed", range(10))
def test_faults_of_one_host_do_not_overlap_and_end_in_time(seed):
    last = collections.defaultdict(int)
    for plan in make(seed):
        assert plan.at_ms >= last[plan.host]
        last[plan.host] = plan.at_ms + plan.ms
    assert max(last.values()) <= TOTAL_MS


def test_several_hosts_are_hit_at_once():
    spans = [(plan.at_ms, plan.at_ms + plan.ms, plan.host) for plan in make() if plan.host]
    assert any(a[0] < b[1] and b[0] < a[1] and a[2] != b[2] for a in spans for b in spans)


def test_pauses_outlast_the_lease():
    assert all(plan.ms > nemesis.LEASE_MS for plan in make() if plan.kind.startswith("pause"))


def test_too_much_is_refused():
    with pytest.raises(ValueError, match="minutes on one host"):
        nemesis.make(1, AMOUNTS, HOSTS, 60_000, True)


def test_a_hosts_processes_are_found_by_its_home(tmp_path):
    sleeper = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
    children = []
    for extra in ({}, {"EIDER_CLAIM": "ab"}):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **extra}
        child = subprocess.Popen(sleeper, env=env, stdout=subprocess.PIPE)
        child.stdout.readline()
        children.append(child)
    found = dict(processes.of_host(str(tmp_path)))
    assert found == {children[0].pid: False, children[1].pid: True}
    assert processes.size(children[0].pid)["rss_kb"] > 0
    assert processes.send([child.pid for child in children], signal.SIGKILL) == 2
    deadline = time.monotonic() + 10
    while dict(processes.of_host(str(tmp_path))):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for child in children:
        child.wait()
        child.stdout.close()
