"""Queues, plain jobs, dead letters and hosts, as a person at the command line meets them."""
import json
import sqlite3

import pytest


def enqueue(eider, *args, **options):
    """Puts one job in a queue and gives its id."""
    return eider("enqueue", *args, "-o", "name", code=0, **options).out.strip()


def show(eider, job):
    return eider("jobs", "show", job, "-o", "json", code=0).json()


def jobs(eider, *args):
    return eider("jobs", "list", *args, "-o", "json", code=0).json()["jobs"]


def database(eider):
    return sqlite3.connect(eider.home / "eider.db", isolation_level=None)


def bury(eider, job):
    """What a failure for good leaves behind; nothing here runs jobs."""
    base = database(eider)
    base.execute("BEGIN IMMEDIATE")
    base.execute("DELETE FROM ready WHERE task = ?", (job,))
    base.execute("UPDATE task SET state = 5, attempt = 1, reason = 1, exit_code = 1,"
                 " started_at_us = queued_at_us, ended_at_us = queued_at_us + 1,"
                 " row_version = row_version + 1 WHERE id = ?", (job,))
    base.execute("UPDATE job SET ended_as = 5 WHERE id = ?", (job,))
    base.execute("INSERT INTO event (at_us, kind, run, task, new_state, generation)"
                 " SELECT 0, 6, 0, id, 5, generation FROM task WHERE id = ?", (job,))
    base.execute("INSERT INTO dead (task, run, lane, at_us, reason, attempt, detail)"
                 " SELECT id, 0, lane, created_at_us, 1, 1, 'exit code 1' FROM job WHERE id = ?",
                 (job,))
    base.execute("COMMIT")
    base.close()


@pytest.fixture(autouse=True)
def store_is_whole(eider):
    yield
    if (eider.home / "eider.db").exists():
        eider("store", "check", code=0)


# Enqueueing

def test_the_first_job_makes_the_store(eider):
    job = enqueue(eider, "default", "send", '{"to": "ann"}', "--priority", "3", "--retries", "2",
                  "--retry-delay", "5s", "--timeout", "1m", "--on-lost-lease", "finish")

    shown = show(eider, job)

    assert shown["id"] == job
    assert shown["status"] == "pending"
    assert shown["queue"] == "default"
    assert shown["handler"] == "send"
    assert shown["payload"] == {"to": "ann"}
    assert (shown["priority"], shown["retries"], shown["timeout"]) == (3, 2, 60)
    assert shown["on_lost_lease"] == "finish"
    assert shown["retry_count"] == shown["attempts"] == 0
    assert shown["claimed_by"] is None and shown["result"] is None and shown["error"] is None
    for member in ("created_at", "run_after", "last_update"):
        assert shown[member].endswith("Z"), member


def test_a_payload_from_standard_input_or_a_file(eider, tmp_path):
    (tmp_path / "payload.json").write_text("[1, 2]")

    from_input = enqueue(eider, "default", "x", "-", input='{"a": "ü"}')
    from_file = enqueue(eider, "default", "x", f"@{tmp_path / 'payload.json'}")

    assert show(eider, from_input)["payload"] == {"a": "ü"}
    assert show(eider, from_file)["payload"] == [1, 2]
    assert eider("enqueue", "default", "x", "@/nowhere").code == 3


@pytest.mark.parametrize("words, handler", [
    (["echo", "a b", "it's"], "$ echo 'a b' 'it'\\''s'"),
    (["echo $HOME | wc -c"], "$ echo $HOME | wc -c"),
    (["ls", "-l", "--color=never"], "$ ls -l --color=never"),
])
def test_a_command_after_two_dashes(eider, words, handler):
    assert show(eider, enqueue_command(eider, words))["handler"] == handler


def enqueue_command(eider, words):
    return eider("enqueue", "default", "-o", "name", "--", *words, code=0).out.strip()


def test_a_delay_or_a_time(eider):
    delayed = enqueue(eider, "default", "x", "--delay", "1h")
    past = enqueue(eider, "default", "x", "--at", "2001-01-01")

    assert show(eider, delayed)["status"] == "delayed"
    assert show(eider, past)["status"] == "pending"


