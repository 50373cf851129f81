"""Everything below /api/v1/x: each row is called once, and answers what OpenAPI says."""
import datetime
import re
import urllib.parse
import uuid

import pytest

from api import LISTEN, Api
from harness import wait_for

SALES = """
    dag: sales
    title: Daily sales
    tags: [nightly, money]
    schedule: { cron: "30 2 * * *", tz: Europe/Berlin }
    catchup: false
    params: { region: { type: string, default: eu } }
    tasks:
      list_parts: { run: "echo '[1, 2, 3]' > $EIDER_OUTPUTS/parts" }
      stage.load:
        needs: [list_parts]
        foreach: "{{ tasks.list_parts.parts }}"
        run: "echo {{ item }} {{ params.region }}"
      publish: { needs: [stage.load], run: "true" }
    finally:
      sweep: { run: "true" }
"""
GROUPED = """
    dag: grouped
    schedule: { webhook: true }
    tasks:
      first: { run: "true" }
      last: { run: "true", needs: [g.one, g.two, g.inner.three] }
    groups:
      g:
        tasks:
          one: { run: "true", needs: [first] }
          two: { run: "true", needs: [first] }
        groups:
          inner: { tasks: { three: { run: "true", needs: [first] } } }
"""
BROKEN = """
    dag: broken
    tasks: { only: { run: "exit 3" } }
"""
MISTAKEN = """
    dag: mistaken
    tasks: { only: { rnu: "true" } }
"""
CALM = {"EIDER_CPU_MOST": "1000000"}  # a busy machine runs them, too
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict,
         "array": list, "null": type(None)}


def is_of(name, value):
    if isinstance(value, bool) and name in ("integer", "number"):
        return False
    return isinstance(value, TYPES[name])


def is_instant(text):
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", text))


def check_value(schema, value, where):
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    assert not names or any(is_of(name, value) for name in names), f"{where}: {value!r} {schema}"
    if isinstance(value, str) and schema.get("format") == "date-time":
        assert is_instant(value), f"{where}: {value!r} is no instant"
    if isinstance(value, str) and "pattern" in schema:
        assert re.search(schema["pattern"], value), f"{where}: {value!r}"
    if isinstance(value, list):
        for item in value:
            check_value(schema.get("items", {}), item, where)
    if isinstance(value, dict):
        for name in schema.get("required", []):
            assert name in value, f"{where}: no {name} in {sorted(value)}"
        for name, member in value.items():
            known = schema.get("properties", {}).get(name)
            assert known is not None or schema.get("additionalProperties") is not False, \
                f"{where}: {name} is not described"
            check_value(known or {}, member, f"{where}.{name}")


class Described:
    """Calls rows by their pattern, and holds requests and answers against their description."""

    def __init__(self, api):
        self.api = api
        document = api.get("/api/v1/openapi.json")
        self.paths = document["paths"]
        self.problem = document["components"]["schemas"]["Problem"]
        self.called = set()

    def __call__(self, method, pattern, body=None, query=None, code=200, **names):
        pattern = "/api/v1/x/" + pattern
        entry = self.paths[pattern][method.lower()]
        where = f"{method} {pattern}"
        known = {p["name"] for p in entry["parameters"] if p["in"] == "query"}
        assert set(query or {}) <= known, f"{where}: {query} but {known}"
        if body == {} and "requestBody" not in entry:
            body = None
        if body is not None:
            check_value(entry["requestBody"]["content"]["application/json"]["schema"], body, where)
        path = pattern.format(**{name: urllib.parse.quote(str(value), safe="")
                                 for name, value in names.items()})
        answer = self.ask(entry, method, path, body, query)
        assert answer.status == code, f"{where}: {answer}"
        self.called.add((method.lower(), pattern))
        success = entry["responses"]["200"]["content"]["application/json"]["schema"]
        problem = self.problem if code != 200 else success
        check_value(problem, answer.json, where)
        return answer.json

    def ask(self, entry, method, path, body, query):
        """With a key where the row takes one: then the same again is answered alike."""
        names = {parameter["name"] for parameter in entry["parameters"]
                 if parameter["in"] == "header"}
        if "Idempotency-Key" not in names or "dry_run" in {**(body or {}), **(query or {})}:
            return self.api(method, path, body, query=query)
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        answer = self.api(method, path, body, query=query, headers=headers)
        again = self.api(method, path, body, query=query, headers=headers)
        assert (again.status, again.bytes) == (answer.status, answer.bytes)
        assert again.headers["Idempotency-Replayed"] == ("true" if answer.status < 300 else None)
        return answer

    def get(self, pattern, **options):
        return self("GET", pattern, **options)

    def post(self, pattern, body=None, **options):
        return self("POST", pattern, body if body is not None else {}, **options)

    def missing(self):
        """Rows of operations that were not called; others are no JSON, or have their own tests."""
        every = {(method, path) for path, methods in self.paths.items()
                 for method, entry in methods.items()
                 if path.startswith("/api/v1/x/") and "x-operation" in entry and
                 entry.get("x-permission") != "worker"}
        return {row for row in every - self.called if "/operations/" not in row[1]}


