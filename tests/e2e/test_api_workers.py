"""Workers that reach nothing but the API: the example as it is, and what it must not be able to."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from api import LISTEN, Api
from harness import ROOT, wait_for
from test_api_native import Described

WORKER = ROOT / "examples/http_worker.py"
QUEUE = "remote"
CLAIM = "/api/v1/x/claim"
HEARTBEAT = "/api/v1/x/heartbeat"
SHORT = 1.5  # seconds of a lease where the test waits for it to pass
LONG = 60    # no stall of the machine takes a job away
# The daemon leaves the queue alone.
DAEMON = {**LISTEN, "EIDER_QUEUES": "default", "EIDER_HOST_NAME": "home"}
STAYS = 'echo $$ > "{0}.new"; mv "{0}.new" "{0}"; exec sleep 600\n'


class House:
    """A daemon with a queue of which only workers over HTTP take anything, and tokens for it."""

    def __init__(self, world, up):
        self.world = world
        world("queues", "set", QUEUE, code=0)
        world("queues", "set", "other", code=0)
        self.up = up
        self.daemon = up(env=DAEMON)
        self.token = self.make_token("gpu", "--queue", QUEUE)
        self.api = Api(self.daemon, self.token)
        self.children = []

    def make_token(self, name, *args):
        return self.world("tokens", "add", name, *args, "-o", "json", code=0).json()["token"]

    def by(self, token):
        return Api(self.daemon, token)

    def enqueue(self, handler="work", payload=None, *args, queue=QUEUE):
        return self.world("enqueue", queue, handler, json.dumps(payload), *args, "-o", "name",
                          code=0).out.strip()

    def job(self, number):
        return self.world("jobs", "show", number, "-o", "json", code=0).json()

    def status(self, number):
        return self.job(number)["status"]

    def log(self, number, *args):
        return self.world("jobs", "logs", number, *args, code=0).out

    def hosts(self):
        listed = self.world("hosts", "list", "-o", "json", code=0).json()["hosts"]
        return {host["name"]: host for host in listed if host["kind"] == "http"}

    def handler(self, text, name="work"):
        path = self.world.folder / "handlers" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def worker(self, token=None, lease=LONG):
        """The example as it is, which knows nothing of the store."""
        env = {"PATH": os.environ["PATH"], "EIDER_TOKEN": token or self.token, "LEASE": str(lease),
               "HANDLERS": str(self.world.folder / "handlers")}
        url = f"{self.api.scheme}://{self.api.host}:{self.api.port}"
        child = subprocess.Popen([sys.executable, WORKER, url, QUEUE], env=env,
                                 stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
            child.stderr.close()


@pytest.fixture
def house(world, up):
    made = House(world, up)
    yield made
    made.close()
    world("store", "check", code=0)


def end(claimed):
    return {"attempt": claimed["attempt"], "nonce": claimed["nonce"]}


def claim(api, worker="w1", code=200, **members):
    return api.post(CLAIM, {"worker": worker, "lease": LONG, **members}, code=code)


def tell(api, claimed, verb, code=200, **members):
    return api.post(f"/api/v1/x/jobs/{claimed['id']}/{verb}", {**end(claimed), **members},
                    code=code)


# --- the example -------------------------------------------------------------------------------


def test_the_example_is_short_and_runs_jobs(house):
    assert len(WORKER.read_text().splitlines()) <= 60
    house.handler('read payload; echo "got $payload"; test "$payload" != \'"bad"\'\n')
    house.worker()
    done, failed = house.enqueue(payload={"n": 1}), house.enqueue(payload="bad")
    unknown = house.enqueue(handler="nobody_knows")
    wait_for(lambda: house.status(done) == "completed", "the job is done")
    wait_for(lambda: house.status(failed) == "failed", "the other one has failed")
    wait_for(lambda: house.status(unknown) == "failed", "so has the third")
    assert house.log(done) == 'got {"n": 1}\n'
    assert "work ended with 1" in house.job(failed)["error"]
    assert "there is no " in house.job(unknown)["error"]
    (host,) = house.hosts().values()
    assert host["machine"] == "token gpu" and host["queues"] == [QUEUE]


def test_a_job_of_a_killed_worker_runs_again_elsewhere(house):
    ready = house.world.folder / "ready"
    house.handler(f'test -e "{ready}" && echo second && exit\n' + STAYS.format(ready))
    first = house.worker(lease=SHORT)
    job = house.enqueue()
    wait_for(ready.exists, "the first worker has it")
    first.send_signal(signal.SIGKILL)
    os.kill(int(ready.read_text()), signal.SIGKILL)
    house.worker(lease=SHORT)
    wait_for(lambda: house.status(job) == "completed", "another worker did it")
    shown = house.job(job)
    assert shown["attempts"] == 2 and shown["retry_count"] == 0
    assert house.log(job, "--try", "2") == "second\n"


def test_a_worker_hears_that_its_job_is_cancelled(house):
    ready = house.world.folder / "ready"
    house.handler(STAYS.format(ready))
    house.worker(lease=SHORT)
    job = house.enqueue()
    wait_for(ready.exists, "it runs")
    pid = int(ready.read_text())
    house.world("jobs", "cancel", job, code=0)
    wait_for(lambda: house.status(job) == "cancelled", "it is cancelled")
    wait_for(lambda: not os.path.exists(f"/proc/{pid}") or
             ") Z " in open(f"/proc/{pid}/stat", encoding="utf-8").read(), "its process has ended")


def test_a_worker_outlives_the_daemon(house):
    house.handler("echo done")
    port = house.api.port
    house.worker()
    wait_for(house.hosts, "the worker waits for work")
    house.daemon.finish()
    house.daemon = house.up(env={**DAEMON, "EIDER_LISTEN": f"127.0.0.1:{port}"}, name="next")
    job = house.enqueue()
    wait_for(lambda: house.status(job) == "completed", "the worker came back")


# --- claims ------------------------------------------------------------------------------------


def test_a_claim_waits_until_there_is_work(house):
    assert claim(house.api)["jobs"] == []
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(claim(house.api, wait=60)))
    waiting.start()
    wait_for(house.hosts, "the worker is there")
    job = house.enqueue()
    waiting.join(timeout=30)
    assert [got["id"] for got in answers[0]["jobs"]] == [job]
    assert house.job(job)["claimed_by"] == "w1"


def test_many_claims_wait_without_holding_up_others(house):
    """More than there are workers in the server; each job goes to one of them."""
    answers = []
    waiting = [threading.Thread(
        target=lambda name=f"w{i}": answers.append(claim(house.api, name, wait=60)))
        for i in range(20)]
    for thread in waiting:
        thread.start()
    wait_for(lambda: len(house.hosts()) == 20, "all are there")
    house.api("GET", "/healthz", code=200)
    jobs = {house.enqueue(payload=i) for i in range(20)}
    for thread in waiting:
        thread.join(timeout=60)
    got = [job["id"] for answer in answers for job in answer["jobs"]]
    assert sorted(got) == sorted(jobs)


def test_a_claim_that_waits_in_vain_is_answered(house):
    begun = time.monotonic()
    answer = claim(house.api, wait=1)
    assert answer["jobs"] == [] and time.monotonic() - begun >= 1


def test_claims_that_wait_are_answered_when_the_daemon_stops(house):
    many = 20
    answers = []

    def wait(number):
        answers.append(claim(house.api, f"w{number}", wait=50))

    waiting = [threading.Thread(target=wait, args=(number,)) for number in range(many)]
    for thread in waiting:
        thread.start()
    wait_for(lambda: len(house.hosts()) == many, "all of them wait")
    house.daemon.finish()
    for thread in waiting:
        thread.join()
    assert [answer["jobs"] for answer in answers] == [[]] * many


def test_the_same_claim_again_gives_the_same_job(house):
    house.enqueue(payload=1), house.enqueue(payload=2)
    first = claim(house.api, request_id="a")["jobs"]
    assert claim(house.api, request_id="a")["jobs"] == first
    second = claim(house.api, request_id="b")["jobs"]
    assert len(first) == len(second) == 1 and first[0]["id"] != second[0]["id"]
    tell(house.api, first[0], "complete")
    assert claim(house.api, request_id="a")["jobs"] == []
    assert claim(house.api, "w2", request_id="b")["jobs"] == [], "names are a worker's own"


def test_what_a_worker_does_not_know_of_waits_again(house):
    job = house.enqueue()
    claim(house.api, lease=SHORT, code=200)
    wait_for(lambda: not house.api.post(HEARTBEAT, {"worker": "w1", "jobs": []})["stop"] and
             house.status(job) == "pending", "it waits again")
    (second,) = claim(house.api)["jobs"]
    (third,) = wait_for(lambda: claim(house.api, jobs=[])["jobs"], "a claim gives it back as well")
    assert third["id"] == second["id"] == job and third["attempt"] > second["attempt"]
    assert house.job(job)["retry_count"] == 0


def test_a_worker_that_leaves_gives_back(house):
    job = house.enqueue()
    claim(house.api)
    assert house.api.post("/api/v1/x/leave", {"worker": "w1"}) == {"returned": 1}
    assert house.status(job) == "pending"
    house.api.post(HEARTBEAT, {"worker": "w1"}, code=404)


# --- names -------------------------------------------------------------------------------------


def test_a_worker_keeps_no_daemon_from_starting(eider, fleet_up):
    eider("queues", "set", QUEUE, code=0)
    made = eider("tokens", "add", "gpu", "--queue", QUEUE, "-o", "json", code=0).json()
    api = Api(fleet_up("first", **LISTEN), made["token"])
    claim(api, "node-7", lease=3600)
    fleet_up("node-7")
    claim(api, "first")
    listed = eider("hosts", "list", "-o", "json", code=0).json()["hosts"]
    assert sorted((host["name"], host["kind"], host["status"]) for host in listed) == [
        (name, kind, "active") for name in ("first", "node-7") for kind in ("daemon", "http")]


def test_a_daemon_is_meant_before_a_worker_of_its_name(house):
    def shown(verb, host):
        return house.world("hosts", verb, host, "-o", "json", code=0).json()

    daemon = shown("show", "home")
    assert daemon["kind"] == "daemon"
    claim(house.api, "home")
    claim(house.api, daemon["id"])
    worker = house.hosts()["home"]
    for host in ("home", daemon["id"]):
        for verb in ("show", "drain", "resume"):
            assert shown(verb, host)["id"] == daemon["id"]
    assert not claim(house.api, "home")["draining"]
    assert shown("drain", worker["id"])["id"] == worker["id"]
    assert shown("show", "home")["status"] == "active"


def test_a_worker_is_told_of_a_name_that_is_taken(house):
    twin = house.by(house.make_token("twin", "--queue", QUEUE))
    claim(house.api)
    answer = twin("POST", CLAIM, {"worker": "w1"})
    assert answer.status == 409 and "a worker named 'w1'" in answer.text
    assert "--host-name" not in answer.text


# --- fencing -----------------------------------------------------------------------------------


def test_a_stale_end_is_refused(house):
    job = house.enqueue()
    (old,) = claim(house.api, "slow", lease=0.5)["jobs"]
    wait_for(lambda: house.status(job) == "pending", "the lease ran out")
    (new,) = claim(house.api, "quick")["jobs"]
    assert new["id"] == old["id"] and new["attempt"] > old["attempt"]
    assert new["nonce"] != old["nonce"]
    for verb in ("complete", "fail", "release"):
        tell(house.api, old, verb, code=409)
    tell(house.api, old, "log", code=409, text="late")
    tell(house.api, {**new, "nonce": old["nonce"]}, "complete", code=409)
    tell(house.api, {**new, "attempt": old["attempt"]}, "complete", code=409)
    house.api.post(HEARTBEAT, {"worker": "slow", "jobs": [job]}, code=404)
    assert house.status(job) == "claimed"
    tell(house.api, new, "complete", result={"by": "quick"})
    assert house.job(job)["result"] == {"by": "quick"}


def test_the_same_end_twice_is_one(house):
    job = house.enqueue()
    (got,) = claim(house.api)["jobs"]
    for _ in range(2):
        assert tell(house.api, got, "complete", result=1)["accepted"]
    tell(house.api, got, "fail", code=409)
    assert house.status(job) == "completed" and house.job(job)["result"] == 1


LARGE = {"b": ["\u00fc" * 1000] * 400, "a": 0.1, "n": 2**53 + 1}
# What was told first, the same in other words, and something else.
RESULTS = [({"x": 1}, {"x": 1}, {"x": 2}), ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 1}),
           (LARGE, dict(reversed(LARGE.items())), {**LARGE, "n": 2**53}), (1, 1, "1"),
           (None, None, False), ("", "", None)]


def test_another_result_is_another_end(house):
    for told, same, other in RESULTS:
        job = house.enqueue()
        (got,) = claim(house.api)["jobs"]
        for result in (told, same, told):
            assert tell(house.api, got, "complete", result=result)["accepted"]
        tell(house.api, got, "complete", code=409, result=other)
        tell(house.api, got, "complete", code=200 if told is None else 409)
        assert house.job(job)["result"] == told


def test_no_result_is_a_result_too(house):
    job = house.enqueue()
    (got,) = claim(house.api)["jobs"]
    for members in ({}, {}, {"result": None}):
        tell(house.api, got, "complete", **members)
    tell(house.api, got, "complete", code=409, result=0)
    house.world("jobs", "retry", job, code=0)
    tell(house.api, got, "complete")
    (again,) = claim(house.api)["jobs"]
    tell(house.api, again, "complete", result="second")
    tell(house.api, got, "complete")
    tell(house.api, again, "complete", code=409)
    assert house.job(job)["result"] == "second"


# Short, cut in the middle of a letter, empty, and none.
MESSAGES = [{"message": "no route"}, {"message": "x" + "\u20ac" * 5000}, {"message": ""}, {}]


@pytest.mark.parametrize("retry", [True, False])
def test_another_message_is_another_end(house, retry):
    """While it waits for its retry, or is over; and when somebody lets it run again."""
    for told in MESSAGES:
        job = house.enqueue("work", None, "--retries", "1", "--retry-delay", "1h")
        (got,) = claim(house.api)["jobs"]
        for _ in range(3):
            assert tell(house.api, got, "fail", retry=retry, **told)["accepted"]
        error = house.job(job)["error"]
        tell(house.api, got, "fail", code=409, retry=retry, message="something else")
        tell(house.api, got, "complete", code=409)
        assert house.job(job)["error"] == error
        house.world("jobs", "retry", job, code=0)
        tell(house.api, got, "fail", retry=retry, **told)
        tell(house.api, got, "fail", code=409, retry=retry, message="something else")
        house.world("jobs", "cancel", job, code=0)


def test_failures_are_tried_again_unless_they_are_for_good(house):
    job = house.enqueue("work", None, "--retries", "2", "--retry-delay", "1ms")
    (first,) = claim(house.api)["jobs"]
    tell(house.api, first, "fail", message="no route")
    tell(house.api, first, "fail", message="no route")
    assert house.job(job)["error"] == "no route"
    (second,) = claim(house.api, wait=30)["jobs"]
    tell(house.api, first, "fail", message="no route")
    tell(house.api, second, "release")
    (third,) = claim(house.api, wait=30)["jobs"]
    tell(house.api, third, "fail", message="hopeless", retry=False)
    assert house.status(job) == "failed" and house.job(job)["error"] == "hopeless"


def test_a_log_is_added_to_once(house):
    job = house.enqueue()
    (got,) = claim(house.api)["jobs"]
    assert tell(house.api, got, "log", text="one\n", offset=0) == {"size": 4, "full": False}
    assert tell(house.api, got, "log", text="one\ntwo\n", offset=0)["size"] == 8
    assert tell(house.api, got, "log", text="two\n", offset=4)["size"] == 8
    tell(house.api, got, "log", text="zwei", offset=4, code=409)
    tell(house.api, got, "log", text="far", offset=99, code=409)
    for offset in (-1, -(2**63)):
        tell(house.api, got, "log", text="back", offset=offset, code=400)
    assert tell(house.api, got, "log", text="three\n")["size"] == 14
    assert house.log(job) == "one\ntwo\nthree\n"
    tell(house.api, got, "complete")
    tell(house.api, got, "log", text="four", code=409)
    assert house.log(job) == "one\ntwo\nthree\n"


# --- tokens ------------------------------------------------------------------------------------


def test_a_token_serves_its_queues_alone(house):
    other = house.by(house.make_token("cpu", "--queue", "other"))
    both = house.by(house.make_token("all", "--queue", "*"))
    job = house.enqueue()
    assert claim(other, "w9")["jobs"] == []
    claim(other, "w9", queues=[QUEUE], code=403)
    claim(house.api, queues=["other"], code=403)
    assert [got["id"] for got in claim(both, "w8", queues=[QUEUE])["jobs"]] == [job]


def test_nobody_acts_for_a_worker_of_another_token(house):
    twin = house.by(house.make_token("twin", "--queue", QUEUE))
    person = house.by(house.make_token("person", "--role", "editor"))
    job = house.enqueue()
    (got,) = claim(house.api)["jobs"]
    for verb in ("complete", "fail", "release"):
        tell(twin, got, verb, code=409)
        tell(person, got, verb, code=403)
        tell(Api(house.daemon), got, verb, code=401)
    tell(twin, got, "log", text="x", code=409)
    twin.post(HEARTBEAT, {"worker": "w1", "jobs": [job]}, code=404)
    twin.post("/api/v1/x/leave", {"worker": "w1"}, code=404)
    claim(twin, "w1", code=409)
    assert house.status(job) == "claimed"


def test_a_claim_that_waits_ends_with_its_token(house):
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(claim(house.api, wait=50)))
    waiting.start()
    wait_for(lambda: "w1" in house.hosts(), "the worker is known")
    listed = house.world("tokens", "list", "-o", "json", code=0).json()["tokens"]
    gpu = next(token["id"] for token in listed if token["name"] == "gpu")
    house.world("tokens", "remove", gpu, code=0)
    number = house.enqueue()
    waiting.join()
    assert answers[0]["jobs"] == [], answers
    assert house.status(number) == "pending"
    claim(house.api, code=401)


def test_a_token_that_was_taken_back_ends_nothing(house):
    job = house.enqueue()
    (got,) = claim(house.api)["jobs"]
    listed = house.world("tokens", "list", "-o", "json", code=0).json()["tokens"]
    house.world("tokens", "remove", listed[0]["id"], code=0)
    tell(house.api, got, "complete", code=401)
    claim(house.api, code=401)
    assert house.status(job) == "claimed"


BAD = [
    {}, {"worker": ""}, {"worker": "a b"}, {"worker": "../x"}, {"worker": 1}, {"worker": "x" * 300},
    {"worker": "w", "slots": 0}, {"worker": "w", "slots": 1000}, {"worker": "w", "slots": "1"},
    {"worker": "w", "queues": "remote"}, {"worker": "w", "labels": ["a b"]},
    {"worker": "w", "lease": 0}, {"worker": "w", "lease": 1e9}, {"worker": "w", "lease": -1},
    {"worker": "w", "request_id": ""}, {"worker": "w", "request_id": "x" * 300},
    {"worker": "w", "wait": "long"}, {"worker": "w", "nonsense": 1},
]


def test_what_makes_no_sense_is_refused(house):
    for body in BAD:
        answer = house.api("POST", CLAIM, body)
        assert answer.status == 400, (body, answer)
    assert house.hosts() == {}
    job = house.enqueue()
    (got,) = claim(house.api)["jobs"]
    for nonce in ("", "0", "g" * 32, got["nonce"].upper() + "0", got["nonce"] * 2):
        tell(house.api, {**got, "nonce": nonce}, "complete", code=400)
    for number in ("0", "-1", "x", "9" * 30, "1%2f..", str(int(job) + 1)):
        status = house.api("POST", f"/api/v1/x/jobs/{number}/complete", end(got)).status
        assert status in (400, 404, 409), number
    tell(house.api, got, "complete", result="x" * (2 << 20), code=422)
    assert house.status(job) == "claimed"


def test_every_row_answers_as_described(house):
    place = Described(house.api)
    for payload in range(3):
        house.enqueue(payload=payload)
    one, two, three = place.post("claim", {"worker": "w1", "slots": 3})["jobs"]
    place.post("heartbeat", {"worker": "w1", "jobs": [one["id"]]})
    place.post("jobs/{job}/log", {**end(one), "text": "x"}, job=one["id"])
    for got, verb in ((one, "complete"), (two, "fail"), (three, "release")):
        place.post("jobs/{job}/" + verb, end(got), job=got["id"])
    place.post("leave", {"worker": "w1"})
    rows = {(method, path) for path, methods in place.paths.items()
            for method, entry in methods.items() if entry.get("x-permission") == "worker"}
    assert rows == place.called and len(rows) == 7
