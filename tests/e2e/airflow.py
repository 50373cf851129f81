"""A daemon with DAGs that clients of Airflow's API meet, on either store."""
import pathlib
import sys

import pytest
from api import LISTEN, Api
from fleet import Daemon, finish_all
from harness import wait_for

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "build/python"))  # where tools/setup puts what Debian does not have

V1 = "/api/v1"

CHAIN = """
title: A chain
owner: anna
tags: [etl, nightly]
description: extract, then load
params:
  source: {type: string, default: file}
tasks:
  extract:
    run: 'echo "from {{ params.source }}"; eider-return rows=7 || true'
    retries: 1
  load:
    needs: [extract]
    run: echo loaded
"""
FLAKY = """
tags: [etl]
tasks:
  first: {run: "echo first"}
  second: {needs: [first], run: "echo trying; test -e @flag"}
  third: {needs: [second], run: "echo third"}
"""
MAPPED = """
tasks:
  each: {foreach: [a, b, c], run: "echo {{ item }}", label: "{{ item }}"}
  after: {needs: [each], run: "echo after"}
"""
SLOW = """
tasks:
  waits: {run: "while ! test -e @flag; do sleep 0.05; done"}
  after: {needs: [waits], run: "echo after"}
"""
FED = """
schedule: {datasets: ["file:///data/orders"]}
tasks: {a: {run: "echo fed"}}
"""


class Served:
    """The daemon, how to speak with it, and a file that the tasks of flaky and slow look for."""

    def __init__(self, eider, daemon, token):
        self.eider = eider
        self.daemon = daemon
        self.token = token
        self.api = Api(daemon, token)
        self.flag = eider.folder / "flag"

    def get(self, path, code=200, **query):
        return self.api("GET", V1 + path, query=query, code=code).json

    def send(self, method, path, body=None, code=200, **query):
        answer = self.api(method, V1 + path, body, query=query, code=code)
        return answer.json if answer.bytes else None

    def text(self, path, accept="text/plain", **query):
        return self.api("GET", V1 + path, query=query, headers={"Accept": accept}, code=200)

    def add(self, dag, text):
        """Another DAG, once the daemon knows it."""
        self.eider.write(f"dags/{dag}.yaml", text)
        wait_for(lambda: self.api("GET", f"{V1}/dags/{dag}").json.get("dag_version"),
                 f"{dag} is known")

    def trigger(self, dag, run=None, **body):
        if run:
            body["dag_run_id"] = run
        return self.send("POST", f"/dags/{dag}/dagRuns", body)["dag_run_id"]

    def state(self, dag, run):
        return self.get(f"/dags/{dag}/dagRuns/{run}")["state"]

    def wait(self, dag, run, state="success"):
        wait_for(lambda: self.state(dag, run) == state, f"{dag}/{run} is {state}")

    def run(self, dag, run=None, state="success", **body):
        run = self.trigger(dag, run, **body)
        self.wait(dag, run, state)
        return run

    def tasks(self, dag, run, **query):
        listed = self.get(f"/dags/{dag}/dagRuns/{run}/taskInstances", **query)
        return {(task["task_id"], task["map_index"]): task for task in listed["task_instances"]}


@pytest.fixture
def served(world):
    flag = world.folder / "flag"
    for name, text in (("chain", CHAIN), ("flaky", FLAKY), ("mapped", MAPPED), ("slow", SLOW),
                       ("fed", FED)):
        world.write(f"dags/{name}.yaml", text.replace("@flag", str(flag)))
    daemon = Daemon(world, env={**LISTEN, "EIDER_CPU_MOST": "1000000"})
    try:
        daemon.wait_until_up()
        made = world("tokens", "add", "test", "--role", "admin", "-o", "json", code=0).json()
        yield Served(world, daemon, made["token"])
    finally:
        finish_all([daemon])
