"""Who comes in: tokens, passwords, sessions, and what is seen by whom."""
import base64
import json
import re

import pytest

from api import LISTEN, Api
from harness import wait_for

PASSWORD = "correct horse"
ME = "/api/v1/x/me"
RUNS = "/api/v1/x/operations/run.list"

DAG = """\
namespace: {space}
tasks:
  one: {{run: echo {name}}}
"""


@pytest.fixture
def house(world, up):
    """A daemon with a DAG and a run in each of two namespaces, and the program beside it."""
    for name, space in (("shop", "sales"), ("pay", "hr")):
        world.write(f"dags/{name}.yaml", DAG.format(name=name, space=space))
    api = Api(up(env=LISTEN))
    for name in ("shop", "pay"):
        ok(world, "dags", "trigger", name)
    return world, api


def ok(world, *args, **options):
    return world(*args, code=0, **options)


def shown(world, *args):
    return world(*args, "-o", "json", code=0).json()


def add_user(world, name, *roles):
    flags = [part for role in roles for part in ("--role", role)]
    return ok(world, "users", "add", name, *flags, input=PASSWORD + "\n")


def token(world, name, *args):
    return shown(world, "tokens", "add", name, *args)["token"]


def basic(name, password=PASSWORD):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def by(text):
    return {"Authorization": f"Bearer {text}"}


def link_of(daemon):
    return re.search(r"^  sign in https?://[^/]+(/login\?link=\S+)", daemon.text(), re.MULTILINE)


# --- the first one -----------------------------------------------------------------------------


def test_the_first_user_comes_in_by_a_link_once(world, up):
    daemon = up(env=LISTEN)
    api = Api(daemon)
    path = link_of(daemon).group(1)
    assert api("HEAD", path).status == 404, "looking at a link does not use it"
    passed_on = api("GET", path, headers={"X-Forwarded-For": "192.0.2.7"})
    assert passed_on.status == 404, "it is for who is at this machine"
    answer = api("GET", path, code=303)
    cookie = answer.headers["Set-Cookie"]
    for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
        assert part in cookie
    session = {"Cookie": cookie.split(";")[0]}
    me = api("GET", ME, headers=session, code=200).json
    assert me["user"] == "admin" and me["grants"] == [{"namespace": "*", "role": "admin"}]
    assert api("GET", path).status == 403
    assert [user["name"] for user in shown(world, "users", "list")["users"]] == ["admin"]
    daemon.finish()
    second = up(env=LISTEN, name="next")
    again = Api(second)("GET", link_of(second).group(1), code=303).headers["Set-Cookie"]
    assert again != cookie, "the same user has no other way in"
    assert [user["name"] for user in shown(world, "users", "list")["users"]] == ["admin"]
    ok(world, "users", "set", "admin", "--password", input=PASSWORD + "\n")
    second.finish()
    assert link_of(up(env=LISTEN, name="last")) is None, "there is a password"


def test_a_browser_with_a_link_that_is_of_no_use_gets_to_the_page(world, up):
    daemon = up(env=LISTEN)
    api = Api(daemon)
    path = link_of(daemon).group(1)
    html = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    assert api("GET", path, headers=html, code=303).headers["Location"] == "/"
    answer = api("GET", path, headers=html, code=303)
    assert answer.headers["Location"] == "/sign-in?link=used"
    assert "Set-Cookie" not in answer.headers
    answer = api("GET", "/login", headers=html, code=303)
    assert answer.headers["Location"] == "/sign-in"
    api("GET", path, code=403)
    api("GET", "/login", code=404)


def test_it_does_not_listen_to_others_unprotected(world):
    done = world("up", env={"EIDER_LISTEN": "0.0.0.0:0"})
    assert done.code != 0
    assert "no users" in done.err and "TLS is off" in done.err and "listen_anyway" in done.err
    add_user(world, "anna", "admin")
    done = world("up", env={"EIDER_LISTEN": "0.0.0.0:0"})
    assert done.code != 0 and "no users" not in done.err and "TLS is off" in done.err