@pytest.fixture
def place(world, up):
    """A daemon with DAGs, and who may do everything there."""
    for name, text in (("sales", SALES), ("grouped", GROUPED), ("broken", BROKEN),
                       ("mistaken", MISTAKEN)):
        world.write(f"dags/{name}.yaml", text)
    daemon = up("--dags", str(world.work / "dags"), env={
        **LISTEN, **CALM, "EIDER_SLOTS": "4", "EIDER_BACKFILL_APPROVAL": "3"})
    token = world("tokens", "add", "tester", "--role", "admin", "-o", "json", code=0).json()
    return Described(Api(daemon, token["token"]))


def run_to_end(place, dag, state, **body):
    number = place.post("dags/{dag}/trigger", body, dag=dag)["number"]
    wait_for(lambda: place.get("runs/{run}", run=number)["state"] == state,
             f"{dag} to be {state}")
    return number


def test_every_row_answers_as_described(place, world):
    sales = run_to_end(place, "sales", "success", conf={"region": "us"})
    broken = run_to_end(place, "broken", "failed")
    look_at_pictures(place, sales, broken)
    look_at_dags(place)
    look_at_runs(place, sales, broken)
    look_at_backfills(place)
    look_at_jobs(place)
    look_at_settings(place)
    look_at_people(place)
    look_at_versions(place, world)
    assert not place.missing()


