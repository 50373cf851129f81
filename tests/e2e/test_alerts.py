"""Hooks and deadlines, from a real daemon to real receivers."""
import json
import signal

import pytest
from alerts import change_store, misses, notices, write_dag
from fleet import free_port, let_go, started, wait_for_state
from harness import ROOT, rows_of, wait_for
from receiver import Receiver


def test_hooks_tell_what_happens_to_tasks_and_runs(eider, up, receiver):
    write_dag(eider, f"""
        on_failure: {{webhook: "{receiver.url('/run')}"}}
        tasks:
          bad:
            run: "exit 3"
            retries: 1
            retry_delay: 50ms
            on_retry: {{webhook: "{receiver.url('/retry')}"}}
            on_failure:
              - webhook: {{url: "{receiver.url('/task')}", headers: {{X-Team: data}}}}
              - command: 'cat >> @evidence; echo " $EIDER_EVENT $EIDER_TASK_ID" >> @evidence'
          fine:
            run: "true"
            on_success: {{webhook: "{receiver.url('/fine')}"}}
            on_failure: {{webhook: "{receiver.url('/never')}"}}
          odd: {{run: "exit 99", on_skip: {{webhook: "{receiver.url('/skip')}"}}}}
    """)
    up()
    eider("dags", "trigger", "dag", code=0)
    wait_for_state(eider, "failed")
    wait_for(lambda: {one["path"] for one in receiver.got()} >=
             {"/run", "/retry", "/task", "/fine", "/skip"}, "every hook was used")
    assert not receiver.got("/never")
    (task,) = receiver.got("/task")
    assert task["headers"]["X-Team"] == "data"
    assert task["body"]["task"] == "bad" and task["body"]["try_number"] == 2
    assert task["body"]["kind"] == "failure" and task["body"]["reason"] == "exit"
    assert task["body"]["exit_code"] == 3
    of_run = receiver.got("/run")[0]["body"]
    assert of_run["task"] is None and of_run["failed_total"] == 1
    assert [one["task"] for one in of_run["failed_tasks"]] == ["bad"]
    assert receiver.got("/retry")[0]["body"]["try_number"] == 1
    wait_for(lambda: " failure bad" in eider.evidence.path.read_text()
             if eider.evidence.path.exists() else False, "the command ran")
    assert json.loads(eider.evidence.lines()[0].split(" failure ")[0])["delivery"]
    wait_for(lambda: {row["state"] for row in notices(eider)} == {"sent"}, "all are settled")
    assert len(notices(eider)) == 6
    assert len(set(receiver.deliveries())) == 5, "each has an id of its own"


def test_a_daemon_that_dies_while_it_sends_leaves_nothing_out(eider, up, receiver):
    write_dag(eider, f"""
        tasks:
          a: {{run: "exit 1", on_failure: {{webhook: "{receiver.url()}"}}}}
    """)
    receiver.hold()
    daemon = up()
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: receiver.got(), "it was sent, and not answered")
    daemon.kill()
    receiver.let_go()
    assert [row["state"] for row in notices(eider)] == ["sending"]
    change_store(eider, "UPDATE notice SET due_at_us = 1")
    up(name="second")
    wait_for(lambda: [row["state"] for row in notices(eider)] == ["sent"], "it arrived")
    first, second = receiver.deliveries()
    assert first == second
    (row,) = notices(eider)
    assert row["attempts"] == 2 and row["delivery"] == first


def test_an_unreachable_receiver_holds_up_nobody(eider, up, receiver):
    port = free_port()
    write_dag(eider, f"""
        tasks:
          a: {{run: "exit 1", on_failure: [{{webhook: "http://127.0.0.1:{port}/"}},
                                           {{webhook: "{receiver.url('/stuck')}"}}]}}
          b: {{run: "exit 1", on_failure: {{command: "echo told >> @evidence"}}}}
    """)
    receiver.hold()
    up()
    eider("dags", "trigger", "dag", code=0)
    wait_for_state(eider, "failed")
    wait_for(lambda: eider.evidence.count("told") == 1, "the other message arrived")

    def waiting():
        return [row for row in notices(eider, "--state", "pending") if row["attempts"] == 1]

    (row,) = wait_for(waiting, "it is tried again later")
    assert row["next_try"] and f"127.0.0.1:{port}" in row["answer"], row
    receiver.let_go()
    late = Receiver(port)
    try:
        eider("notify", "retry", row["id"], code=0)
        wait_for(late.got, "it arrives after all")
        assert late.deliveries() == [row["delivery"]]
    finally:
        late.close()
    wait_for(lambda: {one["state"] for one in notices(eider)} == {"sent"}, "all are settled")
    again = eider("notify", "retry", row["id"])
    assert again.code == 5 and "sent" in again.err, again