def test_it_listens_to_others_when_forced(world, up):
    daemon = up(env={"EIDER_LISTEN": "0.0.0.0:0", "EIDER_LISTEN_ANYWAY": "true"})
    assert "  api     http://0.0.0.0:" in daemon.text()
    assert link_of(daemon) is None, "others could read it on the way"


# --- tokens ------------------------------------------------------------------------------------


def test_a_token_lets_in_until_it_is_taken_back(house):
    world, api = house
    text = token(world, "ci", "--role", "viewer")
    assert api("GET", ME, headers=by(text), code=200).json["name"] == "token ci"
    listed = shown(world, "tokens", "list")["tokens"][0]
    assert listed["name"] == "ci" and "token" not in listed and listed["last_used"]
    for forged in (text[:-1], text + "0", text.upper(), "edt_" + "0" * 64, "", "null", "*",
                   "eyJhbGciOiJub25lIn0.e30.", "' OR 1=1 --", "a" * 5000):
        assert api("GET", ME, headers=by(forged)).status == 401, forged
    ok(world, "tokens", "remove", listed["id"])
    assert api("GET", ME, headers=by(text)).status == 401


def test_a_token_is_printed_alone(world):
    made = ok(world, "tokens", "add", "ci", "--role", "viewer", "-o", "name")
    assert re.fullmatch(r"edt_[0-9a-f]{64}\n", made.out)


def test_a_token_goes_with_its_owner(house):
    world, api = house
    add_user(world, "anna", "*=editor")
    text = token(world, "ci", "--owner", "anna")
    small = token(world, "small", "--owner", "anna", "--role", "sales=viewer")
    assert api("GET", ME, headers=by(text)).json["grants"][0]["role"] == "editor"
    ok(world, "users", "set", "anna", "--role", "sales=operator")
    assert api("GET", ME, headers=by(text)).json["grants"] == [
        {"namespace": "sales", "role": "operator"}]
    assert api("GET", ME, headers=by(small)).json["grants"] == [
        {"namespace": "sales", "role": "viewer"}]
    ok(world, "users", "set", "anna", "--role", "hr=admin")
    assert api("GET", ME, headers=by(small)).json["grants"] == []
    assert api("POST", RUNS, {}, headers=by(small)).status == 403
    ok(world, "users", "set", "anna", "--disable")
    assert api("GET", ME, headers=by(text)).status == 401
    ok(world, "users", "set", "anna", "--enable")
    assert api("GET", ME, headers=by(text)).status == 200
    ok(world, "users", "remove", "anna", "--yes")
    assert api("GET", ME, headers=by(text)).status == 401
    assert shown(world, "tokens", "list")["tokens"] == []


def test_an_operator_of_one_namespace_enqueues_there(house):
    world, api = house
    text = token(world, "ops", "--role", "sales=operator")

    def enqueue(*args, **options):
        place = {"EIDER_SERVER": f"http://{api.host}:{api.port}", "EIDER_TOKEN": text}
        return world("enqueue", "default", *args, "-o", "name", env=place, **options)

    def space(job):
        return shown(world, "jobs", "show", job)["namespace"]

    assert "there is no namespace 'default'" in enqueue("noop").err
    assert space(enqueue("noop", "--namespace", "sales", code=0).out.strip()) == "sales"
    line = json.dumps({"handler": "noop"}) + "\n"
    named = json.dumps({"handler": "noop", "namespace": "sales"}) + "\n"
    for job in enqueue("--batch", "--namespace", "sales", input=line + named, code=0).out.split():
        assert space(job) == "sales"
    assert space(enqueue("--batch", input=named, code=0).out.strip()) == "sales"
    other = json.dumps({"handler": "noop", "namespace": "hr"}) + "\n"
    refused = enqueue("--batch", "--namespace", "sales", input=other)
    assert "there is no namespace 'hr'" in refused.err, "what a line names counts for it"