def look_at_pictures(place, sales, broken):
    home = place.get("home")
    assert home["runs"]["success"] == 1 and home["runs"]["failed"] == 1
    assert home["tasks"] == {"success": 6, "failed": 1}
    assert [run["number"] for run in home["failed"]] == [broken]
    assert home["import_errors"] == 1 and home["dags"]["active"] == 3
    assert [entry["dag_id"] for entry in home["next"]] == ["sales"]
    assert len(home["hosts"]) == 1 and home["queues"][0]["name"] == "default"
    look_at_failing(home, broken)
    look_at_rows(place, sales, broken)

    grid = place.get("grid/{dag}", dag="sales", query={"limit": 365})
    assert [run["number"] for run in grid["runs"]] == [sales]
    lines = {task["task_id"]: task for task in grid["tasks"]}
    success = grid["states"].index("success")
    assert list(lines) == sorted(lines, key=["list_parts", "stage.load", "publish",
                                             "sweep"].index)
    assert {line["states"] for line in lines.values()} == {f"{success:x}"}
    assert lines["stage.load"]["instances"] == [[3, 3, 0, 0]]

    assert place.get("running/tasks", query={"limit": 2000})["tasks"] == []
    graph = place.get("graph/{dag}", dag="sales", query={"run": sales})
    assert {node["state"] for node in graph["nodes"]} == {"success"}
    run_id = place.get("runs/{run}", run=sales)["dag_run_id"]
    assert place.get("graph/{dag}", dag="sales", query={"run": run_id})["number"] == sales
    assert len(graph["edges"]) == 2 and all(len(edge["points"]) >= 4 for edge in graph["edges"])
    boxes = place.get("graph/{dag}", dag="grouped")["groups"]
    assert [(box["group"], box["above"]) for box in boxes] == [("g", None), ("g.inner", "g")]

    bars = place.get("gantt/{run}", run=sales)["bars"]
    assert len(bars) == 7 and bars[0]["task_id"] == "list_parts"

    year = datetime.datetime.now(datetime.timezone.utc).year
    calendar = place.get("calendar/{dag}", dag="sales", query={"year": year})
    assert sum(day["total"] for day in calendar["days"]) == 1
    coming = place.get("calendar/{dag}", dag="sales", query={"year": year + 1})
    assert sum(day["planned"] for day in coming["days"]) in (365, 366)

    assert place.get("explain/dags/{dag}", dag="sales")["summary"]
    assert place.get("explain/runs/{run}", run=broken)["state"] == "failed"
    tasks = place.get("explain/runs/{run}/tasks/{task}", run=broken, task="only")["tasks"]
    assert [task["task_id"] for task in tasks] == ["only"]
    place.get("simulate")

    def kinds(text, **query):
        results = place.get("search", query={"q": text, **query})["results"]
        return {(hit["kind"], hit["name"]) for hit in results}

    assert kinds("SALE") == {("dag", "sales")}
    assert kinds("money") == {("tag", "money")}
    assert kinds("load") == {("task", "stage.load")}
    assert {kind for kind, _ in kinds("manual__")} == {"run"}
    assert {kind for kind, _ in kinds(sales, kinds="run,job")} == {"run"}
    assert kinds("no such thing") == set()

    checked = place.post("validate", {"text": "tasks: { a: { rnu: x } }", "name": "new.yaml"})
    problems = checked["files"][0]["problems"]
    assert ("new.yaml", 1, 15) in [(one["file"], one["line"], one["column"]) for one in problems]
    rendered = place.post("render", {"dag": "sales", "task": "stage.load",
                                     "params": {"region": "asia"}})
    assert rendered["task_id"] == "stage.load"
    ticks = place.post("schedule/preview", {"schedule": "30 2 * * *", "tz": "Europe/Berlin",
                                            "from": "2026-03-28T00:00:00Z", "count": 3})["ticks"]
    assert [tick["utc_offset"] for tick in ticks] == [3600, 7200, 7200]
    assert "forward by 1:00 h" in ticks[1]["note"] and ticks[0]["note"] is None


def look_at_failing(home, broken):
    """What fails and with which words; the day by the hour."""
    failing, = home["failing"]
    assert (failing["number"], failing["task_id"]) == (broken, "only")
    assert (failing["exit_code"], failing["try_number"], failing["map_index"]) == (3, 1, -1)
    assert failing["message"] is None and failing["reason"] == "exit"
    assert failing["tasks_total"] == 1
    assert home["pools"][0]["name"] == "default" and home["hosts_lost"] == []
    assert sum(home["hours"]["failed"]) == 1 and sum(home["hours"]["success"]) == 1
    assert {len(counts) for name, counts in home["hours"].items() if name != "begin"} == {24}


def look_at_rows(place, sales, broken):
    """Every DAG on one line, with its runs as letters."""
    answer = place.get("dag-rows")
    rows = {row["dag_id"]: row for row in answer["dags"]}
    assert list(rows) == sorted(rows) and {"sales", "grouped", "broken"} == set(rows)
    assert rows["sales"]["tags"] == ["nightly", "money"] and rows["sales"]["title"] == "Daily sales"
    assert rows["sales"]["schedule"]["cron"] == "30 2 * * *" and rows["sales"]["is_scheduled"]
    assert is_instant(rows["sales"]["next_run"]) and rows["grouped"]["next_run"] is None
    assert [answer["states"][int(digit)] for digit in rows["broken"]["states"]] == ["failed"]
    assert rows["sales"]["numbers"] == [int(sales)] and rows["broken"]["numbers"] == [int(broken)]
    assert len(rows["sales"]["durations"]) == 1 and rows["grouped"]["states"] == ""
    some = place.get("dag-rows", query={"dags": "sales,no_such_dag", "runs": 1})
    assert [row["dag_id"] for row in some["dags"]] == ["sales"]
    place.get("dag-rows", query={"runs": 101}, code=400)
    first = place.get("dag-rows", query={"limit": 1})
    assert first["dags"] == answer["dags"][:1] and first["total_entries"] == len(answer["dags"]) > 1
    place.get("dag-rows", query={"limit": 0}, code=400)


