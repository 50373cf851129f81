"""The server itself: what it answers, what it refuses, and how it ends."""
import concurrent.futures
import contextlib
import os
import socket
import sqlite3
import subprocess
import threading

import pytest

from api import LISTEN, Api
from harness import wait_for


SHORT = {**LISTEN, "EIDER_API_REQUEST_TIME": "1s"}

CANNOT_BE = [
    ("GET", "/nowhere", 404), ("GET", "/healthz/", 404), ("GET", "//healthz", 404),
    ("GET", "/healthz/..", 404), ("GET", "/%2e%2e/healthz", 404), ("GET", "/healthz%00", 404),
    ("GET", "/HEALTHZ", 404), ("DELETE", "/healthz", 405), ("POST", "/healthz", 405),
    ("BREW", "/healthz", 405), ("TRACE", "/healthz", 405), ("BREW", "/nowhere", 404),
    ("?", "/healthz", 405), ("POST", "/api/v1/x/operations/run.list", 401),
    ("GET", "/api/v1/x/operations/run.list", 405), ("GET", "/api/v1/version?a=%zz", 400),
]

NO_REQUESTS = [
    b"", b"\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET /healthz HTTP/9.9\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"a: " + b"b" * 100_000 + b"\r\n\r\n",
    b"POST /api/v1/x/operations/run.list HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /api/v1/x/operations/run.list HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{",
]


@pytest.fixture
def api(up):
    return Api(up(env=LISTEN))


def test_it_answers_and_describes_itself(api):
    assert api("GET", "/healthz", code=200).text == "ok\n"
    assert api.get("/api/v1/version")["version"]
    document = api.get("/api/v1/openapi.json")
    assert document["openapi"].startswith("3.1")
    assert "/api/v1/x/operations/run.list" in document["paths"]


def test_what_cannot_be_is_a_problem(api):
    for method, path, status in CANNOT_BE:
        answer = api(method, path, code=status)
        problem = answer.json
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert problem["status"] == status and problem["title"] and problem["detail"]
        assert status != 405 or answer.headers["Allow"]