def test_a_command_is_for_who_may_write_programs(house):
    world, api = house
    command = {"namespace": "sales", "handler": "$ id"}

    def enqueue(text, *jobs):
        return api("POST", "/api/v1/x/jobs", {"queue": "default", "jobs": list(jobs)},
                   headers=by(text))

    for role in ("sales=operator", "*=operator"):
        text = token(world, role.replace("=", "-").replace("*", "all"), "--role", role)
        refused = enqueue(text, {"namespace": "sales", "handler": "noop"}, command)
        assert refused.status == 403 and "needs the role editor" in refused.json["detail"]
    assert shown(world, "jobs", "list")["jobs"] == [], "all or none"
    assert enqueue(token(world, "author", "--role", "sales=editor"), command).status == 200


@pytest.mark.parametrize("space", ["*", "~", "a b", "A/B", "..", "default ", "\u00e9", ""])
def test_a_job_is_in_a_namespace_that_can_be(house, space):
    world, api = house
    text = token(world, "all", "--role", "*=admin")
    refused = api("POST", "/api/v1/x/jobs", headers=by(text), body={
        "queue": "default", "jobs": [{"handler": "noop", "namespace": space}]})
    assert refused.status == 400 and "namespace" in refused.json["detail"]


def test_a_small_token_leaves_the_greater_ones_of_its_owner_alone(house):
    world, api = house
    add_user(world, "anna", "*=editor")
    great = token(world, "great", "--owner", "anna")
    small = token(world, "small", "--owner", "anna", "--role", "sales=viewer")
    same = token(world, "same", "--owner", "anna", "--role", "sales=viewer")
    ids = {row["name"]: row["id"] for row in shown(world, "tokens", "list")["tokens"]}

    def names(text):
        return {row["name"] for row in api("GET", "/api/v1/x/tokens", headers=by(text),
                                           code=200).json["tokens"]}

    def remove(text, name):
        return api("DELETE", f"/api/v1/x/tokens/{ids[name]}", headers=by(text)).status

    assert names(small) == {"small", "same"} and names(great) == {"great", "small", "same"}
    assert remove(small, "great") == 404 and api("GET", ME, headers=by(great)).status == 200
    assert remove(small, "same") == 200 and api("GET", ME, headers=by(same)).status == 401
    assert remove(great, "small") == 200 and remove(great, "great") == 200
    assert api("GET", ME, headers=by(great)).status == 401


def test_a_token_that_has_expired_is_void(house):
    world, api = house
    text = token(world, "short", "--role", "viewer", "--expires", "1ms")
    assert api("GET", ME, headers=by(text)).status == 401


def test_a_worker_may_nothing_but_work(house):
    world, api = house
    text = token(world, "gpu", "--queue", "gpu", "--queue", "big")
    me = api("GET", ME, headers=by(text), code=200).json
    assert me["queues"] == "gpu big" and me["grants"] == []
    assert api("POST", RUNS, {}, headers=by(text)).status == 403


def test_no_token_gives_more_than_it_has(house):
    world, api = house
    add_user(world, "anna", "*=admin")
    small = token(world, "small", "--owner", "anna", "--role", "sales=operator")
    add = "/api/v1/x/operations/token.add"
    for grants in (["admin"], ["*=viewer"], ["sales=editor"], ["hr=viewer"]):
        body = {"name": "more", "grants": grants}
        assert api("POST", add, body, headers=by(small)).status == 403, grants
    assert api("POST", add, {"name": "x", "owner": "ben"}, headers=by(small)).status == 403
    assert api("POST", add, {"name": "x", "queues": ["*"]}, headers=by(small)).status == 403
    made = api("POST", add, {"name": "same"}, headers=by(small), code=200).json
    me = api("GET", ME, headers=by(made["token"]), code=200).json
    assert me["grants"] == [{"namespace": "sales", "role": "operator"}], "not all of anna's"
    brief = token(world, "brief", "--owner", "anna", "--role", "sales=viewer", "--expires", "1h")
    made = api("POST", add, {"name": "long"}, headers=by(brief), code=200).json
    assert made["expires_at"] is not None


