"""What somebody tries who has little or nothing to lose."""
import concurrent.futures
import contextlib
import http.client
import re
import socket

import pytest

from api import LISTEN, Api
from harness import wait_for

OP = "/api/v1/x/operations/"
DAG = """\
namespace: {space}
schedule: "0 3 * * *"
tasks:
  one: {{ run: "echo {name}" }}
"""
SLOW = """\
namespace: sales
tasks:
  one: { run: "echo begun; exec sleep 600" }
"""


@pytest.fixture
def house(world, up):
    """A daemon with a DAG and a run in each of two namespaces, and who sees only one of them."""
    for name, space in (("shop", "sales"), ("pay", "hr")):
        world.write(f"dags/{name}.yaml", DAG.format(name=name, space=space))
    daemon = up(env=LISTEN)
    for name in ("shop", "pay"):
        world("dags", "trigger", name, "--run-id", f"{name}-first", "--note", f"of {name}", code=0)
    return world, Api(daemon, token(world, "sales=viewer"))


def token(world, *roles, name="t"):
    flags = [part for role in roles for part in ("--role", role)]
    made = world("tokens", "add", name, *flags, "-o", "json", code=0).json()
    return made["token"]


def wait_for_end(world, dag):
    wait_for(lambda: world("runs", "show", dag, "-o", "json", code=0).json()["end_date"],
             f"the run of {dag} has ended")


# --- namespaces --------------------------------------------------------------------------------


def test_a_dag_sent_along_does_not_show_another_of_its_id(house):
    world, api = house
    text = DAG.format(space="sales", name="x")
    dates = {"from": "2026-01-01", "to": "2026-01-02"}
    for name, more in (("dag.show", {}), ("dag.next", {}), ("backfill.plan", dates)):
        answer = api("POST", OP + name, {"text": f"dag: pay\n{text}", **more})
        assert answer.status == 403 and "another id" in answer.text, (name, answer)
        for mine in ("shop", "new"):
            api.post(OP + name, {"text": f"dag: {mine}\n{text}", **more})
    everywhere = api.with_token(token(world, "viewer", name="eye"))
    shown = everywhere.post(OP + "dag.show", {"text": f"dag: pay\n{text}"})
    assert shown["last_run"]["dag_run_id"] == "pay-first"


def test_a_run_is_not_reached_by_a_dag_of_its_name(house):
    """Where a DAG has no runs, its name may be that of a run elsewhere."""
    world, api = house
    world("dags", "trigger", "pay", "--run-id", "20260101", code=0)
    world("dags", "trigger", "pay", "--run-id", "monthly", code=0)
    world("dags", "trigger", "shop", "--run-id", "weekly", code=0)
    wait_for_end(world, "pay")
    editor = api.with_token(token(world, "sales=editor", "hr=viewer", name="ed"))
    for name in ("monthly", "20260101", "weekly"):
        editor.post(OP + "dag.post", {"definition": {
            "dag": name, "namespace": "sales", "tasks": {"x": {"run": "true"}}}})
    for name in ("monthly", "20260101"):
        assert api("POST", OP + "run.show", {"run": name}).status == 404
        assert api("POST", OP + "log.read", {"run": name}).status == 404
        assert editor.post(OP + "run.show", {"run": name})["dag_id"] == "pay"
        for change in ("run.delete", "run.cancel"):
            answer = editor("POST", OP + change, {"run": name})
            assert answer.status == 403, (name, change, answer)
    assert api.post(OP + "run.show", {"run": "weekly"})["dag_id"] == "shop"


def test_what_moved_to_another_namespace_is_not_found_by_searching(house):
    world, api = house
    number = world("runs", "show", "shop", "-o", "json", code=0).json()["number"]

    def found(text):
        return api.get("/api/v1/x/search", query={"q": text, "kinds": "run"})["results"]

    assert found("shop-first") and found(number) and found("shop/shop-first")
    wait_for_end(world, "shop")
    world.write("dags/shop.yaml", DAG.format(name="shop", space="hr"))
    wait_for(lambda: api("GET", "/api/v1/x/dags/shop").status == 404, "the DAG has moved")
    assert not found("shop-first") and not found(number) and not found("shop/shop-first")


def test_checking_a_file_tells_nothing_of_pools_elsewhere(house):
    world, api = house
    for space in ("hr", "sales"):
        world("pools", "set", "desk", "--slots", "1", "--namespace", space, code=0)

    def problems(space):
        text = (f"namespace: {space}\ntasks:\n  one: {{ run: x, pool: desk, pool_slots: 2 }}\n")
        answer = api.post(OP + "dag.validate", {"texts": {"x.yaml": text}})
        return [problem["message"] for problem in answer["files"][0]["problems"]]

    assert any("desk" in problem for problem in problems("sales"))
    assert not any("desk" in problem for problem in problems("hr"))


