"""Logs over HTTP: pages, text, ranges of bytes, and what is printed while it is watched."""
import base64
import itertools
import json
import os
import pathlib
import resource
import threading
import time
import urllib.parse

import pytest

from fleet import wait_for_state
from harness import PATIENCE, wait_for
from listener import Listener
from admitted import LISTENING, admin, token

# Whatever else the machine does, the daemons of a test work.
BUSY = {"EIDER_CPU_MOST": "1000000"}
TEXT = {"Accept": "text/plain"}
LINES = 3000


@pytest.fixture
def daemon(world, up):
    return up(env={**LISTENING, **BUSY})


@pytest.fixture
def api(world, daemon):
    return admin(world, daemon)


def log_path(run, task, **query):
    path = f"/api/v1/x/runs/{urllib.parse.quote(str(run), safe='')}/tasks/{task}/log"
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def line(number):
    return f"line {number} {'äö' * (number % 7)}\n"


WHOLE = "".join(line(number) for number in range(LINES)).encode()

PRINTS = f"""
    tasks:
      a:
        run: |
          python3 - <<'END'
          for number in range({LINES}):
              print(f"line {{number}} {{'äö' * (number % 7)}}")
          END
      fails: {{run: "echo try $EIDER_TRY; exit 1", retries: 1, retry_delay: 0s}}
      silent: {{run: "true"}}
      many: {{foreach: [x, y], run: "echo this is {{{{ item }}}}"}}
      later: {{needs: [fails], run: "true"}}
"""


@pytest.fixture
def printed(world, api):
    """A run that is over, with all of its logs where they belong."""
    dag = world.write("dags/dag.yaml", PRINTS)
    world("run", dag)
    run = world.runs()[0]["number"]
    wait_for(lambda: len(api("GET", log_path(run, "a"), headers=TEXT, code=200).bytes)
             == len(WHOLE), "the whole log is here")
    return api, run


def test_pages(printed):
    api, run = printed
    page = api.get(log_path(run, "a"))
    assert "".join(entry["text"] for entry in page["entries"]).encode() == WHOLE
    assert not page["more"] and not page["live"]
    text, cursor, pages = "", None, 0
    while True:
        query = {"bytes": 1, **({"cursor": cursor} if cursor else {})}
        page = api.get(log_path(run, "a", **query))
        text += "".join(entry["text"] for entry in page["entries"])
        cursor, pages = page["cursor"], pages + 1
        if not page["more"]:
            break
    assert text.encode() == WHOLE and pages > 1
    [entry] = api.get(log_path(run, "a", tail=2))["entries"]
    assert entry["text"] == line(LINES - 2) + line(LINES - 1)
    [entry] = api.get(log_path(run, "a", grep="^line [12]0 "))["entries"]
    assert entry["text"] == line(10) + line(20)
    [entry] = api.get(log_path(run, "fails", **{"try": 1}))["entries"]
    assert entry["try_number"] == 1
    [entry] = api.get(log_path(run, "many", map_index=1))["entries"]
    assert entry["text"] == "this is y\n"
    assert api.get(log_path("dag", "a", tail=1))["entries"]
    assert api.get(log_path(f"dag/{dag_run(api, run)}", "a", tail=1))["entries"]


def dag_run(api, run):
    return api.post("/api/v1/x/operations/run.show", {"run": run})["dag_run_id"]


def test_text(printed):
    api, run = printed
    answer = api("GET", log_path(run, "a"), headers=TEXT, code=200)
    assert answer.bytes == WHOLE and answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["Content-Length"] == str(len(WHOLE))
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert "Content-Disposition" not in answer.headers
    answer = api("GET", log_path(run, "a", download="true"), code=200)
    assert answer.bytes == WHOLE
    name = answer.headers["Content-Disposition"]
    assert name.startswith('attachment; filename="eider-dag-') and name.endswith('-a-try1.log"')
    head = api("HEAD", log_path(run, "a", download="true"), code=200)
    assert head.bytes == b"" and head.headers["Content-Length"] == str(len(WHOLE))
    assert api("GET", log_path(run, "silent"), headers=TEXT, code=200).bytes == b""
    last = (line(LINES - 2) + line(LINES - 1)).encode()
    assert api("GET", log_path(run, "a", tail=2), headers=TEXT, code=200).bytes == last
    found = api("GET", log_path(run, "a", grep="line 7 ", download="true"), code=200)
    assert found.bytes == line(7).encode()
    assert api("GET", log_path(run, "many", map_index=0), headers=TEXT).bytes == b"this is x\n"
    # Whoever follows what is over gets all of it, and its end.
    assert api("GET", log_path(run, "a", follow="true"), code=200).bytes == WHOLE