def test_a_receiver_that_hangs_holds_up_only_what_is_for_itself(eider, up, receiver):
    other = Receiver()
    write_dag(eider, f"""
        tasks:
          m: {{foreach: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], run: "exit 1",
               on_failure: [{{webhook: "{receiver.url('/a')}"}},
                            {{webhook: "{receiver.url('/b')}"}}]}}
          b: {{needs: m, trigger_rule: all_done, run: "exit 1",
               on_failure: {{webhook: "{other.url()}"}}}}
    """)
    receiver.hold()
    try:
        up()
        eider("dags", "trigger", "dag", code=0)
        wait_for(other.got, "the other has its message")
        answers = [row["answer"] for row in notices(eider) if row["task_id"] == "m"]
        assert len(answers) == 24 and not any(answers), "none of them had to be given up for it"
        assert len(receiver.got()) <= 4
        receiver.let_go()
        wait_for(lambda: {row["state"] for row in notices(eider)} == {"sent"}, "all arrived")
        assert len(set(receiver.deliveries())) == 24
    finally:
        other.close()


def test_what_is_refused_for_good_is_shown(eider, up, receiver):
    receiver.status = 404
    write_dag(eider, f"""
        tasks:
          a: {{run: "exit 1", on_failure: {{webhook: "{receiver.url()}"}}}}
    """)
    daemon = up()
    eider("dags", "trigger", "dag", code=0)
    (row,) = wait_for(lambda: notices(eider, "--failed"), "it is given up")
    assert "404" in row["answer"]
    daemon.wait_until("a message could not be delivered")


def test_a_run_in_the_foreground_tells_by_itself(eider, receiver):
    done = eider.run(f"""
        on_failure: {{webhook: "{receiver.url()}"}}
        tasks: {{a: {{run: "exit 1"}}}}
    """, code=1)
    assert [one["body"]["kind"] for one in receiver.got()] == ["failure"], done
    assert [row["state"] for row in notices(eider)] == ["sent"]
    eider("test", eider.work / "dag.yaml", "a", code=1)
    assert len(receiver.got()) == 1, "a test tells nobody"


def test_the_example_tells_all_that_it_says(eider, up):
    text = (ROOT / "examples/alerts.yaml").read_text()
    (eider.work / "dags").mkdir()
    (eider.work / "dags/alerts.yaml").write_text(text)
    up()
    eider("dags", "trigger", "alerts", "-p", f"messages={eider.evidence.path}", code=0)
    wait_for_state(eider, "success", "alerts")
    wait_for(lambda: len(eider.evidence.lines()) == 3, "all is told")
    late, again, done = eider.evidence.lines()
    assert late.startswith("late: manual__") and again == "again: load, exit code 3"
    assert done.startswith("done: alerts, at 20") and done[-6:] in ("+01:00", "+02:00"), done


def test_a_run_in_the_foreground_says_what_has_not_arrived(eider, up, receiver):
    done = eider.run(f"""
        on_failure:
          - webhook: "{receiver.url('/later')}"
            group: 1h
          - webhook: "http://127.0.0.1:{free_port()}/"
          - command: "exit 3"
          - webhook: "{receiver.url('/now')}"
        tasks: {{a: {{run: "exit 1"}}}}
    """, code=1)
    assert "2 messages have not arrived yet" in done.err, done
    assert "eider notify list --dag dag" in done.err
    assert "1 message could not be delivered" in done.err
    assert [one["path"] for one in receiver.got()] == ["/now"]
    (row,) = notices(eider, "--failed")
    again = eider("notify", "retry", row["id"], code=0)
    assert "no daemon runs" in again.err, again
    up()
    wait_for(lambda: notices(eider, "--failed"), "it was tried")
    again = eider("notify", "retry", row["id"], code=0)
    assert "no daemon" not in again.err, again


