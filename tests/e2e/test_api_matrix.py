"""Every route, for every role, in one's own namespace and in another: who gets what."""
import itertools
import re

import pytest

from api import LISTEN, Api
from fleet import let_go
from harness import wait_for

ROLES = ["none", "viewer", "operator", "editor", "admin"]
OBJECT_SCOPES = {"dag", "run", "dags", "job", "jobs", "letter", "backfill", "notice", "webhook",
                 "namespace", "limit"}
# Those decide by themselves as well: by a webhook's token, or by whose password or token it is.
OWN_RULES = {"webhook.fire", "user.set", "token.add", "token.remove"}
DAG = """\
namespace: {space}
schedule: {schedule}
on_failure:
  - command: "true"
tasks:
  one: {{ run: "false" }}
"""
SCHEDULES = {"dag": '"@yearly"', "hook": "{ webhook: true }"}
# Stays for as long as somebody wants to be it.
TASK = """\
namespace: sales
tasks:
  be: { run: 'echo "$EIDER_TOKEN" > @evidence; while [ ! -e @evidence.go ]; do sleep 0.1; done' }
"""


class House:
    """A daemon, the same things in two namespaces, and a token for each role in one of them."""

    def __init__(self, world, up):
        self.world = world
        for space in ("sales", "hr"):
            for kind, schedule in SCHEDULES.items():
                world.write(f"dags/{space}_{kind}.yaml",
                            DAG.format(space=space, schedule=schedule))
        world.write("dags/task.yaml", TASK)
        self.api = Api(up(env=LISTEN))
        self.tokens = {role: self.token(role, f"sales={role}") for role in ROLES[1:]}
        self.everywhere = {role: self.token(f"all-{role}", f"*={role}") for role in ROLES[1:]}
        self.world("queues", "set", "mail", code=0)
        self.things = {space: self.make(space) for space in ("sales", "hr")}
        self.document = self.api.get("/api/v1/openapi.json")

    def task_token(self):
        """That of a task which runs until the test has ended."""
        self.shown("dags", "trigger", "task")
        return wait_for(self.world.evidence.lines, "the task has said what it is")[0]

    def shown(self, *args):
        return self.world(*args, "-o", "json", code=0).json()

    def token(self, name, grant):
        return self.shown("tokens", "add", name, "--role", grant)["token"]

    def make(self, space):
        dag = f"{space}_dag"
        run = self.shown("dags", "trigger", dag)
        self.world("pools", "set", "desk", "--slots", "1", "--namespace", space, code=0)
        for noun in ("vars", "secrets"):
            self.world(noun, "set", "x", "value", "--namespace", space, code=0)
        self.world("conns", "set", "x", "http://127.0.0.1:1", "--namespace", space, code=0)
        self.world("limits", "set", "namespace", space, "--max-running", "5", code=0)
        hook = self.shown("webhooks", "create", f"{space}_hook")["id"]
        fill = self.shown("backfill", "create", dag, "--from", "2020-01-01", "--to", "2021-01-02")[
            "backfill"]
        self.api.token = self.everywhere["admin"]
        work = [{"handler": handler, "queue": "mail", "namespace": space, "retries": 0}
                for handler in ("noop", "nobody")]
        made = self.api.post("/api/v1/x/operations/job.enqueue", {"jobs": work})["jobs"]
        self.api.token = None
        things = {"dag": dag, "run": run["number"], "job": made[0]["id"], "backfill": fill,
                  "webhook": hook, "letter": made[1]["id"]}
        wait_for(lambda: self.find(things), "there is a dead letter, and a message")
        return things

    def find(self, things):
        letters = {row["id"] for row in self.shown("dlq", "list")["letters"]}
        for notice in self.shown("notify", "list")["notices"]:
            if notice["dag_id"] == things["dag"]:
                things["notice"] = notice["id"]
        return things["letter"] in letters and "notice" in things

    def operations(self):
        """(path, name, role, scope, schema) of every operation."""
        for path, methods in self.document["paths"].items():
            if path.startswith("/api/v1/x/operations/"):
                entry = methods["post"]
                body = entry.get("requestBody", {}).get("content", {}).get("application/json", {})
                if entry["x-scope"] != "worker":
                    yield (path, entry["x-operation"], entry["x-permission"], entry["x-scope"],
                           body.get("schema", {}))


@pytest.fixture
def house(world, up):
    yield House(world, up)
    let_go(world)