RANGES = [
    ("bytes=0-0", 0, 0), ("bytes=0-99", 0, 99), ("bytes=1000-", 1000, None), ("bytes=-1", -1, None),
    ("bytes=-999999999", 0, None), ("bytes=5-99999999999999999999999", 5, None),
    ("BYTES=7-9", 7, 9),
]


def test_ranges(printed):
    api, run = printed
    for header, first, last in RANGES:
        first = first if first >= 0 else len(WHOLE) + first
        last = len(WHOLE) - 1 if last is None else last
        answer = api("GET", log_path(run, "a"), headers={**TEXT, "Range": header}, code=206)
        assert answer.bytes == WHOLE[first:last + 1]
        assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{len(WHOLE)}"
        head = api("HEAD", log_path(run, "a"), headers={**TEXT, "Range": header}, code=206)
        assert head.headers["Content-Length"] == str(last + 1 - first)
    for header in (f"bytes={len(WHOLE)}-", "bytes=-0", "bytes=99999999999999999999-"):
        answer = api("GET", log_path(run, "a"), headers={**TEXT, "Range": header}, code=416)
        assert answer.headers["Content-Range"] == f"bytes */{len(WHOLE)}"
        assert answer.headers["Content-Type"] == "application/problem+json"
    # What cannot be understood, or is several, may be answered with the whole.
    for header in ("lines=1-2", "bytes=a-b", "bytes=5-2", "bytes=0-1,5-6", "bytes=", "bytes=-"):
        assert api("GET", log_path(run, "a"), headers={**TEXT, "Range": header},
                   code=200).bytes == WHOLE


def test_an_attempt_has_the_same_name_everywhere(printed):
    api, run = printed
    path = log_path(run, "fails", try_number=1)
    assert [entry["try_number"] for entry in api.get(path)["entries"]] == [1]
    assert api("GET", path, headers=TEXT, code=200).text == "try\n"
    assert api.get(path.replace("/log?", "/lines?"))["try_number"] == 1
    assert api.get(path.replace("/log?", "/find?") + "&find=try")["try_number"] == 1


MISTAKES = [
    ("a", {"grep": "("}, 400), ("a", {"grep": "x" * 2000}, 422), ("a", {"try": 0}, 400),
    ("a", {"try": 9}, 404), ("nix", {}, 404), ("a", {"tail": "x"}, 400), ("a", {"tail": -1}, 400),
    ("a", {"cursor": "nonsense"}, 400), ("a", {"tial": 1}, 400), ("a", {"follow": "maybe"}, 400),
    ("many", {"map_index": 3}, 404), ("..%2f..%2fetc%2fpasswd", {}, 404), ("%2e%2e", {}, 404),
    ("a", {"try_number": 0}, 400), ("a", {"try_number": 9}, 404),
    ("a", {"try": 1, "try_number": 1}, 400), ("a", {"try": "../1"}, 400),
    ("a", {"map_index": "0/../../x"}, 400),
]
TYPES = ("application/json", "text/plain", "text/event-stream")


def test_mistakes_are_told_whatever_was_asked_for(printed):
    api, run = printed
    assert api("GET", log_path(run, "a", bytes=0)).status == 400
    for (task, query, status), accept in itertools.product(MISTAKES, TYPES):
        answer = api("GET", log_path(run, task, **query), headers={"Accept": accept})
        assert answer.status == status, (accept, answer)
        assert answer.headers["Content-Type"] == "application/problem+json"


    for run, accept in itertools.product(("0", "999999", "-1", "../1", "dag/../x", "%2e%2e%2f1",
                                          "dag/never"), TYPES):
        answer = api("GET", log_path(run, "a"), headers={"Accept": accept})
        assert answer.status in (400, 404), (run, accept, answer)


