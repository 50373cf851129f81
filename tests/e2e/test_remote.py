"""Commands that talk to a server: how they find it, what they send, and what becomes of trouble."""
import contextlib
import json
import re
import signal
import stat
import subprocess
import threading

import pytest

from api import Api
from fleet import free_port
from harness import has_pending_signal, wait_for
from remote import LISTEN, Odd, Remote, Slow, place_of

EMPTY = (200, '{"variables": [], "total_entries": 0}')
CHANGED = (200, '{"name": "a", "namespace": "default", "value": "b", "source": "store"}')


@pytest.fixture
def served(eider, up):
    """A daemon with its folder of DAGs, and the program on both sides of it."""
    def start(**dags):
        for name, text in dags.items():
            eider.write(f"dags/{name}.yaml", text)
        (eider.work / "dags").mkdir(exist_ok=True)
        daemon = up(env={**LISTEN, "EIDER_GRACE": "500ms"})
        daemon.wait_until("DAG files")
        remote = Remote(eider)
        remote.daemon = daemon
        return remote

    return start


@pytest.fixture
def odd():
    servers = []

    def start(*answers, **options):
        servers.append(Odd(*answers, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


# --- trouble -----------------------------------------------------------------------------------


def test_who_is_not_known_is_told_so(served):
    remote = served()
    for token in ("nonsense", "0" * 64, None):
        refused = remote.there("runs", "list", env={"EIDER_TOKEN": token}, code=4)
        assert refused.out == "" and refused.err.startswith("eider: ")
    assert remote.there("runs", "list", code=0).out == ""


@pytest.mark.parametrize("server, words", [
    ("nonsense", "write its URL"), ("http://", "names no host"), ("ftp://h", "write its URL"),
    ("http://u:secret@h", "nothing else"), ("http://h?x=1", "nothing else"),
    ("http:///path", "names no host"), ("http://:80", "names no host"),
])
def test_an_address_that_is_none_is_refused(eider, server, words):
    refused = eider("runs", "list", "--server", server, code=2)
    assert words in refused.err and "secret" not in refused.err


def test_nobody_there_is_exit_code_8(eider):
    url = f"http://127.0.0.1:{free_port()}"
    assert "127.0.0.1" in eider("runs", "list", "--server", url, code=8).err
    assert "127.0.0.1" in eider("vars", "set", "a", "b", "--server", url, code=8).err


@pytest.mark.parametrize("answer", [
    (200, "<html>hello</html>"), (302, ""), (404, "no"), (500, "oops"), (502, "{}"), (200, ""),
])
def test_somebody_else_there_is_not_believed(eider, odd, answer):
    server = odd(answer, media="text/html")
    result = eider("vars", "list", "--server", server.url)
    assert result.code in (3, 8), result
    assert result.out == "" and "Eider" in result.err


def test_what_only_looks_is_asked_again(eider, odd):
    busy = (503, '{"detail": "busy", "code": "busy", "status": 503}')
    server = odd(None, busy, EMPTY, media="application/problem+json")
    eider("vars", "list", "--server", server.url, code=0)
    assert len(server.seen) == 3
    server = odd(None)
    assert eider("vars", "list", "--server", server.url, code=8).out == ""
    assert len(server.seen) == 3


def test_a_change_whose_answer_is_lost_is_sent_once(eider, odd):
    server = odd(None, CHANGED)
    lost = eider("vars", "set", "a", "b", "--server", server.url, code=8)
    assert len(server.seen) == 1
    assert "may have been done or not" in lost.err


def test_a_change_that_was_refused_is_sent_once(eider, odd):
    for code, word, exit_code in ((503, "busy", 8), (409, "conflict", 5), (429, "busy", 8),
                                  (422, "bad_dag", 6), (422, "limit", 2), (504, "timeout", 7),
                                  (403, "denied", 4), (507, "full", 8), (400, "later", 2)):
        problem = json.dumps({"status": code, "detail": "said so", "code": word})
        server = odd((code, problem), media="application/problem+json")
        refused = eider("vars", "set", "a", "b", "--server", server.url, code=exit_code)
        assert refused.err == "eider: said so\n"
        assert len(server.seen) == 1


def test_an_operation_is_one_post(eider, odd):
    server = odd(EMPTY)
    eider("vars", "list", "--namespace", "x", "-o", "json", env={"EIDER_SERVER": server.url + "/p/",
                                                              "EIDER_TOKEN": "secret"}, code=0)
    [(method, path, headers, body)] = server.seen
    assert (method, path) == ("POST", "/p/api/v1/x/operations/variable.list")
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Content-Type"] == "application/json"
    assert json.loads(body) == {"namespace": "x"}


# --- which server ------------------------------------------------------------------------------


def origin_of(eider, key, *args, **options):
    row = json.loads(eider("config", "get", key, "-o", "json", *args, code=0, **options).out)
    return row["value"], row["origin"]


def test_contexts(eider, odd):
    one, two = odd(EMPTY), odd(EMPTY)
    assert "no contexts" in eider("context", "list", code=0).err
    eider("context", "add", "one", one.url, "--token", "-", input="first\n", code=0)
    eider("context", "add", "two", two.url + "/", "--token", "second", code=0)
    path = eider.folder / ".config/eider/contexts.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = eider("context", "list", "-o", "json", code=0)
    assert "first" not in shown.out and "***" in shown.out
    assert [row["in_use"] for row in shown.json()["contexts"]] == [False, False]
    assert origin_of(eider, "server") == ("", "default")

    eider("context", "use", "two", code=0)
    eider("vars", "list", code=0)
    assert two.seen[-1][2]["Authorization"] == "Bearer second"
    assert origin_of(eider, "server") == (two.url, "context")
    assert origin_of(eider, "token") == ("***", "context")
    assert [row["in_use"] for row in eider("context", "list", "-o", "json").json()["contexts"]] == \
        [False, True]
    eider("vars", "list", "--context", "one", code=0)
    assert one.seen[-1][2]["Authorization"] == "Bearer first"
    eider("vars", "list", env={"EIDER_CONTEXT": "one", "EIDER_TOKEN": "other"}, code=0)
    assert one.seen[-1][2]["Authorization"] == "Bearer first"
    eider("vars", "list", "--context", "one", "--token", "flag", code=0)
    assert one.seen[-1][2]["Authorization"] == "Bearer flag"

    seen = len(one.seen) + len(two.seen)
    eider("vars", "list", "--server", "off", code=0)
    eider("vars", "list", "--context", "off", code=0)
    eider("context", "use", "off", code=0)
    eider("vars", "list", code=0)
    assert len(one.seen) + len(two.seen) == seen

    eider("context", "use", "one", code=0)
    eider("context", "remove", "one", code=0)
    assert origin_of(eider, "server") == ("", "default")
    assert "did you mean 'two'" in eider("context", "use", "tow", code=3).err
    assert eider("vars", "list", "--context", "one", code=3).out == ""


def test_a_token_goes_to_its_own_server_only(eider, odd):
    mine, other = odd(EMPTY), odd(EMPTY)
    eider("context", "add", "mine", mine.url, "--token", "secret", code=0)
    eider("context", "use", "mine", code=0)
    eider("vars", "list", "--server", other.url, code=0)
    assert "Authorization" not in other.seen[-1][2]
    eider("vars", "list", "--server", mine.url, env={"EIDER_TOKEN": "weak"}, code=0)
    assert mine.seen[-1][2]["Authorization"] == "Bearer secret"


def test_others_may_not_read_tokens(eider):
    eider("context", "add", "a", "https://h.example", "--token", "t", code=0)
    (eider.folder / ".config/eider/contexts.json").chmod(0o644)
    assert "chmod 600" in eider("vars", "list", code=4).err
    assert "chmod 600" in eider("context", "list", code=4).err


@pytest.mark.parametrize("name, url, words", [
    ("a b", "http://h", "no name"), ("off", "http://h", "no name"), ("", "http://h", "no name"),
    ("../x", "http://h", "no name"), ("a", "h.example", "write its URL"),
])
def test_a_context_that_is_none_is_refused(eider, name, url, words):
    assert words in eider("context", "add", name, url, code=2).err
    assert not (eider.folder / ".config/eider/contexts.json").exists()


def test_a_token_over_plain_http_is_warned_of(eider):
    for elsewhere in ("h.example", "localhost.example", "127.0.0.1.example:80", "[::2]/x"):
        plain = eider("context", "add", "a", f"http://{elsewhere}", "--token", "t", code=0)
        assert "can be read on the way" in plain.err, elsewhere
    for fine in ("https://h.example", "http://localhost:4337", "http://127.0.0.1", "http://[::1]/"):
        assert "warning" not in eider("context", "add", "a", fine, "--token", "t", code=0).err


def test_a_project_cannot_take_tokens(eider, odd):
    server = odd(EMPTY)
    eider.write("eider.yaml", f"server: {server.url}\n")
    refused = eider("vars", "list", env={"EIDER_TOKEN": "secret"}, code=2)
    assert "a project may not say" in refused.err and server.seen == []


def test_settings_are_those_of_this_machine(eider, odd):
    server = odd(EMPTY)
    eider("config", "list", "--server", server.url, code=0)
    eider("config", "get", "home", "--server", server.url, code=0)
    eider("context", "list", "--server", server.url, code=0)
    assert server.seen == []


def test_tls_is_checked(eider, up):
    names = {"EIDER_TLS_CERTIFICATE": "cert.pem", "EIDER_TLS_KEY": "key.pem"}
    files = {name: str(eider.work / file) for name, file in names.items()}
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", files["EIDER_TLS_KEY"], "-out", files["EIDER_TLS_CERTIFICATE"]],
                   check=True, capture_output=True)
    up(env={**LISTEN, **files})
    place = place_of(eider.home)
    assert place["url"].startswith("https://")
    way = ["--server", place["url"], "--token", place["key"]]
    assert "certificate" in eider("runs", "list", *way, code=8).err
    assert "certificate" in eider("vars", "set", "a", "b", *way, code=8).err
    trusted = [*way, "--ca-file", files["EIDER_TLS_CERTIFICATE"]]
    eider("runs", "list", *trusted, code=0)
    eider("runs", "list", *way, "--ca-file", "nothing.pem", code=2)
    eider("context", "add", "a", place["url"], "--token", place["key"], "--ca-file", "cert.pem",
          code=0)
    eider("runs", "list", "--context", "a", cwd=eider.folder, code=0)
    eider("api", "GET", "version", code=0)


# --- runs --------------------------------------------------------------------------------------


def test_a_run_is_followed(served):
    remote = served(good="tasks: { a: { run: 'echo hello' }, b: { needs: [a], run: 'echo you' } }",
                    bad="tasks: { a: { run: 'echo no; exit 4' } }")
    done = remote.there("run", "good", "-l", "--note", "n", code=0)
    assert "good" in done.out and "2 success" in done.out
    assert "a | hello" in done.err and "b | you" in done.err
    assert "2 tasks" in done.err and "success  b" in done.err
    failed = remote.there("run", "bad", code=1)
    assert "exit code 4" in failed.out and "eider logs" in failed.out
    [run] = [row for row in remote.eider.runs() if row["dag_id"] == "good"]
    assert run["note"] == "n" and run["run_type"] == "manual"
    described = remote.there("run", "bad", "-o", "json", code=1).json()
    assert described["failures"][0]["exit_code"] == 4
    assert remote.there("run", "nothing", code=3).out == ""


def test_a_retry_is_followed(served):
    remote = served(flaky="tasks: { a: { run: 'test -e @evidence' }, b: { run: echo } }")
    remote.there("run", "flaky", code=1)
    remote.eider.evidence.path.write_text("")
    again = remote.there("retry", "flaky", code=0)
    assert "2 success" in again.out and "success  a" in again.err and "success  b" not in again.err
    same = [side("retry", "flaky", code=5).err for side in (remote.here, remote.there)]
    assert same[0] == same[1]


def test_mapped_tasks_are_counted_once(served):
    remote = served(many="tasks: { m: { foreach: [1, 2, 3], run: 'echo {{ item }}' } }")
    assert "3 success" in remote.there("run", "many", code=0).out


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_stops_the_run_there(served, times):
    remote = served(slow="""
        tasks: { wait: { run: "trap '' TERM; echo up >> @evidence; while :; do sleep 0.1; done" } }
        finally: { end: { run: echo end >> @evidence } }
        """)
    child = remote.eider.start("run", "slow", env=remote.env)
    wait_for(lambda: remote.eider.evidence.count("up"), "it runs")
    for _ in range(times):
        child.send_signal(signal.SIGINT)
        if times == 2:
            wait_for(lambda: "stopped_by" in remote.here("runs", "show", "slow", "-o", "json").out,
                     "the server heard it")
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, out + err
    assert remote.eider.run_state("slow") == "cancelled"
    assert remote.eider.evidence.count("end") == (1 if times == 1 else 0)


def test_an_interrupt_stops_a_run_that_the_server_has_not_told_of_yet(served):
    remote = served(slow='tasks: { wait: { run: "echo up >> @evidence; sleep 600" } }')
    with contextlib.closing(Slow(remote.env["EIDER_SERVER"], "dag.trigger")) as between:
        child = remote.eider.start("run", "slow", env={**remote.env, "EIDER_SERVER": between.url})
        wait_for(lambda: remote.eider.evidence.count("up"), "it runs")
        child.send_signal(signal.SIGINT)
        between.go.set()
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130, out + err
    assert remote.eider.run_state("slow") == "cancelled"


def test_a_second_interrupt_ends_a_command_whose_server_does_not_answer(eider, odd):
    never = odd(threading.Event())
    child = eider.start("run", "slow", "--server", never.url, env={"EIDER_TOKEN": "x"})
    wait_for(lambda: never.seen, "it asks")
    for _ in range(2):
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        # Heard before the next one is sent: two that wait are one.
        wait_for(lambda: child.poll() is not None or not has_pending_signal(child.pid),
                 "it hears")
    assert child.wait(timeout=60) == -signal.SIGINT


def test_a_run_needs_a_worker(eider, up):
    eider.write("dags/d.yaml", "tasks: { a: { run: echo } }")
    daemon = up(env={**LISTEN, "EIDER_ROLES": "api,scheduler"})
    daemon.wait_until("DAG files")
    assert "nobody would run it" in Remote(eider).there("run", "d", code=8).err


def test_a_server_on_postgres(server, served):
    remote = served(d="tasks: { a: { run: 'echo one; test -e @evidence' }, b: { run: echo } }")
    assert "a | one" in remote.there("run", "d", "-l", code=1).err
    remote.eider.evidence.path.write_text("")
    remote.there("retry", "d", code=0)
    for line in ("runs list", "runs show d", "runs tasks d", "logs d", "dags show d", "explain d",
                 "audit list", "events --run d", "dags versions d", "runs show nothing"):
        for form in ((), ("-o", "json")):
            here, there = (side(*line.split(), *form) for side in (remote.here, remote.there))
            assert (there.code, there.err) == (here.code, here.err)
            # A cursor tells what was committed when it was made, also by others.
            cursor = re.compile(r'"cursor": .*')
            assert cursor.sub("", there.out) == cursor.sub("", here.out)


def test_logs_and_events_are_followed(served):
    remote = served(slow="""
        tasks:
          a: { run: "echo begun; while [ ! -e @evidence ]; do sleep 0.05; done; echo ended" }
        """)
    remote.there("dags", "trigger", "slow", code=0)
    log = remote.eider.start("logs", "slow", "a", "-f", env=remote.env)
    assert log.stdout.readline() == "begun\n"
    events = remote.eider.start("events", "-f", "--run", "slow", "-o", "json", env=remote.env)
    assert json.loads(events.stdout.readline())["kind"]
    remote.eider.evidence.path.write_text("")
    assert log.communicate(timeout=60)[0] == "ended\n" and log.returncode == 0
    kinds = [json.loads(line)["kind"] for line in events.communicate(timeout=60)[0].splitlines()]
    assert events.returncode == 0 and kinds[-1] == "run_ended", kinds


def test_a_list_is_watched(served):
    remote = served()
    child = remote.eider.start("pools", "list", "--watch", "-o", "name", env=remote.env)
    remote.here("pools", "set", "seen", "--slots", "1", code=0)
    wait_for(lambda: child.stdout.readline() == "seen\n", "the pool is shown")
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 0


# --- files -------------------------------------------------------------------------------------


def test_a_file_is_read_where_it_is(served):
    remote = served()
    remote.eider.write("mine.yaml", "dag: mine\ntasks: { a: { run: 'pwd; echo {{ ds }}' } }\n")
    remote.there("dags", "trigger", "mine.yaml", "--date", "2026-01-05", code=0)
    wait_for(lambda: remote.eider.run_state("mine") == "success", "it ran on the server")
    assert remote.there("logs", "mine", "a", code=0).out == "/\n2026-01-05\n"
    assert "mine" in remote.there("dags", "source", "mine", code=0).out
    remote.there("run", "mine", code=0)
    remote.eider.write("names.yaml", "dag: n\ntasks: { a: { script: { file: x.sh } } }\n")
    assert "x.sh" in remote.there("dags", "trigger", "names.yaml").err


def test_files_of_the_server_stay_there(served):
    remote = served(d="tasks: { a: { run: echo } }")
    place = place_of(remote.eider.home)
    api = Api(remote.daemon, token=place["key"])
    path = str(remote.eider.work / "dags/d.yaml")
    for operation, request in (
            ("dag.show", {"file": path}), ("dag.trigger", {"file": path}),
            ("dag.validate", {"paths": [path]}), ("task.render", {"file": path, "task": "a"}),
            ("store.backup", {"path": "/tmp/x"}), ("store.restore", {"path": path}),
            ("store.export", {"path": "/dev/stdout"}), ("store.import", {"path": path}),
            ("notify.test", {"target": path}), ("dag.graph", {"file": path})):
        answer = api("POST", f"/api/v1/x/operations/{operation}", request, code=403)
        assert answer.json["code"] == "denied" and "server" in answer.json["detail"], answer
    api.post("/api/v1/x/operations/dag.show", {"file": path, "text": "tasks: {z: {noop: true}}"})


def token_of(remote, user, *roles):
    flags = [word for role in roles for word in ("--role", role)]
    remote.here("users", "add", user, "--no-password", *flags, code=0)
    made = remote.here("tokens", "add", f"of-{user}", "--owner", user, "-o", "json", code=0).json()
    return {"EIDER_TOKEN": made["token"]}


def test_changes_are_signed_by_the_user_of_the_token(served):
    remote = served(d="tasks: { a: { run: echo } }")
    ann = token_of(remote, "ann", "operator")
    remote.there("dags", "pause", "d", "--reason", "from afar", env=ann, code=0)
    entry = remote.here("audit", "list", "-o", "json", code=0).json()["entries"][0]
    assert entry["reason"] == "from afar" and entry["actor"].startswith("ann")
    remote.there("run", "d", env=ann, code=0)
    run = remote.here("runs", "show", "d", "-o", "json", code=0).json()
    assert run["actor"].startswith("ann")


def test_what_a_user_may_not_do_is_exit_code_4(served):
    remote = served(d="tasks: { a: { run: echo } }",
                    e="namespace: lab\ntasks: { a: { run: echo } }")
    ben = token_of(remote, "ben", "default=viewer", "lab=editor")
    assert "d" in remote.there("dags", "list", "-o", "name", env=ben, code=0).out
    assert "role" in remote.there("dags", "pause", "d", env=ben, code=4).err
    assert "role" in remote.there("run", "d", env=ben, code=4).err
    remote.there("run", "e", env=ben, code=0)
    remote.eider.write("mine.yaml", "dag: mine\nnamespace: lab\ntasks: { a: { run: echo } }")
    remote.there("dags", "trigger", "mine.yaml", env=ben, code=0)
    remote.eider.write("mine.yaml", "dag: other\ntasks: { a: { run: echo } }")
    assert "editor" in remote.there("dags", "trigger", "mine.yaml", env=ben, code=4).err
    remote.there("dags", "show", "mine.yaml", env=ben, code=0)
    remote.eider.write("mine.yaml", "dag: d\nnamespace: lab\ntasks: { a: { run: echo } }")
    assert "another id" in remote.there("dags", "trigger", "mine.yaml", env=ben, code=4).err
    carl = token_of(remote, "carl", "lab=viewer")
    assert remote.there("runs", "show", "d", env=carl, code=3).out == ""
    remote.here("users", "remove", "carl", "--yes", code=0)
    remote.there("runs", "list", env=carl, code=4)


# --- the daemon of this machine ----------------------------------------------------------------


def test_the_daemon_of_the_state_folder_is_found(eider, up):
    assert "eider up" in eider("api", "GET", "version", code=8).err
    assert "no host schedules" in eider("health", code=8).out
    daemon = up(env=LISTEN)
    path = eider.home / "api"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(eider("api", "get", "version", code=0).out)["version"]
    health = eider("health", "-o", "json", code=0).json()
    assert health["status"] == "healthy" and health["workers"]["active"] == 1
    key = place_of(eider.home)["key"]
    daemon.finish()
    assert not path.exists()
    daemon = up(times=2, env=LISTEN)
    assert place_of(eider.home)["key"] != key
    daemon.kill()
    assert "no host schedules" in eider("health", code=8).out


def test_a_proxy_does_not_see_the_key_of_the_state_folder(eider, up, odd):
    proxy = odd(EMPTY)
    up(env=LISTEN)
    eider("api", "GET", "version", env={"http_proxy": proxy.url, "all_proxy": proxy.url}, code=0)
    assert proxy.seen == []


def test_raw_requests(served):
    remote = served(d="tasks: { a: { run: echo } }")
    operation = "/api/v1/x/operations/dag.list"
    for side in (remote.here, remote.there):
        listed = side("api", "POST", operation, "-d", '{"all": true}', code=0)
        assert json.loads(listed.out)["dags"][0]["dag_id"] == "d"
        remote.eider.write("body.json", '{"tag": "none"}')
        assert json.loads(side("api", "POST", operation, "-d", "@body.json").out)["dags"] == []
        assert json.loads(side("api", "POST", operation, "-d", "@-", input="{}").out)["dags"]
        bad = side("api", "POST", operation, "-d", '{"al": true}', code=2)
        assert json.loads(bad.out)["status"] == 400 and "did you mean 'all'" in bad.err
        assert side("api", "GET", "nothing", code=3).err.startswith("eider: 404: ")
        assert side("api", "GET", "version", "--query", "a").code == 2
        assert side("api", "GET", "version", "-H", "nonsense").code == 2
        assert side("api", "G ET", "version").code == 2
        assert side("api", "POST", operation, "-d", "@nothing").code == 3


def test_queries_and_headers_are_sent_as_given(eider, odd):
    server = odd(EMPTY)
    eider("api", "GET", "dags?x=1", "--query", "a b=c&d", "--query", "limit=5", "-H",
          "If-Match: 3", "-H", "accept: text/plain", "--server", server.url, code=0)
    method, path, headers, _ = server.seen[-1]
    assert (method, path) == ("GET", "/api/v1/dags?x=1&a%20b=c%26d&limit=5")
    assert headers["If-Match"] == "3"
    assert headers["accept"] == "text/plain" and "Accept" not in headers, "what is said once counts"


# --- schemas -----------------------------------------------------------------------------------


def test_schemas(served):
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    from harness import ROOT
    remote = served()
    schema = json.loads(remote.here("schema", "dag", code=0).out)
    check = jsonschema.Draft202012Validator(schema)
    for path in sorted(ROOT.glob("examples/**/*.yaml")):
        if remote.here("validate", path).code != 0:
            continue
        for document in yaml.safe_load_all(path.read_text()):
            errors = [error.message for error in check.iter_errors(document or {})]
            assert errors == [], f"{path}: {errors}"
    assert list(check.iter_errors({"tasks": {"a": {"run": "x", "neds": []}}}))
    assert list(check.iter_errors({"tasks": {"a": {"run": "x", "noop": True}}}))
    config = jsonschema.Draft202012Validator(json.loads(remote.here("schema", "config").out))
    assert not list(config.iter_errors({"slots": 4, "dags": "d", "handlers": {}}))
    assert list(config.iter_errors({"slot": 4})) and list(config.iter_errors({"server": "x"}))
    openapi = json.loads(remote.there("schema", "openapi", code=0).out)
    assert openapi == json.loads(remote.there("api", "GET", "openapi.json", code=0).out)
    assert "openapi, dag and config" in remote.here("schema", "odd", code=2).err