SAMPLES = {"string": "nix", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}


def sample(name, schema):
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if schema.get("format") == "date-time":
        return "2026-01-01"
    if schema.get("pattern"):
        return "999999999"
    return SAMPLES[kind]


def request_for(scope, schema, things, space):
    """What is required, with what names the thing; nothing is changed where it can be avoided."""
    properties = schema.get("properties", {})
    body = {name: sample(name, properties[name]) for name in schema.get("required", [])}
    for name in ("dag", "run", "job", "backfill"):
        if name in body or (name in properties and scope in ("dag", "run") and name == "dag"):
            body[name] = things[name]
    if scope == "dags":
        body["dags"] = [things["dag"]]
    if scope == "jobs":
        body["jobs"] = [{"handler": "x", "namespace": space}]
    if scope in ("webhook", "notice", "letter"):
        body["id"] = things[scope]
    if scope == "namespace":
        body["namespace"] = space
    if scope == "limit":
        body.update(kind="namespace", name=space)
    if "dry_run" in properties:
        body["dry_run"] = True
    return body


def allows(role, needed):
    return ROLES.index(role) >= ROLES.index(needed)


def test_every_operation_for_every_role(house):
    """Expected from the table alone: its permission, its scope, and who asks about what."""
    house.tokens["task"] = house.task_token()
    seen = 0
    wrong = []
    for path, name, needed, scope, schema in house.operations():
        own = request_for(scope, schema, house.things["sales"], "sales")
        foreign = request_for(scope, schema, house.things["hr"], "hr")
        for visitor, body in itertools.product(house.tokens, (own, foreign)):
            role = "operator" if visitor == "task" else visitor
            answer = house.api("POST", path, body,
                               headers={"Authorization": f"Bearer {house.tokens[visitor]}"})
            is_foreign = body is foreign and scope in OBJECT_SCOPES and body != own
            if not allows(role, needed):
                expected = {403}
            elif scope == "all" or "path" in body:
                expected = {403}
            elif is_foreign:
                expected = {404}
            else:
                expected = set(range(200, 500)) - {401, 403}
            if name == "connection.test":
                expected |= {503, 504}
            if name in OWN_RULES:
                expected |= {403}
            seen += 1
            if answer.status not in expected:
                wrong.append((name, visitor, "hr" if is_foreign else "sales", answer))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert seen > 1000, "the table has become short"


def test_strangers_and_wrong_tokens_get_nothing(house):
    wrong = []
    for path, methods in house.document["paths"].items():
        url = re.sub(r"\{[^}]*\}", "1", path)
        for method, entry in methods.items():
            is_public = entry.get("security") == []
            for headers in ({}, {"Authorization": "Bearer edt_" + "0" * 64},
                            {"Authorization": "Bearer eda_1_1_" + "0" * 32},
                            {"Cookie": "eider_session=eds_" + "0" * 64}):
                status = house.api(method.upper(), url, headers=headers).status
                if (status != 401 and not is_public) or (is_public and status >= 500):
                    wrong.append((method, url, headers, status))
    assert not wrong, wrong[:20]


def test_who_may_everywhere_is_asked_for_no_less(house):
    """A role in all namespaces that is too small is refused, one that is not is not."""
    wrong = []
    for path, name, needed, scope, schema in house.operations():
        body = request_for(scope, schema, house.things["hr"], "hr")
        for role in ROLES[1:]:
            answer = house.api("POST", path, body,
                               headers={"Authorization": f"Bearer {house.everywhere[role]}"})
            may = allows(role, needed) and not {"path", "file", "paths"} & set(body)
            if (answer.status == 403) == may and name not in OWN_RULES:
                wrong.append((name, role, answer))
            if answer.status >= 500 and answer.status != 503:
                wrong.append((name, role, answer))
    assert not wrong, "\n".join(map(str, wrong[:20]))


