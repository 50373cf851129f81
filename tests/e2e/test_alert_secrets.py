"""Secrets in hooks: missing ones are waited for, and none is shown."""
import pytest
from alerts import notices, write_dag
from harness import wait_for

CANARY = "c4nary-0f-the-vault"
COMMAND = "only in 'env' of a command"


@pytest.fixture(params=["sqlite", "postgres"])
def daemon(request, eider):
    """Starts a daemon on either database, with the key of those who set secrets."""
    if request.param == "sqlite":
        return request.getfixturevalue("up")
    start = request.getfixturevalue("fleet_up")
    return lambda: start("one", EIDER_HOME=str(eider.home))


def waiting(eider):
    return [row for row in notices(eider) if row["state"] == "pending" and row["attempts"] == 1]


def test_a_message_waits_for_what_can_be_set_later(eider, daemon, receiver):
    write_dag(eider, f"""
        tasks:
          a:
            run: "exit 1"
            on_failure:
              - webhook: {{url: "{receiver.url('/header')}",
                           headers: {{X: "{{{{ secrets.later }}}}"}}}}
              - webhook: "{receiver.url('/if')}"
                if: "{{{{ var.value.later == 'x' }}}}"
              - webhook: {{connection: later}}
    """)
    daemon()
    eider("dags", "trigger", "dag", code=0)
    rows = wait_for(lambda: len(waiting(eider)) == 3 and waiting(eider), "all three wait")
    assert all("later" in row["answer"] for row in rows), rows
    eider("secrets", "set", "later", input="now", code=0)
    eider("vars", "set", "later", "x", code=0)
    eider("conns", "set", "later", input=receiver.url("/connection"), code=0)
    for row in rows:
        eider("notify", "retry", row["id"], code=0)
    wait_for(lambda: {row["state"] for row in notices(eider)} == {"sent"}, "all arrived")
    assert receiver.got("/header")[0]["headers"]["X"] == "now"
    assert len(receiver.got()) == 3


def test_a_secret_is_not_told_by_what_fails(eider, daemon, receiver):
    write_dag(eider, f"""
        tasks:
          a:
            run: "exit 1"
            on_failure:
              - email: {{to: ["{{{{ secrets.token }}}}"]}}
              - webhook: "{receiver.url()}"
                if: "{{{{ {{}}[secrets.token] }}}}"
              - slack: {{text: "{{{{ ts | tz(secrets.token) }}}}"}}
    """)
    eider("secrets", "set", "token", input=CANARY, code=0)
    eider("conns", "set", "slack", input=receiver.url("/slack"), code=0)
    running = daemon()
    tried = eider("notify", "test", eider.work / "dags/dag.yaml", code=1)
    eider("dags", "trigger", "dag", code=0)
    wait_for(lambda: len(receiver.got("/slack")) == 2, "slack was told")
    wait_for(lambda: all(row["attempts"] for row in notices(eider)), "all were tried")
    shown = eider("notify", "list", "-o", "json", code=0)
    for text in (tried.out, tried.err, shown.out, running.text(), str(receiver.got("/slack"))):
        assert CANARY not in text
    assert "render 'to'" in shown.out and "render 'if'" in shown.out


def test_a_command_line_has_no_secrets(eider):
    eider("secrets", "set", "token", input=CANARY, code=0)
    refused = [
        'on_success: {command: {run: "echo {{ secrets.token }}"}}',
        'on_success: {command: "echo {{ secrets.token }}"}',
        'on_success: {command: "echo {{ conn.db.password }}"}',
    ]
    for hook in refused:
        path = eider.write("dag.yaml", f"""
            {hook}
            tasks: {{a: {{run: "true"}}}}
        """)
        found = eider("validate", path)
        assert found.code == 6 and COMMAND in found.err + found.out, found
    eider("conns", "set", "db", input=f"postgres://u:{CANARY}@127.0.0.1/x", code=0)
    eider.run("""
        on_success:
          - command: {run: "echo $T >> @evidence", env: {T: "{{ secrets.token }}"}}
          - command: "echo {% set db = conn.db %}{{ db.password }} >> @evidence"
        tasks: {a: {run: "true"}}
    """)
    assert eider.evidence.lines() == [CANARY]
    (row,) = notices(eider, "--failed")
    assert "would show a secret" in row["answer"]


def test_hooks_know_time_zones(eider):
    eider.run("""
        on_success:
          command: "echo '{{ alert.happened_at | tz('Asia/Tokyo') }}' > @evidence"
        tasks: {a: {run: "true"}}
    """)
    assert "+09:00" in eider.evidence.lines()[0], notices(eider)
