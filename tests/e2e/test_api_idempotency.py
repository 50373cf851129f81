"""Changes with a key: done once however often they are sent, and answered alike."""
import collections
import concurrent.futures
import contextlib
import http.client
import http.server
import json
import sqlite3
import sys
import threading
import uuid

import pytest

from api import LISTEN, Answer, Api
from harness import ROOT, wait_for
from remote import Odd, place_of

sys.path.append(str(ROOT / "tests/chaos"))  # where faults of a database are made
from proxy import Proxies  # noqa: E402  # pylint: disable=wrong-import-position

DAG = """
    dag: sales
    params: { region: { type: string, default: eu } }
    tasks: { only: { run: "true" } }
"""
POST = "/api/v1/dags/sales/dagRuns"
NATIVE = "/api/v1/x/dags/sales/trigger"
DAY_US = 24 * 3600 * 1000000
CALM = {"EIDER_CPU_MOST": "1000000"}  # a busy machine runs them, too
FIRST, AGAIN = None, "true"


class House:
    """A daemon with a DAG, who may do everything there, and a way to look into its store."""

    def __init__(self, world, up, server, **env):
        self.world = world
        self.env = {**LISTEN, **CALM, **env}
        self.up = up
        self.server = server
        world.write("dags/sales.yaml", DAG)
        self.start()
        self.api.token = self.token("tester", "--role", "admin")
        wait_for(lambda: self.api("GET", "/api/v1/dags/sales").status == 200, "the DAG is known")

    def start(self, name="up"):
        self.daemon = self.up("--dags", str(self.world.work / "dags"), env=self.env, name=name)
        self.api = Api(self.daemon, getattr(getattr(self, "api", None), "token", None))

    def token(self, name, *args):
        return self.world("tokens", "add", name, *args, "-o", "json", code=0).json()["token"]

    def send(self, key, body=None, path=POST, method="POST", api=None, **options):
        return (api or self.api)(method, path, body if body is not None else {},
                                 headers={"Idempotency-Key": key}, **options)

    def runs(self):
        return self.api.get(POST, query={"limit": 1000})["dag_runs"]

    def sql(self, text):
        """Its answer as lines; what is changed lasts."""
        if self.server is not None:
            return self.server.sql(text, self.server.database)
        with contextlib.closing(sqlite3.connect(self.world.home / "eider.db", timeout=30)) as base:
            rows = base.execute(text).fetchall()
            base.commit()
        return "\n".join("|".join(map(str, row)) for row in rows)

    def kept(self):
        return int(self.sql("SELECT count(*) FROM answered"))


@pytest.fixture
def house(request, world, up):
    is_postgres = "postgres" in request.node.callspec.id
    return House(world, up, request.getfixturevalue("server") if is_postgres else None)


def how(answer):
    return answer.headers["Idempotency-Replayed"]


def key():
    return str(uuid.uuid4())


# --- once --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [POST, NATIVE, "/api/v1/x/operations/dag.trigger"])
def test_the_same_again_is_the_same_run(house, path):
    body = {"dag": "sales"} if "operations" in path else {}
    one = key()
    first = house.send(one, body, path, code=200)
    again = house.send(one, body, path, code=200)
    assert (how(first), how(again)) == (FIRST, AGAIN)
    assert again.bytes == first.bytes and again.headers["Content-Type"] == "application/json"
    assert len(house.runs()) == 1
    assert how(house.send(key(), body, path, code=200)) == FIRST
    assert len(house.runs()) == 2


def test_an_answer_without_a_body_is_given_again(house):
    house.api.post("/api/v1/pools", {"name": "wide", "slots": 2})
    one = key()
    for expected in (FIRST, AGAIN):
        gone = house.send(one, b"", "/api/v1/pools/wide", "DELETE", code=204)
        assert how(gone) == expected and gone.bytes == b""
    house.send(key(), b"", "/api/v1/pools/wide", "DELETE", code=404)


@pytest.mark.parametrize("path", [POST, NATIVE])
def test_of_many_at_once_one_makes_the_run(house, path):
    one = key()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: house.send(one, path=path), range(16)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.bytes for answer in answers}) == 1
    assert collections.Counter(map(how, answers)) == {FIRST: 1, AGAIN: 15}
    assert len(house.runs()) == 1


def test_many_with_and_without_keys_and_mistakes_at_once(house):
    keys = [key() for _ in range(12)]

    def one(i):
        if i % 4 == 3:
            return house.api("POST", POST, {})
        return house.send(keys[i % 12], {"conf": {"region": 7 if i % 4 == 2 else "us"}})

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one, range(48)))
    statuses = collections.Counter(answer.status for answer in answers)
    assert statuses == {200: 36, 400: 12}, answers
    assert collections.Counter(how(answer) for answer in answers if answer.status == 200) == {
        FIRST: 6 + 12, AGAIN: 18}
    assert len(house.runs()) == 6 + 12
    assert house.kept() == 6, "of mistakes nothing is kept"