# --- passwords ---------------------------------------------------------------------------------


def test_a_password_lets_in_while_the_user_stays_the_same(house):
    world, api = house
    add_user(world, "anna", "viewer")
    assert api("GET", ME, headers=basic("anna"), code=200).json["user"] == "anna"
    assert api("GET", ME, headers=basic("anna"), code=200)
    wrong = api("GET", ME, headers=basic("anna", "wrong horse"), code=401)
    assert wrong.json["detail"] == api("GET", ME, headers=basic("bob")).json["detail"]
    ok(world, "users", "set", "anna", "--password", input="another horse\n")
    assert api("GET", ME, headers=basic("anna")).status == 401, "what was proven before is void"
    assert api("GET", ME, headers=basic("anna", "another horse")).status == 200
    ok(world, "users", "remove", "anna", "--yes")
    assert api("GET", ME, headers=basic("anna", "another horse")).status == 401
    add_user(world, "anna", "viewer")
    assert api("GET", ME, headers=basic("anna", "another horse")).status == 401
    for header in ("Basic", "Basic !!!", "Basic YW5uYQ==", "Digest x", "Bearer", "", "anna"):
        assert api("GET", ME, headers={"Authorization": header}).status == 401, header


def test_people_change_their_own_password_and_nothing_else(house):
    world, api = house
    add_user(world, "anna", "sales=viewer")
    add_user(world, "ben", "sales=viewer")
    path = "/api/v1/x/operations/user.set"
    text = token(world, "ci", "--owner", "anna")
    change = {"name": "anna", "password": "another horse", "old_password": PASSWORD}
    refused = api("POST", path, change, headers=by(text))
    assert refused.status == 403, "a token cannot"
    assert "sign in with the name and the password" in refused.json["detail"]
    for body in ({**change, "old_password": "wrong"}, {**change, "old_password": None},
                 {**change, "name": "ben"}, {**change, "grants": ["admin"]},
                 {**change, "disabled": False}):
        assert api("POST", path, body, headers=basic("anna")).status == 403, body
    api("POST", path, change, headers=basic("anna"), code=200)
    assert api("GET", ME, headers=basic("anna", "another horse")).status == 200
    grants = api("GET", ME, headers=basic("anna", "another horse")).json["grants"]
    assert grants == [{"namespace": "sales", "role": "viewer"}]


def test_guessing_passwords_takes_longer_and_longer(house):
    world, api = house
    add_user(world, "anna", "viewer")
    statuses = [api("GET", ME, headers=basic("anna", f"guess {n}")).status for n in range(5)]
    assert statuses == [401] * 5
    answer = api("GET", ME, headers=basic("anna"))
    assert answer.status == 429 and int(answer.headers["Retry-After"]) >= 1
    login = api("POST", "/api/v1/x/login", {"username": "anna", "password": PASSWORD})
    assert login.status == 429
    assert api("GET", ME, headers=basic("ben")).status == 401, "others are not concerned"
    actions = [entry["action"] for entry in shown(world, "audit", "list")["entries"]]
    assert actions.count("user_refused") == 1


def test_the_audit_log_names_whose_password_was_guessed(house):
    """What nobody is called may be a password that was typed in the wrong place."""
    world, api = house
    add_user(world, "anna", "viewer")
    for name in ("anna", "hunter2"):
        for n in range(5):
            api("GET", ME, headers=basic(name, f"guess {n}"), code=401)
    entries = [entry for entry in shown(world, "audit", "list")["entries"]
               if entry["action"] == "user_refused"]
    assert [entry["object"] for entry in entries] == ["user somebody", "user anna"]
    assert "hunter2" not in json.dumps(entries) and "guess" not in json.dumps(entries)