def test_checking_files_does_not_tell_which_files_the_server_has(house):
    _, api = house
    text = "dag: twice\ntasks: { one: { run: x } }\n"
    for folder in ("/etc", "/nix"):
        names = [f"{folder}/passwd", f"{folder}/../{folder}/passwd"]
        answer = api.post(OP + "dag.validate", {"texts": {name: text for name in names}})
        assert answer["errors"] == 1, folder


# --- taking the machine ------------------------------------------------------------------------


def nested(depth):
    return "(" * depth + "a" + "+)" * depth


@pytest.mark.parametrize("pattern", [nested(20), r"(.*)\1\1x", "((a{90}){90}){90}"])
def test_no_pattern_takes_the_memory_or_the_time_of_the_daemon(house, pattern):
    world, api = house
    wait_for_end(world, "shop")
    answer = api("GET", "/api/v1/x/runs/shop/tasks/one/log", query={"grep": pattern})
    assert 400 <= answer.status < 500 and "pattern" in answer.text, answer
    answer = api("GET", "/api/v1/x/runs/shop/tasks/one/log", query={"grep": "(s+h|x{2})op$"})
    assert answer.status == 200 and "shop" in answer.text


@pytest.mark.parametrize("number", [2**63 - 1, -2**63, 2**62, -1])
def test_no_number_is_too_large_to_be_refused(house, number):
    world, api = house
    api.token = token(world, "viewer", name="eye")
    for name in ("unknown_ms", "slots"):
        answer = api("POST", OP + "schedule.simulate", {name: number})
        assert answer.status == 400, answer
    assert api("GET", "/healthz").status == 200


def test_one_simulation_at_a_time_leaves_room_for_others(world, up):
    world.write("dags/often.yaml", 'schedule: "* * * * *"\ntasks: { one: { run: "true" } }\n')
    api = Api(up(env=LISTEN), token(world, "viewer"))
    wait_for(lambda: api("GET", "/api/v1/x/dags/often").status == 200, "the DAG is known")
    body = {"from": "2026-01-01", "to": "2026-01-01T06:00:00Z"}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        many = [pool.submit(api, "POST", OP + "schedule.simulate", body) for _ in range(8)]
        wait_for(lambda: any(one.done() for one in many), "some are answered")
        statuses = sorted(one.result().status for one in many)
    assert statuses[0] == 200 and statuses[-1] == 503, statuses
    api.post(OP + "schedule.simulate", {"from": "2026-01-01", "to": "2026-01-01T00:05:00Z"})


def begin_upload(api, length):
    plain = socket.create_connection((api.host, api.port), timeout=60)
    plain.sendall(b"POST /api/v1/x/login HTTP/1.1\r\nHost: localhost\r\n"
                  b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % length)
    plain.sendall(b" " * (length - 1))
    return plain


def status_of(plain):
    answer = http.client.HTTPResponse(plain)
    answer.begin()
    return answer.status


def test_bodies_of_strangers_do_not_take_the_memory(eider, up):
    """Sixteen large ones at once; small ones are not concerned."""
    api = Api(up(env={**LISTEN, "EIDER_API_BODY": "256KiB"}))
    length = 250 * 1024
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(begin_upload(api, length)) for _ in range(48)]
        for plain in waiting:
            plain.sendall(b"x")
        statuses = [status_of(plain) for plain in waiting]
        # Those that are done make room for others that have not arrived yet.
        assert statuses.count(503) >= 1 and statuses.count(400) >= 16, statuses
        assert set(statuses) == {400, 503}
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(begin_upload(api, length))
        assert api("POST", "/api/v1/x/login", {"username": "x", "password": "y"}).status == 401
    again = begin_upload(api, length)
    again.sendall(b"x")
    assert status_of(again) == 400
    again.close()


# --- what a proxy or a browser is led to do ----------------------------------------------------


SECOND = b"GET /api/v1/version HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("framing", [
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 47\r\n\r\n0\r\n\r\n",
    b"Content-Length: 0\r\nContent-Length: 42\r\n\r\n",
    b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
])
def test_a_body_has_one_end(eider, up, framing):
    api = Api(up(env=LISTEN))
    for method in (b"POST", b"GET"):
        answer = api.raw(method + b" /hooks/x HTTP/1.1\r\nHost: x\r\n" + framing + SECOND)
        statuses = re.findall(rb"HTTP/1\.1 (\d+)", answer)
        assert statuses == [b"400"], (method, answer)
    assert api("GET", "/healthz").status == 200


def test_a_compressed_body_is_refused_as_such(house):
    _, api = house
    path = OP + "dag.list"
    for encoding in ("gzip", "br", "identity, gzip"):
        answer = api("POST", path, {}, headers={"Content-Encoding": encoding}, code=415)
        assert "Content-Encoding" in answer.json["detail"]
    api("POST", path, {}, headers={"Content-Encoding": "Identity"}, code=200)