def test_another_request_needs_another_key(house):
    one = key()
    made = house.send(one, {"note": "a"}, code=200)
    for other in ({"note": "b"}, {}, {"note": "a", "conf": {}}):
        refused = house.send(one, other, code=422)
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert refused.json["code"] == "conflict" and "Idempotency-Key" in refused.json["detail"]
    house.send(one, {"note": "a"}, NATIVE, code=422)
    house.send(one, {"note": "a"}, POST + "?x=1", code=422)
    assert house.send(one, {"note": "a"}, code=200).bytes == made.bytes
    assert len(house.runs()) == 1


@pytest.mark.parametrize("path", [POST, NATIVE])
def test_what_failed_can_be_tried_with_the_same_key(house, path):
    one = key()
    house.send(one, {"conf": {"region": 7}}, path, code=400)
    house.send(one, {"conf": {"region": 7}}, path, code=400)
    assert house.kept() == 0 and house.runs() == []
    made = house.send(one, {"conf": {"region": "us"}}, path, code=200)
    assert how(made) == FIRST
    assert how(house.send(one, {"conf": {"region": "us"}}, path, code=200)) == AGAIN
    assert len(house.runs()) == 1


def test_what_fails_half_way_leaves_nothing(house):
    """All pauses of a request are one: the second name is of nobody."""
    body = {"dags": ["sales", "nobody"]}
    house.send(key(), body, "/api/v1/x/operations/dag.pause", code=404)
    number = house.send(key(), code=200).json["dag_run_id"]
    path = f"{POST}/{number}"
    wait_for(lambda: house.api.get(path)["state"] == "success", "the run to end")
    one = key()
    house.send(one, {"state": "failed"}, path, "PATCH", code=409)
    assert how(house.send(one, {"state": "queued"}, path, "PATCH", code=200)) == FIRST


# --- who ---------------------------------------------------------------------------------------


def test_keys_of_others_are_others(house):
    one = key()
    house.send(one, code=200)
    for name in ("second", "third"):
        other = house.api.with_token(house.token(name, "--role", "operator"))
        assert how(house.send(one, api=other, code=200)) == FIRST
        assert how(house.send(one, api=other, code=200)) == AGAIN
    assert len(house.runs()) == 3


def test_an_answer_is_not_given_to_somebody_with_other_rights(house):
    house.world("users", "add", "anna", "--role", "operator", input="correct horse\n", code=0)
    anna = house.api.with_token(house.token("hers", "--owner", "anna"))
    one = key()
    house.send(one, api=anna, code=200)
    assert how(house.send(one, api=anna, code=200)) == AGAIN
    house.world("users", "set", "anna", "--role", "other=operator", code=0)
    assert house.send(one, api=anna).status in (403, 404, 422)
    house.world("users", "set", "anna", "--role", "viewer", code=0)
    house.send(one, api=anna, code=403)
    assert len(house.runs()) == 1


def test_who_may_not_come_in_leaves_nothing(house):
    viewer = house.api.with_token(house.token("looks", "--role", "viewer"))
    house.send(key(), api=viewer, code=403)
    house.send(key(), api=house.api.with_token(None), code=401)
    house.send(key(), api=house.api.with_token("edt_" + "0" * 64), code=401)
    assert house.kept() == 0 and house.runs() == []


# --- which -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["", "x" * 256, "two words", "\xfc\xf1", "a\tb"])
def test_a_key_that_is_none_is_refused(house, bad):
    refused = house.send(bad.encode("latin-1"), code=400)
    assert "Idempotency-Key" in refused.json["detail"]
    assert house.runs() == []


def test_the_longest_key_is_one_and_two_are_none(house):
    longest = "!~" * 127 + "x"
    assert [how(house.send(longest, code=200)) for _ in range(2)] == [FIRST, AGAIN]
    lines = [f"POST {POST} HTTP/1.1", "Host: x", f"Authorization: Bearer {house.api.token}",
             "Connection: close", "Content-Length: 0", "Idempotency-Key: a", "Idempotency-Key: b"]
    answer = house.api.raw("\r\n".join([*lines, "", ""]).encode())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert len(house.runs()) == 1


