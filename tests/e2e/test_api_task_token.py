"""What a task may do through the API: as long as it runs, where its DAG is, and no longer."""
import json
import re
import sys

import pytest

from api import LISTEN, Api
from fleet import let_go, started
from harness import BINARY, rows_of, wait_for
from listener import Listener
from remote import Odd

ME = "/api/v1/x/me"
OPERATIONS = "/api/v1/x/operations/"
PLAIN = """\
namespace: {space}
tasks:
  one: {{ run: "true" }}
"""
# Says what it was given, and stays until it is let go.
HOLDER = """\
namespace: sales
tasks:
  hold:
    retries: {retries}
    retry_delay: 0s
    run: |
      env | grep -e ^EIDER_API= -e ^EIDER_TOKEN= > @evidence.$EIDER_TRY_NUMBER.new
      mv @evidence.$EIDER_TRY_NUMBER.new @evidence.$EIDER_TRY_NUMBER
      echo start $$ >> @evidence
      while [ ! -e @evidence.go ]; do sleep 0.05; done
      exit {code}
"""
CALLER = f"""\
namespace: sales
tasks:
  by_http:
    run: |
      {sys.executable} - <<'END'
      import json, os, urllib.request
      request = urllib.request.Request(os.environ["EIDER_API"] + "/api/v1/x/dags/shop/trigger",
          data=b'{{}}', method="POST", headers={{"Content-Type": "application/json",
          "Authorization": "Bearer " + os.environ["EIDER_TOKEN"]}})
      print(urllib.request.urlopen(request).status)
      END
  by_command:
    needs: [by_http]
    foreach: [a]
    run: |
      # A home of its own: what it finds, it found on the server.
      EIDER_HOME=$EIDER_OUTPUTS/../elsewhere {BINARY} --server "$EIDER_API" dags trigger shop
"""


class House:
    """A daemon with a DAG in each of two namespaces, and tasks whose tokens can be had."""

    def __init__(self, world, up):
        self.world = world
        self.up = up
        for name, space in (("shop", "sales"), ("pay", "hr")):
            world.write(f"dags/{name}.yaml", PLAIN.format(space=space))

    def start(self, name="up", **env):
        self.daemon = self.up("--dags", str(self.world.work / "dags"), env={**LISTEN, **env},
                              name=name)
        self.api = Api(self.daemon)
        return self

    def shown(self, *args):
        return self.world(*args, "-o", "json", code=0).json()

    def trigger(self, dag="holder"):
        return self.shown("runs", "show", self.shown("dags", "trigger", dag)["number"])

    def given(self, attempt=1):
        """What the holder was told: (EIDER_API, EIDER_TOKEN), None for what it was not."""
        path = self.world.folder / f"evidence.{attempt}"
        wait_for(path.exists, "the task has said what it was given")
        lines = dict(line.split("=", 1) for line in path.read_text().splitlines())
        return lines.get("EIDER_API"), lines.get("EIDER_TOKEN")

    def hold(self, retries=0, code=0):
        """A task that runs until it is let go, and its token."""
        self.world.write("dags/holder.yaml", HOLDER.format(retries=retries, code=code))
        wait_for(lambda: self.world("dags", "show", "holder").code == 0, "the DAG is known")
        self.run = self.trigger()
        return self.given()[1]

    def by(self, token):
        return self.api.with_token(token)

    def status(self, token, path=ME):
        return self.by(token)("GET", path).status

    def let_go(self, dag="holder", state="success"):
        let_go(self.world)
        wait_for(lambda: self.world.run_state(dag) == state, f"{dag} ends as {state}")

    def actors(self):
        """Who changed something, by the audit trail."""
        return {row["actor"] for row in rows_of(self.shown("audit", "list", "--limit", "1000"))}


@pytest.fixture
def house(world, up):
    made = House(world, up)
    yield made
    let_go(world)


# --- what it is for ----------------------------------------------------------------------------


def test_a_task_triggers_dags_of_its_namespace(house):
    house.world.write("dags/caller.yaml", CALLER)
    house.start()
    run = house.trigger("caller")
    wait_for(lambda: house.world.run_state("caller") in ("success", "failed"), "the caller ends")
    assert house.world.run_state("caller") == "success", [
        house.world("logs", "caller", task).out for task in ("by_http", "by_command")]
    runs = [row for row in house.world.runs() if row["dag_id"] == "shop"]
    name = f"task caller/{run['dag_run_id']}"
    signed = sorted(house.shown("runs", "show", row["number"])["actor"] for row in runs)
    assert signed == [f"{name}/by_command[0]", f"{name}/by_http"]


