"""Requests that others draw from our description, right ones and wrong ones, against a daemon.

EIDER_SCHEMA_SECONDS=600 has schemathesis go on for that long, with other draws every time;
EIDER_SCHEMA_STORE=postgres has it do so on PostgreSQL.
"""
import json
import os
import subprocess
import sys
import time

import pytest
from api import LISTEN, Api
from harness import BINARY, ROOT, wait_for

PACKAGES = ROOT / "build/python"  # where tools/setup puts what Debian does not have
HERE = ROOT / "tests/e2e"
LONG = int(os.environ.get("EIDER_SCHEMA_SECONDS", "0"))
IS_SLOW = "tsan" in str(BINARY)  # races show themselves with fewer requests as well
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "response_headers_conformance", "ignored_auth",
          "unsupported_method", "allow_header_conformance", "negative_data_rejection",
          "use_after_free", "ensure_resource_availability"]
# Tasks run nothing of what is drawn.
DAGS = {
    "plain": """
        tags: [etl]
        params: { source: { type: string, default: file } }
        schedule: "@yearly"
        on_failure: [{ command: "true" }]
        tasks:
          first: { run: "echo first" }
          second: { needs: [first], run: "false" }
        """,
    "mapped": """
        namespace: sales
        tasks:
          each: { foreach: [a, b, c], run: "echo each" }
        """,
    "fed": """
        schedule: { datasets: ["file:///data/orders"] }
        tasks: { a: { run: "echo fed" } }
        """,
    "slow": """
        schedule: "@yearly"
        tasks: { waits: { sensor: { duration: 1h } } }
        """,
    "hook": """
        schedule: { webhook: true }
        tasks: { a: { run: "echo called" } }
        """,
    "called": """
        schedule: { webhook: true }
        tasks: { a: { run: "echo called" } }
        """,
}
DATES = ["2020-01-01T00:00:00Z", "2021-01-02T00:00:00Z"]
# What members of requests may be, so that more is reached than what is not there.
VALUES = {
    "dag": "plain", "dag_id": "plain", "dag_ids": ["plain"], "dags": ["plain"],
    "dag_id_pattern": "plain", "run_id": "another", "task": "first", "task_id": "first",
    "tasks": ["first"], "map_index": -1, "task_try_number": "1", "try_number": 1, "try": 1,
    "namespace": "default", "pool_name": "desk", "variable_key": "region", "connection_id": "site",
    "uri": "file:///data/orders", "dataset_uri": "file:///data/orders", "queue": "mail",
    "kind": "namespace", "section": "eider", "option": "slots", "event_log_id": "1",
    "format": "svg", "state": "success", "new_state": "success", "from": DATES[0], "to": DATES[1],
    "from_date": DATES[0], "to_date": DATES[1], "logical_date": DATES[0],
    "execution_date": DATES[0], "limit": 10, "offset": 0, "count": 5, "last": 5, "bytes": 1000,
    "tail": 5, "length": 100, "width": 100, "year": 2026, "version": 1, "min": 0, "max": 4,
    "slots": 2, "unknown_ms": 1000, "name": "fresh", "key": "fresh", "q": "plain",
    "schedule": "@daily", "tz": "Europe/Berlin", "jobs": [{"handler": "noop"}],
    "queues": ["mail"], "worker": "hand", "password": "a long enough password",
    "username": "anna", "grants": ["viewer"], "value": "v", "conn_type": "http", "delay": "1h",
    "is_paused": False, "max_running": 5, "older": "1h", "expires_in": "1h", "target": "nobody",
    "definition": {"dag": "posted", "tasks": {"a": {"run": "true"}}},
    "texts": {"a.yaml": "tasks: {}"}, "token": "none", "nonce": "0", "attempt": 1,
    "update_mask": ["is_paused"], "max_active": 1, "grep": "first",
}
# The same of one noun or operation, and of all that removes something.
SPECIAL = {
    "connection": {"name": "site", "value": "http://127.0.0.1:1"}, "pool": {"name": "desk"},
    "secret": {"name": "door"}, "variable": {"name": "region"}, "queue": {"name": "mail"},
    "user": {"name": "anna"}, "user.add": {"name": "berta"}, "limit": {"name": "sales"},
    "namespace": {"name": "elsewhere"}, "token": {"name": "more", "id": "999"},
    "config": {"key": "slots"}, "run": {"version": "1", "key": "rows"},
    "backfill": {"version": "1"}, "webhook.create": {"dag": "called"},
    "dag.post": {"dag_id": "posted", "dag": "posted", "tasks": {"a": {"run": "true"}}},
    "removed": {"dry_run": True, "pool_name": "spare", "name": "spare", "variable_key": "spare",
                "connection_id": "spare"},
}