def test_what_takes_no_key_says_so(house):
    """What the description does not offer is refused before anything is done."""
    document = house.api.get("/api/v1/openapi.json")["paths"]
    offered = refused = 0
    for path, methods in document.items():
        for method, entry in methods.items():
            takes = "Idempotency-Key" in {one["name"] for one in entry["parameters"]}
            who = entry.get("x-permission")
            assert not (takes and method == "get"), path
            offered += takes
            if takes or method == "get" or who in ("viewer", "worker"):
                continue
            refused += 1
            answer = house.send(key(), b"", path.replace("{", "").replace("}", ""),
                                method.upper(), code=400)
            assert "does not take Idempotency-Key" in answer.json["detail"], path
    assert offered > 60 and refused > 30
    assert house.kept() == 0


def test_secrets_are_not_kept(house):
    for path, body in (("/api/v1/x/tokens", {"name": "new", "grants": ["viewer"]}),
                       ("/api/v1/x/webhooks", {"dag": "sales"}),
                       ("/api/v1/x/operations/secret.set", {"name": "a", "value": "b"})):
        refused = house.send(key(), body, path, code=400)
        assert "does not take Idempotency-Key" in refused.json["detail"]
    assert house.kept() == 0


def test_looking_needs_no_key(house):
    one = key()
    for method, path in (("GET", POST), ("POST", "/api/v1/dags/~/dagRuns/list"),
                         ("POST", "/api/v1/x/operations/run.list")):
        assert how(house.send(one, {}, path, method, code=200)) is None
    assert house.kept() == 0


def test_a_dry_run_needs_no_key(house):
    refused = house.send(key(), {"dry_run": True}, NATIVE, code=400)
    assert "dry run" in refused.json["detail"]
    assert house.runs() == []


# --- how long ----------------------------------------------------------------------------------


def test_a_key_is_free_again_after_a_day(house):
    one = key()
    house.send(one, code=200)
    house.sql(f"UPDATE answered SET created_at_us = created_at_us - {DAY_US} + 60000000")
    assert how(house.send(one, code=200)) == AGAIN
    house.sql("UPDATE answered SET created_at_us = created_at_us - 60000000")
    assert how(house.send(one, {"note": "another"}, code=200)) == FIRST
    assert how(house.send(one, {"note": "another"}, code=200)) == AGAIN
    assert len(house.runs()) == 2 and house.kept() == 1


def test_old_answers_are_removed(house):
    for _ in range(3):
        house.send(key(), code=200)
    young = key()
    house.sql(f"UPDATE answered SET created_at_us = created_at_us - {DAY_US}")
    house.send(young, code=200)
    house.world("store", "prune", code=0)
    assert house.sql("SELECT key FROM answered") == young


# --- failures of the store ---------------------------------------------------------------------


@contextlib.contextmanager
def without_memory(house):
    """No answer can be kept meanwhile."""
    if house.server is None:
        house.sql("CREATE TRIGGER amnesia BEFORE UPDATE ON answered"
                  " BEGIN SELECT RAISE(ABORT, 'amnesia'); END")
        drop = "DROP TRIGGER amnesia"
    else:
        house.sql("CREATE FUNCTION amnesia() RETURNS trigger LANGUAGE plpgsql AS"
                  " $$ BEGIN RAISE EXCEPTION 'amnesia'; END $$")
        house.sql("CREATE TRIGGER amnesia BEFORE UPDATE ON answered"
                  " FOR EACH ROW EXECUTE FUNCTION amnesia()")
        drop = "DROP TRIGGER amnesia ON answered"
    yield
    house.sql(drop)


@pytest.mark.parametrize("path", [POST, NATIVE])
def test_a_change_whose_answer_cannot_be_kept_is_not_made(house, path):
    one = key()
    with without_memory(house):
        assert house.send(one, path=path).status >= 400
        assert house.runs() == [] and house.kept() == 0
    assert how(house.send(one, path=path, code=200)) == FIRST
    assert len(house.runs()) == 1