def test_a_key_makes_a_job_once(eider):
    first = enqueue(eider, "default", "x", "[1]", "--dedupe", "k")

    again = eider("enqueue", "default", "x", "[1]", "--dedupe", "k", "-o", "json", code=0).json()
    other = eider("enqueue", "default", "x", "[2]", "--dedupe", "k")

    assert again["jobs"] == [{"id": first, "existed": True}]
    assert other.code == 5
    assert "another handler or payload" in other.err
    assert len(jobs(eider)) == 1


@pytest.mark.parametrize("args, code, text", [
    (["defualt", "x"], 3, "did you mean 'default'?"),
    (["mail", "x"], 3, "eider queues set mail"),
    (["default"], 2, "name a handler"),
    (["default", "x", "{"], 2, "must be JSON"),
    (["default", "x", "hello"], 2, "must be JSON"),
    (["default", "x", "1", "2"], 2, "one argument too many"),
    (["default", "x", "--", "ls"], 2, "one argument too many"),
    (["default", "x", "--delay", "soon"], 2, "duration"),
    (["default", "x", "--delay", "1s", "--at", "2030-01-01"], 2, "not both"),
    (["default", "x", "--retries", "-1"], 2, "--retries"),
    (["default", "x", "--retries", "1001"], 2, "--retries"),
    (["default", "x", "--priority", "9999999"], 2, "--priority"),
    (["default", "x", "--on-lost-lease", "hope"], 2, "--on-lost-lease"),
    (["default", "x", "--batch", "--delay", "1s"], 2, "each line has its own"),
    (["default", "--batch", "/nowhere"], 3, "/nowhere"),
])
def test_bad_words(eider, args, code, text):
    enqueue(eider, "default", "noop")

    result = eider("enqueue", *args)

    assert result.code == code, result
    assert text in result.err, result
    assert len(jobs(eider)) == 1


def test_a_payload_has_a_bound(eider):
    result = eider("enqueue", "default", "x", "-", input=json.dumps("x" * (1 << 20)))

    assert result.code == 2, result
    assert "1048576" in result.err


def test_bounds_of_a_queue_warn_and_refuse(eider):
    eider("queues", "set", "mail", "--soft", "1", "--hard", "2", code=0)

    first = eider("enqueue", "mail", "x", code=0)
    second = eider("enqueue", "mail", "x", code=0)
    third = eider("enqueue", "mail", "x")

    assert "warning" not in first.err
    assert "beyond its soft bound" in second.err
    assert third.code == 2
    assert "takes no more" in third.err
    assert len(jobs(eider, "--queue", "mail")) == 2


# Batches

def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def test_a_batch_of_lines(eider):
    eider("queues", "set", "mail", code=0)
    text = lines({"handler": "a", "payload": 1}) + "\n  \n" + lines(
        {"handler": "b", "queue": "mail", "delay": "1h"},
        {"handler": "a", "dedupe": "k"}, {"handler": "a", "dedupe": "k"})

    result = eider("enqueue", "default", "--batch", "-o", "json", input=text, code=0).json()

    assert (result["count"], result["existed"]) == (3, 1)
    assert len(result["jobs"]) == 4
    assert [job["handler"] for job in jobs(eider, "--queue", "mail")] == ["b"]
    assert len(jobs(eider)) == 3


def test_a_batch_is_committed_in_portions(eider, tmp_path):
    file = tmp_path / "jobs.jsonl"
    good = lines(*({"handler": "noop", "payload": i} for i in range(1500)))
    file.write_text(good + "{\n")

    failed = eider("enqueue", "default", "--batch", file)
    kept = len(jobs(eider, "--limit", "5000"))
    file.write_text(good)
    done = eider("enqueue", "default", "--batch", file, "-o", "name", code=0)

    assert failed.code == 2
    assert f"{file}: line 1501" in failed.err
    assert "1000 jobs of the lines before 1001" in failed.err
    assert kept == 1000
    assert len(done.out.split()) == 1500
    assert "1000 jobs" in done.err