def test_an_alert_has_the_end_of_the_log(eider, receiver):
    eider("secrets", "set", "token", input="s3cret-of-the-log", code=0)
    eider.run(f"""
        on_failure: {{webhook: "{receiver.url('/run')}"}}
        tasks:
          short: {{run: "echo one; echo two >&2; exit 5",
                   on_failure: {{webhook: "{receiver.url('/short')}"}}}}
          long:
            env: {{T: "{{{{ secrets.token }}}}"}}
            run: "for i in $(seq 1000); do echo line $i; done; echo last $T; exit 1"
            on_failure: {{webhook: "{receiver.url('/long')}"}}
    """, code=1)
    assert sorted(receiver.got("/short")[0]["body"]["error"].split("\n")) == ["one", "two"]
    error = receiver.got("/long")[0]["body"]["error"]
    assert 4000 < len(error) <= 4096 and error.endswith("\nline 1000\nlast ***")
    assert error.startswith("line "), "whole lines"
    assert receiver.got("/run")[0]["body"]["error"] in ("one\ntwo", "two", "last ***", error)


def test_mail_and_conditions(eider, up, mail):
    (eider.work / "connections.yaml").write_text(
        f"post: {{conn_type: smtp, host: 127.0.0.1, port: {mail.about['smtp']},"
        " extra: {from: eider@example.com, security: none}}\n")
    (eider.work / "eider.yaml").write_text("")
    write_dag(eider, """
        tasks:
          a:
            run: "exit 1"
            on_failure:
              - email: {to: ops@example.com, connection: post}
              - command: "echo wrong >> @evidence"
                if: "{{ alert.try_number > 1 }}"
    """)
    up()
    eider("dags", "trigger", "dag", code=0)
    got = wait_for(mail.last, "the mail arrived")
    assert got["recipients"] == ["ops@example.com"]
    assert "'a'" in got["headers"]["Subject"] and "failed" in got["headers"]["Subject"]
    wait_for(lambda: sorted(row["state"] for row in notices(eider)) == ["dropped", "sent"],
             "both are settled")
    assert not eider.evidence.lines()


def test_a_deadline_is_told_while_it_is_missed(eider, up, receiver):
    write_dag(eider, f"""
        sla: 300ms
        on_sla_miss: {{webhook: "{receiver.url('/run')}"}}
        tasks:
          work:
            sla: {{within: 200ms}}
            on_sla_miss: {{webhook: "{receiver.url('/task')}"}}
            run: |
              echo start $$ >> @evidence
              while [ ! -e @evidence.go ]; do sleep 0.05; done
    """)
    up()
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: started(eider.evidence), "it runs")
    wait_for(lambda: receiver.got("/run") and receiver.got("/task"), "both are late")
    assert eider.run_state() == "running"
    body = receiver.got("/task")[0]["body"]
    assert body["kind"] == "sla_miss" and body["state"] == "running" and body["task"] == "work"
    assert "expected by" in body["error"]
    open_ones = misses(eider, "--open")
    assert {row["task_id"] for row in open_ones} == {None, "work"}
    assert all(row["actual"] is None for row in open_ones)
    wait_for(lambda: all(row["notified"] for row in misses(eider, "--open")), "both are told")
    assert eider("runs", "show", "dag", "-o", "json", code=0).json()["late"] is True
    let_go(eider)
    wait_for_state(eider, "success")
    assert not misses(eider, "--open")
    assert all(row["actual"] and row["duration"] > 0 for row in misses(eider, "--dag", "dag"))
    assert len(receiver.got()) == 2
    (report,) = rows_of(eider("sla", "report", "-o", "json", code=0).json())
    assert (report["runs"], report["late"], report["on_time_rate"]) == (1, 1, 0.0)
    shown = eider("dags", "show", "dag", "-o", "json", code=0).json()
    assert shown["sla"]["late"] == 1
    assert eider("sla", "list", "--dag", "nosuch").code == 3


