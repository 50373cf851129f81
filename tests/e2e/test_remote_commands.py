"""Every command on the store and through a server: the same output, the same exit code."""
import json
import re

import pytest

from fleet import Daemon, finish_all
from harness import Eider, wait_for
from remote import LISTEN, Remote

pytestmark = pytest.mark.in_order

DAGS = {
    "etl.yaml": """
        title: Load things
        tags: [tier1]
        params:
          region: { type: string, enum: [eu, us], default: eu }
        tasks:
          first: { run: "echo one; echo two >&2; echo 7 > $EIDER_OUTPUTS/rows" }
          many: { needs: [first], foreach: [a, b], run: "echo {{ item }} {{ params.region }}" }
          last: { needs: [many], run: "exit 3", outputs: [wh://mart/orders] }
        """,
    "fine.yaml": """
        schedule: { cron: "0 3 * * *", start: 2026-01-01 }
        on_failure: [{ webhook: "http://127.0.0.1:1/nobody" }]
        tasks:
          only: { run: "echo fine" }
        """,
    "hooked.yaml": """
        schedule: { webhook: true }
        tasks: { go: { noop: true } }
        """,
    "stuck.yaml": """
        tasks: { go: { run: echo, worker: [nowhere] } }
        """,
    "waits.yaml": """
        schedule: { datasets: ["wh://mart/orders"] }
        tasks: { go: { noop: true } }
        """,
}
LOCAL_DAG = """
    dag: local
    max_active_runs: 9
    tasks: { t: { run: "echo {{ ds }}", worker: [nowhere] } }
    """