def test_every_answer_has_the_headers_that_protect(api):
    for path in ("/healthz", "/nowhere"):
        headers = api("GET", path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert api("HEAD", "/healthz", code=200).text == ""


def test_a_body_has_a_bound(up):
    api = Api(up(env={**SHORT, "EIDER_API_BODY": "1KiB"}))
    path = "/api/v1/x/operations/run.list"
    api("POST", path, {"dag": "x" * 2000}, code=413)
    chunked = (f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
               "Content-Type: application/json\r\n\r\n" + "400\r\n" + "x" * 1024 + "\r\n" +
               "400\r\n" + "x" * 1024 + "\r\n0\r\n\r\n")
    assert b" 413 " in api.raw(chunked.encode())
    api("GET", "/healthz", code=200)


def test_what_is_no_request_harms_nobody(up):
    api = Api(up(env=SHORT))
    for text in NO_REQUESTS:
        answer = api.raw(text)
        assert not answer.startswith(b"HTTP/1.1 2"), (text, answer)
        api("GET", "/healthz", code=200)


def test_who_is_slow_is_cut_off(up):
    """A byte now and then does not hold a connection."""
    api = Api(up(env=SHORT))
    slow = socket.create_connection((api.host, api.port))
    slow.sendall(b"GET /healthz HTTP/1.1\r\n")
    over = threading.Event()

    def drip():
        try:
            while not over.wait(0.1):
                slow.sendall(b"a")
        except OSError:
            pass

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        slow.settimeout(60)
        try:
            rest = slow.recv(4096)
        except ConnectionResetError:
            rest = b""
        assert b" 200 " not in rest
    finally:
        over.set()
        dripping.join()
        slow.close()
    api("GET", "/healthz", code=200)


def test_slow_connections_do_not_keep_others_out(up):
    api = Api(up(env={**LISTEN, "EIDER_API_REQUEST_TIME": "30s"}))
    slow = [socket.create_connection((api.host, api.port)) for _ in range(200)]
    for one in slow:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHo")
    assert api("GET", "/healthz", code=200).text == "ok\n"
    for one in slow:
        one.close()


def test_an_address_that_is_taken_is_told(up, eider):
    first = Api(up(env=LISTEN))
    second = eider("up", "--listen", f"127.0.0.1:{first.port}",
                   env={"EIDER_HOME": str(eider.folder / "other")}, code=5)
    assert "another program" in second.err


def test_an_address_that_is_none_is_told(eider):
    for address in ("nonsense", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", ":80", "::1:80"):
        told = eider("up", "--listen", address, code=2).err
        assert f"'{address}' is no address" in told and "other machines" not in told


def test_a_port_that_is_none_is_told(eider):
    for port in ("65536", "99999", "-1"):
        told = eider("up", "--listen", f"127.0.0.1:{port}", code=2).err
        assert "ports end at 65535" in told and "other machines" not in told


def test_tls(up, eider):
    certificate, key = eider.folder / "cert.pem", eider.folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True,
                   capture_output=True)
    files = {"EIDER_TLS_CERTIFICATE": str(certificate), "EIDER_TLS_KEY": str(key)}
    assert "tls_key" in eider("up", env={**LISTEN, **files, "EIDER_TLS_KEY": ""}, code=2).err
    broken = eider.folder / "broken.pem"
    broken.write_text("no certificate")
    assert "certificate" in eider("up", env={**LISTEN, **files,
                                             "EIDER_TLS_CERTIFICATE": str(broken)}, code=2).err
    api = Api(up(env={**LISTEN, **files}))
    assert api.scheme == "https"
    answer = api("GET", "/healthz", code=200)
    assert "max-age" in answer.headers["Strict-Transport-Security"]
    api("GET", "/healthz?" + "a&" * 400, code=414)


def test_it_ends_while_connections_are_open(up):
    daemon = up(env=LISTEN)
    api = Api(daemon)
    connection = api.connect()
    connection.request("GET", "/healthz")
    assert connection.getresponse().read() == b"ok\n"
    half = socket.create_connection((api.host, api.port))
    half.sendall(b"GET /heal")
    daemon.signal(15)
    assert daemon.wait() == 0
    connection.close()
    half.close()
    wait_for(lambda: not is_open(api), "nobody listens any more")


def is_open(api):
    try:
        socket.create_connection((api.host, api.port)).close()
    except ConnectionRefusedError:
        return False
    return True


def test_changes_that_wait_do_not_keep_readers_waiting(eider, up):
    """As many as there are processors hold a worker each until the store is free again."""
    processors = max(os.cpu_count(), 2)
    daemon = up(env={**LISTEN, "EIDER_ROLES": "api", "EIDER_API_WORKERS": str(processors + 2),
                     "EIDER_BUSY_TIMEOUT": "10m"})
    made = eider("tokens", "add", "t", "--role", "admin", "-o", "json", code=0).json()
    api = Api(daemon, made["token"])
    api.get("/api/v1/pools")  # that the token is used is noted now
    holder = sqlite3.connect(eider.home / "eider.db", isolation_level=None)
    with contextlib.closing(holder), concurrent.futures.ThreadPoolExecutor(processors) as pool:
        holder.execute("BEGIN IMMEDIATE")
        changes = [pool.submit(api.post, "/api/v1/pools", {"name": f"p{i}", "slots": 1})
                   for i in range(processors)]
        for _ in range(50):
            assert api.get("/api/v1/pools")["total_entries"] == 1
        assert not any(change.done() for change in changes)
        holder.execute("ROLLBACK")
        assert {change.result()["slots"] for change in changes} == {1}
    assert api.get("/api/v1/pools")["total_entries"] == 1 + processors


def test_starts_of_many_are_made_together_and_answered_one_by_one(world, up):
    """What one of them gets wrong is its own affair."""
    world.write("dags/daily.yaml", "max_active_runs: 500\ntasks: {a: {noop: true}}")
    daemon = up(env=LISTEN)

    def token(role):
        return world("tokens", "add", role, "--role", role, "-o", "json", code=0).json()["token"]

    api, viewer = Api(daemon, token("operator")), Api(daemon, token("viewer"))
    path = "/api/v1/dags/daily/dagRuns"
    wait_for(lambda: api("GET", "/api/v1/dags/daily").status == 200, "the DAG is known")

    def start(i):
        if i % 8 == 7:
            return viewer("POST", path, {"conf": {}}).status
        if i % 8 == 6:
            return api("POST", "/api/v1/dags/nowhere/dagRuns", {"conf": {}}).status
        name = "same" if i % 8 == 5 else f"run-{i}"
        answer = api("POST", path, {"dag_run_id": name, "conf": {"i": i}})
        if answer.status == 200:
            assert answer.json["dag_run_id"] == name and answer.json["conf"] == {"i": i}
        return answer.status

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(start, range(96)))
    assert all(status == 403 for status in statuses[7::8])
    assert all(status == 404 for status in statuses[6::8])
    assert sorted(statuses[5::8]) == [200] + 11 * [409]
    assert all(status == 200 for i, status in enumerate(statuses) if i % 8 < 5)
    runs = api.get(path + "?limit=100")["dag_runs"]
    assert len({run["dag_run_id"] for run in runs}) == len(runs) == 61
