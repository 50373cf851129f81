"""Every row of the table of routes, for everybody, about things of one's own and of others.

What is expected follows from the row alone: who may come in, the permission it needs, what its
path names. Nothing is listed here that the description of the API tells.
"""
import collections
import itertools
import re
import urllib.parse

import pytest
from api import LISTEN, Api
from harness import wait_for

ROLES = ["viewer", "operator", "editor", "admin"]
SPACES = ["default", "hr"]  # what has no namespace in its name is in `default`
DAG = """\
namespace: {space}
schedule: {schedule}
on_failure:
  - command: "true"
tasks:
  one: {{ run: "echo one; eider-return rows=7 || true" }}
  each: {{ foreach: [a], run: "echo each" }}
  last: {{ needs: [one, each], run: "false" }}
"""
SCHEDULES = {"dag": '"@yearly"', "hook": "{ webhook: true }"}
# A thing of a namespace is named by one of these, so that others must not find it.
OWNED = {"dag_id", "dag", "run", "backfill", "backfill_id", "job", "pool_name", "variable_key",
         "connection_id", "file_token", "event_log_id"}
OWNED_NAMES = ("connections", "pools", "secrets", "variables", "limits")
OWNED_IDS = ("dlq", "notifications", "webhooks")
# Those decide by themselves: by a signature, by whose password or token it is.
OWN_RULES = {"user.set", "token.add", "token.remove"}
# What handlers without an operation look at is the same for all namespaces.
FOR_ALL = ("/api/v1/config",)
# Without the thing that it may name, such a request is about everything.
ABOUT_THINGS = {"dag", "run", "letter", "notice", "webhook"}
MEMBERS = {
    "state": "success", "new_state": "success", "slots": 1, "value": "v", "note": "n",
    "from": "2020-01-01T00:00:00Z", "to": "2021-01-02T00:00:00Z", "max_running": 5,
    "from_date": "2020-01-01T00:00:00Z", "to_date": "2021-01-02T00:00:00Z", "version": 1,
    "conn_type": "http", "dataset_uri": "file:///x", "definition": {}, "task": "one",
    "task_id": "one", "tasks": ["one"], "q": "own", "delay": "1h", "is_paused": False,
    "dag_id_pattern": "nothing-is-called-so", "password": "a long enough password",
    "target": "nobody", "text": "dag: x", "worker": "w", "attempt": 1, "nonce": "0",
    "username": "nobody", "link": "x",
}
SAMPLES = {"string": "nix", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}

Row = collections.namedtuple("Row", "method path entry")
Who = collections.namedtuple("Who", "token space role")  # space "*": everywhere


class Town:
    """A daemon, the same things in two namespaces, and a token for every role in each."""

    def __init__(self, eider, daemon):
        self.eider = eider
        self.api = Api(daemon)
        self.root = Who(self.token("root", "*=admin"), "*", "admin")
        self.api.token = self.root.token
        self.people = [Who(self.token(f"{role}-of-{i}", f"{space}={role}"), space, role)
                       for i, space in enumerate([*SPACES, "*"]) for role in ROLES]
        self.worker = Who(self.shown("tokens", "add", "hand", "--queue", "mail")["token"],
                          None, "worker")
        eider("queues", "set", "mail", code=0)
        self.things = {space: self.make(space) for space in SPACES}
        self.api.token = None
        document = self.api.get("/api/v1/openapi.json")
        self.rows = [Row(method.upper(), path, entry)
                     for path, methods in document["paths"].items()
                     for method, entry in methods.items()]

    def shown(self, *args):
        return self.eider(*args, "-o", "json", code=0).json()

    def token(self, name, grant, *options):
        return self.shown("tokens", "add", name, "--role", grant, *options)["token"]

    def make(self, space):
        dag = f"{space}_dag"
        run, other = (self.shown("dags", "trigger", dag) for _ in range(2))
        scope = ("--namespace", space)
        self.eider("pools", "set", f"{space}_desk", "--slots", "1", *scope, code=0)
        self.eider("vars", "set", f"{space}_region", "value", *scope, code=0)
        self.eider("secrets", "set", f"{space}_door", "value", *scope, code=0)
        self.eider("conns", "set", f"{space}_site", "http://127.0.0.1:1", *scope, code=0)
        self.eider("limits", "set", "namespace", space, "--max-running", "5", code=0)
        hook = self.shown("webhooks", "create", f"{space}_hook")["id"]
        fill = self.shown("backfill", "create", dag, "--from", "2020-01-01", "--to", "2021-01-02")
        made = self.api.post("/api/v1/x/jobs", {"jobs": [
            {"handler": handler, "queue": "mail", "namespace": space, "retries": 0}
            for handler in ("noop", "nobody")]})["jobs"]
        things = {
            "dag": dag, "dag_id": dag, "run": run["number"], "dag_run_id": other["dag_run_id"],
            "backfill": fill["backfill"], "backfill_id": fill["backfill"], "job": made[0]["id"],
            "webhooks": hook, "dlq": made[1]["id"], "connections": f"{space}_site",
            "pools": f"{space}_desk", "secrets": f"{space}_door", "variables": f"{space}_region",
            "pool_name": f"{space}_desk", "variable_key": f"{space}_region",
            "connection_id": f"{space}_site", "limits": space, "namespace": space,
            "file_token": self.api.get(f"/api/v1/dags/{dag}")["file_token"],
        }
        wait_for(lambda: self.find(things), "there is a dead letter, and a message")
        return things

    def find(self, things):
        letters = {row["id"] for row in self.shown("dlq", "list")["letters"]}
        for notice in self.shown("notify", "list")["notices"]:
            if notice["dag_id"] == things["dag"]:
                things["notifications"] = notice["id"]
        events = self.api.get(f"/api/v1/eventLogs?dag_id={things['dag']}")["event_logs"]
        things["event_log_id"] = str(events[0]["event_log_id"]) if events else ""
        run = self.api.get(f"/api/v1/x/runs/{things['run']}")
        return things["dlq"] in letters and "notifications" in things and events and run["end_date"]

    def ask(self, who, row, url, body):
        headers = {"Authorization": f"Bearer {who.token}"} if who.token else {}
        return self.api(row.method, url, body, headers=headers)


