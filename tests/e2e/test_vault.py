"""Variables, connections and secrets: where they come from, and where secrets never go."""
import base64
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import urllib.parse

import pytest
from fleet import Daemon, finish_all, wait_for_state
from harness import rows_of, wait_for

# With what shells, URLs and JSON write in another way.
CANARY = 'Qz7/canary+42 & "x"'
PASSWORD = "pw-Kanari%99=envogel"
CALM = {"EIDER_CPU_MOST": "1000000"}  # a busy machine runs them, too
KEYS = {name: base64.b64encode(bytes([number] + list(range(31)))).decode()
        for number, name in enumerate("abc", 1)}

LEAK = """
    dag: leak
    tasks:
      talk:
        env: {TOKEN: "{{ secrets.tok }}", PW: "{{ conn.db.password }}"}
        run: |
          echo "plain $TOKEN and $PW"
          printf 'split %s' "${TOKEN%??????????}"; printf '%s\\n' "${TOKEN#?????????}"
          printf %s "$TOKEN" | base64
          printf %s "$TOKEN" | od -An -v -tx1 | tr -d ' \\n'; echo
          python3 -c 'import json, os, urllib.parse as u
          t = os.environ["TOKEN"]; print(u.quote(t), u.quote(t, safe=""), json.dumps(t))'
          echo "$TOKEN" > $EIDER_OUTPUTS/value
          printf '{"a": "%s"}' "$PW" > $EIDER_OUTPUTS/object
          echo done
      words: {env: {TOKEN: "{{ secrets.tok }}"}, run: "echo \\"it says $TOKEN\\"; exit 3"}
      report:
        env: {TOKEN: "{{ secrets.tok }}"}
        protocol: true
        run: |
          python3 -c 'import json, os
          say = lambda **line: os.write(4, json.dumps(line).encode() + b"\\n")
          t = os.environ["TOKEN"]
          say(type="progress", done=1, total=2, text="at " + t)
          say(type="value", key="told", value={"deep": [t]})
          say(type="result", outcome="failed", reason="cannot use " + t)'
      bad: {env: {N: "{{ secrets.tok | int + 1 }}", P: "{{ secrets.tok }}"}, run: "true"}
"""


def forms_of(text):
    raw = text.encode()
    return [raw, base64.b64encode(raw)[:-4], raw.hex().encode(),
            urllib.parse.quote(text, safe="").encode(), json.dumps(text)[1:-1].encode()]


def find_canary(what, where):
    for secret in (CANARY, PASSWORD):
        for form in forms_of(secret):
            assert form not in what, f"{form} is in {where}"


def find_in_folder(folder):
    count = 0
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            find_canary(path.read_bytes(), path)
            count += 1
    return count


def keep_canaries(eider, **options):
    eider("secrets", "set", "tok", input=CANARY, code=0, **options)
    uri = f"postgres://u:{urllib.parse.quote(PASSWORD, safe='')}@127.0.0.1:1/x"
    eider("conns", "set", "db", input=uri, code=0, **options)


def look_everywhere(eider, **options):
    """What people and programs can ask for, and what lies on the disk."""
    asked = [("runs", "show", "leak"), ("runs", "tasks", "leak"), ("runs", "values", "leak"),
             ("explain", "leak"), ("secrets", "list"), ("secrets", "show", "tok"),
             ("conns", "list"), ("conns", "show", "db"), ("config", "list"),
             ("tasks", "render", "dag.yaml", "talk")]
    for words in asked:
        for form in ("table", "json"):
            done = eider(*words, "-o", form, code=0, **options)
            find_canary((done.out + done.err).encode(), " ".join(words))
    find_canary(eider("logs", "leak", code=0, **options).out.encode(), "the log")
    moved = eider.folder / "moved.eider"
    eider("store", "export", moved, "--logs", code=0, **options)
    assert b"tok" in moved.read_bytes() or moved.read_bytes()[:2] == b"\x1f\x8b"
    assert find_in_folder(eider.folder) > 5


def expected_log(eider, **options):
    log = eider("logs", "leak", "talk", code=0, **options).out
    lines = log.splitlines()
    assert "plain *** and ***" in lines, log
    assert "done" in lines, log
    assert lines.count("***") == 2, log