def look_at_dags(place):
    assert {dag["dag_id"] for dag in place.get("dags")["dags"]} == {"sales", "broken", "grouped"}
    shown = place.get("dags/{dag}", dag="sales")
    assert (shown["title"], shown["keys"]) == ("Daily sales", {"catchup": False})
    brief = place.get("dags/{dag}", dag="sales", query={"brief": "true"})
    assert brief["tasks_total"] == 4 and "tasks" not in brief
    place.get("dags/{dag}/next", dag="sales")
    assert place.get("dags/{dag}/picture", dag="sales", query={"format": "svg"})["text"]
    assert "30 2" in place.get("dags/{dag}/source", dag="sales")["text"]
    assert place.get("dags/{dag}/tasks", dag="sales")["total_entries"] == 4
    assert place.get("dags/{dag}/tasks/{task}", dag="sales", task="publish")["needs"]
    assert {error["file"].rpartition("/")[2] for error in place.get("import-errors")["errors"]} == \
        {"mistaken.yaml"}
    unknown = next(error for error in place.get("import-errors")["errors"]
                   if "rnu" in error["message"])
    assert unknown["source"][unknown["column"] - 1:][:unknown["length"]] == "rnu"
    assert unknown["dags"] == []
    assert place.post("dags/{dag}/pause", {"reason": "holiday"}, dag="sales")["changed"]
    assert not place.post("dags/{dag}/unpause", dag="sales")["is_paused"]


def look_at_runs(place, sales, broken):
    assert place.get("runs", query={"dag": "sales"})["dag_runs"][0]["number"] == sales
    assert len(place.get("runs/{run}/tasks", run=sales)["task_instances"]) == 7
    values = place.get("runs/{run}/values", run=sales, query={"task": "list_parts"})["values"]
    assert values[0]["value"] == [1, 2, 3]
    place.get("running")
    assert place.get("events", query={"run": sales})["events"]
    folded = place.get("runs/{run}/tasks", run=sales, query={"folded": "true", "limit": "2"})
    assert folded["total_entries"] == 4 and len(folded["task_instances"]) == 2
    third = place.get("runs/{run}/tasks", run=sales,
                      query={"folded": "false", "limit": "5", "offset": "2"})
    assert [task["map_index"] for task in third["task_instances"]] == [2]
    assert not place.get("runs/{run}/tasks/{task}/log", run=broken, task="only")["live"]
    lines = place.get("runs/{run}/tasks/{task}/lines", run=broken, task="only")
    assert lines["first"] == 1 and lines["count"] == lines["lines"] and not lines["live"]
    found = place.get("runs/{run}/tasks/{task}/find", run=broken, task="only",
                      query={"find": "no such text"})
    assert found["hits"] == [] and not found["more"]
    assert place.post("runs/{run}/note", {"note": "looked at"}, run=sales)["note"] == "looked at"
    note = place.post("runs/{run}/tasks/{task}/note", {"note": "known"}, run=broken, task="only")
    assert note["note"] == "known"
    dry = place.post("runs/{run}/retry", {"dry_run": True}, run=broken)
    assert dry["task_instances"][0]["task_id"] == "only"
    place.post("runs/{run}/clear", {"tasks": ["only"], "dry_run": True}, run=broken)
    marked = place.post("runs/{run}/tasks/{task}/mark", {"state": "success", "reason": "by hand"},
                        run=broken, task="only")
    assert marked["state"] == "success"
    again = place.post("runs/{run}/rerun", {"reason": "once more"}, run=broken)["number"]
    wait_for(lambda: place.get("runs/{run}", run=again)["state"] == "failed", "it to fail again")
    place.post("runs/{run}/cancel", {"dry_run": True}, code=409, run=again)
    assert place("DELETE", "runs/{run}", run=again, query={"dry_run": "true"})["number"] == again
    assert place.get("sla")["total_entries"] == 0
    place.get("sla/report")