def test_a_mapped_task_has_a_log_for_each(printed):
    api, run = printed
    answer = api("GET", log_path(run, "many"), headers=TEXT, code=400)
    assert "map_index" in answer.json["detail"]
    page = api.get(log_path(run, "many"))
    texts = {entry["map_index"]: entry["text"] for entry in page["entries"]}
    assert texts == {0: "this is x\n", 1: "this is y\n"}


def test_bytes_that_are_no_text(world, api):
    world("run", world.write("raw.yaml", r"""
        tasks: {a: {run: "printf '\\377\\000\\001 end'"}}
    """), code=0)
    run = world.runs()[0]["number"]
    whole = b"\xff\x00\x01 end"
    wait_for(lambda: api("GET", log_path(run, "a"), headers=TEXT, code=200).bytes == whole, "it")
    [entry] = api.get(log_path(run, "a"))["entries"]
    assert base64.b64decode(entry["base64"]) == whole
    assert api("GET", log_path(run, "a", follow="true"), code=200).bytes == whole
    listener = Listener(api, log_path(run, "a"))
    wait_for(lambda: listener.is_over, "its end")
    [part] = listener.told("log")
    assert base64.b64decode(part.data["entries"][0]["base64"]) == whole


# --- while it is written ------------------------------------------------------------------------

SLOW = """
    tasks:
      a:
        run: |
          echo first
          for step in 1 2 3; do
            cat @folder/$step
            echo step $step
          done
"""


class Steps:
    """A task that prints the next line when it is told to."""

    def __init__(self, world):
        self.folder = world.folder / "steps"
        self.folder.mkdir()
        for step in (1, 2, 3):
            os.mkfifo(self.folder / str(step))
        world.write("dags/slow.yaml", SLOW.replace("@folder", str(self.folder)))

    def let(self, step):
        os.close(os.open(self.folder / str(step), os.O_WRONLY))


def texts(listener):
    return "".join(entry["text"] for frame in listener.told("log")
                   for entry in frame.data["entries"])


def test_what_is_printed_is_heard_and_gone_on_with(world, daemon, api):
    steps = Steps(world)
    daemon.signal(1)
    wait_for(lambda: world("dags", "trigger", "slow").code == 0, "the DAG is there")
    run = world.runs()[0]["number"]
    path = log_path(run, "a")
    listener = Listener(api, path)
    wait_for(lambda: texts(listener) == "first\n", "the beginning")
    steps.let(1)
    wait_for(lambda: texts(listener) == "first\nstep 1\n", "the first step")
    last = listener.close()

    plain = []
    connection = api.connect()
    connection.request("GET", log_path(run, "a", follow="true", tail=1), headers=api.headers())
    answer = connection.getresponse()
    assert answer.status == 200 and answer.headers.get("Content-Length") is None
    reader = threading.Thread(target=lambda: plain.append(answer.read()))
    reader.start()

    steps.let(2)
    again = Listener(api, path, last=last)
    wait_for(lambda: texts(again) == "step 2\n", "the second step alone")
    assert not again.is_over
    steps.let(3)
    wait_for(lambda: again.is_over, "the end of the task")
    assert texts(again) == "step 2\nstep 3\n" and again.told("end")
    reader.join(timeout=PATIENCE)
    assert plain == [b"step 1\nstep 2\nstep 3\n"]
    connection.close()
    again.close()


def test_a_job_has_a_log(world, up):
    daemon = up(env={**LISTENING, **BUSY, "EIDER_QUEUES": "mail"})
    api = admin(world, daemon)
    world("queues", "set", "mail", code=0)
    job = api.post("/api/v1/x/operations/job.enqueue", {"jobs": [
        {"handler": "command", "queue": "mail", "payload": {"run": "echo from a job"}}]})
    number = job["jobs"][0]["id"]
    path = f"/api/v1/x/jobs/{number}/log"
    wait_for(lambda: api.post("/api/v1/x/operations/job.show", {"job": number})["status"] in
             ("done", "success", "failed", "dead", "discarded"), "the job is over")
    page = api.get(path)
    answer = api("GET", path, headers=TEXT, code=200)
    assert answer.text == "".join(entry["text"] for entry in page["entries"])
    api("GET", path + "?tail=-1", code=400)
    api("GET", "/api/v1/x/jobs/999999/log", headers=TEXT, code=404)
    api("GET", "/api/v1/x/jobs/..%2f1/log", headers=TEXT, code=400)
    listener = Listener(api, path)
    wait_for(lambda: listener.is_over and listener.told("end"), "its end")
    listener.close()