def mutations(path):
    """The same place in other words, and places nearby."""
    tails = ["/", "//", "/.", "/..", "/../", ".", "..", ";", ";x", ";/x=1", "?", "??", "#", "%00",
             "%2f", "%2F", "%2e", "%2e%2e", "%252e", "%20", "%09", "%0a", "%0d%0a", "\\", "%5c",
             ".json", ".html", ".css", ".js", ".png", "~", "*", "&", "=", "%", "%zz", "%c0%af",
             "/healthz", "/../healthz", "/api/v1/version", "/..;/healthz", "?x=/healthz",
             "%3f", "%23", "?public=1", "?_method=GET", "?access_token=x", "/index"]
    heads = ["/", "//", "/./", "/../", "/%2e/", "/%2e%2e/", "/healthz/../", "/api/v1/version/../",
             "/;/", "/x;/", "/%2f", "/%5c", "\\", "/static/../", "/healthz/%2e%2e/",
             "/healthz/..%2f", "/healthz%2f..%2f", "/login/../", "/.;/"]
    for tail in tails:
        yield path + tail
    for head in heads:
        yield head + path.lstrip("/")
    parts = path.strip("/").split("/")
    for i, part in enumerate(parts):
        for other in (part.upper(), part.capitalize(), "/" + part, part + "/", part + ";x",
                      "./" + part, part + "/.", "x/../" + part, part + "%2f", "%2f" + part,
                      part + ".", part + "%00", part + "%20", "%2e/" + part, "\\" + part,
                      "".join(f"%{ord(letter):02x}" for letter in part)):
            yield "/" + "/".join(parts[:i] + [other] + parts[i + 1:])


OVERRIDES = [{"X-HTTP-Method-Override": "GET"}, {"X-HTTP-Method": "GET"},
             {"X-Method-Override": "GET"}, {"X-Original-URL": "/healthz"},
             {"X-Rewrite-URL": "/healthz"},
             {"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "127.0.0.1"},
             {"X-Forwarded-User": "admin"}, {"Remote-User": "admin"}, {"X-Remote-User": "admin"},
             {"Forwarded": "for=127.0.0.1"}, {"X-Forwarded-Prefix": "/healthz"},
             {"Host": "localhost"}, {"Origin": "http://localhost"}, {"X-CSRF-Token": "0"},
             {"Cookie": "eider_session="}, {"Cookie": "eider_session=admin; user=admin"},
             {"Authorization": "Basic Og=="}, {"Authorization": "Bearer "},
             {"Authorization": "Negotiate x"}]


def test_no_other_words_for_a_path_let_a_stranger_in(eider, up):
    api = Api(up(env=LISTEN))
    document = api.get("/api/v1/openapi.json")
    public = {(method, path) for path, methods in document["paths"].items()
              for method, entry in methods.items() if entry.get("security") == []}
    closed = [path for path, methods in document["paths"].items()
              if not any((method, path) in public for method in methods)]
    tried = 0
    connection = api.connect()
    for path in closed[::7] + [path for path in closed if "/operations/" not in path]:
        url = re.sub(r"\{[^}]*\}", "1", path)
        for other in dict.fromkeys(mutations(url)):
            for method in ("GET", "POST"):
                connection.putrequest(method, other, skip_accept_encoding=True)
                connection.putheader("Content-Length", "0")
                connection.endheaders()
                answer = connection.getresponse()
                answer.read()
                tried += 1
                assert not 200 <= answer.status < 300 or other.split("?")[0] in (
                    "/healthz", "/api/v1/version"), f"{method} {other}: {answer.status}"
                if answer.will_close:
                    connection.close()
                    connection = api.connect()
    for path, headers in itertools.product(closed[::5], OVERRIDES):
        url = re.sub(r"\{[^}]*\}", "1", path)
        for method in ("GET", "POST", "HEAD", "PUT", "OPTIONS"):
            status = api(method, url, headers=headers).status
            assert status in (400, 401, 404, 405, 429), f"{method} {url} {headers}: {status}"
    assert tried > 2000


def test_no_member_of_a_row_can_be_assigned(house):
    """What the store has as columns is no member of a request unless the schema says so."""
    columns = ["id", "actor", "owner", "role", "grants", "hash", "password", "stamp", "disabled",
               "namespace", "tenant", "state", "created_at_us", "is_local", "principal", "scope"]
    wrong = []
    for path, name, needed, scope, schema in house.operations():
        known = set(schema.get("properties", {}))
        body = request_for(scope, schema, house.things["sales"], "sales")
        for column in columns:
            if column in known:
                continue
            answer = house.api("POST", path, {**body, column: "x"}, headers={
                "Authorization": f"Bearer {house.everywhere['admin']}"})
            if answer.status != 400 or "unknown field" not in answer.text:
                wrong.append((name, column, answer))
    assert not wrong, "\n".join(map(str, wrong[:20]))