def look_at_backfills(place):
    wish = {"dag": "sales", "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T23:00:00Z"}
    assert place.post("backfill-plan", wish)["to_create"] == 2
    small = place.post("backfills", {**wish, "reason": "missing"})["backfill"]
    large = place.post("backfills", {**wish, "from": "2026-02-01T00:00:00Z",
                                     "to": "2026-02-09T00:00:00Z"})["backfill"]
    assert place.get("backfills")["total_entries"] == 2
    wait_for(lambda: place.get("backfills/{backfill}", backfill=small)["state"] == "success",
             "the backfill to end")
    place.post("backfills/{backfill}/approve", backfill=large)
    place.post("backfills/{backfill}/pause", backfill=large)
    place.post("backfills/{backfill}/resume", backfill=large)
    place.post("backfills/{backfill}/cancel", {"running": True}, backfill=large)


def look_at_jobs(place):
    place("PATCH", "queues/{name}", {"priority": 3, "max_running": 2}, name="mail")
    assert place.get("queues/{name}", name="mail")["priority"] == 3
    place.get("queues")
    made = place.post("jobs", {"queue": "mail", "jobs": [
        {"handler": "noop", "delay": "1h"}, {"handler": "sleep", "payload": {"seconds": -1}},
        {"handler": "noop"}]})["jobs"]
    later, failing, done = [job["id"] for job in made]
    wait_for(lambda: place.get("jobs/{job}", job=done)["status"] == "completed", "a job to end")
    wait_for(lambda: place.get("jobs/{job}", job=failing)["status"] == "failed", "one to fail")
    assert {job["id"] for job in place.get("jobs")["jobs"]} == {later, failing, done}
    place("PATCH", "jobs/{job}", {"delay": "2h"}, job=later)
    gone = place.post("jobs/{job}/cancel", {"reason": "no need"}, job=later)
    assert gone["status"] == "cancelled"
    assert not place.get("jobs/{job}/log", job=failing)["live"]
    assert place.get("jobs/{job}/lines", job=failing)["count"] == 0
    assert place.get("jobs/{job}/find", job=failing, query={"find": "x"})["hits"] == []
    assert place.get("dlq")["letters"][0]["id"] == failing
    assert place.get("dlq/{id}", id=failing)["kind"] == "job"
    place.post("requeue", {"all": True, "dry_run": True})
    place.post("dlq/{id}/requeue", id=failing)
    wait_for(lambda: place.get("dlq")["total_entries"] == 1, "it to fail again")
    place.post("jobs/{job}/retry", job=done)
    assert place("DELETE", "dlq", query={"dry_run": "true"})["purged"] == 1
    place("DELETE", "jobs", query={"status": "cancelled"})
    place("DELETE", "queues/{name}", name="mail", query={"dry_run": "true"})
    host = place.get("hosts")["hosts"][0]
    assert place.get("hosts/{host}", host=host["id"])["name"] == host["name"]
    assert place.get("demand")["living"] == 1
    assert place.post("hosts/{host}/drain", {"drain": False}, host=host["id"])["id"] == host["id"]