# parameters, bytes of the first one, the status
QUERIES = [
    (256, 1, b"200"), (257, 1, b"414"), (372, 1, b"414"), (11000, 1, b"414"),
    (60, 12000, b"200"), (60, 20000, b"414"), (60, 21000, b"414"), (20, 22000, b"414"),
]


def query(count, first):
    return b"?" + b"a" * first + b"&a" * (count - 1)


@pytest.mark.parametrize("prior", [0, 1])
def test_every_query_is_answered(eider, up, prior):
    api = Api(up(env=LISTEN))
    for count, first, status in QUERIES:
        answer = api.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * prior +
                         b"GET /healthz" + query(count, first) +
                         b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        statuses = re.findall(rb"HTTP/1\.1 (\d+)", answer)
        assert statuses == [b"200"] * prior + [status], (count, first, answer)


def test_nothing_is_done_for_a_request_with_too_many_parameters(house):
    world, api = house
    api.token = token(world, "sales=operator", name="op")
    path = "/api/v1/x/dags/shop/trigger"
    many = query(257, 1).decode()
    answer = api("POST", path + many, {}, code=414)
    assert "256 parameters" in answer.json["detail"]
    assert api.get("/api/v1/dags/shop/dagRuns")["total_entries"] == 1
    assert api("POST", path, {}).status in (200, 201)


@pytest.mark.parametrize("head", [
    b"Cookie: " + b"; ".join([b"a=b"] * 1000) + b"\r\n", b"a:\r\n" * 1000])
def test_many_small_headers_are_refused(eider, up, head):
    api = Api(up(env=LISTEN))
    answer = api.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431 "), answer


def test_a_form_of_many_fields_is_a_body_as_any_other(eider, up):
    form = b"&".join([b"a=1"] * 20000)
    answer = Api(up(env=LISTEN)).raw(
        b"POST /api/v1/x/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
        b"application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(form) + form)
    assert answer.startswith(b"HTTP/1.1 400 "), answer


def test_what_is_for_this_machine_is_not_for_names_that_lead_to_it(eider, up):
    """A page of another site can have its own name lead here, but must say that name."""
    daemon = up(env=LISTEN)
    api = Api(daemon)
    link = re.search(r"^  sign in https?://[^/]+(/login\?link=\S+)", daemon.text(), re.M).group(1)
    for host in ("evil.example", "evil.example:4337", "127.0.0.1.evil.example", "localhost.evil",
                 "127.0.0.1evil:1", ""):
        assert api("GET", "/metrics", headers={"Host": host}).status == 401, host
        assert api("GET", link, headers={"Host": host}).status == 404, host
    for headers in ({"X-Forwarded-For": "10.0.0.1"}, {"Via": "1.1 proxy"}):
        assert api("GET", link, headers=headers).status == 404
    for host in ("127.0.0.1", f"127.0.0.1:{api.port}", "localhost", "LOCALHOST:1", "[::1]:4337"):
        assert api("GET", "/metrics", headers={"Host": host}).status == 200, host
    assert b"200 OK" in api.raw(b"GET /metrics HTTP/1.0\r\n\r\n")
    api("GET", link, headers={"Host": f"localhost:{api.port}"}, code=303)


# --- taking back -------------------------------------------------------------------------------


def test_who_follows_a_log_is_cut_off_when_the_token_is_taken_back(world, up):
    world.write("dags/slow.yaml", SLOW)
    daemon = up(env=LISTEN)
    api = Api(daemon, token(world, "sales=viewer"))
    world("dags", "trigger", "slow", code=0)
    path = "/api/v1/x/runs/slow/tasks/one/log"
    wait_for(lambda: "begun" in api("GET", path).text, "the task has printed something")
    connection = api.connect()
    connection.request("GET", path + "?follow=true", headers=api.headers())
    answer = connection.getresponse()
    assert answer.status == 200 and answer.readline() == b"begun\n"
    made = world("tokens", "list", "-o", "json", code=0).json()["tokens"][0]
    world("tokens", "remove", made["id"], code=0)
    assert answer.read() == b"", "the answer ends, though the task goes on"
    connection.close()
    world("runs", "cancel", "slow", code=0)


@pytest.mark.parametrize("how", ["token", "user"])
def test_who_listens_is_cut_off_when_not_let_in_any_more(world, up, how):
    world("users", "add", "anna", "--role", "viewer", "--no-password", code=0)
    api = Api(up(env=LISTEN))
    made = world("tokens", "add", "ear", "--owner", "anna", "-o", "json", code=0).json()
    connection = api.connect()
    connection.request("GET", "/api/v1/x/events", headers={
        "Accept": "text/event-stream", "Authorization": f"Bearer {made['token']}"})
    answer = connection.getresponse()
    assert answer.status == 200
    if how == "token":
        world("tokens", "remove", made["id"], code=0)
    else:
        world("users", "set", "anna", "--role", "sales=viewer", code=0)
    assert answer.read() is not None, "the stream ends, long before the connection times out"
    connection.close()
