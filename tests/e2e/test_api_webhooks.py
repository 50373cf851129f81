"""Signed calls that start a DAG: who may, how long, how often, and only once."""
import hashlib
import hmac
import json
import time

import pytest

from api import LISTEN, Api

DAG = """\
schedule: {{ webhook: {webhook} }}
params:
  ref: {{ type: string, default: main }}
tasks:
  one: {{ run: "echo {{{{ params.ref }}}}" }}
"""
HOOK = "/hooks/deploy"
BODY = {"ref": "v7"}
KEYS = [hashlib.sha256(name).hexdigest() for name in (b"one", b"two")]


class House:
    def __init__(self, world, up, webhook="true", **env):
        self.world = world
        world.write("dags/deploy.yaml", DAG.format(webhook=webhook))
        self.daemon = up(env={**LISTEN, **env})
        self.api = Api(self.daemon)

    def token(self, *args):
        return self.world("webhooks", "create", "deploy", *args, "-o", "json",
                          code=0).json()["token"]

    def send(self, headers, body, path=HOOK, code=None):
        answer = self.api("POST", path, body, headers=headers)
        if code is not None:
            assert answer.status == code, answer
        return answer

    def call(self, token, body=BODY, age=0, code=202, path=HOOK):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send(signed(token, raw, age), raw, path, code)

    def runs(self):
        return self.world.runs()


def code_of(token, message):
    return hmac.new(token.encode(), message, hashlib.sha256).hexdigest()


def signed(token, raw, age=0):
    stamp = str(int(time.time() - age))
    return {"X-Eider-Timestamp": stamp,
            "X-Eider-Signature": "sha256=" + code_of(token, stamp.encode() + b"." + raw)}


def hub(token, raw):
    return {"X-Hub-Signature-256": "sha256=" + code_of(token, raw), "X-GitHub-Event": "push"}


@pytest.fixture
def house(world, up):
    made = House(world, up)
    yield made
    world("store", "check", code=0)


def test_a_signed_call_makes_a_run_of_its_body(house):
    token = house.token()
    made = house.call(token).json
    assert made["dag_id"] == "deploy"
    shown = house.world("runs", "show", made["number"], "-o", "json", code=0).json()
    assert shown["dag_run_id"] == made["dag_run_id"]
    assert shown["conf"] == BODY and shown["run_type"] == "event"
    assert house.call(token, [1, 2]).json["number"] != made["number"]
    assert house.call(token, b"").status == 202


def test_what_is_not_signed_right_is_refused(house):
    token, raw = house.token(), json.dumps(BODY).encode()
    good = signed(token, raw)
    stamp = good["X-Eider-Timestamp"]
    later = str(int(stamp) + 1)
    bad = [
        ({}, raw), ({"X-Eider-Timestamp": stamp}, raw),
        ({"X-Eider-Signature": good["X-Eider-Signature"]}, raw),
        (good, raw + b" "), ({**good, "X-Eider-Timestamp": later}, raw),
        (signed(token + "0", raw), raw), (signed("", raw), raw),
        ({**good, "X-Eider-Signature": "sha256="}, raw), ({**good, "X-Eider-Signature": "x"}, raw),
        ({**good, "X-Eider-Signature": "sha1=" + good["X-Eider-Signature"][7:]}, raw),
        ({**good, "X-Eider-Signature": "sha256=" + "0" * 64}, raw),
        ({**good, "X-Eider-Timestamp": "now"}, raw), ({**good, "X-Eider-Timestamp": ""}, raw),
        (signed(token, raw, age=301), raw), (signed(token, raw, age=-310), raw),
        ({"Authorization": f"Bearer {token}"}, raw), (hub(token, raw), raw),
        ({"X-Eider-Timestamp": stamp, "X-Eider-Signature": code_of(token, raw)}, raw),
    ]
    for headers, body in bad:
        house.send(headers, body, code=401)
    assert house.runs() == []
    house.send({**good, "X-Eider-Signature": good["X-Eider-Signature"][7:].upper()}, raw, code=202)


@pytest.mark.parametrize("body, problem", [
    (b"{", "JSON, line 1, column 1: string or '}' expected near end of file"),
    (b"{}\0", "JSON contains a NUL byte"),
    (b"[" * 5000, "JSON is nested deeper than "),
    (b'{"a":99999999999999999999}',
     "JSON, line 1, column 25: numbers beyond 64 bits are not supported"),
    (b'{"a":"\\u0000"}',
     "JSON, line 1, column 13: NUL characters (\\u0000) are not supported"),
], ids=["cut", "nul", "deep", "large", "nul escaped"])
def test_a_body_that_cannot_be_read_is_told_with_the_place(house, body, problem):
    detail = house.call(house.token(), body, code=400).json["detail"]
    assert detail.startswith("cannot read the body: " + problem), detail
    assert house.runs() == []


