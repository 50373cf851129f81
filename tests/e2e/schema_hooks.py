"""What schemathesis is told about a daemon: which things there are, and what would end the run.

It is loaded by the program `schemathesis`, not by pytest. EIDER_SCHEMA_WORLD names a JSON file:
values of members by their names, tokens, the id of the token we come with, and the file to which
goes how often each route answered with which status.
"""
import atexit
import collections
import json
import os
import pathlib

import schemathesis

WORLD = json.loads(pathlib.Path(os.environ["EIDER_SCHEMA_WORLD"]).read_text())
SEEN = collections.defaultdict(collections.Counter)
# Somebody else does not answer, and that is what they tell: no mistake of the server.
SPEAKS_WITH_OTHERS = {"connection.test", "notify.test"}


def operation_of(case):
    return case.operation.definition.raw.get("x-operation")


# --- things that there are -----------------------------------------------------------------------

def values_of(name, method, entry):
    """What a member may be: of an operation, of what is removed, of an operation's noun, of all."""
    operation = entry.get("x-operation", "")
    noun, _, verb = operation.partition(".")
    removes = method == "delete" or verb in ("delete", "remove", "purge")
    for kind in [operation, *(["removed"] if removes else []), noun, "*"]:
        if name in WORLD["values"].get(kind, {}):
            return WORLD["values"][kind][name]
    return None


def give(schema, name, method, entry):
    values = values_of(name, method, entry)
    if values is not None:
        schema["examples"] = values


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Examples, so that requests reach more than what is not there."""
    for methods in raw_schema["paths"].values():
        for method, entry in methods.items():
            for parameter in entry.get("parameters", []):
                if "schema" in parameter:
                    give(parameter["schema"], parameter["name"], method, entry)
            content = entry.get("requestBody", {}).get("content", {}).get("application/json", {})
            for name, schema in content.get("schema", {}).get("properties", {}).items():
                give(schema, name, method, entry)


# --- who comes, and what is not asked for --------------------------------------------------------

@schemathesis.auth(refresh_interval=None)
class Token:
    """Workers come with their own."""

    def get(self, case, context):
        is_worker = case.operation.definition.raw.get("x-permission") == "worker"
        return WORLD["worker" if is_worker else "token"]

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def filter_case(context, case):
    """Not the token that we come with."""
    members = {**(case.path_parameters or {})}
    if isinstance(case.body, dict):
        members.update(case.body)
    return operation_of(case) != "token.remove" or str(members.get("id")) != WORLD["token_id"]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Nothing waits for what may never come, and the host goes on with its work."""
    if isinstance(case.query, dict):
        case.query.pop("follow", None)
    if operation_of(case) == "host.drain" and isinstance(case.body, dict):
        case.body["drain"] = False
    if isinstance(case.body, dict) and isinstance(case.body.get("wait"), (int, float)):
        case.body["wait"] = 0


# --- what comes back -----------------------------------------------------------------------------

@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Not what is no mistake: others do not answer, too many passwords, too long a query."""
    if response.status_code in (503, 504) and operation_of(case) in SPEAKS_WITH_OTHERS:
        return False
    if response.status_code == 414:
        return False
    return "429 Too Many Requests" not in failure.message


@schemathesis.hook
def after_call(context, case, response):
    SEEN[case.operation.label][response.status_code] += 1


@atexit.register
def tell():
    pathlib.Path(WORLD["seen"]).write_text(json.dumps(SEEN))