@pytest.mark.parametrize("line, text", [
    ('{"handler": "x", "delya": 1}', "line 2: unknown member 'delya', did you mean 'delay'?"),
    ('{"payload": 1}', "line 2: 'handler' is missing"),
    ('"x"', "line 2: a job is an object"),
    ('{"handler": "x", "retries": 5000}', "line 2: 'retries' must be"),
    ('{"handler": "x", "queue": "nope"}', "no queue 'nope'"),
    ("\x00", "line 2"),
])
def test_a_bad_line_is_named_and_its_portion_left_out(eider, line, text):
    result = eider("enqueue", "default", "--batch", input='{"handler": "a"}\n' + line + "\n")

    assert result.code in (2, 3), result
    assert text in result.err, result
    assert jobs(eider) == []


def test_an_empty_batch_is_no_error(eider):
    assert eider("enqueue", "default", "--batch", "-o", "json", input="\n", code=0).json() == {
        "count": 0, "existed": 0, "jobs": []}


# Looking at jobs and changing them

def test_jobs_are_listed_newest_first(eider):
    ids = [enqueue(eider, "default", f"h{i}") for i in range(3)]
    eider("jobs", "cancel", ids[0], code=0)

    assert [job["id"] for job in jobs(eider)] == ids[::-1]
    assert [job["id"] for job in jobs(eider, "--limit", "1")] == [ids[2]]
    assert [job["id"] for job in jobs(eider, "--before", ids[1])] == [ids[0]]
    assert [job["id"] for job in jobs(eider, "--status", "cancelled")] == [ids[0]]
    assert ids[2] in eider("jobs", "list", code=0).out
    assert eider("jobs", "list", "--queue", "nope").code == 3
    assert eider("jobs", "list", "--status", "done").code == 2


def test_lists_of_nothing(eider):
    for noun in ("jobs", "queues", "hosts", "dlq"):
        result = eider(noun, "list", "-o", "json", code=0).json()
        assert result["total_entries"] == 0, noun


def test_a_job_is_cancelled_retried_and_rescheduled(eider):
    job = enqueue(eider, "default", "x")

    assert eider("jobs", "reschedule", job, "--delay", "2h", code=0)
    assert show(eider, job)["status"] == "delayed"
    assert eider("jobs", "retry", job, code=0)
    assert show(eider, job)["status"] == "pending"
    assert eider("jobs", "cancel", job, code=0)
    assert show(eider, job)["status"] == "cancelled"
    again = eider("jobs", "cancel", job)
    assert again.code == 5 and "over already" in again.err
    late = eider("jobs", "reschedule", job, "--at", "2030-01-01")
    assert late.code == 5 and "over already" in late.err


@pytest.mark.parametrize("args, code", [
    (["show", "abc"], 2), (["show", "12"], 3), (["cancel", "12"], 3), (["retry", "-5"], 2),
    (["reschedule", "12"], 2), (["reschedule", "12", "--at", "soon"], 2), (["logs", "x"], 2),
    (["logs", "12"], 3), (["wait", "12"], 3), (["purge"], 2),
    (["purge", "--older", "x", "--yes"], 2),
])
def test_bad_words_about_jobs(eider, args, code):
    enqueue(eider, "default", "x")
    assert eider("jobs", *args).code == code


def test_waiting_tells_how_a_job_ended(eider):
    job = enqueue(eider, "default", "x")
    failed = enqueue(eider, "default", "x")

    assert eider("jobs", "wait", job, "--timeout", "0").code == 7
    eider("jobs", "cancel", job, code=0)
    assert eider("jobs", "wait", job).code == 9
    bury(eider, failed)
    assert eider("jobs", "wait", failed).code == 1


def test_a_purge_asks_and_takes_what_is_over(eider):
    over, waits = enqueue(eider, "default", "x"), enqueue(eider, "default", "x")
    eider("jobs", "cancel", over, code=0)

    asked = eider("jobs", "purge")
    dry = eider("jobs", "purge", "--dry-run", "-o", "json", code=0).json()
    young = eider("jobs", "purge", "--older", "1h", "--yes", "-o", "json", code=0).json()
    gone = eider("jobs", "purge", "--yes", "-o", "json", code=0).json()

    assert asked.code == 2 and "--yes" in asked.err
    assert (dry["purged"], young["purged"], gone["purged"]) == (1, 0, 1)
    assert [job["id"] for job in jobs(eider)] == [waits]