def test_a_test_message_shows_what_was_answered(eider, receiver):
    path = eider.write("dag.yaml", f"""
        on_failure: {{webhook: "{receiver.url('/run')}"}}
        defaults: {{on_failure: {{webhook: "{receiver.url('/task')}"}}}}
        tasks: {{a: {{run: "true"}}, b: {{run: "true"}}}}
    """)
    rows = rows_of(eider("notify", "test", path, "-o", "json", code=0).json())
    assert [row["state"] for row in rows] == ["sent", "sent"]
    assert sorted(one["path"] for one in receiver.got()) == ["/run", "/task"]
    assert receiver.got()[0]["body"]["run_id"] == "test"
    nothing = eider("notify", "test", path, "--kind", "retry")
    assert nothing.code == 3 and "on_retry" in nothing.err, nothing
    receiver.status = 500
    refused = eider("notify", "test", f"webhook:{receiver.url()}")
    assert refused.code == 1 and "500" in refused.out, refused
    assert eider("notify", "test", "slack:nobody").code == 1
    for entry, wrong in (('{"slak": "x"}', "slak"), ('{"slack": {"txt": "x"}}', "txt"),
                         ('{"command": "x", "gruop": "5m"}', "gruop"), ('{}', "needs a target")):
        odd = eider("notify", "test", entry)
        assert odd.code == 2 and wrong in odd.err, odd
    command = eider("notify", "test", "command:cat > /dev/null; echo hello; exit 2")
    assert command.code == 1 and "hello" in command.out, command


def pages(receiver):
    """What PagerDuty was told: what to do, and about which incident."""
    return [(one["body"]["event_action"], one["body"]["dedup_key"]) for one in receiver.got()]


def keep_pager(eider, receiver):
    (eider.work / "connections.yaml").write_text(
        f"pagerduty: {{conn_type: http, password: key, extra: {{url: '{receiver.url()}'}}}}\n")
    (eider.work / "eider.yaml").write_text("")


def test_a_test_leaves_no_incident_open(eider, receiver):
    keep_pager(eider, receiver)
    (row,) = rows_of(eider("notify", "test", "pagerduty:pagerduty", "-o", "json", code=0).json())
    assert row["state"] == "sent" and "closed again" in row["answer"], row
    (opened, key), (closed, same) = pages(receiver)
    assert (opened, closed) == ("trigger", "resolve") and key == same


def test_a_rerun_closes_the_incident_of_its_date(eider, up, receiver):
    keep_pager(eider, receiver)
    eider.run("""
        on_failure: {pagerduty: pagerduty}
        tasks: {a: {run: "test -e @evidence"}}
    """, code=1)
    assert [what for what, _ in pages(receiver)] == ["trigger"]
    eider.evidence.path.write_text("")
    up()
    eider("runs", "rerun", "dag", code=0)
    wait_for(lambda: len(pages(receiver)) == 2, "it is closed")
    (opened, key), (closed, same) = pages(receiver)
    assert (opened, closed) == ("trigger", "resolve") and key == same


def test_two_hosts_send_each_message_once(eider, fleet_up, server, receiver):
    eider.write("dags/dag.yaml", f"""
        sla: {{of_schedule: 100ms}}
        on_sla_miss: {{webhook: "{receiver.url('/late')}"}}
        tasks:
          m: {{foreach: [1, 2, 3, 4, 5, 6, 7, 8], run: "sleep 0.3; exit 1",
               on_failure: {{webhook: "{receiver.url('/bad')}"}}}}
    """)
    for name in ("one", "two"):
        fleet_up(name)
    eider("dags", "trigger", "dag", code=0)
    wait_for_state(eider, "failed")
    wait_for(lambda: len(receiver.got("/bad")) >= 8 and receiver.got("/late"), "all arrived")
    wait_for(lambda: {row["state"] for row in notices(eider)} == {"sent"}, "all are settled")
    assert len(receiver.got("/bad")) == 8 and len(receiver.got("/late")) == 1
    assert sorted(one["body"]["map_index"] for one in receiver.got("/bad")) == list(range(8))


