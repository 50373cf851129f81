"""Tasks that start are told while they run: no event is stored for it, so none is promised."""
import contextlib

import pytest

from api import LISTEN
from admitted import LISTENING, admin, token
from harness import wait_for
from listener import EVENTS, Listener

STARTED = "task.started"
RUNNING = "/api/v1/x/running/tasks"
WAITS = """
    dag: {name}
    namespace: {space}
    tasks:
      a: {{run: "while ! test -e {flag}.a; do sleep 0.01; done"}}
      b: {{needs: [a], run: "while ! test -e {flag}.b; do sleep 0.01; done"}}
"""
FAILS = """
    dag: fails
    tasks:
      once: {{run: "while ! test -e {flag}.$EIDER_TRY_NUMBER; do sleep 0.01; done; exit 1",
              retries: 1, retry_delay: 0}}
"""


class Place:
    """A daemon with DAGs whose tasks run until they are let go."""

    def __init__(self, world, daemon):
        self.world = world
        self.daemon = daemon
        self.api = admin(world, daemon)

    def add(self, name, text, space="default"):
        self.world.write(f"dags/{name}.yaml",
                         text.format(name=name, space=space, flag=self.world.folder / name))
        wait_for(lambda: self.api("GET", f"/api/v1/x/dags/{name}").status == 200,
                 f"{name} is known")

    def start(self, name):
        return self.api.post(f"/api/v1/x/dags/{name}/trigger")["number"]

    def let_go(self, name, step):
        (self.world.folder / f"{name}.{step}").touch()


@pytest.fixture
def place(world, up):
    (world.work / "dags").mkdir(exist_ok=True)
    return Place(world, up(env={**LISTENING, "EIDER_CPU_MOST": "1000000"}))


@contextlib.contextmanager
def listening(*args, **options):
    listener = Listener(*args, **options)
    try:
        yield listener.wait_until_ready()
    finally:
        listener.close()


def starts(listener):
    return [(frame.data["dag_id"], frame.data["task_id"], frame.data["attempt"])
            for frame in listener.told(STARTED)]


def order(listener):
    """What was told of tasks, in the order in which it came."""
    return [("started" if frame.event else frame.data["kind"], frame.data["task_id"])
            for frame in list(listener.frames)
            if frame.event == STARTED or frame.data.get("kind") == "task_ended"]


def test_a_task_is_told_to_run_while_it_runs(place):
    place.add("one", WAITS)
    place.add("two", WAITS)
    with contextlib.ExitStack() as stack:
        everything = stack.enter_context(listening(place.api, starts="true"))
        one = stack.enter_context(listening(place.api, starts="true", dag="one", kinds="run"))
        task_b = stack.enter_context(listening(place.api, starts="true", task="b"))
        plain = stack.enter_context(listening(place.api))
        number = place.start("one")
        wait_for(lambda: starts(everything) == [("one", "a", 1)], "a runs")
        data = everything.told(STARTED)[0].data
        assert data["number"] == number and data["state"] == "running" and data["at"]
        assert data["try_number"] == 1 and data["map_index"] == -1
        assert everything.told(STARTED)[0].id is None
        place.start("two")
        wait_for(lambda: len(starts(everything)) == 2, "a of the other runs")
        late = stack.enter_context(listening(place.api, starts="true"))
        wait_for(lambda: len(starts(late)) == 2, "what runs is told to who comes later")
        for name in ("one", "two"):
            place.let_go(name, "a")
        for listener in (everything, late):
            wait_for(lambda: len(starts(listener)) == 4, "both b run")
        for listener, count in ((one, 2), (task_b, 2)):
            wait_for(lambda: len(starts(listener)) == count, "what runs, as far as it is wanted")
        for name in ("one", "two"):
            place.let_go(name, "b")
        for listener in (everything, plain):
            wait_for(lambda: sum(frame.data["kind"] == "run_ended"
                                 for frame in listener.events()) == 2, "both runs ended")
        assert len(set(starts(everything))) == len(starts(everything)) == 4
        for task in ("a", "b"):
            assert order(everything).index(("started", task)) < order(everything).index(
                ("task_ended", task))
        assert sorted(starts(late)) == sorted(starts(everything))
        assert starts(one) == [("one", "a", 1), ("one", "b", 1)]
        assert sorted(starts(task_b)) == [("one", "b", 1), ("two", "b", 1)]
        assert starts(plain) == []
        plainly = [frame.data for frame in plain.events()]
        assert plainly == [frame.data for frame in everything.events()][-len(plainly):]