@pytest.fixture
def town(world, up):
    for space, (kind, schedule) in itertools.product(SPACES, SCHEDULES.items()):
        world.write(f"dags/{space}_{kind}.yaml", DAG.format(space=space, schedule=schedule))
    return Town(world, up(env=LISTEN))


# --- requests ------------------------------------------------------------------------------------

def names(path):
    return re.findall(r"\{([^}]*)\}", path)


def kind_of(path):
    """`pools` of /api/v1/x/pools/{name}."""
    return path.removeprefix("/api/v1/x/").split("/")[0]


def is_owned(row):
    """Whether the request names a thing of a namespace."""
    kind = kind_of(row.path)
    return is_owned_in_body(row) or any(
        name in OWNED or (name == "name" and kind in OWNED_NAMES) or
        (name == "id" and kind in OWNED_IDS) for name in names(row.path))


OTHERS = {"task_try_number": "1", "xcom_key": "rows", "import_error_id": "1", "section": "eider",
          "option": "slots", "key": "slots", "uri": "file:///x", "kind": "namespace",
          "host": "nobody", "queues": "mail", "users": "nobody", "namespaces": "nowhere",
          "tokens": "999999"}


def value_of(name, path, things):
    if name in ("task", "task_id"):
        return "each" if "{map_index}" in path else "one"
    if name == "map_index":
        return "0"
    if name in ("name", "id"):
        name = kind_of(path)
    return things.get(name) or OTHERS[name]


def in_body(row):
    """The members of a body by their names."""
    content = row.entry.get("requestBody", {}).get("content", {}).get("application/json", {})
    return content.get("schema", {"properties": {}, "required": []})


def is_owned_in_body(row):
    if row.entry.get("x-operation") == "dag.post":
        return True
    return not names(row.path) and bool(NAMING & set(in_body(row)["properties"])) and (
        row.entry.get("x-scope") not in ("list", "any"))


def url_of(row, things, **instead):
    """The path with what it names; `instead` has values as they are sent."""
    def put(match):
        name = match[1]
        return instead.get(name) or urllib.parse.quote(value_of(name, row.path, things), safe="")
    url = re.sub(r"\{([^}]*)\}", put, row.path)
    query = {}
    for parameter in row.entry["parameters"]:
        name = parameter["name"]
        if parameter["in"] == "query" and (
                parameter["required"] or name in ("dry_run", "namespace")):
            query[name] = sample(name, parameter["schema"], things)
    return url + ("?" + urllib.parse.urlencode(query) if query else "")


# Members that say which thing is meant.
NAMING = {"dag", "dag_id", "namespace", "jobs", "connection_id"}
# Those, and what a request would be wrong without.
ALWAYS = {*NAMING, "is_paused", "dag_run_id"}


def sample(name, schema, things):
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if name == "dry_run":
        return "true"
    if name in things and kind == "string":
        return things[name]
    if name == "dag_ids":
        return things["dag"]
    if name == "jobs":
        return [{"handler": "noop", "queue": "mail", "namespace": things["namespace"]}]
    return MEMBERS.get(name, SAMPLES[kind])