class Site:
    """A daemon with something of everything."""

    def __init__(self, eider, daemon):
        self.eider = eider
        self.daemon = daemon
        self.api = Api(daemon)
        self.token = self.shown("tokens", "add", "drawn", "--role", "admin")
        self.api.token = self.token["token"]
        eider("queues", "set", "mail", code=0)
        eider("limits", "set", "namespace", "sales", "--max-running", "5", code=0)
        for name in ("desk", "spare"):
            eider("pools", "set", name, "--slots", "2", code=0)
        for name in ("region", "spare"):
            eider("vars", "set", name, "north", code=0)
        for name in ("site", "spare"):
            eider("conns", "set", name, "http://127.0.0.1:1", code=0)
        eider("secrets", "set", "door", "sesame", code=0)
        self.api.post("/api/v1/x/users", {"name": "anna", "password": "a long enough password",
                                          "grants": ["sales=editor"]})
        self.worker = self.api.post("/api/v1/x/tokens", {"name": "hand", "queues": ["mail"]})

    def shown(self, *args):
        return self.eider(*args, "-o", "json", code=0).json()

    def run(self, dag):
        run = self.shown("dags", "trigger", dag)
        wait_for(lambda: self.api.get(f"/api/v1/x/runs/{run['number']}")["end_date"], "a run ends")
        return run

    def values(self):
        """VALUES and SPECIAL with what has a number; each is a list."""
        run, spare, waits = self.run("plain"), self.run("plain"), self.shown("dags", "trigger",
                                                                             "slow")
        self.run("mapped")
        jobs = [job["id"] for job in self.api.post("/api/v1/x/jobs", {"queue": "mail", "jobs": [
            {"handler": "nobody", "retries": 0}, *[{"handler": "noop", "delay": "1h"}] * 2]})[
                "jobs"]]
        hook = self.shown("webhooks", "create", "hook")["id"]
        fill = self.shown("backfill", "create", "slow", "--from", "2020-01-01", "--to",
                          "2021-01-02")["backfill"]
        notices = wait_for(lambda: self.api.get("/api/v1/x/notifications")["notices"], "a message")
        values = {kind: dict(members) for kind, members in {"*": VALUES, **SPECIAL}.items()}
        values["*"].update({
            "run": run["number"], "dag_run_id": run["dag_run_id"], "job": jobs[0],
            "backfill": fill, "backfill_id": fill,
            "host": self.shown("hosts", "list")["hosts"][0]["name"],
            "file_token": self.api.get("/api/v1/dags/plain")["file_token"]})
        values["removed"].update({"run": spare["number"], "dag_run_id": spare["dag_run_id"]})
        values.update({
            "dead": {"id": jobs[0]}, "notify": {"id": notices[0]["id"]}, "webhook": {"id": hook},
            "run.cancel": {"run": waits["number"], "task": "waits"},
            "job.cancel": {"job": jobs[1]}, "job.reschedule": {"job": jobs[2]}})
        return {kind: {name: [value] for name, value in members.items()}
                for kind, members in values.items()}


@pytest.fixture
def site(request, eider):
    if os.environ.get("EIDER_SCHEMA_STORE") == "postgres":
        request.getfixturevalue("server")
    up = request.getfixturevalue("up")  # is over before its database is
    for name, text in DAGS.items():
        eider.write(f"dags/{name}.yaml", text)
    return Site(eider, up(env=LISTEN))


def draw(site, *options):
    """Runs schemathesis to its end: how that was, and the statuses that each route gave."""
    folder = site.eider.folder
    world = folder / "world.json"
    seen = folder / "seen.json"
    world.write_text(json.dumps({
        "token": site.token["token"], "token_id": site.token["id"], "worker": site.worker["token"],
        "seen": str(seen), "values": site.values()}))
    command = [sys.executable, "-m", "schemathesis.cli", "run",
               f"http://{site.api.host}:{site.api.port}/api/v1/openapi.json",
               "--checks", ",".join(CHECKS), "--no-color", "--workers", "2",
               "--request-timeout", "20", "--continue-on-failure", "--generation-database", "none",
               "--no-shrink", "--output-sanitize", "false", "--warnings", "off", *options]
    env = {**os.environ, "PYTHONPATH": f"{PACKAGES}:{HERE}", "SCHEMATHESIS_HOOKS": "schema_hooks",
           "EIDER_SCHEMA_WORLD": str(world), "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                          timeout=LONG + 600)
    (folder / "schemathesis.log").write_text(done.stdout)
    return done, json.loads(seen.read_text()) if seen.exists() else {}


def test_nothing_that_is_drawn_from_the_description_breaks_the_server(site):
    options = ["--phases", "examples" if IS_SLOW else "examples,coverage", "--seed", "1"]
    if LONG:
        options = ["--phases", "examples,coverage,fuzzing,stateful", "--max-time", str(LONG),
                   "--seed", str(int(time.time()))]
    done, seen = draw(site, *options)
    assert site.daemon.child.poll() is None, site.daemon.text()[-8000:] + done.stdout[-4000:]
    assert done.returncode == 0, done.stdout[-20000:]
    reached = [route for route, statuses in seen.items() if any(code < "400" for code in statuses)]
    assert len(reached) > 0.8 * len(seen) and len(seen) > 300, "little was reached but problems"
    assert site.api.get("/api/v1/health")["metadatabase"]["status"] == "healthy"
    site.eider("store", "check", code=0)
    site.daemon.finish()