def test_what_cannot_be_a_user_is_refused(world):
    for name in ("", "a b", "scheduler", "x" * 65, "a/b", "ü"):
        done = world("users", "add", name, "--no-password")
        assert done.code != 0, name
    assert "8 to 1024" in world("users", "add", "anna", input="short\n").err
    done = world("users", "add", "anna", "--role", "sales=king", "--no-password")
    assert "is no role" in done.err
    add_user(world, "anna")
    assert "already" in world("users", "add", "anna", "--no-password").err
    text = (world.home / "eider.db").read_bytes() if (world.home / "eider.db").exists() else b""
    assert PASSWORD.encode() not in text


# --- sessions ----------------------------------------------------------------------------------


def sign_in(api, name, password=PASSWORD):
    answer = api("POST", "/api/v1/x/login", {"username": name, "password": password}, code=200)
    return {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}, answer.json["csrf_token"]


def test_a_session_changes_nothing_without_its_second_proof(house):
    world, api = house
    add_user(world, "anna", "admin")
    cookie, proof = sign_in(api, "anna")
    other, _ = sign_in(api, "anna")
    assert api("GET", ME, headers=cookie, code=200).json["csrf_token"] == proof
    assert api("POST", RUNS, {}, headers=cookie).status == 403
    assert api("POST", RUNS, {}, headers={**cookie, "X-CSRF-Token": "0" * 64}).status == 403
    assert api("POST", RUNS, {}, headers={**other, "X-CSRF-Token": proof}).status == 403
    assert api("POST", RUNS, {}, headers={**cookie, "X-CSRF-Token": proof}).status == 200
    assert api("POST", "/api/v1/x/logout", headers=cookie).status == 403
    api("POST", "/api/v1/x/logout", headers={**cookie, "X-CSRF-Token": proof}, code=204)
    assert api("GET", ME, headers=cookie).status == 401
    assert api("GET", ME, headers=other).status == 200
    ok(world, "users", "set", "anna", "--password", input="another horse\n")
    assert api("GET", ME, headers=other).status == 401, "a new password ends all sessions"


def test_signing_in_takes_json_alone(house):
    world, api = house
    add_user(world, "anna", "viewer")
    path = "/api/v1/x/login"
    form = f"username=anna&password={PASSWORD}".encode()
    for body, kind in ((form, "application/x-www-form-urlencoded"), (b"{", "application/json"),
                       (b"[]", "application/json"), (b"", "application/json"),
                       (json.dumps({"username": "anna", "password": PASSWORD}).encode(),
                        "text/plain")):
        assert api("POST", path, body, headers={"Content-Type": kind}).status == 400, kind
    more = {"username": "anna", "password": PASSWORD, "role": "admin"}
    assert api("POST", path, more).status == 400
    stale = {"Cookie": "eider_session=eds_" + "0" * 64}
    answer = api("POST", path, {"username": "anna", "password": PASSWORD}, headers=stale)
    assert answer.status == 200, "a session that is over is not in the way"
    assert PASSWORD not in answer.text


# --- what is seen ------------------------------------------------------------------------------