def look_at_settings(place):
    uri = "warehouse://mart/orders"
    place.post("assets/{uri}/events", {"extra": {"rows": 3}}, uri=uri)
    assert place.get("assets/{uri}", uri=uri)["uri"] == uri
    assert place.get("assets")["total_entries"] == 1
    place("PATCH", "pools/{name}", {"slots": 3}, name="warehouse")
    assert place.get("pools/{name}", name="warehouse")["slots"] == 3
    place.get("pools")
    place("DELETE", "pools/{name}", name="warehouse")
    place("PUT", "limits/{kind}/{name}", {"max_running": 9}, kind="dag", name="sales")
    assert place.get("limits")["limits"][0]["max_running"] == 9
    place("DELETE", "limits/{kind}/{name}", kind="dag", name="sales")
    for plural, value in (("variables", "blue"), ("secrets", "s3cr3t-42"),
                          ("connections", "http://127.0.0.1:1")):
        place("PUT", plural + "/{name}", {"value": value}, name="first")
        assert place.get(plural + "/{name}", name="first")["name"] == "first"
        assert "s3cr3t" not in str(place.get(plural))
    place.post("connections/{name}/test", name="first", code=503)
    assert place.post("secrets")["current"] + place.post("secrets")["resealed"] >= 1
    for plural in ("variables", "secrets", "connections"):
        place("DELETE", plural + "/{name}", name="first")
    assert place.get("config/{key}", key="slots")["value"] == "4"
    place.get("config")
    place.get("doctor")
    assert place.get("notifications")["total_entries"] == 0
    place.post("notifications", {"target": "command:true"})
    place.post("notifications/{id}/retry", id=1, code=404)
    hook = place.post("webhooks", {"dag": "grouped"})
    place.get("webhooks")
    place("DELETE", "webhooks/{id}", id=hook["id"])
    place.post("store/check")
    place.post("store/migrate")
    place.post("prune", {"dry_run": True})
    me = place.api.get("/api/v1/x/me")["name"]
    assert place.get("audit", query={"actor": me})["total_entries"] > 5


def look_at_people(place):
    place.post("namespaces", {"name": "retail"})
    place.get("namespaces")
    place("DELETE", "namespaces/{name}", name="retail")
    place.post("users", {"name": "anna", "grants": ["*=viewer"], "password": "correct horse 7"})
    place("PATCH", "users/{name}", {"grants": ["*=operator"]}, name="anna")
    assert place.get("users")["total_entries"] == 1
    token = place.post("tokens", {"name": "ci", "grants": ["*=viewer"]})
    place.get("tokens")
    place("DELETE", "tokens/{id}", id=token["id"])
    place("DELETE", "users/{name}", name="anna")


def look_at_versions(place, world):
    world.write("dags/broken.yaml", BROKEN.replace("exit 3", "exit 4"))
    wait_for(lambda: place.get("dags/{dag}/versions", dag="broken")["total_entries"] == 2,
             "the second version")
    assert "exit 4" in place.get("dags/{dag}/diff", dag="broken")["text"]
    place.post("dags/{dag}/rollback", {"version": 1}, dag="broken")
    place("DELETE", "dags/{dag}", dag="broken", query={"dry_run": "true"}, code=409)


RETAIL = """
    dag: shop
    namespace: retail
    schedule: { cron: "0 4 * * *" }
    tags: [money]
    tasks: { till: { run: "exit 1" } }
"""


def test_views_show_what_one_may_see(place, world):
    """Somebody of one namespace sees that one, in lists, counts and searches."""
    world.write("dags/shop.yaml", RETAIL)
    wait_for(lambda: place.get("search", query={"q": "shop"})["results"], "the DAG to be seen")
    sales = run_to_end(place, "sales", "success")
    shop = run_to_end(place, "shop", "failed")
    token = world("tokens", "add", "clerk", "--role", "retail=viewer", "-o", "json", code=0).json()
    clerk = Described(place.api.with_token(token["token"]))

    home = clerk.get("home")
    assert (home["runs"]["success"], home["runs"]["failed"]) == (0, 1)
    assert home["tasks"] == {"failed": 1} and home["dags"]["active"] == 1
    assert [run["number"] for run in home["failed"]] == [shop]
    assert [entry["dag_id"] for entry in home["next"]] == ["shop"]
    assert [run["dag_id"] for run in home["failing"]] == ["shop"]
    assert [row["dag_id"] for row in clerk.get("dag-rows")["dags"]] == ["shop"]
    assert clerk.get("dag-rows", query={"dags": "sales"})["dags"] == []
    for text, found in (("s", {"shop"}), ("money", {"shop"}), ("till", {"shop"}),
                        (shop, {"shop"}), ("manual__", {"shop"}), ("sales", set())):
        results = clerk.get("search", query={"q": text})["results"]
        assert {hit["dag_id"] for hit in results} == found, text
    found = clerk.get("search", query={"q": sales})["results"]
    assert sales not in [hit.get("number") for hit in found]
    assert len(clerk.get("grid/{dag}", dag="shop")["runs"]) == 1
    for pattern in ("grid/{dag}", "graph/{dag}", "calendar/{dag}", "explain/dags/{dag}"):
        clerk.get(pattern, dag="sales", code=404)
    clerk.get("gantt/{run}", run=sales, code=404)
    clerk.get("graph/{dag}", dag="shop", query={"run": sales}, code=404)
    clerk.post("schedule/preview", {"dag": "sales"}, code=404)
    clerk.post("dags/{dag}/pause", dag="shop", code=403)