# --- canaries


def test_a_secret_is_nowhere_after_a_run_in_the_foreground(eider):
    keep_canaries(eider)
    done = eider("run", eider.write("dag.yaml", LEAK), code=1)
    find_canary((done.out + done.err).encode(), "the terminal")
    expected_log(eider)
    tasks = eider.tasks("leak")
    assert tasks["talk"]["state"] == "success"
    assert tasks["words"]["message"] == "it says ***"
    assert tasks["report"]["message"] == "cannot use ***"
    assert "***" in json.dumps(eider("runs", "values", "leak", "-o", "json", code=0).json())
    shutil.rmtree(eider.work)  # the DAG file has none, but its folder is ours
    eider.work.mkdir()
    eider.write("dag.yaml", LEAK)
    look_everywhere(eider)


def test_the_search_finds_what_is_not_hidden(eider):
    """The proof that the tests above can fail."""
    eider("vars", "set", "open", CANARY, code=0)
    eider.run("""
        dag: leak
        tasks:
          talk: {env: {TOKEN: "{{ var.value.open }}"}, run: "echo $TOKEN"}
    """)
    with pytest.raises(AssertionError, match="is in"):
        find_in_folder(eider.folder)


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_secret_is_nowhere_after_a_run_of_a_daemon(eider, store, request):
    options, daemons = {}, []
    if store == "postgres":
        server = request.getfixturevalue("server")
        options = {"env": {"EIDER_SECRET_KEY": KEYS["a"]}}
        daemons.append(Daemon(eider, "--host-name", "one",
                              env={"EIDER_HOME": str(eider.folder / "one"), **CALM,
                                   **options["env"]}))
    else:
        daemons.append(Daemon(eider, env=CALM))
    try:
        daemons[0].wait_until_up()
        keep_canaries(eider, **options)
        eider("dags", "trigger", eider.write("dag.yaml", LEAK), code=0, **options)
        wait_for_state(eider, "failed", "leak")
        expected_log(eider, **options)
        look_everywhere(eider, **options)
        if store == "postgres":
            dump = subprocess.run([str(server.bin / "pg_dump"), server.url_of(server.database)],
                                  check=True, capture_output=True).stdout
            assert b"secret_set" in dump or b"CREATE TABLE public.secret" in dump
            find_canary(dump, "the database")
    finally:
        finish_all(daemons)
    find_in_folder(eider.folder)


def test_others_cannot_look_into_a_daemon_with_secrets(eider):
    """Its environment has the key, until it has read it. A key that no other test has."""
    key = base64.b64encode(os.urandom(32))
    daemon = Daemon(eider, env={"EIDER_SECRET_KEY": key.decode()})
    try:
        daemon.wait_until_up()
        pid = daemon.child.pid
        assert key not in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        assert pathlib.Path(f"/proc/{pid}/environ").stat().st_uid == 0
        for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                assert key not in entry.read_bytes(), entry
            except (PermissionError, FileNotFoundError, ProcessLookupError):
                pass
    finally:
        finish_all([daemon])


def test_a_task_gets_neither_key_nor_secrets_it_does_not_name(eider, evidence):
    keys = {"EIDER_SECRET_KEY": KEYS["a"], "EIDER_SECRET_OTHER": "other-secret",
            "EIDER_CONN_DB": "pg://u:hidden-pw@h"}
    eider.run("""
        tasks:
          a:
            env_pass: [EIDER_SECRET_KEY, EIDER_CONN_DB]
            run: |
              env > @evidence
              cat /proc/$PPID/environ >> @evidence
              echo "$EIDER_CONN_DB"
    """, env=keys)
    text = evidence.path.read_text()
    assert KEYS["a"] not in text
    assert "other-secret" not in text
    assert eider("logs", "dag", code=0).out.splitlines()[-1] == "pg://u:***@h"


# --- where they come from