def test_a_task_is_itself_where_its_dag_is_and_nowhere_else(house):
    house.start()
    api = house.by(house.hold())
    me = api.get(ME)
    name = f"task holder/{house.run['dag_run_id']}/hold"
    assert me["name"] == name and me["user"] is None and me["queues"] is None
    assert me["grants"] == [{"namespace": "sales", "role": "operator"}]
    assert {row["dag_id"] for row in api.get("/api/v1/dags")["dags"]} == {"shop", "holder"}
    api.post("/api/v1/x/dags/shop/trigger")
    unknown = api("POST", "/api/v1/x/dags/nope/trigger", {}, code=404).json
    foreign = api("POST", "/api/v1/x/dags/pay/trigger", {}, code=404).json
    assert foreign["detail"] == unknown["detail"].replace("nope", "pay")
    api.post(OPERATIONS + "dag.pause", {"dags": ["shop"]})
    assert name in house.actors()


@pytest.mark.parametrize("role", ["operator", "editor"])
def test_a_task_makes_nothing_that_lets_somebody_in(house, role):
    house.start(EIDER_TASK_ROLE=role)
    api = house.by(house.hold())
    refused = [("token.add", {"name": "x"}),
               ("token.add", {"name": "x", "grants": ["sales=viewer"]}),
               ("token.add", {"name": "x", "queues": ["default"]}),
               ("user.add", {"name": "eve", "grants": ["sales=viewer"], "password": "12345678"}),
               ("user.set", {"name": "eve", "password": "12345678"}),
               ("namespace.add", {"name": "new"})]
    if role == "operator":
        refused.append(("secret.set", {"name": "x", "value": "y", "namespace": "sales"}))
        refused.append(("variable.set", {"name": "x", "value": "y", "namespace": "sales"}))
    for name, body in refused:
        answer = api("POST", OPERATIONS + name, body)
        assert answer.status == 403, (name, answer)
    assert not house.shown("tokens", "list")["tokens"] and not house.shown("users", "list")["users"]
    api("POST", "/api/v1/x/claim", {"worker": "w"}, code=403)
    if role == "editor":
        api.post(OPERATIONS + "variable.set", {"name": "x", "value": "y", "namespace": "sales"})
        api("POST", OPERATIONS + "variable.set", {"name": "x", "value": "y", "namespace": "hr"},
            code=404)


def test_a_job_may_what_a_task_may(house):
    house.start()
    house.world.write("say.sh", HOLDER.split("run: |\n")[1].format(code=0))
    job = house.world("enqueue", "default", f"$ sh {house.world.work}/say.sh", "--namespace",
                      "sales", "-o", "name", code=0).out.strip()
    url, token = house.given()
    assert url == f"http://{house.api.host}:{house.api.port}"
    api = house.by(token)
    me = api.get(ME)
    assert me["name"] == f"job {job}"
    assert me["grants"] == [{"namespace": "sales", "role": "operator"}]
    api.post("/api/v1/x/dags/shop/trigger")
    api("POST", "/api/v1/x/dags/pay/trigger", {}, code=404)
    let_go(house.world)
    wait_for(lambda: house.status(token) == 401, "the job has ended")


# --- how long it counts ------------------------------------------------------------------------


def test_a_token_ends_with_its_task(house):
    token = house.start().hold()
    assert house.status(token) == 200
    house.let_go()
    assert house.status(token) == 401
    house.api("GET", "/healthz", headers={"Authorization": f"Bearer {token}"}, code=200)


def test_a_token_is_of_one_attempt(house):
    first = house.start().hold(retries=1, code=1)
    assert house.status(first) == 200
    let_go(house.world)
    second = house.given(2)[1]
    (house.world.folder / "evidence.go").unlink(missing_ok=True)
    house.let_go(state="failed")
    assert first != second
    assert house.status(first) == house.status(second) == 401


def test_a_token_of_what_was_cleared_is_worthless(house):
    first = house.start().hold()
    house.world("tasks", "clear", house.run["number"], "hold", code=0)
    wait_for(lambda: len(started(house.world.evidence)) == 2, "it runs again")
    second = house.given(2)[1]
    assert first != second
    assert house.status(first) == 401
    assert house.status(second) == 200
    # What proves the one does not prove the other.
    mixed = second.rpartition("_")[0] + "_" + first.rpartition("_")[2]
    assert house.status(mixed) == 401
    assert house.status(first.rpartition("_")[0] + "_" + second.rpartition("_")[2]) == 401


