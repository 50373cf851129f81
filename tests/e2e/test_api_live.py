"""Events as they happen: nothing is left out and nothing told twice, whatever breaks between."""
import contextlib
import json
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from api import Api
from harness import PATIENCE, wait_for
from listener import EVENTS, Listener
from admitted import LISTENING, admin, token

VARIABLE_SET = 24


@pytest.fixture
def api(world, up):
    return admin(world, up(env=LISTENING))


def change(api, name="x", **more):
    api.post("/api/v1/x/operations/variable.set", {"name": name, "value": "1", **more})


def names(events):
    return [frame.data["details"]["name"] for frame in events]


@contextlib.contextmanager
def listening(*args, **options):
    listener = Listener(*args, **options)
    try:
        yield listener
    finally:
        listener.close()


def store_url(eider):
    return eider.environment().get("EIDER_STORE", f"sqlite:{eider.home}/eider.db")


def tell_store(eider, request, sql):
    if store_url(eider).startswith("sqlite:"):
        with contextlib.closing(sqlite3.connect(eider.home / "eider.db", timeout=60)) as store:
            store.execute(sql)
            store.commit()
    else:
        server = request.getfixturevalue("server")
        server.sql(sql, server.database)


def insert(eider, request, count, size):
    """Events of somebody else, all in one transaction."""
    data = json.dumps({"name": "x" * size, "namespace": "default"})
    tell_store(eider, request, "INSERT INTO event (at_us, kind, actor, data)"
               " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
               f" i < {count}) SELECT i, {VARIABLE_SET}, 'writer', '{data}' FROM n")


# --- what is told -------------------------------------------------------------------------------

DAG = """
    namespace: team
    tasks:
      a: {run: "true"}
      b: {needs: [a], run: "true"}
"""


def test_a_page_and_a_stream_tell_the_same(world, api):
    world.write("one.yaml", DAG)
    world.write("two.yaml", DAG)
    with contextlib.ExitStack() as stack:
        def listen(**query):
            listener = stack.enter_context(listening(api, **query))
            return listener.wait_until_ready()

        everything = listen()
        runs = listen(kinds="run")
        ended = listen(kinds="task_ended,run_ended")
        one = None
        world("run", world.work / "one.yaml", code=0)
        world("run", world.work / "two.yaml", code=0)
        one = listen(dag="one")
        second = world.runs()[0]["number"]
        assert api.get(EVENTS, query={"dag": "two", "kinds": "run"})["events"]
        wait_for(lambda: sum(frame.data["kind"] == "run_ended"
                             for frame in everything.events()) == 2, "both runs ended")
        page = api.get(EVENTS, query={"limit": 1000})
        told = [frame.data for frame in everything.events()]
        assert told == page["events"][-len(told):]
        assert len({event["id"] for event in told}) == len(told)
        assert {event["namespace"] for event in told if event["dag_id"]} == {"team"}

        def pick(test):
            return [event for event in told if test(event)]

        runs.wait(4)
        assert [frame.data for frame in runs.events()] == pick(
            lambda event: event["kind"].startswith("run_"))
        wait_for(lambda: [frame.data for frame in ended.events()] == pick(
            lambda event: event["kind"] in ("task_ended", "run_ended")), "what ended")
        assert [event for event in api.get(EVENTS, query={"run": second})["events"]] == pick(
            lambda event: event.get("number") == second)
        assert [event for event in api.get(EVENTS, query={"task": "b"})["events"]] == pick(
            lambda event: event["task_id"] == "b")
        assert one.events() == []


@pytest.mark.parametrize("query, status", [
    ({"kinds": "nonsense"}, 400), ({"cursor": "nonsense"}, 400), ({"dag": "never_was"}, 404),
    ({"run": "999"}, 404), ({"limit": "many"}, 400), ({"knid": "run"}, 400),
    ({"until": "1"}, 400), ({"task": "a", "run": "never/was"}, 404),
])
def test_mistakes_are_told_before_a_stream_begins(eider, up, query, status):
    api = admin(eider, up(env=LISTENING))
    for accept in ("application/json", "text/event-stream", "text/html, text/event-stream;q=0.5"):
        answer = api("GET", EVENTS, query=query, headers={"Accept": accept}, code=status)
        assert answer.headers["Content-Type"] == "application/problem+json"