def test_every_attempt_is_told(place):
    place.add("fails", FAILS)
    with listening(place.api, starts="true") as listener:
        place.start("fails")
        wait_for(lambda: starts(listener) == [("fails", "once", 1)], "the first try")
        place.let_go("fails", 1)
        wait_for(lambda: starts(listener)[1:] == [("fails", "once", 2)], "the second try")
        place.let_go("fails", 2)
        wait_for(lambda: any(frame.data["kind"] == "run_ended" for frame in listener.events()),
                 "the end")
        assert len(starts(listener)) == 2


def test_who_comes_back_goes_on_at_its_event_and_hears_what_runs(place):
    place.add("one", WAITS)
    with listening(place.api, starts="true") as listener:
        place.start("one")
        wait_for(lambda: starts(listener) == [("one", "a", 1)], "a runs")
        wait_for(lambda: listener.events(), "the run")
        last = listener.last
        heard = listener.ids()
    place.let_go("one", "a")
    wait_for(lambda: [task["task_id"] for task in place.api.get(RUNNING)["tasks"]] == ["b"],
             "b runs")
    with listening(place.api, starts="true", last=last) as again:
        wait_for(lambda: starts(again) == [("one", "b", 1)], "b, and not a, which is over")
        place.let_go("one", "b")
        wait_for(lambda: any(frame.data["kind"] == "run_ended" for frame in again.events()),
                 "the end")
        everything = [event["id"] for event in
                      place.api.get(EVENTS, query={"limit": 1000, "dag": "one"})["events"]]
        told = [id for id in heard + again.ids() if id in everything]
        assert told == everything[-len(told):] and len(set(told)) == len(told)
    assert place.api.get(RUNNING) == {"tasks": [], "total_entries": 0, "more": False}


def test_tasks_of_other_namespaces_are_not_told(place):
    place.add("one", WAITS, space="hr")
    place.add("two", WAITS, space="sales")
    seller = admin(place.world, place.daemon, token(place.world, "sales=viewer"))
    with listening(seller, starts="true") as theirs, listening(place.api, starts="true") as all_:
        place.start("one")
        wait_for(lambda: starts(all_) == [("one", "a", 1)], "that of hr")
        place.start("two")
        wait_for(lambda: starts(theirs), "that of sales")
        assert starts(theirs) == [("two", "a", 1)]
        assert [task["dag_id"] for task in seller.get(RUNNING)["tasks"]] == ["two"]
        for name in ("one", "two"):
            place.let_go(name, "a")
            place.let_go(name, "b")
        wait_for(lambda: len(starts(all_)) + len(all_.events()) and sum(
            frame.data["kind"] == "run_ended" for frame in all_.events()) == 2, "the end")
        assert {dag for dag, _, _ in starts(theirs)} == {"two"}


def test_what_another_process_runs_is_told(place):
    flag = place.world.folder / "flag"
    path = place.world.write("mine.yaml", WAITS.format(name="mine", space="default", flag=flag))
    with listening(place.api, starts="true") as listener:
        with place.world.start("run", path) as process:
            wait_for(lambda: starts(listener) == [("mine", "a", 1)], "a runs there")
            for step in ("a", "b"):
                (place.world.folder / f"flag.{step}").touch()
            assert process.wait(timeout=60) == 0


def test_nothing_is_looked_at_unless_somebody_wants_it(eider, server, up):
    api = admin(eider, up(env=LISTEN))

    def asked():
        return server.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE"
                          " '%FROM running LIMIT%' AND query_start > now() - interval '0.5 s'"
                          f" AND pid <> pg_backend_pid() AND datname = '{server.database}'",
                          server.database)

    with listening(api, starts="true"):
        wait_for(lambda: asked() != "0", "it is looked at")
    with listening(api):
        wait_for(lambda: asked() == "0", "it is not any more")