def told(graph):
    """Nodes, and edges as pairs."""
    return ({node["task_id"] for node in graph["nodes"]},
            {(edge["from"], edge["to"]) for edge in graph["edges"]})


def test_a_part_of_a_graph_is_drawn(place):
    run = run_to_end(place, "grouped", "success")
    near = place.get("graph/{dag}", dag="grouped", query={"task": "g.one"})
    assert told(near) == ({"first", "g.one", "last"}, {("first", "g.one"), ("g.one", "last")})
    assert near["tasks_total"] == 5
    hidden = {node["task_id"]: (node["hidden_up"], node["hidden_down"]) for node in near["nodes"]}
    assert hidden == {"first": (0, 2), "g.one": (0, 0), "last": (2, 0)}
    ahead = place.get("graph/{dag}", dag="grouped",
                      query={"task": "first", "up": 3, "down": 2, "run": run})
    assert len(ahead["nodes"]) == 5 and {n["state"] for n in ahead["nodes"]} == {"success"}

    closed = place.get("graph/{dag}", dag="grouped", query={"collapsed": "g", "run": run})
    assert told(closed) == ({"first", "g", "last"}, {("first", "g"), ("g", "last")})
    group = next(node for node in closed["nodes"] if node["is_group"])
    assert group["task_id"] == "g" and group["tasks"] == 3 and group["state"] == "success"
    assert group["states"] == {"success": 3} and closed["groups"] == []
    inner = place.get("graph/{dag}", dag="grouped", query={"collapsed": "g.inner"})
    assert told(inner)[0] == {"first", "g.one", "g.two", "g.inner", "last"}
    assert [box["group"] for box in inner["groups"]] == ["g"]
    picture = place.get("dags/{dag}/picture", dag="grouped",
                        query={"format": "dot", "collapsed": "*", "task": "last"})
    assert 'n0 [label="g",' in picture["text"] and "n0 -> n1;" in picture["text"]
    assert "first" not in picture["text"]


def test_a_graph_that_is_too_large_says_what_to_ask_for(place, world):
    tasks = {"root": {"noop": {}}, "hub": {"noop": {}, "needs": ["root"]}}
    tasks |= {f"t{i}": {"noop": {}, "needs": ["root", "hub"]} for i in range(34000)}
    place.api.post("/api/v1/dags", {"dag_id": "huge", "tasks": tasks})
    for path in ("graph/{dag}", "dags/{dag}/picture"):
        query = {"format": "svg"} if "picture" in path else {}
        problem = place.get(path, dag="huge", query=query, code=422)
        assert "34002 tasks" in problem["detail"] and "collapsed" in problem["detail"]
    assert "at most 100000" in place.get("graph/{dag}", dag="huge", code=422)["detail"]
    near = place.get("graph/{dag}", dag="huge", query={"task": "t7", "up": 2})
    assert told(near)[0] == {"root", "hub", "t7"} and near["tasks_total"] == 34002
    assert "t33999" in place.get("dags/{dag}/picture", dag="huge")["text"]

    refused = world("dags", "graph", "huge", "--format", "svg", code=2)
    assert "around one task" in refused.err
    assert "<svg" in world("dags", "graph", "huge", "--format", "svg", "--task", "t7", code=0).out