def test_another_host_takes_over_from_a_dead_one(eider, fleet_up, server, receiver):
    eider.write("dags/dag.yaml", f"""
        tasks:
          a: {{run: "exit 1", on_failure: {{webhook: "{receiver.url()}"}}}}
    """)
    receiver.hold()
    first = fleet_up("one")
    eider("dags", "trigger", "dag", code=0)
    wait_for(receiver.got, "it was sent, and not answered")
    first.signal(signal.SIGKILL)
    first.wait()
    receiver.let_go()
    fleet_up("two")
    server.sql("UPDATE notice SET due_at_us = 1 WHERE state = 1", server.database)
    wait_for(lambda: [row["state"] for row in notices(eider)] == ["sent"], "the other sent it")
    one, two = receiver.deliveries()
    assert one == two


# --- hooks for all DAGs


def house(receiver):
    return {"on_failure": {"webhook": receiver.url("/all")},
            "tasks": {"on_retry": {"webhook": receiver.url("/retries")}},
            "namespaces": {"finance": {"on_success": [{"webhook": receiver.url("/finance")}]}}}


def test_one_setting_tells_of_every_dag(eider, up, receiver):
    write_dag(eider, f"""
        on_failure: {{webhook: "{receiver.url('/own')}"}}
        tasks: {{a: {{run: "exit 3", retries: 1, retry_delay: 50ms}}}}
    """)
    write_dag(eider, "tasks: {a: {run: 'exit 3'}}", name="plain.yaml")
    write_dag(eider, "{namespace: finance, tasks: {a: {run: 'true'}}}", name="money.yaml")
    up(env={"EIDER_HOOKS": json.dumps(house(receiver))})
    for dag in ("dag", "plain", "money"):
        eider("dags", "trigger", dag, code=0)
    wait_for(lambda: len(receiver.got()) == 5, "all were told")
    assert {one["body"]["dag"] for one in receiver.got("/all")} == {"dag", "plain"}
    assert [one["body"]["dag"] for one in receiver.got("/own")] == ["dag"]
    assert [one["body"]["task"] for one in receiver.got("/retries")] == ["a"]
    assert [one["body"]["dag"] for one in receiver.got("/finance")] == ["money"]


def test_a_file_of_settings_has_them_too(eider, receiver):
    """Also for a run in the foreground, and for commands."""
    (eider.work / "eider.yaml").write_text(json.dumps({"hooks": house(receiver)}))
    path = write_dag(eider, "tasks: {a: {run: 'exit 3'}}")
    eider("run", path, code=1)
    assert len(receiver.got("/all")) == 1
    tested = eider("notify", "test", "dag", "-o", "json", code=0)
    assert len(rows_of(tested.json())) == 1 and len(receiver.got("/all")) == 2
    shown = eider("config", "get", "hooks", code=0).out
    assert "on_failure: webhook" in shown and str(receiver.port) not in shown


@pytest.mark.parametrize("hooks, words", [
    ({"on_failur": {"slack": "ops"}}, "did you mean 'on_failure'"),
    ({"tasks": {"on_retry": {"email": "nobody"}}}, "hooks.tasks: "),
    ({"namespaces": {"a": {"on_skip": 3}}}, "namespaces.a: "),
])
def test_a_mistake_in_them_is_told_at_the_start(eider, hooks, words):
    refused = eider("up", env={"EIDER_HOOKS": json.dumps(hooks)}, code=2)
    assert "setting 'hooks' (environment)" in refused.err and words in refused.err
    (eider.work / "eider.yaml").write_text("hooks: [1]")
    assert "hooks: must be a map" in eider("dags", "list", code=2).err


# --- receivers inside


def test_receivers_inside_can_be_kept_out_of_reach(eider, up, receiver):
    outside = {"EIDER_HOOKS_PUBLIC_ONLY": "true"}
    write_dag(eider, f"""
        on_failure: {{webhook: "{receiver.url('/run')}"}}
        tasks: {{a: {{run: "exit 3"}}}}
    """)
    up(env=outside)
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: [row for row in notices(eider) if row["answer"]], "it was tried")
    assert "not public" in notices(eider)[0]["answer"]
    tested = eider("notify", "test", "dag", env=outside)
    assert tested.code == 1 and "not public" in tested.out
    assert not receiver.got()