def test_others_namespaces_are_as_if_they_were_not(house):
    world, api = house
    ok(world, "vars", "set", "limit", "7", "--namespace", "hr")
    ok(world, "vars", "set", "limit", "5", "--namespace", "sales")
    ok(world, "pools", "set", "desk", "--slots", "2", "--namespace", "hr")
    ok(world, "limits", "set", "namespace", "hr", "--max-running", "3")
    ok(world, "limits", "set", "dag", "shop", "--max-running", "3")
    ok(world, "queues", "set", "mail")
    ok(world, "enqueue", "mail", "noop")
    api.token = token(world, "ci", "--role", "sales=admin")

    def op(name, body=None, code=200):
        return api.post(f"/api/v1/x/operations/{name}", body, code=code)

    assert [run["dag_id"] for run in op("run.list")["dag_runs"]] == ["shop"]
    assert op("run.list", {"with_total": True})["total_entries"] == 1
    assert [dag["dag_id"] for dag in op("dag.list")["dags"]] == ["shop"]
    assert {row["namespace"] for row in op("variable.list")["variables"]} == {"sales"}
    assert op("pool.list")["pools"] == []
    assert [limit["name"] for limit in op("limit.list")["limits"]] == ["shop"]
    assert op("job.list")["jobs"] == [] and op("job.list", {"with_total": True})
    assert [space["name"] for space in op("namespace.list")["namespaces"]] == ["sales"]
    dags = {event["dag_id"] for event in op("event.list", {"limit": 1000})["events"]}
    assert dags <= {"shop", None}
    assert {entry["dag_id"] for entry in op("audit.list")["entries"]} <= {"shop", None}
    assert "hr" not in json.dumps(op("audit.list"))
    for name in ("backfill.list", "notify.list", "sla.list", "dead.list", "job.list", "run.list"):
        page = op(name, {"with_total": True, "limit": 1})
        assert page["total_entries"] == (1 if name == "run.list" else 0), name
    for name in ("run.active", "sla.report", "webhook.list"):
        op(name)
    for name, body in (("dag.show", {"dag": "pay"}), ("run.show", {"run": "pay"}),
                       ("run.list", {"dag": "pay"}), ("event.list", {"dag": "pay"}),
                       ("variable.show", {"name": "limit", "namespace": "hr"}),
                       ("dag.trigger", {"dag": "pay"})):
        there = op(name, body, code=404)["detail"]
        absent = {key: value.replace("pay", "nix").replace("hr", "nix")
                  for key, value in body.items()}
        assert op(name, absent, code=404)["detail"] == there.replace("pay", "nix").replace(
            "hr", "nix")
    world("vars", "set", "salaries", "1", "--namespace", "hr", code=0)
    guess = DAG.format(name="{{ var.value.salarie }}", space="hr")
    assert "salaries" not in json.dumps(op("dag.validate", {"texts": {"x.yaml": guess}}))
    near = op("pool.show", {"name": "dest", "namespace": "sales"}, code=404)
    assert "desk" not in json.dumps(near)
    world("vars", "set", "common", "9", code=0)
    for missing in ("common", "nix"):
        detail = op("variable.show", {"name": missing, "namespace": "sales"}, code=404)["detail"]
        assert detail == f"there is no variable '{missing}'"
    number = shown(world, "runs", "show", "pay")["number"]
    read = "/api/v1/x/operations/log.read"
    all_seeing = by(token(world, "eye", "--role", "viewer"))
    cursor = api("POST", read, {"run": "pay"}, headers=all_seeing, code=200).json["cursor"]
    answer = api("POST", read, {"run": "shop", "cursor": cursor})
    assert answer.status == 400 or "pay" not in answer.text
    assert op("run.show", {"run": number}, code=404)["detail"] == f"there is no run '{number}'"


WRITER = """\
namespace: {space}
tasks:
  one: {{run: echo, outputs: [{uris}]}}
"""
WAITER = """\
namespace: {space}
schedule: {{ datasets: [{uris}] }}
tasks:
  one: {{run: echo}}
"""