def test_others_do_not_suffer_from_an_answer_that_cannot_be_kept(house):
    keys = [key() for _ in range(16)]

    def one(i):
        return house.send(keys[i // 2]) if i % 2 else house.api("POST", POST, {})

    with without_memory(house):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(one, range(32)))
        assert {answer.status for answer in answers[::2]} == {200}
        assert all(answer.status >= 400 for answer in answers[1::2])
        assert len(house.runs()) == 16 and house.kept() == 0
    for i in (1, 3, 1, 3):
        house.send(keys[i], code=200)
    assert len(house.runs()) == 18


@pytest.fixture
def links(cluster):
    proxies = Proxies(str(cluster.folder / f".s.PGSQL.{cluster.port}"))
    yield proxies
    proxies.close()


@pytest.mark.parametrize("fault", ["swallow_commit", "lose_commit"])
def test_the_key_tells_when_the_database_does_not(eider, up, server, links, fault):
    """A commit whose answer is lost happened or not: the same request again finds out."""
    port = links.add("api")
    house = House(eider, up, server,
                  EIDER_STORE=f"postgresql://postgres@127.0.0.1:{port}/{server.database}")
    keys, unknown, found = [], 0, collections.Counter()
    while unknown < 3:
        keys.append(key())
        links.tell("api", fault)
        answer = house.send(keys[-1])
        if answer.status != 200:
            assert answer.status == 503
            unknown += answer.json["code"] == "unknown"
            wait_for(lambda: house.send(keys[-1]).status == 200, "the server to come round")
        links.tell("api", "pass")
        assert len(keys) < 1000, "it was always somebody else's commit"
    assert len(house.runs()) == len(keys) == house.kept()
    for one in keys:
        found[how(house.send(one, code=200))] += 1
    assert found == {AGAIN: len(keys)} and len(house.runs()) == len(keys)


# --- crashes -----------------------------------------------------------------------------------


def test_a_key_outlives_the_daemon(house):
    one = key()
    made = house.send(one, code=200)
    house.daemon.kill()
    house.start("next")
    again = house.send(one, code=200)
    assert how(again) == AGAIN and again.bytes == made.bytes
    assert len(house.runs()) == 1


def test_a_daemon_killed_under_load_makes_one_run_per_key(house):
    """Everybody tries again until there is an answer; what was answered before stays so."""
    keys = [key() for _ in range(80)]
    answered = {}
    enough, is_back = threading.Event(), threading.Event()

    def insist(one):
        while True:
            api = house.api
            try:
                answer = house.send(one, api=api)
            except (OSError, http.client.HTTPException):
                assert is_back.wait(60)
                continue
            if answer.status != 503:
                answered[one] = answer
                if len(answered) > 20:
                    enough.set()
                return

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(insist, one) for one in keys]
        assert enough.wait(60)
        house.daemon.kill()
        house.start("next")
        is_back.set()
        for job in jobs:
            job.result()
    assert {answer.status for answer in answered.values()} == {200}
    names = {one: answer.json["dag_run_id"] for one, answer in answered.items()}
    assert len(set(names.values())) == len(keys) == len(house.runs())
    for one in keys:
        again = house.send(one, code=200)
        assert how(again) == AGAIN and again.json["dag_run_id"] == names[one]
    assert len(house.runs()) == len(keys)


# --- the program -------------------------------------------------------------------------------


class Forgetful:
    """Passes requests on to a server, and loses the answers to the first ones."""

    def __init__(self, api, loses):
        self.seen = []
        forgetful = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                way = api.connect()
                with contextlib.closing(way):
                    way.request("POST", self.path, body, dict(self.headers.items()))
                    answer = Answer(way.getresponse())
                forgetful.seen.append((self.path, self.headers["Idempotency-Key"], how(answer)))
                if len(forgetful.seen) <= loses:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(answer.bytes)))
                self.end_headers()
                self.wfile.write(answer.bytes)

        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.web.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.web.server_address[1]}"

    def close(self):
        self.web.shutdown()
        self.web.server_close()
        self.thread.join()


def test_the_program_sends_a_change_again_whose_answer_was_lost(house):
    place = place_of(house.world.home)
    with contextlib.closing(Forgetful(house.api, 2)) as between:
        made = house.world("dags", "trigger", "sales", "-o", "json", "--server", between.url,
                           env={"EIDER_TOKEN": place["key"]}, code=0).json()
    (path, one, first), *later = between.seen
    assert path.endswith("/dag.trigger") and one and first == FIRST
    assert later == [(path, one, AGAIN)] * 2
    assert [run["dag_run_id"] for run in house.runs()] == [made["dag_run_id"]]


def test_the_program_says_so_when_the_answer_stays_lost(eider):
    with contextlib.closing(Odd(None)) as odd:
        lost = eider("pools", "set", "a", "--slots", "3", "--server", odd.url, code=8)
    assert "may have been done or not" in lost.err
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in odd.seen}) == 1
    assert len(odd.seen) == 3


def test_the_program_gives_every_change_a_key_of_its_own(eider):
    gone = (409, json.dumps({"status": 409, "detail": "said so", "code": "conflict"}))
    with contextlib.closing(Odd(None, gone, media="application/problem+json")) as odd:
        for _ in range(2):
            refused = eider("pools", "set", "a", "--slots", "3", "--server", odd.url, code=5)
            assert refused.err == "eider: said so\n", "the first try did nothing"
        eider("pools", "delete", "a", "--dry-run", "--server", odd.url, code=5)
        eider("vars", "set", "a", "b", "--server", odd.url, code=5)
    keys = [headers.get("Idempotency-Key") for _, _, headers, _ in odd.seen]
    assert keys[0] == keys[1] != keys[2] and keys[2:] == [keys[2], None, None]