def test_the_nearest_place_counts_and_is_told(eider):
    eider("vars", "set", "region", "of the store", code=0)
    dag = eider.write("dag.yaml", """
        tasks:
          a: {run: "echo '{{ var.value.region }}'"}
    """)

    def value(**env):
        eider("run", dag, env=env, code=0)
        return eider.log("dag", "a").splitlines()[-1]

    def sources(**env):
        rows = rows_of(eider("vars", "list", "-o", "json", env=env, code=0).json())
        return [(row["source"], row["place"], row["hidden"]) for row in rows]

    assert value() == "of the store"
    assert sources() == [("store", None, False)]
    eider.write("variables.yaml", "region: of a file\n")
    assert value() == "of a file"
    assert value(AIRFLOW_VAR_REGION="of airflow") == "of airflow"
    assert value(AIRFLOW_VAR_REGION="x", EIDER_VAR_REGION="of ours") == "of ours"
    assert sources(EIDER_VAR_REGION="y") == [("environment", "EIDER_VAR_REGION", False),
                                             ("file", "variables.yaml", True),
                                             ("store", None, True)]
    warned = eider("vars", "set", "region", "later", code=0)
    assert "counts more" in warned.err


def test_what_a_template_makes_of_a_secret_is_hidden_too(eider):
    eider("secrets", "set", "tok", input=CANARY, code=0)
    eider("conns", "set", "db", input="postgres://ada:s3cretpw@db.example", code=0)
    eider.write("dag.yaml", """
        tasks:
          a:
            env:
              UP: "{{ secrets.tok | upper }}"
              PART: "{% set t = secrets.tok %}{{ t[4:10] }}"
              HOST: "{{ conn.db.host }}"
              DAY: "{{ secrets.tok }}{{ ds }}"
            run: echo "$UP $PART $HOST"; echo "day ${DAY#*x?}"
    """)
    eider("run", "dag.yaml", code=0)
    log = eider.log("dag", "a")
    assert log.startswith("*** *** db.example\nday 20"), log


def test_a_dry_run_sees_variables_and_secrets_of_the_store(eider):
    eider.write("dag.yaml", """
        tasks: {a: {env: {T: "{{ secrets.tok }}"}, run: 'test "$T" = "{{ var.value.v }}"'}}
    """)
    for _ in range(2):
        assert "and no store (" in eider("test", "dag.yaml", code=1).err, "it is not made for this"
    eider("secrets", "set", "tok", input="value", code=0)
    eider("vars", "set", "v", "value", code=0)
    eider("test", "dag.yaml", code=0)


def test_a_dry_run_needs_the_store_only_for_what_is_in_it(eider):
    """Nobody listens on port 1."""
    away = {"EIDER_STORE": "postgresql://nobody@127.0.0.1:1/none", "EIDER_VAR_NEAR": "here"}
    eider.write("plain.yaml", """
        tasks: {a: {run: 'test "{{ var.value.near }}" = here'}}
    """)
    eider.write("far.yaml", "tasks: {a: {run: 'echo {{ var.value.far }}'}}")
    eider("test", "plain.yaml", env=away, code=0)
    told = eider("test", "far.yaml", env=away, code=1)
    said = told.out + told.err
    assert "look for the variable 'far': open the store: postgresql: conn" in said, told


def test_a_namespace_has_its_own(eider):
    eider("vars", "set", "who", "everybody", code=0)
    eider("vars", "set", "who", "sales", "--namespace", "sales", code=0)
    eider("secrets", "set", "tok", "--namespace", "sales", input="sales-token-1", code=0)
    eider.run("""
        namespace: sales
        tasks:
          a: {env: {T: "{{ secrets.tok }}"}, run: 'echo {{ var.value.who }} `expr length $T`'}
    """)
    assert eider.log("dag", "a").splitlines()[-1] == "sales 13"
    done = eider.run("""
        tasks:
          a: {env: {T: "{{ secrets.tok }}"}, run: "echo {{ var.value.who }}"}
    """, code=1)
    assert "there is no secret 'tok': looked at EIDER_SECRET_TOK" in done.err + done.out


def test_secrets_of_a_folder(eider, tmp_path):
    folder = tmp_path / "creds"
    folder.mkdir()
    (folder / "tok").write_text("from-a-folder\n")
    dag = eider.write("dag.yaml", """
        tasks:
          a: {env: {T: "{{ secrets.tok }}"}, run: 'echo $T; expr length $T'}
    """)
    for name in ("EIDER_SECRETS_DIR", "CREDENTIALS_DIRECTORY"):
        eider("run", dag, env={name: str(folder)}, code=0)
        assert eider.log("dag", "a").splitlines()[-2:] == ["***", "13"]
    rows = rows_of(eider("secrets", "list", "-o", "json",
                         env={"EIDER_SECRETS_DIR": str(folder)}, code=0).json())
    assert [(row["name"], row["source"]) for row in rows] == [("tok", "file")]


