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
    ("instances of a task that is not there", "GET", f"{TASKS}/nix/listMapped", None, 404),
    ("instances of a task that has none", "GET", f"{TASKS}/load/listMapped", None, 200),
]


def test_each_gets_its_answer(served):
    served.trigger("chain", "one")
    wrong = []
    for what, method, path, body, status in ROWS:
        answer = served.api(method, path, body)
        if answer.status != status or (status >= 400 and not answer.json["detail"]):
            wrong.append((what, status, answer))
    assert not wrong, "\n".join(map(str, wrong))
    assert served.get("/health")["metadatabase"]["status"] == "healthy"