def test_strangers_hear_nothing(eider, up):
    api = Api(up(env=LISTENING))
    for path in (EVENTS, "/api/v1/x/runs/1/tasks/a/log", "/api/v1/x/jobs/1/log"):
        for accept in ("application/json", "text/event-stream", "text/plain"):
            api("GET", path, headers={"Accept": accept}, code=401)


# --- coming back --------------------------------------------------------------------------------

class Writer:
    """Makes events in a thread until it is stopped."""

    def __init__(self, api, word):
        self.api = api
        self.word = word
        self.count = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.write)
        self.thread.start()

    def write(self):
        while not self.over.is_set():
            change(self.api, f"{self.word}{self.count}")
            self.count += 1

    def stop(self):
        self.over.set()
        self.thread.join()
        return [f"{self.word}{i}" for i in range(self.count)]


def test_who_comes_back_again_and_again_misses_nothing(api):
    """Two writers, and a line that is cut wherever it happens to be."""
    heard = []
    listener = Listener(api).wait_until_ready()
    writers = [Writer(api, "a"), Writer(api, "b")]
    for count in (1, 3, 10, 2, 25):
        listener.wait(count)
        last = listener.close()
        heard += listener.events()
        # What was cut off in the middle is not counted, but told again.
        listener = Listener(api, last=last)
    written = writers[0].stop() + writers[1].stop()
    listener.wait_until_ready()
    wait_for(lambda: len(heard) + len(listener.events()) >= len(written), "all events")
    change(api, "last")
    wait_for(lambda: names(listener.events())[-1:] == ["last"], "the last event")
    listener.close()
    heard += listener.events()
    assert sorted(names(heard)) == sorted(written + ["last"])
    for word in ("a", "b"):
        mine = [name for name in names(heard) if name.startswith(word)]
        assert mine == [f"{word}{i}" for i in range(len(mine))]


def test_who_comes_back_to_another_start_of_the_daemon_misses_nothing(world, up):
    daemon = up(env=LISTENING)
    api = admin(world, daemon)
    listener = Listener(api).wait_until_ready()
    change(api, "before")
    listener.wait(1)
    daemon.signal(15)
    assert daemon.wait() == 0
    wait_for(lambda: listener.is_over, "the stream ends with the daemon")
    last = listener.close()
    world("vars", "set", "between", "1", code=0)
    api = admin(world, up(times=2, env=LISTENING), token=api.token)
    change(api, "after")
    with listening(api, last=last) as again:
        again.wait(2)
        assert names(again.wait_until_ready().events()) == ["between", "after"]


def test_who_comes_back_to_another_daemon_of_the_store_misses_nothing(world, up):
    first = admin(world, up(env=LISTENING))
    home = {"EIDER_HOME": str(world.folder / "other"), "EIDER_STORE": store_url(world)}
    other = up("--host-name", "other", name="other", env={**LISTENING, **home})
    second = admin(world, other, token=first.token)
    apis, heard = [first, second], []
    listener = Listener(first).wait_until_ready()
    last = listener.close()
    writers = [Writer(first, "a"), Writer(second, "b")]
    with listening(second) as witness:
        witness.wait_until_ready()
        for turn in range(6):
            listener = Listener(apis[turn % 2], last=last)
            listener.wait(5)
            last = listener.close()
            heard += listener.events()
        for writer in writers:
            writer.stop()
        change(first, "last")
        listener = Listener(second, last=last)
        wait_for(lambda: names(listener.events())[-1:] == ["last"], "the last event")
        wait_for(lambda: names(witness.events())[-1:] == ["last"], "the last event")
        listener.close()
        heard += listener.events()
        ids = [frame.data["id"] for frame in heard]
        assert len(set(ids)) == len(ids)
        assert set(witness.ids()) <= set(ids)
        for word in ("a", "b"):
            mine = [int(name[1:]) for name in names(heard) if name.startswith(word)]
            assert mine == list(range(mine[0], mine[0] + len(mine)))


def test_an_id_that_is_of_no_use_is_told(api):
    for last in ("nonsense", "1.2.3", "9" * 5000, "-1.-1.-1"):
        with listening(api, last=last) as listener:
            [reset] = listener.wait_until_ready().told("reset")
            assert reset.data["reason"] and reset.id == reset.data["cursor"]
            change(api, "now")
            assert names(listener.wait(1)) == ["now"]