def test_handlers_of_jobs_take_secrets(eider):
    eider.write("eider.yaml", """
        handlers:
          send: {run: "echo got $TOKEN", env: {TOKEN: "{{ secrets.tok }}"}}
    """)
    eider("secrets", "set", "tok", input="job-secret-77", code=0)
    daemon = Daemon(eider, env=CALM)
    try:
        daemon.wait_until_up()
        job = eider("enqueue", "default", "send", "-o", "name", code=0).out.strip()

        def status():
            return eider("jobs", "show", job, "-o", "json", code=0).json()["status"]

        wait_for(lambda: status() == "completed", "the job is done")
        assert "got ***" in eider("jobs", "logs", job, code=0).out
        eider("secrets", "delete", "tok", "--yes", code=0)
        job = eider("enqueue", "default", "send", "-o", "name", code=0).out.strip()
        wait_for(lambda: status() == "failed", "the job has failed")
        shown = eider("jobs", "show", job, "-o", "json", code=0).json()
        assert "env.TOKEN of handler 'send': there is no secret 'tok'" in shown["error"]
    finally:
        finish_all([daemon])


def test_a_handler_with_a_template_that_cannot_be(eider):
    eider.write("eider.yaml", """
        handlers:
          send:
            run: "true"
            env: {A: "{{ params.x }}"}
    """)
    done = eider("config", "list", code=2)
    assert "eider.yaml:5:" in done.err and "'params' is not known here" in done.err


# --- keys


def test_a_wrong_key_says_so_and_loses_nothing(eider):
    right, wrong = {"EIDER_SECRET_KEY": KEYS["a"]}, {"EIDER_SECRET_KEY": KEYS["b"]}
    dag = eider.write("dag.yaml", """
        tasks:
          a: {env: {T: "{{ secrets.tok }}"}, run: 'expr length $T'}
    """)
    eider("secrets", "set", "tok", input="value-one", env=right, code=0)
    key_id = rows_of(eider("secrets", "list", "-o", "json", code=0).json())[0]["key_id"]

    done = eider("run", dag, env=wrong, code=1)
    assert f"sealed with another key (id {key_id})" in done.out + done.err
    eider("run", dag, code=1)  # as on a machine that has a copy of the store alone
    message = eider.tasks()["a"]["message"]
    assert f"the secret 'tok' is sealed (key id {key_id}): no key for secrets" in message
    assert "set EIDER_SECRET_KEY or secret_key_file" in message
    done = eider("secrets", "set", "tok", input="value-two", env=wrong, code=4)
    assert f"another key (id {key_id})" in done.err
    eider("secrets", "set", "tok", input="value-two", code=4)
    assert not (eider.home / "secret.key").exists()
    assert f"1 of them with a key that is not here, id {key_id}" in eider("doctor", env=wrong).out
    assert "0 of them with a key that is not here" in eider("doctor", env=right).out
    assert "stay as they are" in eider("secrets", "rotate", env=wrong, code=4).err
    assert "EIDER_SECRET_KEY: key 1 is no key" in eider(
        "secrets", "rotate", env={"EIDER_SECRET_KEY": "nonsense"}, code=2).err
    eider("run", dag, env=right, code=0)
    assert eider.log("dag", "a").splitlines()[-1] == "9"


def test_a_key_file_that_others_may_read_is_refused(eider):
    eider("secrets", "set", "tok", input="value-one", code=0)
    key = eider.home / "secret.key"
    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o644)
    assert "make it private" in eider("secrets", "set", "tok", input="x" * 9, code=4).err