def test_of_datasets_others_updates_and_waiting_dags_are_not_told(house):
    world, api = house
    for space, uris in (("sales", "s3://both"), ("hr", "s3://both, s3://wages")):
        world.write(f"dags/{space}_out.yaml", WRITER.format(space=space, uris=uris))
        world.write(f"dags/{space}_in.yaml",
                    WAITER.format(space=space, uris=uris + f", s3://never/{space}"))
    root, seller = (by(token(world, name, "--role", role))
                    for name, role in (("r", "viewer"), ("ci", "sales=viewer")))

    def assets(who, **query):
        answer = api.get("/api/v1/x/assets", query=query, headers=who)
        return {row["uri"]: row for row in answer["assets"]}

    wait_for(lambda: len(assets(root)) == 4, "all of them are waited for")
    for updates, name in enumerate(("sales_out", "hr_out", "hr_out"), 1):
        ok(world, "dags", "trigger", name)
        wait_for(lambda: assets(root)["s3://both"]["updates"] == updates, "it is written")
    counts = {uri: (row["updates"], row["waiters"]) for uri, row in assets(root).items()}
    assert counts == {"s3://both": (3, 2), "s3://wages": (2, 1), "s3://never/hr": (0, 1),
                      "s3://never/sales": (0, 1)}
    mine = assets(seller)
    counts = {uri: (row["updates"], row["waiters"]) for uri, row in mine.items()}
    assert counts == {"s3://both": (1, 1), "s3://wages": (0, 0), "s3://never/hr": (0, 0),
                      "s3://never/sales": (0, 1)}, "URIs are shared"
    assert mine["s3://wages"]["last_update"] is None
    assert mine["s3://both"]["last_update"] < assets(root)["s3://both"]["last_update"]
    shown_one = api.post("/api/v1/x/operations/asset.show", {"uri": "s3://both", "limit": 1},
                         headers=seller)
    assert [row["source_dag_id"] for row in shown_one["events"]] == ["sales_out"]
    assert (shown_one["updates"], shown_one["waiters"]) == (1, 1)
    for name in ("hr_in", "hr_out"):
        assert assets(seller, dags=name) == {}
        page = api.get("/api/v1/datasets", query={"dag_ids": name}, headers=seller)
        assert (page["datasets"], page["total_entries"]) == ([], 0)
    assert set(assets(seller, dags="sales_in")) == {"s3://both", "s3://never/sales"}
    assert set(assets(seller, dags="sales_out")) == {"s3://both"}
    assert set(assets(root, dags="hr_out")) == {"s3://both", "s3://wages"}


def test_lines_of_a_broken_file_are_for_who_may_read_it(house):
    """Somebody else's file may have the name of one's own DAG, or speak of it."""
    world, api = house
    world.write("dags/shop/shop.yml", "namespace: hr\ntasks: {wages: {runn: echo 4711}}\n")
    world.write("dags/shop.yaml", DAG.format(name="shop", space="sales") + "    runn: mine\n")
    seller, root = token(world, "ci", "--role", "sales=admin"), token(world, "r", "--role", "admin")

    def sources(who):
        answer = api.post("/api/v1/x/operations/dag.errors", {"dag": "shop"}, headers=by(who))
        return {row["file"].rpartition("/dags/")[2]: row["source"] for row in answer["errors"]}

    both = {"shop.yaml", "shop/shop.yml"}
    wait_for(lambda: set(sources(root)) == both, "both files are read")
    assert "4711" in sources(root)["shop/shop.yml"] and "mine" in sources(root)["shop.yaml"]
    assert sources(seller)["shop/shop.yml"] is None and "mine" in sources(seller)["shop.yaml"]


def test_who_sees_some_namespaces_lists_the_broken_files_of_these(house):
    world, api = house
    world.write("dags/new.yaml", "namespace: hr\ntasks: {wages: {runn: echo 4711}}\n")
    for name, space in (("shop", "sales"), ("pay", "hr")):
        world.write(f"dags/{name}.yaml", DAG.format(name=name, space=space) + "    runn: mine\n")
    root, seller, other = (by(token(world, name, "--role", role)) for name, role in (
        ("r", "viewer"), ("ci", "sales=editor"), ("lab", "lab=viewer")))

    def files(path, rows, name, who):
        return {row[name].rpartition("/")[2] for row in api.get(path, headers=who)[rows]}

    ways = [("/api/v1/x/import-errors", "errors", "file"),
            ("/api/v1/importErrors", "import_errors", "filename")]
    seen = ((root, {"shop.yaml", "pay.yaml", "new.yaml"}), (seller, {"shop.yaml"}), (other, set()))
    wait_for(lambda: files(*ways[0], root) == seen[0][1], "all are read")
    for who, expected in seen:
        for way in ways:
            assert files(*way, who) == expected
        assert api.get("/api/v1/x/home", headers=who)["import_errors"] == len(expected)
    shop = api.get("/api/v1/x/import-errors", headers=seller)["errors"]
    assert {row["source"].strip() for row in shop} == {"runn: mine"}
    assert all(row["dags"] == ["shop"] for row in shop)
    api.get("/api/v1/x/import-errors", query={"dag": "pay"}, headers=seller, code=404)