# Dead letters

def test_dead_letters_are_listed_and_run_again(eider):
    job, other = enqueue(eider, "default", "x", "[1]"), enqueue(eider, "default", "y")
    bury(eider, job)
    bury(eider, other)

    letter = eider("dlq", "show", job, "-o", "json", code=0).json()
    assert (letter["name"], letter["queue"], letter["payload"]) == ("x", "default", [1])
    assert letter["message"] == "exit code 1"
    assert show(eider, job)["dead"] is True

    eider("dlq", "requeue", job, code=0)
    assert show(eider, job)["status"] == "pending"
    assert eider("dlq", "requeue", job).code == 3
    eider("dlq", "requeue", "--all", "--dry-run", code=0)
    assert show(eider, other)["status"] == "failed"
    eider("dlq", "requeue", "--all", "--queue", "default", code=0)
    assert show(eider, other)["status"] == "pending"
    assert eider("dlq", "list", "-o", "json", code=0).json()["letters"] == []


def test_a_dead_letter_of_a_task_names_its_instance(eider):
    eider("run", eider.write("mapped.yaml", """
tasks:
  each: {foreach: [a, b, c], run: "test {{ item }} != b"}
  plain: {run: "exit 1"}
"""), code=1)
    base = database(eider)
    base.execute("INSERT INTO dead (task, run, lane, at_us, reason, attempt, detail)"
                 " SELECT id, run, 0, id, 1, 1, '' FROM task WHERE state = 5 AND run != 0"
                 " AND id NOT IN (SELECT task FROM dead)")
    base.close()

    letters = eider("dlq", "list", "-o", "json", code=0).json()["letters"]
    places = {(letter["run"], letter["task_id"], letter["map_index"]) for letter in letters}

    assert ("1", "each", 1) in places and ("1", "plain", -1) in places
    assert all(letter["kind"] == "task" for letter in letters)
    eider("dlq", "purge", "--yes", code=0)


def test_dead_letters_are_exported_and_forgotten(eider, tmp_path):
    job = enqueue(eider, "default", "x")
    bury(eider, job)

    eider("dlq", "export", tmp_path / "letters.jsonl", code=0)
    written = [json.loads(line) for line in (tmp_path / "letters.jsonl").read_text().splitlines()]
    printed = eider("dlq", "export", code=0)
    assert [letter["id"] for letter in written] == [job]
    assert json.loads(printed.out) == written[0]

    assert eider("dlq", "purge").code == 2
    assert eider("dlq", "purge", "--yes", "-o", "json", code=0).json()["purged"] == 1
    assert show(eider, job)["status"] == "failed"
    assert eider("jobs", "purge", "--yes", "-o", "json", code=0).json()["purged"] == 1


@pytest.mark.parametrize("args, code", [
    (["show", "x"], 2), (["show", "5"], 3), (["requeue"], 2), (["requeue", "5", "--all"], 2),
    (["requeue", "5"], 3), (["list", "--queue", "nope"], 3), (["export", "/nowhere/x"], 3),
])
def test_bad_words_about_letters(eider, args, code):
    enqueue(eider, "default", "x")
    assert eider("dlq", *args).code == code


# Queues and hosts