def test_a_store_with_another_past_is_told(world, api, request):
    """As after it was put back from a backup, under the eyes of those who listen."""
    with listening(api) as before:
        change(api, "before")
        before.wait_until_ready()
        change(api, "told")
        wait_for(lambda: "told" in names(before.events()), "an event")
        tell_store(world, request, "UPDATE store SET epoch = epoch + 1")
        wait_for(lambda: before.told("reset"), "the reset")
        change(api, "after")
        wait_for(lambda: names(before.events())[-1:] == ["after"], "what comes after it")
        old = before.told("ready")[0].id
    with listening(api, last=old) as late:
        [reset] = late.wait_until_ready().told("reset")
        assert "past" in reset.data["reason"]
        change(api, "late")
        assert names(late.wait(1)) == ["late"]


def test_a_page_goes_on_in_a_stream(api):
    change(api, "one")
    cursor = api.get(EVENTS)["cursor"]
    change(api, "two")
    with listening(api, cursor=cursor) as listener:
        assert names(listener.wait(1)) == ["two"]
    assert names_of(api.get(EVENTS, query={"cursor": listener.last})) == []
    change(api, "three")
    assert names_of(api.get(EVENTS, query={"cursor": listener.last})) == ["three"]


def names_of(page):
    return [event["details"]["name"] for event in page["events"]]


# --- rights -------------------------------------------------------------------------------------

def test_events_of_other_namespaces_are_not_told(world, up, request):
    daemon = up(env=LISTENING)
    api = admin(world, daemon)
    seller = admin(world, daemon, token(world, "sales=viewer"))
    with listening(seller) as theirs, listening(api) as all_of_them:
        start = theirs.wait_until_ready().last
        all_of_them.wait_until_ready()
        for space in ("hr", "sales", "default", "hr", "sales"):
            change(api, space, namespace=space)
        world("pools", "set", "desk", "--slots", "2", code=0)
        world("queues", "set", "mail", code=0)
        for space in ("sales", "hr"):
            world("run", world.write(f"{space}.yaml", f"""
                namespace: {space}
                tasks: {{a: {{run: "true"}}}}
            """), code=0)
        change(api, "end", namespace="sales")

        def seen(frames):
            return [frame.data for frame in frames]

        wait_for(lambda: all_of_them.events()[-1:] and
                 all_of_them.events()[-1].data["object"] == "variable sales/end", "the end")
        wait_for(lambda: theirs.events()[-1:] and
                 theirs.events()[-1].data["object"] == "variable sales/end", "the end")
        expected = [event for event in seen(all_of_them.events())
                    if event["namespace"] == "sales"]
        assert seen(theirs.events()) == expected and len(expected) > 5
        assert any(event["dag_id"] == "hr" for event in seen(all_of_them.events()))
        page = seller.get(EVENTS, query={"limit": 1000})["events"]
        assert page == expected
        with listening(seller, last=start) as again:
            again.wait(len(expected))
            assert seen(again.wait_until_ready().events()) == expected
    for query in ({"dag": "hr"}, {"run": "hr"}):
        for accept in ("application/json", "text/event-stream"):
            seller("GET", EVENTS, query=query, headers={"Accept": accept}, code=404)


# --- PostgreSQL ---------------------------------------------------------------------------------