def test_nothing_tells_which_dags_there_are(house):
    token, raw = house.token(), json.dumps(BODY).encode()
    texts = {house.send(signed(token + end, raw), raw, path, code=401).json["detail"]
             for path, end in ((HOOK, "0"), ("/hooks/nobody", ""), ("/hooks/%27", ""),
                               ("/hooks/..%2fx", ""), ("/hooks/" + "x" * 300, ""))}
    assert len(texts) == 1


def test_a_call_counts_once(house):
    token, raw = house.token(), json.dumps(BODY).encode()
    headers = signed(token, raw)
    number = house.send(headers, raw, code=202).json["number"]
    again = house.send(headers, raw, code=409).json
    assert number in again["detail"]
    upper = {**headers, "X-Eider-Signature": headers["X-Eider-Signature"][7:].upper()}
    house.send(upper, raw, code=409)
    assert len(house.runs()) == 1


def test_replays_are_known_by_the_next_daemon(house, up):
    token, raw = house.token(), json.dumps(BODY).encode()
    headers = signed(token, raw)
    house.send(headers, raw, code=202)
    house.daemon.finish()
    house.api = Api(up(env=LISTEN, name="next"))
    house.send(headers, raw, code=409)
    house.call(token, {"ref": "v8"})


def test_a_body_that_makes_no_sense_is_refused(house):
    token = house.token()
    house.call(token, b"{", code=400)
    house.call(token, b"\xff\x00", code=400)
    house.call(token, {"ref": 7}, code=400)
    house.call(token, json.dumps("x" * (1 << 20)).encode(), code=413)
    assert house.runs() == []


def test_a_token_that_was_deleted_signs_nothing(house):
    token = house.token()
    other = house.token()
    listed = house.world("webhooks", "list", "-o", "json", code=0).json()["webhooks"]
    house.world("webhooks", "delete", listed[0]["id"], "--yes", code=0)
    house.call(token, code=401)
    house.call(other, code=202)


def test_a_paused_dag_says_so_and_takes_the_call_later(house):
    token, raw = house.token(), json.dumps(BODY).encode()
    headers = signed(token, raw)
    house.world("dags", "pause", "deploy", code=0)
    house.send(headers, raw, code=409)
    house.world("dags", "unpause", "deploy", code=0)
    house.send(headers, raw, code=202)


def test_calls_have_a_pace(world, up):
    house = House(world, up, EIDER_WEBHOOK_RATE="3")
    token, other = house.token(), house.token()
    codes = [house.call(token, {"ref": str(i)}, code=None).status for i in range(5)]
    assert codes[:3] == [202, 202, 202] and codes[-1] == 429
    refused = house.call(token, {"ref": "late"}, code=429)
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    house.call(token + "0", code=401)
    house.call(other, code=202)


def test_github_signs_only_where_the_dag_says_so(world, up):
    house = House(world, up, webhook="[plain, {name: git, signature: github}]")
    git, plain = house.token("--name", "git"), house.token("--name", "plain")
    raw = json.dumps(BODY).encode()
    house.send(hub(plain, raw), raw, code=401)
    house.send(hub(git, raw), raw, code=202)
    house.send({**hub(git, raw), "X-GitHub-Delivery": "other"}, raw, code=409)
    house.send(hub(git, raw), raw + b" ", code=401)
    house.call(git, {"ref": "own"})
    house.call(plain, {"ref": "own too"})


def test_the_store_has_no_token_that_can_be_read(house):
    token = house.token()
    house.call(token)
    dump = house.world("store", "export", "-", code=0).out
    assert "deploy" in dump and token not in dump and token[4:] not in dump


def test_another_key_opens_what_was_sealed_anew(house):
    token = house.token()
    key = house.world.home / "secret.key"
    old = key.read_text()
    key.write_text(KEYS[0] + "\n" + old)
    assert house.world("secrets", "rotate", "-o", "json", code=0).json()["resealed"] == 1
    key.write_text(KEYS[0] + "\n")
    house.call(token)
    key.write_text(KEYS[1] + "\n")
    house.call(token, {"ref": "v8"}, code=503)