def body_of(row, things):
    if "requestBody" not in row.entry:
        return None
    schema = in_body(row)
    body = {name: sample(name, value, things) for name, value in schema["properties"].items()
            if name in schema["required"] or name in ALWAYS}
    if "dry_run" in schema["properties"]:
        body["dry_run"] = True
    if row.entry.get("x-operation") == "dag.post":
        body = {"dag": things["dag"], "namespace": things["namespace"],
                "tasks": {"a": {"run": "true"}}}
    return body


# --- what is expected ----------------------------------------------------------------------------

def is_public(row):
    return row.entry.get("security") == []


def needs(row):
    return row.entry.get("x-permission")


def is_for_all(row):
    scope = row.entry.get("x-scope")
    return scope == "all" or row.path.startswith(FOR_ALL) or (
        scope in ABOUT_THINGS and not is_owned(row))


def may(who, row, space):
    """Whether somebody may do this to a thing of a namespace."""
    if needs(row) is None:
        return True
    if needs(row) == "worker" or who.role == "worker":
        return who.role == needs(row)
    if ROLES.index(who.role) < ROLES.index(needs(row)) or (is_for_all(row) and who.space != "*"):
        return False
    return who.space in ("*", space) or not is_owned(row)


# All that anybody may ask for; whoever adds a row here says so twice.
PUBLIC = {"GET /api/v1/health", "GET /api/v1/openapi.json", "GET /api/v1/version", "GET /healthz",
          "GET /login", "GET /metrics", "GET /readyz", "POST /api/v1/x/login", "POST /hooks/{dag}"}
SIGNED_IN = {"GET /api/v1/x/me", "GET /api/v1/x/ping", "POST /api/v1/x/logout"}


def check_that_rows_without_a_permission_are_known(town):
    open_rows = {f"{row.method} {row.path}" for row in town.rows if needs(row) is None}
    assert {f"{row.method} {row.path}" for row in town.rows if is_public(row)} == PUBLIC
    assert open_rows == PUBLIC | SIGNED_IN


def check_that_nobody_gets_in_with_what_is_no_token(town):
    old = town.token("old", "*=admin", "--expires", "1s")
    gone = town.token("gone", "*=admin")
    number = next(row["id"] for row in town.shown("tokens", "list")["tokens"]
                  if row["name"] == "gone")
    town.eider("tokens", "remove", number, code=0)
    wait_for(lambda: town.api("GET", "/api/v1/x/me", headers={
        "Authorization": f"Bearer {old}"}).status == 401, "the token expires")
    forged = [{}, {"Authorization": f"Bearer {old}"}, {"Authorization": f"Bearer {gone}"},
              {"Authorization": f"Bearer {town.root.token[:-1]}"},
              {"Authorization": f"Bearer {town.root.token}0"},
              {"Cookie": f"eider_session={town.root.token}"}]
    wrong = []
    for row, headers in itertools.product(town.rows, forged):
        if is_public(row):
            continue
        answer = town.api(row.method, url_of(row, town.things["default"]),
                          body_of(row, town.things["default"]), headers=headers)
        if answer.status != 401 or answer.headers["Content-Type"] != "application/problem+json":
            wrong.append((row.method, row.path, headers, answer))
    assert not wrong, "\n".join(map(str, wrong[:20]))


def in_order(rows):
    """What reads, then what changes, then what removes: the deepest first."""
    def place(row):
        kind = {"GET": 0, "DELETE": 2}.get(row.method, 1)
        return kind, -row.path.count("/") if kind == 2 else 0
    return sorted(rows, key=place)


def has_there(row, space):
    """Whether the row can name things of a namespace at all."""
    airflow = not row.path.startswith("/api/v1/x/")
    short = {"pool_name", "variable_key", "connection_id"} & set(names(row.path))
    return space == "default" or not (airflow and short)


def told(answer, things):
    """What an answer says, without the names that were asked for."""
    text = answer.json.get("detail", answer.text)
    for value in sorted(set(things.values()), key=len, reverse=True):
        text = re.sub(rf"(?<![0-9A-Za-z]){re.escape(value)}(?![0-9A-Za-z])", "X", text)
    return answer.status, text


def check_that_things_of_others_look_as_if_they_were_not_there(town):
    wrong = []
    seen = 0
    for space, row, who in itertools.product(SPACES, town.rows, town.people + [town.worker]):
        if is_public(row) or may(who, row, space) or "/operations/" in row.path:
            continue
        things = town.things[space]
        answer = town.ask(who, row, url_of(row, things), body_of(row, things))
        seen += 1
        lacks_role = who.role == "worker" or needs(row) == "worker" or is_for_all(row) or (
            ROLES.index(who.role) < ROLES.index(needs(row)))
        if answer.status != 403 if lacks_role else answer.status not in (403, 404):
            wrong.append((who, row.method, row.path, space, answer))
        if lacks_role or not has_there(row, space) or row.entry.get("x-operation") == "dag.post":
            continue
        absent = {name: "9" * 9 if value.isdigit() else "gone" + value[4:]
                  for name, value in things.items()}
        absent["namespace"] = things["namespace"]
        other = town.ask(who, row, url_of(row, absent), body_of(row, absent))
        if told(answer, things) != told(other, absent):
            wrong.append((who, row.method, row.path, "tells that it is there", answer, other))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert seen > 2000, "the table has become short"


