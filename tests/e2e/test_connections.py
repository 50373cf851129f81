"""How many connections to PostgreSQL a host holds: few while it works, fewer while it does not."""
import pytest
from fleet import let_go, started, wait_for_state
from harness import wait_for

IDLE, BUSY = 3, 5  # as docs/fleet.md says
NAME = "counted"   # of the daemon's connections, unlike those of commands


@pytest.fixture
def start(fleet_up):
    def begin(*args, **env):
        return fleet_up("one", *args, **{"PGAPPNAME": NAME, "EIDER_STORE_IDLE": "100ms", **env})
    return begin


def connections(server):
    return int(server.sql(f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{NAME}'"
                          f" AND datname = '{server.database}'"))


def work(receiver):
    """Logs, messages, values and mapped tasks: everything that needs the store."""
    return f"""
        on_failure: {{webhook: "{receiver.url('/run')}"}}
        tasks:
          list: {{run: "echo '[1, 2, 3, 4, 5, 6, 7, 8]' > $EIDER_OUTPUTS/items"}}
          each:
            needs: [list]
            foreach: "{{{{ tasks.list.items }}}}"
            run: "seq 1 2000; exit 3"
            on_failure: {{webhook: "{receiver.url('/task')}"}}
          hold:
            needs: [list]
            run: |
              echo start $$ >> @evidence
              while [ ! -e @evidence.go ]; do seq 1 100; sleep 0.05; done
    """


def test_an_idle_host_holds_three(server, start):
    start()
    wait_for(lambda: connections(server) == IDLE, "what is not used is let go")


def test_a_host_that_only_works_holds_two(server, start):
    start("--roles", "worker")
    wait_for(lambda: connections(server) == IDLE - 1, "what is not used is let go")


def test_a_busy_host_holds_five_at_most(eider, server, start, evidence, receiver):
    start(EIDER_STORE_IDLE="1h")  # so that every one is seen
    eider.write("dags/dag.yaml", work(receiver))
    wait_for(lambda: "dag" in eider("dags", "list", "-o", "name", code=0).out, "the DAG is known")
    eider("dags", "trigger", "dag", code=0)
    most = 0

    def is_done():
        nonlocal most
        most = max(most, connections(server))
        return len(receiver.got("/task")) == 8 and started(evidence)

    wait_for(is_done, "all messages arrived")
    eider.write("dags/other.yaml", "tasks: {a: {run: 'true'}}")
    wait_for(lambda: "other" in eider("dags", "list", "-o", "name", code=0).out, "it is read")
    let_go(eider)
    wait_for_state(eider, "failed")
    wait_for(lambda: is_done() and receiver.got("/run"), "the run's message arrived")
    assert most <= BUSY
    assert connections(server) == BUSY


def test_what_was_let_go_comes_back_with_work(eider, server, start, evidence, receiver):
    start()
    wait_for(lambda: connections(server) == IDLE, "what is not used is let go")
    eider("dags", "trigger", eider.write("dags/dag.yaml", work(receiver)), code=0)
    let_go(eider)
    wait_for_state(eider, "failed")
    wait_for(lambda: receiver.got("/run"), "the message arrived")
    assert "2000" in eider("logs", "dag", "each", "--map-index", "3", code=0).out
    wait_for(lambda: connections(server) == IDLE, "what is not used is let go again")


def test_a_host_that_rests_hears_of_messages(eider, server, start, receiver):
    """It looks by itself only once in an hour: the store tells it."""
    start(EIDER_POLL="1h")
    receiver.status = 404
    path = eider.write("dags/dag.yaml", f"""
        on_failure: {{webhook: "{receiver.url('/run')}"}}
        tasks: {{a: {{run: "exit 3"}}}}
    """)
    eider("dags", "trigger", path, code=0)
    wait_for(lambda: server.sql("SELECT id FROM notice WHERE state = 3", server.database),
             "the message was refused")
    wait_for(lambda: connections(server) == IDLE, "what is not used is let go")
    receiver.status = 200
    number = eider("notify", "list", "-o", "name", code=0).out.strip()
    eider("notify", "retry", number, code=0)
    wait_for(lambda: len(receiver.got("/run")) == 2, "it was sent again")
    wait_for(lambda: server.sql("SELECT id FROM notice WHERE state = 2", server.database),
             "and noted")