class Slow:
    """A transaction that has its event's id and waits with its end."""

    def __init__(self, server, name):
        self.server = server
        self.psql = subprocess.Popen(
            [str(server.bin / "psql"), "-X", "-At", "-q", server.url_of(server.database)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        data = json.dumps({"name": name, "namespace": "default"})
        self.id = int(self.say("BEGIN; INSERT INTO event (at_us, kind, data)"
                               f" VALUES (1, {VARIABLE_SET}, '{data}') RETURNING id;"))

    def say(self, sql):
        self.psql.stdin.write(sql + "\n")
        self.psql.stdin.flush()
        return self.psql.stdout.readline().strip()

    def commit(self):
        self.say("COMMIT; SELECT 'done';")
        self.psql.stdin.close()
        assert self.psql.wait(timeout=PATIENCE) == 0


def test_what_commits_late_is_told_once(eider, server, up):
    """The event with the lower id is committed after the one with the higher."""
    api = admin(eider, up(env=LISTENING))
    listener = Listener(api).wait_until_ready()
    change(api, "first")
    listener.wait(1)
    slow = Slow(server, "slow")
    change(api, "quick")
    quick = int(server.sql("SELECT max(id) FROM event", server.database))
    assert slow.id < quick
    # Whoever comes and goes meanwhile has the same to come.
    last = listener.close()
    visitor = Listener(api, last=last).wait_until_ready()
    late = visitor.close()
    slow.commit()
    for again in (last, late):
        with listening(api, last=again) as listener:
            listener.wait(2)
            change(api, "end")
            listener.wait(3)
            assert sorted(names(listener.events()))[-2:] == ["quick", "slow"]
            assert len(set(listener.ids())) == len(listener.ids())
            ends = names(listener.events())
            assert ends.count("slow") == 1 and ends.count("quick") == 1


# --- many, and slow ones ------------------------------------------------------------------------

def test_who_reads_too_slowly_is_dropped_and_may_come_back(world, api, request):
    slow = Listener(api, paused=True)
    with listening(api) as quick:
        quick.wait_until_ready()
        for _ in range(5):
            insert(world, request, 1500, size=3000)
            so_far = len(quick.events())
            wait_for(lambda: len(quick.events()) >= so_far + 1500 or quick.is_over, "events",
                     timeout=4 * PATIENCE)
        assert len(quick.ids()) == len(set(quick.ids())) == 7500
        slow.go()
        wait_for(lambda: slow.is_over, "the slow one is sent away", timeout=4 * PATIENCE)
        [dropped] = slow.told("dropped")
        assert dropped.id == slow.last == dropped.data["cursor"]
        seen = slow.ids()
        assert 0 < len(seen) < 7500
        with listening(api, last=slow.last) as again:
            wait_for(lambda: len(again.events()) >= 7500 - len(seen), "the rest",
                     timeout=4 * PATIENCE)
            again.wait_until_ready()
            assert seen + again.ids() == quick.ids()
        assert not quick.is_over
    slow.close()


def memory_of(daemon):
    with open(f"/proc/{daemon.child.pid}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def is_sanitized(daemon):
    with open(f"/proc/{daemon.child.pid}/maps", encoding="utf-8") as maps:
        return "san.so" in maps.read()


def test_hundreds_listen_at_once(eider, up):
    daemon = up(env={**LISTENING, "EIDER_API_CONNECTIONS_PEER": "1000"})
    api = admin(eider, daemon)
    change(api)
    before = memory_of(daemon)
    sockets = []
    ask = f"GET {EVENTS} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in api.headers().items()) + "\r\n"
    texts = {}

    def has_heard(connection, words):
        connection.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            texts[connection] = texts.get(connection, b"") + connection.recv(65536)
        return words in texts.get(connection, b"")

    def wait_for_all(words):
        wait_for(lambda: all(has_heard(connection, words) for connection in sockets),
                 f"all hear {words}", timeout=4 * PATIENCE)

    try:
        for _ in range(500):
            connection = socket.create_connection((api.host, api.port), timeout=60)
            connection.sendall(ask.encode())
            sockets.append(connection)
        wait_for_all(b"event: ready")
        change(api, "everybody")
        wait_for_all(b'"name":"everybody"')
        grown = memory_of(daemon) - before
        assert is_sanitized(daemon) or grown < 50 * 1024, f"{grown} KiB for 500 streams"
        started = time.monotonic()
        api.get("/api/v1/version")
        assert time.monotonic() - started < PATIENCE
    finally:
        for connection in sockets:
            connection.close()
    change(api, "afterwards")


def test_nobody_listens_nobody_asks(eider, server, up):
    """The queries of the tail stop when the last listener goes."""
    api = admin(eider, up(env=LISTENING))
    def asked():
        return server.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%FROM event%'"
                          " AND query_start > now() - interval '0.5 s' AND pid <> pg_backend_pid()"
                          f" AND datname = '{server.database}'", server.database)

    with listening(api) as listener:
        listener.wait_until_ready()
        change(api)
        listener.wait(1)
        wait_for(lambda: asked() != "0", "the tail asks")

    wait_for(lambda: asked() == "0", "the tail rests")
    with listening(api) as listener:
        listener.wait_until_ready()
        change(api, "again")
        assert names(listener.wait(1)) == ["again"]