CIRCLE = """\
namespace: {space}
schedule: {{ datasets: [{reads}] }}
tasks:
  one: {{run: echo, outputs: [{writes}]}}
"""


def test_circles_are_told_to_who_sees_all_of_their_dags(house):
    world, api = house
    for first, second, space in (("a", "b", "sales"), ("c", "d", "hr")):
        world.write(f"dags/{first}.yaml", CIRCLE.format(space="sales", reads=second, writes=first))
        world.write(f"dags/{second}.yaml", CIRCLE.format(space=space, reads=first, writes=second))
    root, seller = (by(token(world, name, "--role", role))
                    for name, role in (("r", "viewer"), ("ci", "sales=viewer")))

    def circles(who, **query):
        answer = api.get("/api/v1/dagWarnings", query=query, headers=who)
        return sorted(row["message"].rpartition(": ")[2][0] for row in answer["dag_warnings"])

    wait_for(lambda: circles(root) == ["a", "c"], "all are read")
    assert circles(root, dag_id="d") == ["c"] and circles(root, dag_id="shop") == []
    assert circles(seller) == ["a"] and circles(seller, dag_id="b") == ["a"]
    assert circles(seller, dag_id="c") == []
    api.get("/api/v1/dagWarnings", query={"dag_id": "d"}, headers=seller, code=404)
    for who in (root, seller):
        assert api.get("/api/v1/x/home", headers=who)["import_errors"] == 0, "they are no files"


def test_files_of_the_server_cannot_be_named(house):
    world, api = house
    api.token = token(world, "ci", "--role", "admin")
    target = str(world.folder / "copy.db")
    for name, body in (("store.backup", {"path": target}), ("store.export", {"path": target}),
                       ("store.restore", {"path": target}), ("store.import", {"path": target}),
                       ("dag.show", {"file": "/etc/passwd"}), ("dag.trigger", {"file": "x.yaml"}),
                       ("dag.validate", {"paths": ["/etc"]})):
        answer = api("POST", f"/api/v1/x/operations/{name}", body)
        assert answer.status == 403, (name, answer)
        assert "root:" not in answer.text
    assert not (world.folder / "copy.db").exists()


def test_changes_are_signed_and_kept(house):
    world, api = house
    add_user(world, "anna", "admin")
    ok(world, "namespaces", "add", "lab", "--doc", "trials")
    assert "already" in world("namespaces", "add", "lab").err
    text = token(world, "ci", "--owner", "anna")
    api("POST", "/api/v1/x/operations/dag.pause", {"dags": ["shop"], "reason": "sale"},
        headers=by(text), code=200)
    entries = shown(world, "audit", "list")["entries"]
    assert (entries[0]["action"], entries[0]["actor"]) == ("dag_paused", "anna/ci")
    actions = {entry["action"] for entry in entries}
    assert {"user_added", "namespace_added", "token_added"} <= actions
    assert PASSWORD not in json.dumps(entries) and text not in json.dumps(entries)
    assert "remove them first" in world("namespaces", "remove", "sales").err
    ok(world, "namespaces", "remove", "lab")
    assert "nobody made" in world("namespaces", "remove", "lab").err


def test_users_and_tokens_move_with_the_store_and_sessions_do_not(eider, up):
    add_user(eider, "anna", "admin")
    text = token(eider, "ci", "--role", "viewer")
    daemon = up(env=LISTEN)
    cookie, _ = sign_in(Api(daemon), "anna")
    daemon.finish()
    path = str(eider.folder / "all.jsonl")
    ok(eider, "store", "export", path)
    other = {"EIDER_HOME": str(eider.folder / "other")}
    ok(eider, "store", "import", path, env=other)
    api = Api(up(env={**LISTEN, **other}, name="other"))
    assert api("GET", ME, headers=by(text)).status == 200
    assert api("GET", ME, headers=basic("anna")).status == 200
    assert api("GET", ME, headers=cookie).status == 401
