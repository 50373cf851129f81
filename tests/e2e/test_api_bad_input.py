"""Requests that once broke a daemon, or got an answer that is none: each keeps its row."""
from airflow import V1, served  # noqa: F401  (a fixture)

FAR = 2**63 - 1
TASKS = f"{V1}/dags/chain/dagRuns/one/taskInstances"

# what it was; the request; the status that is right
ROWS = [
    ("a time that does not fit", "GET", f"{V1}/x/simulate?unknown_ms={FAR}", None, 400),
    ("more slots than there can be", "GET", f"{V1}/x/simulate?slots={FAR}", None, 400),
    ("a body that is none", "PUT", f"{V1}/backfills/1/cancel", [], 400),
    ("a member that is none", "PUT", f"{V1}/backfills/1/cancel", {"odd": 1}, 400),
    ("no number", "GET", f"{TASKS}?duration_lte=null", None, 400),
    ("fewer DAGs than none", "GET", f"{V1}/x/dags?limit=-1", None, 400),
    ("DAGs from before the first", "GET", f"{V1}/x/dags?offset=-1", None, 400),
    ("DAGs behind the last", "GET", f"{V1}/x/dags?offset={FAR}&limit={FAR}", None, 200),
    ("instances of a task that is not there", "GET", f"{TASKS}/nix/listMapped", None, 404),
    ("instances of a task that has none", "GET", f"{TASKS}/load/listMapped", None, 200),
]


def test_json_that_is_not_kept_is_not_called_something_else(served):
    for path in (f"{V1}/x/dags/chain/trigger", f"{V1}/dags/chain/dagRuns"):
        for number, words in ((10**20 - 1, "beyond 64 bits"), ("\0", "NUL characters")):
            detail = served.api("POST", path, {"conf": {"a": number}}, code=400).json["detail"]
            assert words in detail and "not JSON" not in detail and "JSON_" not in detail, detail


def test_each_gets_its_answer(served):
    served.trigger("chain", "one")
    wrong = []
    for what, method, path, body, status in ROWS:
        answer = served.api(method, path, body)
        if answer.status != status or (status >= 400 and not answer.json["detail"]):
            wrong.append((what, status, answer))
    assert not wrong, "\n".join(map(str, wrong))
    assert served.get("/health")["metadatabase"]["status"] == "healthy"
