"""The faults of the database and of the network are what they claim to be."""
import pathlib
import threading
import time

import psycopg2
import psycopg2.errors
import pytest

from cluster import Cluster
from processes import is_alive

PATIENCE = 30.0


def connect(port, timeout_ms=10_000):
    connection = psycopg2.connect(host="127.0.0.1", port=port, dbname="eider", user="eider",
                                  connect_timeout=10,
                                  options=f"-c statement_timeout={timeout_ms}")
    connection.autocommit = True
    return connection


def ask(connection):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 41 + 1")
        return cursor.fetchone()[0]


def ask_in_background(connection):
    """A thread that asks, and the list its answer arrives in."""
    answers = []

    def work():
        try:
            answers.append(ask(connection))
        except psycopg2.Error as error:
            answers.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, answers


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


@pytest.mark.parametrize("way", ["fast", "immediate", "kill"])
def test_what_is_committed_survives_a_restart(cluster, way):
    with cluster.session(user="eider") as cursor:
        cursor.execute("CREATE TABLE kept (way TEXT)")
        cursor.execute("INSERT INTO kept VALUES (%s)", (way,))
        with pytest.raises(psycopg2.Error):
            if way == "kill":
                cluster.kill()
                cluster.start()
            else:
                cluster.restart(way)
            cursor.execute("SELECT 1")
    with cluster.session(user="eider") as cursor:
        cursor.execute("SELECT way FROM kept")
        assert cursor.fetchall() == [(way,)]
        cursor.execute("DROP TABLE kept")


def test_only_sessions_of_the_product_are_terminated(cluster):
    with cluster.session() as ours, cluster.session(user="eider") as theirs:
        assert cluster.terminate(5) >= 1
        ours.execute("SELECT 1")
        with pytest.raises(psycopg2.Error):
            theirs.execute("SELECT 1")


def test_stopped_backends_answer_after_they_are_woken(cluster):
    connection = cluster.connect(user="eider")
    pids = cluster.stop_backends()
    thread, answers = ask_in_background(connection)
    assert pids
    for pid in pids:
        stat = pathlib.Path(f"/proc/{pid}/stat")
        wait_for(lambda stat=stat: stat.read_text().rpartition(")")[2].split()[0] == "T")
    assert not answers
    cluster.wake(pids)
    thread.join(PATIENCE)
    assert answers == [42]
    connection.close()


def test_a_link_passes(proxies):
    assert ask(connect(proxies.add("h1"))) == 42
    assert proxies.counts("h1")["connections"] == 1


@pytest.mark.parametrize("fault", ["cut", "one_way", "other_way"])
def test_a_cut_link_is_silent_and_goes_on_after_it_heals(proxies, fault):
    port = proxies.add("h1")
    connection = connect(port)
    ask(connection)
    proxies.tell("h1", fault)
    thread, answers = ask_in_background(connection)
    wait_for(lambda: proxies.counts("h1")["dropped"] > 0)
    assert not answers
    proxies.tell("h1", "pass")
    thread.join(PATIENCE)
    assert answers == [42]


def test_a_cut_one_way_lets_the_question_through(cluster, proxies):
    connection = connect(proxies.add("h1"))
    with cluster.session(user="eider") as cursor:
        cursor.execute("CREATE TABLE seen ()")
        proxies.tell("h1", "one_way")
        threading.Thread(target=lambda: connection.cursor().execute("INSERT INTO seen SELECT"),
                         daemon=True).start()

        def arrived():
            cursor.execute("SELECT count(*) FROM seen")
            return cursor.fetchone()[0] == 1

        wait_for(arrived)
        proxies.tell("h1", "pass")
        cursor.execute("DROP TABLE seen")


def test_other_links_are_left_alone(proxies):
    first, second = connect(proxies.add("h1")), connect(proxies.add("h2"))
    proxies.tell("h1", "cut")
    assert ask(second) == 42
    proxies.tell("h1", "pass")
    assert ask(first) == 42


def test_a_reset_ends_connections_at_once(proxies):
    port = proxies.add("h1")
    connection = connect(port)
    ask(connection)
    assert proxies.tell("h1", "reset")["counts"]["reset"] > 0
    with pytest.raises(psycopg2.Error):
        ask(connection)
    proxies.tell("h1", "pass")
    assert ask(connect(port)) == 42


def test_a_delay_delays(proxies):
    connection = connect(proxies.add("h1"))
    proxies.tell("h1", "delay", seconds=0.1)
    started = time.monotonic()
    ask(connection)
    assert time.monotonic() - started >= 0.2
    assert proxies.counts("h1")["delayed"] >= 2


def test_the_answer_to_a_commit_is_swallowed_and_the_commit_happened(cluster, proxies):
    port = proxies.add("h1")
    connection = connect(port)
    connection.autocommit = False
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE unknown AS SELECT 1 AS one")
    proxies.tell("h1", "swallow_commit")
    with pytest.raises(psycopg2.Error):
        connection.commit()
    assert proxies.counts("h1")["swallowed"] == 1
    assert ask(connect(port)) == 42, "only one answer is swallowed"
    with cluster.session(user="eider") as cursor:
        cursor.execute("DROP TABLE unknown")


def test_a_held_answer_to_a_commit_comes_later_and_all_else_passes(cluster, proxies):
    port = proxies.add("h1")
    connection = connect(port)
    connection.autocommit = False
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE later AS SELECT 1 AS one")
    proxies.tell("h1", "hold_commit")
    waiter = threading.Thread(target=connection.commit)
    waiter.start()
    wait_for(lambda: proxies.counts("h1")["dropped"] == 1)
    assert ask(connect(port)) == 42
    with cluster.session(user="eider") as cursor:
        cursor.execute("DROP TABLE later")
    assert waiter.is_alive()
    proxies.tell("h1", "pass")
    waiter.join(10)
    assert not waiter.is_alive()


def test_a_lost_commit_did_not_happen(cluster, proxies):
    port = proxies.add("h1")
    connection = connect(port)
    connection.autocommit = False
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE never AS SELECT 1 AS one")
    proxies.tell("h1", "lose_commit")
    with pytest.raises(psycopg2.Error):
        connection.commit()
    assert proxies.counts("h1")["lost"] == 1
    with cluster.session(user="eider") as cursor, pytest.raises(psycopg2.errors.UndefinedTable):
        cursor.execute("SELECT * FROM never")


def test_a_restart_of_the_database_is_seen_by_the_link(cluster, proxies):
    port = proxies.add("h1")
    connection = connect(port)
    ask(connection)
    cluster.restart("immediate")
    wait_for(lambda: proxies.counts("h1")["disconnected"] == 1)
    assert ask(connect(port)) == 42


def test_everything_is_gone_after_close():
    server = Cluster()
    pid = server.postmaster()
    server.close()
    assert not server.folder.exists()
    assert not is_alive(pid)