def test_only_the_very_token_lets_in(house):
    token = house.start().hold()
    assert re.fullmatch(r"eda_[1-9][0-9]*_1_[0-9a-f]{32}", token)
    head, task, attempt, proof = token.split("_")
    claim = next(iter(started(house.world.evidence)))
    environment = open(f"/proc/{claim}/environ", encoding="utf-8").read().split("\0")
    nonce = next(entry for entry in environment if entry.startswith("EIDER_CLAIM=")).split("=")[1]
    last = "1" if token[-1] == "0" else "0"
    forged = [token[:-1], token + "0", token.upper(), token[:-1] + last,
              f"{head}_{task}_{attempt}_", f"{head}_{task}_{attempt}", f"{head}_{task}",
              f"{head}_{task}_2_{proof}", f"{head}_{int(task) + 1}_{attempt}_{proof}",
              f"{head}_0{task}_{attempt}_{proof}", f"{head}_{task}_+{attempt}_{proof}",
              f"{head}_{task}_{attempt}_{'0' * 32}", f"{head}_{task}_{attempt}_{nonce}",
              f"{head}_-{task}_{attempt}_{proof}", f"{head}_{'9' * 30}_1_{proof}",
              f"edt_{proof}", f"edt_{task}_{attempt}_{proof}", proof, head + "_", "eda_' OR 1=1 --"]
    for text in forged:
        assert house.status(text) == 401, text
    assert house.status(token) == 200


def test_another_daemon_of_the_store_knows_the_token(house):
    """The one that started the task is killed; the next takes the task over, and its token."""
    token = house.start().hold()
    house.daemon.kill()
    house.start(name="next")
    assert house.status(token) == 200
    assert len(started(house.world.evidence)) == 1
    house.let_go()
    assert house.status(token) == 401


def test_answers_that_go_on_end_with_the_task(house):
    house.world.write("dags/other.yaml", """\
        namespace: sales
        tasks:
          stay: { run: "echo here; while [ ! -e @evidence.end ]; do sleep 0.05; done" }
        """)
    token = house.start().hold()
    other = house.trigger("other")
    api = house.by(token)
    events = Listener(api)
    connection = api.connect()
    connection.request("GET", f"/api/v1/x/runs/{other['number']}/tasks/stay/log?follow=true",
                       headers=api.headers())
    followed = connection.getresponse()
    assert followed.readline() == b"here\n"
    house.let_go()
    assert followed.read() == b"", "it ends, although what it shows goes on"
    wait_for(lambda: events.is_over, "the stream of events ends")
    assert house.world.run_state("other") == "running"
    (house.world.folder / "evidence.end").touch()
    connection.close()
    events.close()


def test_another_attempt_repeats_a_change_by_its_key(house):
    """The name is that of the task, so what its first try did is not done again by its second."""
    first = house.start().hold()
    key = {"Idempotency-Key": "k1"}
    path = "/api/v1/x/dags/shop/trigger"
    before = house.by(first)("POST", path, {}, headers=key, code=200)
    again = house.by(first)("POST", path, {}, headers=key, code=200)
    house.world("tasks", "clear", house.run["number"], "hold", code=0)
    second = house.given(2)[1]
    later = house.by(second)("POST", path, {}, headers=key, code=200)
    assert before.json == again.json == later.json
    assert later.headers["Idempotency-Replayed"] == "true"
    assert len([row for row in house.world.runs() if row["dag_id"] == "shop"]) == 1


# --- settings ----------------------------------------------------------------------------------


def test_without_a_role_there_is_no_token(house):
    token = house.start().hold()
    house.daemon.kill()
    house.start(name="closed", EIDER_TASK_ROLE="none")
    assert house.status(token) == 401, "one that was given before is refused"
    house.let_go()
    for name in ("evidence.1", "evidence.go"):
        (house.world.folder / name).unlink()
    house.trigger()
    assert house.given() == (None, None)


def test_a_viewer_looks(house):
    api = house.by(house.start(EIDER_TASK_ROLE="viewer").hold())
    assert api.get(ME)["grants"] == [{"namespace": "sales", "role": "viewer"}]
    api.get("/api/v1/dags/shop")
    api("POST", "/api/v1/x/dags/shop/trigger", {}, code=403)