BAD = "tasks:\n  a: { run: echo, neds: [b] }\n"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A store with something of everything, and a daemon that has nothing to do any more."""
    eider = Eider(tmp_path_factory.mktemp("remote"))
    for name, text in DAGS.items():
        eider.write(f"dags/{name}", text)
    eider.write("bad.yaml", BAD)
    eider.write("local.yaml", LOCAL_DAG)
    daemon = Daemon(eider, env={**LISTEN, "EIDER_SWEEP": "1h"})
    try:
        daemon.wait_until_up().wait_until("DAG files")
        fill(eider)
        yield Remote(eider)
    finally:
        finish_all([daemon])
        eider.close()


def fill(eider):
    for dag in ("etl", "fine"):
        eider("dags", "trigger", dag, "--note", "for the tests", code=0)
        wait_for(lambda dag=dag: eider.run_state(dag) in ("failed", "success"), f"{dag} is over")
    eider("enqueue", "default", "--", "echo from a job", code=0)
    eider("enqueue", "default", "--", "exit 9", code=0)
    wait_for(lambda: {job["status"] for job in jobs(eider)} == {"completed", "failed"}, "jobs end")
    eider("queues", "set", "later", code=0)
    eider("enqueue", "later", "sleep", '{"seconds": 1}', "--delay", "2d", code=0)
    eider("vars", "set", "region", "eu", code=0)
    eider("conns", "set", "wh", "http://127.0.0.1:1/x", code=0)
    eider("secrets", "set", "pin", input="s3cret\n", code=0)
    eider("pools", "set", "small", "--slots", "2", code=0)
    eider("limits", "set", "dag", "etl", "--max-running", "3", code=0)
    eider("assets", "emit", "wh://other", code=0)
    eider("webhooks", "create", "hooked", code=0)
    eider("backfill", "create", "fine", "--from", "2026-01-02", "--to", "2026-01-03", code=0)
    wait_for(lambda: '"success"' in eider("backfill", "list", "-o", "json").out, "it is over")
    eider("dags", "trigger", "stuck", "--run-id", "taken", code=0)
    eider("runs", "note", "etl", "look at this", code=0)


def jobs(eider):
    return json.loads(eider("jobs", "list", "-o", "json", code=0).out)["jobs"]


READS = [
    "validate dags", "validate bad.yaml", "validate dags/etl.yaml bad.yaml", "ps",
    "logs etl", "logs etl first", "logs etl many --map-index 1", "logs etl --tail 1",
    "logs etl first --grep one", "explain etl", "explain etl last", "explain fine",
    "dags list", "dags list --tag tier1", "dags show etl", "dags show dags/etl.yaml",
    "dags graph etl", "dags graph local.yaml --format dot", "dags source etl",
    "dags source local.yaml", "dags versions etl", "dags diff etl", "dags errors",
    "dags next fine --from 2026-05-01", "dags next dags/fine.yaml --from 2026-05-01",
    "assets list", "assets show wh://mart/orders", "assets lineage wh://mart/orders",
    "webhooks list", "webhooks list hooked",
    "runs list", "runs list --state failed", "runs list --dag etl --limit 1", "runs show etl",
    "runs tasks etl", "runs graph etl", "runs gantt etl", "runs wait fine", "runs values etl",
    "runs values etl first --key rows", "backfill list", "backfill show {backfill}",
    "backfill show {backfill} --dates", "backfill plan fine --from 2026-01-05 --to 2026-01-07",
    "backfill plan dags/fine.yaml --from 2026-01-05 --to 2026-01-07",
    "tasks list etl", "tasks list local.yaml", "tasks show etl many", "tasks render etl many",
    "tasks render local.yaml t --date 2026-01-05", "tasks states etl",
    "jobs list", "jobs show {job}", "jobs wait {job}", "jobs logs {job}", "queues list",
    "queues show default", "pools list", "pools show small", "limits list", "dlq list",
    "dlq show {letter}", "dlq export", "hosts list", "hosts list --all", "hosts show {host}",
    "hosts desired", "sla list", "sla report", "notify list", "vars list", "vars show region",
    "users list", "tokens list", "namespaces list",
    "conns list", "conns show wh", "conns test wh", "secrets list", "secrets show pin",
    "audit list", "audit list --all --limit 5", "events", "events --run etl", "doctor",
    "health",
    "store check", "simulate --from 2026-06-01 --to 2026-06-02", "simulate --by-dag",
    # what is wrong
    "runs show nothing", "runs show etl/nothing", "runs tasks 99", "dags show nothing",
    "dags show etll", "dags show bad.yaml", "dags show nothing.yaml", "validate nothing.yaml",
    "dags source etl --version 99", "dags versions nothing", "logs etl nothing", "logs nothing",
    "logs etl first --grep [", "jobs show 99", "jobs logs 99", "queues show nothing",
    "pools show nothing", "vars show nothing", "conns show nothing", "secrets show nothing",
    "conns test nothing", "hosts show nothing", "dlq show 99", "backfill show 99",
    "explain nothing", "tasks show etl nothing", "tasks render etl nothing",
    "tasks render etl many -p region=mars", "dags next etl", "assets show nothing",
    "backfill plan fine --from 2026-02-01 --to 2026-01-01", "runs tasks etl --state odd",
    "events --dag nothing", "webhooks list nothing", "audit list --run nothing",
    "dags diff etl 1 99", "runs values etl nothing", "simulate --from 2026-06-01 --to 2026-05-01",
]
# Their numbers go on while nothing happens.
RESTLESS = {"hosts", "doctor", "health", "queues", "simulate", "explain", "conns"}

# A change, and what makes it possible a second time. What it answers is the same but for numbers.
CHANGES = [
    ("dags pause fine", "dags unpause fine"), ("dags unpause fine", None),
    ("dags trigger stuck --note x", None), ("dags trigger etl -p region=us --dry-run", None),
    ("dags trigger dags/etl.yaml --dry-run", None), ("dags trigger local.yaml", None),
    ("dags trigger etl -p region=mars", None), ("dags trigger etl -p nothing=1", None),
    ("dags trigger nothing", None), ("dags trigger bad.yaml", None),
    ("dags trigger stuck --run-id taken", None), ("run stuck --detach", None),
    ("dags trigger stuck --run-id free --dry-run", None),
    ("dags rollback etl 1", None), ("dags rollback etl 77", None), ("dags delete etl --yes", None),
    ("dags delete nothing --yes", None), ("assets emit wh://more --extra {{}}", None),
    ("assets emit wh://more --extra []", None), ("webhooks create fine", None),
    ("webhooks create hooked --reason again", None), ("webhooks delete 99 --yes", None),
    ("webhooks fire nothing", None), ("runs note etl changed", None), ("runs note nothing x", None),
    ("runs rerun fine --dry-run", None), ("runs cancel fine", None), ("runs delete 99 --yes", None),
    ("runs delete fine --dry-run", None), ("stop fine", None), ("stop nothing", None),
    ("mark etl last success", "tasks clear etl last --dry-run"), ("mark etl last odd", None),
    ("mark nothing last success", None), ("tasks clear etl last --dry-run", None),
    ("tasks clear etl nothing", None), ("tasks note etl last why", None),
    ("retry etl --dry-run", None), ("retry fine", None), ("retry nothing", None),
    ("enqueue default noop", None), ("enqueue default nothing", None),
    ("jobs enqueue later noop --delay 1d", None), ("jobs cancel 99", None),
    ("jobs retry {job}", None), ("jobs retry 99", None),
    ("jobs reschedule {delayed} --delay 3d", None), ("jobs reschedule 99 --delay 1d", None),
    ("jobs purge --older 100d --yes", None), ("jobs purge --older odd --yes", None),
    ("dlq requeue 99", None), ("dlq requeue --all --dry-run", None),
    ("dlq purge --older 100d --yes", None), ("queues set fast --priority 3", None),
    ("queues pause fast", "queues resume fast"), ("queues resume fast", None),
    ("queues delete nothing", None), ("pools set big --slots 5", None), ("pools set new", None),
    ("pools delete big --yes", "pools set big --slots 5"), ("pools delete nothing --yes", None),
    ("limits set dag fine --max-running 2", None), ("limits set odd fine --max-running 2", None),
    ("limits delete dag fine", "limits set dag fine --max-running 2"),
    ("hosts drain nothing", None), ("hosts resume nothing", None),
    ("vars set mode slow", None), ("vars delete mode --yes", "vars set mode slow"),
    ("vars delete nothing --yes", None), ("conns set lake http://h/p", None),
    ("conns delete lake --yes", "conns set lake http://h/p"), ("conns set lake nonsense", None),
    ("secrets set word w", None), ("secrets delete word --yes", "secrets set word w"),
    ("secrets rotate", None), ("notify retry 99", None), ("notify test nothing", None),
    ("notify test dags/fine.yaml", None), ("notify test slack:nothing", None),
    ("backfill create fine --from 2026-01-09 --to 2026-01-08", None),
    ("backfill create etl --from 2026-01-01 --to 2026-01-02", None),
    ("users add ann --role viewer --no-password", "users remove ann --yes"),
    ("users add 'bad --no-password", None), ("users set nobody --role admin", None),
    ("users remove nobody --yes", None), ("users set root --role nonsense", None),
    ("tokens add mine --role viewer", None), ("tokens add mine --owner nobody", None),
    ("tokens remove 99", None), ("namespaces add lab", "namespaces remove lab"),
    ("namespaces remove nothing", None), ("namespaces add a/b", None),
    ("backfill pause 99", None), ("backfill resume 99", None), ("backfill cancel 99", None),
    ("backfill approve {backfill}", None), ("store prune --dry-run", None), ("store prune", None),
]
LOCAL = ["up", "init", "test dags/etl.yaml", "run dags/etl.yaml", "store backup x",
         "store restore x --yes", "store export x", "store import x", "store migrate", "prove"]
# About the program or this machine, whichever server is in use; tested in test_remote.py.
HERE = {"config list", "config get", "context list", "context add", "context use", "context remove",
        "completion", "version", "help", "schema", "api"}
# Followed and watched, tested in test_remote.py and test_top.py.
ELSEWHERE = {"run", "top"}


def all_commands(eider):
    text = eider("__docs", "cli", code=0).out
    return set(re.findall(r"^### eider (.+)$", text, re.MULTILINE))


def command_of(line, commands):
    words = line.split()
    return next(name for name in (" ".join(words[:2]), words[0]) if name in commands)


def test_every_command_is_compared(both):
    commands = all_commands(both.eider)
    lines = READS + [line for line, _ in CHANGES] + LOCAL
    named = {command_of(line, commands) for line in lines} | HERE | ELSEWHERE
    assert commands - named == set()
    assert named - commands == set()


@pytest.fixture(scope="module")
def names(both):
    rows = jobs(both.eider)
    host = json.loads(both.here("hosts", "list", "-o", "json", code=0).out)["hosts"][0]
    letter = json.loads(both.here("dlq", "list", "-o", "json", code=0).out)["letters"][0]
    backfill = json.loads(both.here("backfill", "list", "-o", "json", code=0).out)["backfills"][0]
    return {"job": [row["id"] for row in rows if row["status"] == "completed"][0],
            "delayed": [row["id"] for row in rows if row["status"] == "delayed"][0],
            "host": host["name"], "letter": letter["id"], "backfill": backfill["backfill"]}


def words_of(line, names):
    return line.format(**names).split()


def told(result, restless=False):
    """What it said, without what depends on the moment or the place of a file."""
    text = result.out + "\n--- stderr\n" + result.err
    return re.sub(r"e\w\w_\w+|[0-9][0-9a-f.:TZ+_-]*", "N", text) if restless else text


@pytest.mark.parametrize("line", READS)
def test_reading(both, names, line):
    words = words_of(line, names)
    restless = words[0] in RESTLESS
    for form in ((), ("-o", "json")):
        here = both.here(*words, *form)
        there = both.there(*words, *form)
        assert there.code == here.code, f"{here}\n\n{there}"
        assert told(there, restless) == told(here, restless)


@pytest.mark.parametrize("line, undo", CHANGES, ids=[line for line, _ in CHANGES])
def test_changing(both, names, line, undo):
    words = words_of(line, names)
    here = both.here(*words)
    if undo:
        both.here(*undo.split(), code=0)
    if "{job}" in line:  # which is done again
        wait_for(lambda: names["job"] in [row["id"] for row in jobs(both.eider)
                                          if row["status"] == "completed"], "the job is over")
    there = both.there(*words)
    if undo:
        both.here(*undo.split(), code=0)
    assert there.code == here.code, f"{here}\n\n{there}"
    if "{job}" in line:  # a worker may have it already
        assert there.out.split()[:2] == here.out.split()[:2]
    else:
        assert told(there, True).split() == told(here, True).split()


@pytest.mark.parametrize("line", LOCAL)
def test_what_is_for_this_machine_says_so(both, line):
    refused = both.there(*line.split(), code=2)
    assert "--server off" in refused.err and refused.out == ""