BAD = [
    ("GET", "running/tasks?limit=2001", None, 400, "from 1 to 2000"),
    ("GET", "graph/sales?task=publsh", None, 404, "'publish'"),
    ("GET", "graph/sales?up=2", None, 400, "name it"),
    ("GET", "graph/sales?task=publish&up=-1", None, 400, "from 0 to"),
    ("GET", "graph/sales?collapsed=stages", None, 404, "no group 'stages'"),
    ("GET", "grid/sales?limit=0", None, 400, "from 1 to 1000"),
    ("GET", "grid/sales?limit=x", None, 400, "an integer"),
    ("GET", "grid/sales?before=yesterday", None, 400, "a date"),
    ("GET", "grid/sales?limt=3", None, 400, "did you mean 'limit'"),
    ("GET", "grid/sale", None, 404, "'sales'"),
    ("GET", "grid/..%2F..%2Fetc%2Fpasswd", None, 404, "there is no DAG"),
    ("GET", "graph/sales?run=nothing", None, 404, "no run 'nothing'"),
    ("GET", "graph/sales?version=99", None, 404, "99"),
    ("GET", "gantt/99", None, 404, "99"),
    ("GET", "gantt/99?limit=-1", None, 400, "from 1 to 10000"),
    ("GET", "calendar/sales?year=1", None, 400, "from 1970"),
    ("GET", "search", None, 400, "'q' is missing"),
    ("GET", "search?q=" + "x" * 300, None, 400, "200 bytes"),
    ("GET", "search?q=x&kinds=dog", None, 400, "did you mean 'dag'"),
    ("POST", "validate", {}, 400, "either 'text'"),
    ("POST", "validate", {"paths": ["/etc/passwd"]}, 400, "unknown field 'paths'"),
    ("POST", "validate", ["x"], 400, "a JSON object"),
    ("POST", "validate", {"text": 3}, 400, "strings"),
    ("POST", "validate", {"texts": {"a": 3}}, 400, "must be a string"),
    ("POST", "render", {"dag": "sales", "task": "publsh"}, 404, "'publish'"),
    ("POST", "render", {"file": "/etc/passwd", "task": "x"}, 403, "a file of the server"),
    ("POST", "schedule/preview", {}, 400, "either 'schedule' or 'dag'"),
    ("POST", "schedule/preview", {"schedule": "61 * * * *"}, 400, "schedule:"),
    ("POST", "schedule/preview", {"schedule": "0 5 * * *", "tz": "Mars/Base"}, 400, "Mars/Base"),
    ("POST", "schedule/preview", {"schedule": {"cron": "0 5 * * *", "tz": 3}}, 400, "schedule:"),
    ("POST", "schedule/preview", {"dag": "sales", "tz": "UTC"}, 400, "itself"),
    ("POST", "dags/sales/pause", {"resaon": "x"}, 400, "unknown field"),
    ("POST", "dags/sales/pause?x=1", {}, 400, "unknown query"),
    ("POST", "dags/nobody/pause", {}, 404, "no DAG 'nobody'"),
]


def test_bad_questions_are_answered(place):
    for method, path, body, code, words in BAD:
        answer = place.api(method, "/api/v1/x/" + path, body)
        assert answer.status == code, f"{path}: {answer}"
        assert words in answer.json["detail"], f"{path}: {answer}"


def test_a_run_of_an_older_version_keeps_its_place_in_the_grid(place, world):
    run_to_end(place, "broken", "failed")
    world.write("dags/broken.yaml", BROKEN.replace("only", "other").replace("exit 3", "true"))
    wait_for(lambda: place.get("dags/{dag}", dag="broken")["dag_version"] == 2, "a second version")
    run_to_end(place, "broken", "success")
    grid = place.get("grid/{dag}", dag="broken")
    lines = {task["task_id"]: (task["states"], task["is_current"]) for task in grid["tasks"]}
    success, failed = (f"{grid['states'].index(name):x}" for name in ("success", "failed"))
    assert lines == {"other": ("." + success, True), "only": (failed + ".", False)}
    latest = place.get("grid/{dag}", dag="broken", query={"limit": 1})
    assert latest["has_more"] and len(latest["runs"]) == 1
    before = place.get("grid/{dag}", dag="broken",
                       query={"limit": 1, "before": latest["runs"][0]["logical_date"]})
    assert not before["has_more"] and before["runs"][0]["state"] == "failed"