@pytest.mark.parametrize("env, expected", [
    ({"EIDER_LISTEN": "0.0.0.0:0", "EIDER_LISTEN_ANYWAY": "true"}, r"http://127\.0\.0\.1:[0-9]+"),
    ({"EIDER_LISTEN": "[::]:0", "EIDER_LISTEN_ANYWAY": "true"}, r"http://\[::1\]:[0-9]+"),
    ({"EIDER_API_URL": "https://eider.example/below/"}, r"https://eider\.example/below"),
    ({"EIDER_API_URL": "https://eider.example", "EIDER_LISTEN": "off"}, r"https://eider\.example"),
    ({"EIDER_API_URL": "https://eider.example", "EIDER_TASK_ROLE": "none"}, None),
    ({"EIDER_LISTEN": "off"}, None),
    ({"EIDER_ROLES": "worker,scheduler"}, None),
])
def test_where_the_api_is(eider, up, env, expected):
    eider.write("dags/holder.yaml", HOLDER.format(retries=0, code=0))
    up("--dags", str(eider.work / "dags"), env={**LISTEN, **env})
    house = House(eider, up)
    house.trigger()
    url, token = house.given()
    let_go(eider)
    assert (url is None) == (token is None) == (expected is None)
    assert expected is None or re.fullmatch(expected, url), url


def test_what_is_no_url_or_role_is_refused(eider):
    assert "api_url" in eider("up", env={**LISTEN, "EIDER_API_URL": "eider.example"}, code=2).err
    assert "task_role" in eider("up", env={**LISTEN, "EIDER_TASK_ROLE": "admin"}, code=2).err


def test_a_run_of_a_file_has_no_server(eider):
    let_go(eider)
    eider.run(HOLDER.format(retries=0, code=0))
    assert (eider.folder / "evidence.1").read_text() == ""


# --- who does not get to see it ----------------------------------------------------------------


def test_what_a_task_prints_is_no_token(house):
    house.world.write("dags/teller.yaml", f"""\
        namespace: sales
        tasks:
          tell:
            run: |
              env
              echo "$EIDER_TOKEN" | tee $EIDER_OUTPUTS/plain
              echo "$EIDER_TOKEN" | base64 -w 0 | tee $EIDER_OUTPUTS/coded
              printf %s "$EIDER_TOKEN" | od -An -tx1
              {sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'
              echo "$EIDER_TOKEN" > @evidence
              tr '\\0' '\\n' < /proc/self/environ
        """)
    house.start()
    run = house.trigger("teller")
    wait_for(lambda: house.world.run_state("teller") == "success", "the task has told")
    proof = house.world.evidence.lines()[0].rpartition("_")[2]
    assert len(proof) == 32
    viewer = house.by(house.shown("tokens", "add", "see", "--role", "viewer")["token"])
    number = run["number"]
    path = f"/api/v1/x/runs/{number}/tasks/tell/log"
    texts = [house.world.log(number, "tell"), viewer("GET", path, code=200).text,
             house.world("explain", number, "tell").out, house.daemon.text(),
             house.world("tasks", "render", "teller", "tell", code=0).out,
             json.dumps(house.shown("runs", "tasks", number)),
             json.dumps(house.shown("runs", "values", number)),
             json.dumps(house.shown("events", "-n", "1000"))]
    assert "EIDER_TOKEN=eda_" in texts[0] and "***" in texts[0]
    hidden = [proof, " ".join(f"{ord(letter):02x}" for letter in proof)[:40]]
    for text in texts:
        for form in hidden:
            assert form not in text, text
    kept = [path.read_bytes() for path in house.world.home.rglob("*") if path.is_file()]
    assert not [True for data in kept if proof.encode() in data]


def test_the_command_line_sends_it_to_no_other_server(eider):
    token = "eda_1_1_" + "0" * 32
    other = Odd((200, '{"variables": []}'))
    try:
        env = {"EIDER_TOKEN": token, "EIDER_API": "http://127.0.0.1:1"}
        eider("vars", "list", "--server", other.url, env=env, code=0)
        assert "Authorization" not in other.seen[-1][2]
        eider("vars", "list", "--server", other.url + "/",
              env={**env, "EIDER_API": other.url}, code=0)
        assert other.seen[-1][2]["Authorization"] == f"Bearer {token}"
        eider("vars", "list", "--server", other.url, "--token", token, env=env, code=0)
        assert other.seen[-1][2]["Authorization"] == f"Bearer {token}"
    finally:
        other.close()