def check_that_lists_hold_nothing_of_others(town):
    wrong = []
    for row, who in itertools.product(town.rows, town.people):
        other = {"default": "hr", "hr": "default"}.get(who.space)
        if row.method != "GET" or names(row.path) or other is None or is_public(row):
            continue
        things = town.things[who.space]
        answer = town.ask(who, row, url_of(row, things), None)
        for name in ("dag", "pools", "variables", "secrets", "connections"):
            if answer.status == 200 and town.things[other][name] in answer.text:
                wrong.append((who, row.path, town.things[other][name]))
    assert not wrong, "\n".join(map(str, wrong[:20]))


# What cannot be found although it might be there.
NOT_THERE = {"xcom_key", "import_error_id", "uri", "host", "id"}


def check_that_who_may_is_let_in(town):
    """Each with the smallest right that will do; what the path names is there for the first."""
    wrong = []
    for space, row in itertools.product(SPACES, in_order(town.rows)):
        if is_public(row) or "/operations/" in row.path or not has_there(row, space):
            continue
        is_first = True
        for who in [town.worker, *town.people]:
            is_edge = who.role in (needs(row), "viewer", "admin")  # the others are between them
            if not may(who, row, space) or not is_edge or row.path.endswith("/logout"):
                continue
            things = town.things[space]
            answer = town.ask(who, row, url_of(row, things), body_of(row, things))
            refused = {401, 403} - ({403} if row.entry.get("x-operation") in OWN_RULES else set())
            if is_first and is_owned(row) and not NOT_THERE & set(names(row.path)) and (
                    row.entry.get("x-operation") != "dag.diff"):  # there is one version
                refused |= {404}
            is_first = False
            fails = answer.status >= 500 and row.entry.get("x-operation") != "connection.test"
            if answer.status in refused or fails:
                wrong.append((who, row.method, row.path, space, answer))
    assert not wrong, "\n".join(map(str, wrong[:30]))


# --- traversal -----------------------------------------------------------------------------------

ODD = ["..%2f..%2fetc%2fpasswd", "..%5c..%5cetc", "%2e%2e", "%00", "a%00b", "%0d%0aX-Odd:%201",
       "%ff%fe", "%c0%ae%c0%ae%2f", "'%20OR%201=1--", "$%7b7*7%7d", "%7b%7b7*7%7d%7d", "a" * 3000]
# Any text is the name of an asset, and nothing is looked for by it.
ANY_TEXT = {"asset.emit"}


def check_that_odd_words_in_a_path_lead_nowhere(town):
    wrong = []
    things = town.things["default"]
    for row in town.rows:
        body = body_of(row, things)
        who = town.worker if needs(row) == "worker" else town.root
        for name, odd in itertools.product(names(row.path), ODD):
            if isinstance(body, dict):
                body.pop(name, None)
            answer = town.ask(who, row, url_of(row, things, **{name: odd}), body)
            is_refused = answer.status in (400, 404, 422) and answer.headers[
                "Content-Type"] == "application/problem+json"
            if is_public(row):
                is_refused |= answer.status == 401
            if not is_refused and row.entry.get("x-operation") not in ANY_TEXT:
                wrong.append((row.method, row.path, name, odd[:30], str(answer)[:200]))
            assert "X-Odd" not in answer.headers
    assert not wrong, "\n".join(map(str, wrong[:60]))
    assert town.api.get("/api/v1/health")["metadatabase"]["status"] == "healthy"


def check_that_a_dag_of_others_is_not_replaced(town):
    """Its id is taken, and that is all that is told."""
    for who in town.people:
        if who.space == "hr" and who.role in ("editor", "admin"):
            dag = {"namespace": "hr", "tasks": {"a": {"run": "true"}}}
            answer = town.api.with_token(who.token)("PUT", "/api/v1/dags/default_dag", dag)
            assert answer.status == 403
            assert "default" not in answer.json["detail"].replace("default_dag", "")


def test_every_row_for_everybody(town):
    """In this order: what may be done is done at the end, and some of it removes things."""
    check_that_rows_without_a_permission_are_known(town)
    check_that_a_dag_of_others_is_not_replaced(town)
    check_that_nobody_gets_in_with_what_is_no_token(town)
    check_that_things_of_others_look_as_if_they_were_not_there(town)
    check_that_lists_hold_nothing_of_others(town)
    check_that_odd_words_in_a_path_lead_nowhere(town)
    check_that_who_may_is_let_in(town)
