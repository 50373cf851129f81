"""`eider prove`: tells the truth about a sound program and about broken ones."""
import os
import signal

import harness
import pytest
from harness import ROOT, wait_for

SABOTAGED = ROOT / "build/sabotage/eider"


@pytest.fixture
def place(eider):
    """Where the proof puts its folders, and the environment that makes it do so."""
    folder = eider.folder / "places"
    folder.mkdir()
    return folder, {"TMPDIR": str(folder)}


def prove(eider, place, *args, env=None, **options):
    _, extra = place
    return eider("prove", "adoption", *args, env={**extra, **(env or {})}, timeout=300, **options)


def processes_below(folder):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as environment:
                if f"EIDER_HOME={folder}/".encode() in environment.read():
                    found.append(int(entry))
        except OSError:
            continue
    return found


def check_left_nothing(eider, place, env=None):
    folder, _ = place
    assert list(folder.iterdir()) == []
    assert processes_below(folder) == []
    for noun in ("runs", "queues"):
        rows = eider(noun, "list", "-o", "name", env=env, code=0).out.split()
        assert [row for row in rows if row != "default"] == [], noun


def failed_checks(result):
    return {check["what"] for check in result.json()["checks"] if not check["ok"]}


def test_without_a_name_the_proofs_are_listed(eider):
    assert "adoption" in eider("prove", code=0).out
    assert eider("prove", "adaption").code == 2


def test_it_is_proved_on_sqlite(eider, place):
    done = prove(eider, place, "--kills", "3", "--tasks", "5", code=0)
    assert "execution is at least once: 3 of 5 tasks started more than once" in done.err, done
    assert "kill 3 of 3" in done.err and "adoption: proved" in done.err, done
    check_left_nothing(eider, place)


def test_it_is_proved_on_postgresql(eider, place, postgres):
    store = {"EIDER_STORE": postgres}
    done = prove(eider, place, "-o", "json", env=store, code=0)
    seen = {check["what"]: check["seen"] for check in done.json()["checks"]}
    assert seen["attempts recorded as lost_owner"] == 8  # of a killed host and of a frozen one
    assert seen["claims with a nonce of their own"] == 16
    check_left_nothing(eider, place, store)


def test_other_hosts_have_no_part_in_it(eider, place, evidence):
    eider.write("dags/other.yaml", "tasks: {a: {run: 'echo other >> @evidence'}}")
    log = open(eider.folder / "up.log", "w", encoding="utf-8")
    daemon = eider.start("up", env={"EIDER_SWEEP": "1h", "EIDER_POLL": "200ms"}, stdout=log,
                         stderr=log)
    wait_for(lambda: " is up" in (eider.folder / "up.log").read_text(), "the daemon is up")
    prove(eider, place, code=0)
    assert "prove" not in (eider.folder / "up.log").read_text()
    eider("run", "other", code=0)
    assert evidence.count("other") == 1
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(timeout=60) == 0
    check = eider("store", "check")
    assert check.code == 0, check


def test_what_it_did_can_be_kept(eider, place):
    folder, _ = place
    prove(eider, place, "--keep", "--tasks", "2", code=0)
    assert [run["state"] for run in eider.runs()] == ["success"]
    assert len(list(folder.glob("*/evidence/t*"))) == 2


def test_an_interrupt_leaves_nothing_either(eider, place):
    folder, env = place
    child = eider.start("prove", "adoption", "--kills", "100", env=env)
    wait_for(lambda: list(folder.glob("*/evidence/t*")), "tasks of the proof run")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 130, out + err
    check_left_nothing(eider, place)


def test_a_store_that_cannot_be_reached_is_no_finding(eider, place):
    env = {"EIDER_STORE": "postgresql://nobody@/nowhere?host=/nowhere"}
    refused = prove(eider, place, env=env)
    assert refused.code == 8 and "open the store" in refused.err, refused


@pytest.fixture
def sabotaged(eider, monkeypatch):
    if not SABOTAGED.exists():
        pytest.skip(f"{SABOTAGED} is not built (cmake --preset sabotage)")
    monkeypatch.setattr(harness, "BINARY", SABOTAGED)
    return eider


def test_nonces_that_can_be_guessed_are_found(sabotaged, place):
    done = prove(sabotaged, place, "-o", "json", env={"EIDER_SABOTAGE": "counter_nonce"}, code=1)
    assert "claims with a nonce of their own" in failed_checks(done)
    check_left_nothing(sabotaged, place)


def test_late_outcomes_that_are_believed_are_found(sabotaged, place, postgres):
    """Where no outcome comes late there is nothing to find, so it may take a few proofs."""
    env = {"EIDER_STORE": postgres, "EIDER_SABOTAGE": "complete_without_nonce"}
    for _ in range(12):
        done = prove(sabotaged, place, "-o", "json", env=env)
        if done.code != 0:
            break
    assert done.code == 1, done
    assert "tasks with one verdict, success" in failed_checks(done)
    check_left_nothing(sabotaged, place, {"EIDER_STORE": postgres})


def test_a_sabotaged_program_without_a_mistake_is_sound(sabotaged, place):
    prove(sabotaged, place, code=0)


def test_waiting_is_proved(eider, place):
    _, extra = place
    done = eider("prove", "waiting", "--count", "40", env=extra, timeout=300, code=0)
    assert "20 tasks wait for files" in done.err and "waiting: proved" in done.err, done
    check_left_nothing(eider, place)


def test_waiting_is_proved_in_a_fleet(eider, place, postgres):
    _, extra = place
    env = {**extra, "EIDER_STORE": postgres}
    eider("prove", "waiting", "--count", "40", env=env, timeout=300, code=0)
    check_left_nothing(eider, place, {"EIDER_STORE": postgres})


def test_an_interrupted_proof_of_waiting_leaves_nothing(eider, place):
    folder, extra = place
    child = eider.start("prove", "waiting", "--count", "40", env=extra)
    wait_for(lambda: list(folder.rglob("files")) and eider.runs(), "tasks wait")
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=harness.PATIENCE)
    assert child.returncode == 130, said
    check_left_nothing(eider, place)