def test_rotation(eider):
    keep_canaries(eider, env={"EIDER_SECRET_KEY": KEYS["a"]})
    both = {"EIDER_SECRET_KEY": f"{KEYS['b']},{KEYS['a']}"}
    done = eider("secrets", "rotate", "-o", "json", env=both, code=0).json()
    assert (done["resealed"], done["current"]) == (2, 0)
    done = eider("secrets", "rotate", "-o", "json", env=both, code=0).json()
    assert (done["resealed"], done["current"]) == (0, 2)
    dag = eider.write("dag.yaml", LEAK)
    eider("run", dag, "--task", "talk", env={"EIDER_SECRET_KEY": KEYS["b"]}, code=0)
    expected_log(eider)


def test_a_moved_store_opens_with_its_key(eider, tmp_path):
    key = {"EIDER_SECRET_KEY": KEYS["a"]}
    keep_canaries(eider, env=key)
    eider("vars", "set", "v", "kept", code=0)
    eider("store", "export", tmp_path / "moved", code=0)
    other = {"EIDER_HOME": str(tmp_path / "other")}
    eider("store", "import", tmp_path / "moved", env=other, code=0)
    dag = eider.write("dag.yaml", """
        tasks:
          a:
            env: {T: "{{ secrets.tok }}", P: "{{ conn.db.password }}"}
            run: 'echo `expr length "$T"` `expr length "$P"` {{ var.value.v }}'
    """)
    eider("run", dag, env={**other, **key}, code=0)
    log = eider("logs", "dag", "a", env=other, code=0).out
    assert log.splitlines()[-1] == f"{len(CANARY)} {len(PASSWORD)} kept"


# --- the command line


def test_values_from_everywhere(eider, tmp_path):
    eider("vars", "set", "a", "typed", "--doc", "why", code=0)
    (tmp_path / "file").write_text("of a file\n")
    eider("vars", "set", "b", "--file", tmp_path / "file", code=0)
    eider("vars", "set", "c", "-", input="of the input\n", code=0)
    rows = rows_of(eider("vars", "list", "-o", "json", code=0).json())
    assert {row["name"]: row["value"] for row in rows} == {
        "a": "typed", "b": "of a file", "c": "of the input"}
    assert rows[0]["doc"] == "why" and rows[0]["updated_by"]
    eider("vars", "set", "a", "again", code=0)
    assert eider("vars", "show", "a", "-o", "json", code=0).json()["doc"] == "why"
    eider("vars", "delete", "a", code=2)
    eider("vars", "delete", "a", "--dry-run", code=0)
    eider("vars", "delete", "a", "--yes", code=0)
    eider("vars", "show", "a", code=3)
    eider("vars", "delete", "a", "--yes", code=3)
    eider("vars", "set", "a", "x", "--file", tmp_path / "file", code=2)
    eider("vars", "set", "a b", "x", code=2)
    assert "by its name this is a secret" in eider("vars", "set", "db_password", "x", code=0).err


def test_a_secret_on_the_command_line_is_warned_of(eider):
    done = eider("secrets", "set", "tok", "in-the-history", code=0)
    assert "list of processes" in done.err
    assert "in-the-history" not in done.out + done.err
    assert "list of processes" in eider("conns", "set", "db", "pg://u:pw123@h", code=0).err
    assert "list of processes" not in eider("conns", "set", "db", "pg://u@h", code=0).err
    assert "warning" not in eider("secrets", "set", "tok", input="quiet-one", code=0).err


def test_a_secret_is_typed_unseen(eider):
    terminal = eider.terminal("secrets", "set", "tok")
    terminal.read_until("tok: ")
    terminal.type("typed-in-secret\n")
    assert terminal.wait() == 0, terminal.seen
    assert "typed-in" not in terminal.seen
    eider.run("""
        tasks:
          a: {env: {T: "{{ secrets.tok }}"}, run: 'expr length $T'}
    """)
    assert eider.log("dag", "a").splitlines()[-1] == "15"


@pytest.mark.parametrize("value, words, code", [
    ("", "is empty", 2), ("x" * 70_000, "at most 65536", 2), ("a\0b", "NUL", 2)])
def test_what_cannot_be_a_secret(eider, value, words, code):
    assert words in eider("secrets", "set", "tok", input=value, code=code).err


@pytest.mark.parametrize("name", ["key", "KEY_FILE", "a/b", "../x", ""])
def test_what_cannot_be_the_name_of_a_secret(eider, name):
    eider("secrets", "set", name, input="x" * 8, code=2)