def test_a_queue_is_made_changed_paused_and_deleted(eider):
    made = eider("queues", "set", "mail", "--priority", "7", "--max-running", "2", "-o", "json",
                 code=0).json()
    assert (made["priority"], made["max_running"], made["state"]) == (7, 2, "NOT_READY")

    changed = eider("queues", "set", "mail", "--priority", "-3", "-o", "json", code=0).json()
    assert (changed["priority"], changed["max_running"]) == (-3, 2)
    assert eider("queues", "pause", "mail", "-o", "json", code=0).json()["state"] == "PAUSED"
    assert eider("queues", "resume", "mail", "-o", "json", code=0).json()["state"] == "NOT_READY"
    enqueue(eider, "mail", "x", "--delay", "1h")
    listed = {queue["name"]: queue for queue in
              eider("queues", "list", "-o", "json", code=0).json()["queues"]}
    assert listed["mail"]["delayed"] == 1 and listed["default"]["pending"] == 0

    assert eider("queues", "delete", "mail").code == 2
    used = eider("queues", "delete", "mail", "--yes")
    assert used.code == 5 and "in use" in used.err
    eider("jobs", "cancel", jobs(eider)[0]["id"], code=0)
    eider("jobs", "purge", "--yes", code=0)
    eider("queues", "delete", "mail", "--yes", code=0)
    assert eider("queues", "show", "mail").code == 3


@pytest.mark.parametrize("args, code", [
    (["set", "a b"], 2), (["set", "a", "--hard", "-1"], 2), (["set", "a", "--priority", "x"], 2),
    (["pause", "nope"], 3), (["resume", "nope"], 3), (["delete", "nope", "--yes"], 3),
    (["delete", "default", "--yes"], 5), (["show", "defualt"], 3), (["set"], 2),
])
def test_bad_words_about_queues(eider, args, code):
    eider("queues", "set", "there", code=0)
    assert eider("queues", *args).code == code


def test_the_hosts_that_the_work_asks_for(eider):
    assert eider("hosts", "desired", "-o", "name", code=0).out.strip() == "0"
    text = lines(*({"handler": "x"} for _ in range(9)))
    eider("enqueue", "default", "--batch", input=text, code=0)

    wanted = eider("hosts", "desired", "-o", "json", env={"EIDER_SLOTS": "4"}, code=0).json()

    assert (wanted["desired"], wanted["demand"], wanted["slots_per_host"]) == (3, 9, 4)
    assert eider("hosts", "desired", "--max", "1", "-o", "name", code=0).out.strip() == "1"
    assert eider("hosts", "show", "nobody").code == 3
    assert eider("hosts", "drain", "nobody").code == 3


# Jobs by plain SQL, and handlers

def test_a_row_of_the_view_is_a_job(eider):
    eider("queues", "set", "mail", code=0)
    base = database(eider)
    base.execute("INSERT INTO enqueue (queue, handler, payload, dedupe) VALUES"
                 " ('mail', 'send', '{\"to\": 1}', 'k')")
    base.execute("INSERT INTO enqueue (queue, handler, payload, dedupe) VALUES"
                 " ('mail', 'send', '{\"to\": 1}', 'k')")
    with pytest.raises(sqlite3.IntegrityError, match="no such queue"):
        base.execute("INSERT INTO enqueue (queue, handler) VALUES ('nope', 'send')")
    base.close()

    [job] = jobs(eider)

    assert (job["handler"], job["payload"], job["status"]) == ("send", {"to": 1}, "pending")
    eider("jobs", "cancel", job["id"], code=0)


@pytest.mark.parametrize("text, problem", [
    ("handlers: [a]", "a map of names to commands"),
    ("handlers:\n  send: { run: x, tiemout: 5m }", "eider.yaml:2:19: handler 'send': unknown key"),
    ("handlers:\n  send: { timeout: 5m }", "'run' is missing"),
    ("handlers:\n  send: { run: x, timeout: soon }", "eider.yaml:2:28"),
    ("handlers:\n  send: { run: x, env: [A] }", "'env' must be a map"),
    ("handlers:\n  send: { run: x, env: { A: [1] } }", "a single value"),
    ("handlers:\n  noop: x", "built in"),
    ("handlers:\n  a b: x", "eider.yaml:2:3"),
    ("handlers:\n  send: ''", "write a command"),
])
def test_bad_handlers_are_named_with_their_place(eider, text, problem):
    eider.write("eider.yaml", text)

    result = eider("queues", "list")

    assert result.code == 2, result
    assert problem in result.err, result


def test_good_handlers(eider):
    eider.write("eider.yaml", "handlers:\n  send: ./send\n"
                "  thumb: { run: convert, env: { SIZE: 64, FAST: true }, timeout: 5m }\n")
    eider("queues", "list", code=0)