# --- rights -------------------------------------------------------------------------------------

def test_logs_of_other_namespaces_are_not_there(world, daemon, api):
    for space in ("sales", "hr"):
        world("run", world.write(f"{space}.yaml", f"""
            namespace: {space}
            tasks: {{a: {{run: "echo secret of {space}"}}}}
        """), code=0)
    seller = admin(world, daemon, token(world, "sales=viewer"))
    for headers in ({}, TEXT, {"Accept": "text/event-stream"}, {**TEXT, "Range": "bytes=0-1"}):
        seller("GET", log_path("hr", "a"), headers=headers, code=404)
        assert "secret of sales" in seller("GET", log_path("sales", "a", follow="true"),
                                           code=200).text
    nobody = token(world, "sales=viewer")
    listed = json.loads(world("tokens", "list", "-o", "json", code=0).out)["tokens"]
    world("tokens", "remove", listed[0]["id"], code=0)
    api.token = nobody
    api("GET", log_path("sales", "a"), headers=TEXT, code=401)


def test_a_token_that_is_taken_back_hears_no_more(world, daemon):
    steps = Steps(world)
    daemon.signal(1)
    wait_for(lambda: world("dags", "trigger", "slow").code == 0, "the DAG is there")
    listener = Listener(admin(world, daemon, token(world, "*=viewer")),
                        log_path(world.runs()[0]["number"], "a"))
    wait_for(lambda: texts(listener) == "first\n", "the beginning")
    listed = world("tokens", "list", "-o", "json", code=0).json()["tokens"]
    world("tokens", "remove", listed[0]["id"], code=0)
    wait_for(lambda: listener.is_over, "nobody is told anything more")
    for step in (1, 2, 3):
        steps.let(step)
    assert texts(listener) == "first\n" and not listener.told("end")
    listener.close()


# --- large ones ---------------------------------------------------------------------------------

def memory_of(daemon):
    status = pathlib.Path(f"/proc/{daemon.child.pid}/status").read_text(encoding="utf-8")
    return next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmHWM"))


def test_a_large_log_is_read_with_little_memory(eider, up):
    """EIDER_LARGE_LOG is its size in MiB; by hand once with 1024."""
    size = int(os.environ.get("EIDER_LARGE_LOG", "64")) << 20
    # What was freed counts as free.
    sanitizer = eider.environment()["ASAN_OPTIONS"] + ":quarantine_size_mb=1"
    daemon = up(env={**LISTENING, "ASAN_OPTIONS": sanitizer})
    api = admin(eider, daemon)
    width = 1 << 10
    eider("run", eider.write("large.yaml", f"""
        tasks:
          a:
            limits: {{output: 4GiB}}
            run: |
              python3 - <<'END'
              import sys
              block = "".join("x" * {width - 1} + "\\n" for _ in range(1024))
              for _ in range({size >> 20}):
                  sys.stdout.write(block)
              print("the end")
              END
    """), code=0, timeout=600)
    path = log_path("large", "a")
    assert api("HEAD", path, headers=TEXT, code=200).headers["Content-Length"] == str(size + 8)
    before = memory_of(daemon)
    started = time.monotonic()
    [entry] = api.get(log_path("large", "a", tail=3))["entries"]
    took = time.monotonic() - started
    assert entry["text"].endswith("x\nthe end\n") and len(entry["text"]) == 2 * width + 8
    assert took < (0.1 if "EIDER_LARGE_LOG" in os.environ else PATIENCE), f"{took:.3f} s for a tail"
    connection = api.connect()
    connection.request("GET", path, headers={**TEXT, **api.headers()})
    answer = connection.getresponse()
    got = 0
    while part := answer.read(1 << 20):
        got += len(part)
    assert got == size + 8
    connection.close()
    middle = api("GET", path, headers={**TEXT, "Range": f"bytes={size - 2}-{size + 3}"}, code=206)
    assert middle.bytes == b"x\nthe "
    grown = memory_of(daemon) - before
    assert grown < 48 * 1024, f"{grown} KiB more"
    if "EIDER_LARGE_LOG" in os.environ:
        print(f"tail {took * 1000:.1f} ms, {grown} KiB more,"
              f" {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss} KiB")