def test_a_bad_connection_is_refused_without_showing_it(eider):
    done = eider("conns", "set", "db", input="pg://u:s3cr3t-part@h:port/x", code=2)
    assert "connection 'db'" in done.err and "s3cr3t-part" not in done.err
    eider.write("connections.yaml", "db: {type: pg, port: none, password: s3cr3t-part}\n")
    listed = eider("conns", "list", "-o", "json", code=0)
    assert rows_of(listed.json())[0]["problem"] and "s3cr3t-part" not in listed.out


def test_a_connection_is_tested(eider):
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    eider("conns", "set", "up", f"pg://u@127.0.0.1:{port}/x", code=0)
    done = eider("conns", "test", "up", "-o", "json", code=0).json()
    assert (done["host"], done["port"]) == ("127.0.0.1", port)
    listener.close()
    assert "Connection refused" in eider("conns", "test", "up", code=8).err
    eider("conns", "set", "file", "sqlite:///x.db", code=0)
    assert "nothing to reach" in eider("conns", "test", "file", code=2).err
    eider("conns", "test", "nope", code=3)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_response(401)
            self.end_headers()

        def log_message(self, *_):
            pass

    web = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.handle_request, daemon=True).start()
    eider("conns", "set", "web", f"http://127.0.0.1:{web.server_port}", code=0)
    done = eider("conns", "test", "web", "-o", "json", code=0).json()
    assert "status 401" in done["detail"]
    web.server_close()


def test_validation_says_where_a_secret_may_not_be(eider):
    path = eider.write("dag.yaml", """\
        tasks:
          a:
            run: "curl -H 'Auth: {{ secrets.tok }}' x"
            env: {T: "{{ secrets.tok }}"}
    """)
    done = eider("validate", path, code=6)
    assert re.search(r"dag.yaml:3:\d+.*'secrets' can be used in 'env'", done.out + done.err)
    assert (done.out + done.err).count("can be used") == 1


def test_validation_warns_of_names_that_look_misspelt(eider):
    """What is not there may be set later, or elsewhere; what is nearly there is a slip."""
    path = eider.write("dag.yaml", """\
        tasks:
          a: {run: "echo {{ var.value.regoin }} {{ var.value.unheard }} {{ conn.wh.host }}"}
          b:
            run: "echo {{ var.value.regoin | default(1) }}"
            env: {T: "{{ secrets.api_tokn }}", U: "{{ secrets.other }}"}
    """)
    assert "did you mean" not in eider("validate", path, code=0).err
    eider("secrets", "set", "api-token", input="x" * 9, code=0)
    done = eider("validate", path, "-o", "json", env={"EIDER_VAR_REGION": "eu"}, code=0).json()
    problems = [(problem["line"], problem["message"]) for problem in done["files"][0]["problems"]]
    assert problems == [
        (2, "template: there is no variable 'regoin' here; did you mean 'region'?"),
        (5, "template: there is no secret 'api_tokn' here; did you mean 'api-token'?")]
    assert done["warnings"] == 2 and done["errors"] == 0


def test_validation_warns_of_connections_of_hooks_that_look_misspelt(eider):
    path = eider.write("dag.yaml", """\
        on_failure:
          - command: "true"
          - slack: emial
        defaults:
          on_retry: {webhook: {connection: opps}}
        tasks:
          a: {run: "true"}
          b: {run: "true", on_success: {pagerduty: {connection: nigth}}, retries: 1}
          c: {run: "true", on_success: {slack: unheard}}
    """)
    assert "did you mean" not in eider("validate", path, code=0).err
    for name in ("email", "ops", "night"):
        eider("conns", "set", name, input="http://127.0.0.1/", code=0)
    done = eider("validate", path, "-o", "json", code=0).json()
    problems = [(problem["line"], problem["message"]) for problem in done["files"][0]["problems"]]
    assert problems == [
        (3, "slack hook: there is no connection 'emial' here; did you mean 'email'?"),
        (5, "webhook hook: there is no connection 'opps' here; did you mean 'ops'?"),
        (8, "pagerduty hook: there is no connection 'nigth' here; did you mean 'night'?")]
