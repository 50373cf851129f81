"""Airflow's paths, as plainly as they can be asked."""
import base64

from airflow import V1, served  # noqa: F401  (a fixture)
from harness import wait_for


def ids(listed, rows="dag_runs", key="dag_run_id"):
    return [row[key] for row in listed[rows]]


def test_lists_of_runs_are_filtered_ordered_and_paged(served):
    dates = [f"2026-01-0{day}T00:00:00Z" for day in range(1, 6)]
    for day, date in enumerate(dates, 1):
        served.run("chain", f"day{day}", logical_date=date)
    served.run("flaky", "bad", state="failed")
    runs = "/dags/chain/dagRuns"
    assert ids(served.get(runs)) == ["day1", "day2", "day3", "day4", "day5"]
    assert ids(served.get(runs, order_by="-execution_date", limit=2)) == ["day5", "day4"]
    page = served.get(runs, order_by="-logical_date", limit=2, offset=3)
    assert ids(page) == ["day2", "day1"] and page["total_entries"] == 5
    for key in ("execution_date", "logical_date"):
        within = served.get(runs, **{f"{key}_gte": dates[1], f"{key}_lte": dates[3]})
        assert ids(within) == ["day2", "day3", "day4"] and within["total_entries"] == 3
    assert ids(served.get(runs, order_by="-start_date"))[0] == "day5"
    assert ids(served.get(runs, order_by="end_date"))[0] == "day1"
    assert ids(served.get(runs, order_by="-id", limit=1)) == ["day5"]
    page = served.get(runs, limit=3)
    rest = served.get(runs, limit=3, cursor=page["cursor"])
    assert ids(page) + ids(rest) == [f"day{day}" for day in range(1, 6)] and rest["cursor"] is None
    assert rest["total_entries"] == 5
    third = served.get(f"{runs}/day3")
    assert ids(served.get(runs, start_date_gte=third["start_date"])) == ["day3", "day4", "day5"]
    assert ids(served.get(runs, end_date_lte=third["end_date"])) == ["day1", "day2", "day3"]
    assert ids(served.get(runs, end_date_gte=third["end_date"])) == ["day3", "day4", "day5"]

    everywhere = "/dags/~/dagRuns"
    assert served.get(everywhere)["total_entries"] == 6
    assert ids(served.get(everywhere, state="failed")) == ["bad"]
    both = served.api("GET", f"{V1}{everywhere}?state=failed&state=success&limit=1", code=200)
    assert both.json["total_entries"] == 6 and len(both.json["dag_runs"]) == 1
    assert served.get(everywhere, state="queued")["total_entries"] == 0
    assert list(served.get(runs, limit=1, fields="dag_run_id")["dag_runs"][0]) == ["dag_run_id"]
    listed = served.send("POST", "/dags/~/dagRuns/list",
                         {"dag_ids": ["flaky", "slow"], "order_by": "-start_date", "page_limit": 5})
    assert ids(listed) == ["bad"]
    stats = served.get("/dagStats", dag_ids="chain,flaky")["dags"]
    assert [{one["state"]: one["count"] for one in dag["stats"]} for dag in stats] == [
        {"queued": 0, "running": 0, "success": 5, "failed": 0},
        {"queued": 0, "running": 0, "success": 0, "failed": 1}]


def test_pages_of_dags_are_parts_of_the_whole_list_in_both_directions(served):
    for number in range(4):
        served.add(f"more{number}", f"tags: [{'odd' if number % 2 else 'even'}]\n"
                                    "tasks: {a: {run: 'true'}}\n")
    served.send("PATCH", "/dags/more2", {"is_paused": True})
    for chosen in ({}, {"tags": "even"}, {"paused": False}, {"dag_id_pattern": "MORE"}):
        whole = served.get("/dags", **chosen)
        forwards = ids(whole, "dags", "dag_id")
        assert forwards == sorted(forwards) and whole["total_entries"] == len(forwards) > 1
        for order, rows in (("dag_id", whole["dags"]), ("-dag_id", whole["dags"][::-1])):
            for offset in range(len(rows) + 1):
                page = served.get("/dags", order_by=order, limit=2, offset=offset, **chosen)
                assert page == {"dags": rows[offset:offset + 2], "total_entries": len(rows)}


PROBLEMS = [
    ("GET", "/dags/nothing", None, 404), ("GET", "/dags/nothing/dagRuns", None, 404),
    ("GET", "/dags/chain/dagRuns/none", None, 404), ("GET", "/dags/~", None, 404),
    ("GET", "/dags/chain/dagRuns?order_by=conf", None, 400),
    ("GET", "/dags/chain/dagRuns?order_by=end_date&cursor=1", None, 400),
    ("GET", "/dags?order_by=owner", None, 400), ("GET", "/dags?order_by=--dag_id", None, 400),
    ("GET", "/dags/chain/dagRuns?limit=-1", None, 400),
    ("GET", "/dags/chain/dagRuns?limit=x", None, 400),
    ("GET", "/dags/chain/dagRuns?offset=100001", None, 400),
    ("GET", "/dags/chain/dagRuns?state=great", None, 400),
    ("GET", "/dags/chain/dagRuns?start_date_gte=soon", None, 400),
    ("GET", "/dags/chain/dagRuns?wrong=1", None, 400),
    ("GET", "/dags/chain/dagRuns/a%2F..%2Fb", None, 404),
    ("GET", "/dags/chain%2Fx/dagRuns/y", None, 404),
    ("GET", "/dags/~/dagRuns/~/taskInstances?state=great", None, 400),
    ("GET", "/dags/~/dagRuns/~/taskInstances?cursor=x", None, 400),
    ("POST", "/dags/nothing/dagRuns", {}, 404),
    ("POST", "/dags/chain/dagRuns", {"conf": []}, 400),
    ("POST", "/dags/chain/dagRuns", {"logical_date": "soon"}, 400),
    ("POST", "/dags/chain/dagRuns", {"unheard": 1}, 400),
    ("POST", "/dags/chain/dagRuns", {"logical_date": "2026-01-01T00:00:00Z",
                                     "execution_date": "2026-01-02T00:00:00Z"}, 400),
    ("POST", "/dags/chain/dagRuns", {"data_interval_start": "2026-01-01T00:00:00Z"}, 400),
    ("POST", "/dags/chain/dagRuns", [], 400),
    ("POST", "/dags/chain/dagRuns", {"dag_id": "flaky"}, 400),
    ("POST", "/dags/chain/dagRuns", {"state": 7}, 400),
    ("PATCH", "/dags/chain", {"dag_id": "flaky", "is_paused": True}, 400),
    ("PATCH", "/dags/chain", {"description": "other"}, 400),
    ("PATCH", "/dags/chain?update_mask=is_paused", {}, 400),
    ("PATCH", "/dags/nothing", {"is_paused": True}, 404),
    ("PATCH", "/dags/chain/dagRuns/none", {"state": "failed"}, 404),
    ("POST", "/pools", {"name": "x"}, 400), ("POST", "/pools", {"name": "x", "slots": "1"}, 400),
    ("PATCH", "/pools/none", {"slots": 1}, 404), ("DELETE", "/pools/none", None, 404),
    ("GET", "/variables/none", None, 404), ("PATCH", "/variables/none", {"value": "1"}, 404),
    ("GET", "/connections/none", None, 404),
    ("POST", "/connections", {"connection_id": "x", "conn_type": "http", "extra": "no"}, 400),
    ("POST", "/connections/test", {"connection_id": "none", "conn_type": "http"}, 404),
    ("GET", "/datasets/none", None, 404), ("GET", "/datasets?order_by=extra", None, 400),
    ("POST", "/datasets/events", {"dataset_uri": "with a blank"}, 400),
    ("GET", "/eventLogs/0", None, 404), ("GET", "/eventLogs/999999999", None, 404),
    ("GET", "/importErrors/1", None, 404), ("GET", "/config?section=core", None, 404),
    ("GET", "/config/section/eider/option/none", None, 404), ("GET", "/backfills/1", None, 404),
    ("POST", "/dags/chain/clearTaskInstances", {"dag_run_id": "none"}, 404),
    ("POST", "/dags/chain/updateTaskInstancesState", {"task_id": "load",
                                                      "new_state": "success"}, 400),
    ("GET", "/dagSources/nothing", None, 404), ("DELETE", "/dags/chain", None, 409),
]


def test_what_cannot_be_is_a_problem(served):
    wrong = []
    for method, path, body, status in PROBLEMS:
        answer = served.api(method, V1 + path, body)
        if answer.status != status:
            wrong.append(f"{method} {path}: {status} expected, but {answer}")
            continue
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json["status"] == status and answer.json["title"] and answer.json["detail"]
    assert not wrong, "\n".join(wrong)


def test_what_an_answer_shows_may_be_sent_along(served):
    body = {"dag_id": "chain", "dag_run_id": None, "state": "queued", "note": None, "conf": {},
            "run_type": "manual", "external_trigger": True, "end_date": None}
    made = served.send("POST", "/dags/chain/dagRuns", body)
    assert made["dag_id"] == "chain" and made["state"] in ("queued", "running", "success")
    served.send("PATCH", "/dags/chain", served.get("/dags/chain"))
    paths = served.get("/openapi.json")["paths"]
    for method, pattern, shown in (("post", "/dags/{dag_id}/dagRuns", made),
                                   ("patch", "/dags/{dag_id}", served.get("/dags/chain"))):
        content = paths[V1 + pattern][method]["requestBody"]["content"]
        described = content["application/json"]["schema"]
        assert set(body if method == "post" else shown) <= set(described["properties"])


def test_a_parameter_of_the_wrong_type_is_named(served):
    tasks = "/dags/~/dagRuns/~/taskInstances"
    for path, name, value, kind in (
            (tasks, "duration_gte", "abc", "a number"), (tasks, "duration_lte", "1x", "a number"),
            (tasks, "duration_lte", '"1"', "a number"), (tasks, "limit", "1.5", "an integer"),
            ("/dags", "paused", "maybe", "true or false"), ("/dags", "limit", "", "an integer")):
        said = served.get(path, code=400, **{name: value})["detail"]
        assert name in said and kind in said and "JSON" not in said, said
    assert served.get(tasks, duration_gte="0.5")["total_entries"] == 0


def test_what_the_document_says_to_differ(served):
    date = {"logical_date": "2026-01-02T00:00:00Z"}
    first, second = (served.trigger("chain", **date) for _ in range(2))
    assert second == f"{first}__2"
    served.get("/dags/~/dagRuns/~/taskInstances/~/xcomEntries", code=404)
    served.get("/dags/~/dagRuns/~/taskInstances", order_by="state", code=400)
    served.get(f"/dags/chain/dagRuns/{first}/taskInstances/load/listMapped", order_by="state",
               code=400)
    served.get("/dags/fed/datasets/queuedEvent", code=404)
    served.send("DELETE", "/datasets/queuedEvent/file%3A%2F%2F%2Fdata%2Forders", code=405)
    served.send("PUT", "/parseDagFile/chain", code=404)


def test_who_is_not_known_stays_outside(served):
    served.api.token = None
    served.api("GET", f"{V1}/dags", code=401)
    served.api("GET", f"{V1}/dags", headers={"Authorization": "Bearer none"}, code=401)


def test_a_password_lets_in_as_with_airflow(served):
    served.eider("users", "add", "anna", "--role", "viewer", input="a long password\n", code=0)
    served.api.token = None
    basic = base64.b64encode(b"anna:a long password").decode()
    headers = {"Authorization": f"Basic {basic}"}
    assert served.api("GET", f"{V1}/dags", headers=headers, code=200).json["total_entries"] == 5
    served.api("POST", f"{V1}/dags/chain/dagRuns", {}, headers=headers, code=403)
    served.api("PATCH", f"{V1}/dags/chain", {"is_paused": True}, headers=headers, code=403)
    served.api("POST", f"{V1}/pools", {"name": "a", "slots": 1}, headers=headers, code=403)


def test_instances_of_a_mapped_task(served):
    served.run("mapped", "one")
    tasks = served.tasks("mapped", "one")
    assert sorted(tasks) == [("after", -1), ("each", 0), ("each", 1), ("each", 2)]
    path = "/dags/mapped/dagRuns/one/taskInstances"
    mapped = served.get(f"{path}/each/listMapped")
    assert mapped["total_entries"] == 3
    one = served.get(f"{path}/each/1")
    assert one["map_index"] == 1 and one["rendered_map_index"] == "b" and one["state"] == "success"
    assert served.text(one["log_url"].removeprefix(V1)).text == "b\n"
    assert served.get(f"{path}/each/1/tries")["total_entries"] == 1
    assert served.get(f"{path}/each/1/tries/1")["state"] == "success"
    served.get(f"{path}/each/1/tries/2", code=404)
    served.get(f"{path}/each/7", code=404)
    assert served.send("PATCH", f"{path}/each/1/setNote", {"note": "odd"})["note"] == "odd"
    assert served.tasks("mapped", "one")["each", 1]["note"] == "odd"
    assert served.get(f"{path}/each/1/dependencies")["dependencies"] is not None
    assert served.get(f"{path}/after/links")["extra_links"] == []


def test_instances_over_all_runs(served):
    served.run("chain", "one")
    served.run("chain", "two")
    served.run("flaky", "bad", state="failed")
    everywhere = "/dags/~/dagRuns/~/taskInstances"
    listed = served.get(everywhere)
    assert listed["total_entries"] == 7 and listed["cursor"] is None
    assert [task["dag_id"] for task in listed["task_instances"]] == ["flaky"] * 3 + ["chain"] * 4
    failed = served.get(everywhere, state="failed")
    assert [task["task_id"] for task in failed["task_instances"]] == ["second"]
    bad = failed["task_instances"][0]
    assert bad["reason"] and bad["hostname"] and bad["operator"] == "run"
    assert bad["retries_left"] == 0 and bad["run_type"] == "manual" and bad["external"] is None

    first = served.get(everywhere, limit=3)
    assert first["total_entries"] == 7
    second = served.get(everywhere, limit=3, cursor=first["cursor"])
    third = served.get(everywhere, limit=3, cursor=second["cursor"])
    paged = [task for page in (first, second, third) for task in page["task_instances"]]
    assert paged == listed["task_instances"] and third["cursor"] is None
    skipped = served.get(everywhere, limit=3, offset=3)
    assert skipped["task_instances"] == second["task_instances"]

    assert served.get("/dags/chain/dagRuns/~/taskInstances")["total_entries"] == 4
    assert served.get("/dags/~/dagRuns/two/taskInstances")["total_entries"] == 2
    form = {"dag_ids": ["chain"], "dag_run_ids": ["two"], "task_ids": ["load"], "state": [None]}
    listing = "/dags/~/dagRuns/~/taskInstances/list"
    assert served.send("POST", listing, form)["total_entries"] == 0
    form["state"] = ["success"]
    assert served.send("POST", listing, form)["total_entries"] == 1
    since = served.get("/dags/chain/dagRuns/two")["start_date"]
    assert served.get(everywhere, start_date_gte=since)["total_entries"] == 4
    assert served.get(everywhere, duration_gte=1000)["total_entries"] == 0
    assert served.get(everywhere, queue="elsewhere")["total_entries"] == 0


def test_instances_of_mapped_tasks_are_counted_on_all_pages(served):
    served.run("mapped", "one")
    served.run("chain", "two")
    served.run("mapped", "three")
    clear = {"dag_run_id": "one", "task_ids": ["each"], "only_failed": False, "dry_run": False,
             "include_downstream": True}
    served.send("POST", "/dags/mapped/clearTaskInstances", clear)
    served.wait("mapped", "one")
    for place, total in (("/dags/~", 10), ("/dags/mapped", 8), ("/dags/chain", 2)):
        for limit in (1, 5, 100):
            listed = served.get(f"{place}/dagRuns/~/taskInstances", limit=limit)
            assert listed["total_entries"] == total and "total_is_more" not in listed


def test_tasks_without_a_pool_are_of_the_default_pool(served):
    served.add("pooled", """
        tasks:
          free: {run: "echo free"}
          bound: {run: "echo bound", pool: narrow}
        """)
    served.send("POST", "/pools", {"name": "narrow", "slots": 1})
    served.run("pooled", "one")
    path = "/dags/pooled/dagRuns/one/taskInstances"
    everywhere = "/dags/~/dagRuns/~/taskInstances"
    assert {name: task["pool"] for (name, _), task in served.tasks("pooled", "one").items()} == {
        "free": "default_pool", "bound": "narrow"}
    for pools, names in (("default_pool", ["free"]), ("narrow", ["bound"]), ("other", []),
                         ("narrow,default_pool", ["bound", "free"])):
        assert sorted(ids(served.get(path, pool=pools), "task_instances", "task_id")) == names
        listed = served.send("POST", f"{everywhere}/list", {"pool": pools.split(",")})
        assert sorted(ids(listed, "task_instances", "task_id")) == names


def test_what_has_not_begun_has_no_state(served):
    served.trigger("slow", "one")
    wait_for(lambda: served.tasks("slow", "one")["waits", -1]["state"] == "running", "it runs")
    after = served.tasks("slow", "one")["after", -1]
    assert after["state"] is None and after["try_number"] == 0 and after["log_url"] is None
    assert list(served.tasks("slow", "one", state="none")) == [("after", -1)]
    assert served.get("/dags/~/dagRuns/~/taskInstances", state="running")["total_entries"] == 1
    held = served.get("/dags/slow/dagRuns/one/taskInstances/after/dependencies")["dependencies"]
    assert held and all(one["name"] and one["reason"] for one in held)
    served.send("DELETE", "/dags/slow/dagRuns/one", code=409)
    served.flag.touch()
    served.wait("slow", "one")
    assert served.send("DELETE", "/dags/slow/dagRuns/one", code=204) is None


def test_states_set_by_hand(served):
    served.run("flaky", "one", state="failed")
    path = "/dags/flaky/dagRuns/one"
    task = f"{path}/taskInstances/second"
    assert served.send("PATCH", task, {"new_state": "success"})["task_id"] == "second"
    assert served.get(task)["state"] == "failed"  # it was a dry run
    served.send("PATCH", task, {"new_state": "success", "dry_run": False})
    served.wait("flaky", "one")
    assert served.get(f"{path}/taskInstances/third")["state"] == "success"
    served.send("PATCH", task, {"new_state": "great", "dry_run": False}, code=400)

    served.run("flaky", "two", state="failed")
    changed = served.send("POST", "/dags/flaky/updateTaskInstancesState",
                          {"task_id": "second", "dag_run_id": "two", "new_state": "success",
                           "include_downstream": True, "dry_run": False})
    assert {one["task_id"] for one in changed["task_instances"]} == {"second", "third"}
    served.wait("flaky", "two")

    served.run("flaky", "three", state="failed")
    assert served.send("PATCH", "/dags/flaky/dagRuns/three", {"state": "success"})["dag_run_id"]
    served.wait("flaky", "three")
    served.send("PATCH", "/dags/flaky/dagRuns/three", {"state": "great"}, code=400)
    served.run("flaky", "four", state="failed")
    served.flag.touch()
    served.send("PATCH", "/dags/flaky/dagRuns/four", {"state": "queued"})
    served.wait("flaky", "four")


def test_tasks_of_many_runs_are_cleared(served):
    for day in (1, 2, 3):
        served.run("flaky", f"day{day}", state="failed",
                   logical_date=f"2026-01-0{day}T00:00:00Z")
    clear = "/dags/flaky/clearTaskInstances"
    planned = served.send("POST", clear, {"start_date": "2026-01-02T00:00:00Z"})
    assert {(one["dag_run_id"], one["task_id"]) for one in planned["task_instances"]} == {
        (run, task) for run in ("day2", "day3") for task in ("second", "third")}
    past = served.send("POST", clear, {"dag_run_id": "day2", "include_past": True})
    assert {one["dag_run_id"] for one in past["task_instances"]} == {"day1", "day2"}
    served.flag.touch()
    served.send("POST", clear, {"end_date": "2026-01-02T00:00:00Z", "dry_run": False})
    served.wait("flaky", "day1")
    served.wait("flaky", "day2")
    assert served.state("flaky", "day3") == "failed"
    planned = served.send("POST", "/dags/flaky/dagRuns/day3/clear", {})
    assert planned["total_entries"] == 3 and served.state("flaky", "day3") == "failed"


def test_logs_in_parts(served):
    served.add("loud", """
        tasks:
          a:
            run: |
              i=0
              while [ $i -lt 30000 ]; do
                echo "line $i of a log that is long enough to need more than one part"
                i=$((i+1))
              done
        """)
    served.run("loud", "one")
    path = "/dags/loud/dagRuns/one/taskInstances/a/logs"
    whole = served.text(f"{path}/1", full_content="true")
    assert whole.headers["Content-Type"].startswith("text/plain")
    lines = whole.text.splitlines()
    assert len(lines) == 30000 and lines[-1].startswith("line 29999 ")
    assert served.text(f"{path}/1").text == whole.text
    part = served.text(f"{path}/1", accept="application/json").json
    rest = served.text(f"{path}/1", token=part["continuation_token"])
    assert part["content"] + rest.text == whole.text
    parts = [part["content"]]
    while "continuation_token" in part:
        part = served.text(f"{path}/1", accept="application/json",
                           token=part["continuation_token"]).json
        parts.append(part["content"])
    assert len(parts) > 1 and "".join(parts) == whole.text
    assert served.text(path, full_content="true").text == whole.text
    served.get(f"{path}/x", code=404)
    served.api("GET", f"{V1}{path}/2", headers={"Accept": "text/plain"}, code=404)


def test_values_that_tasks_left(served):
    served.add("leaves", """
        tasks:
          a:
            run: 'echo "{\\"rows\\": 7}" > "$EIDER_OUTPUTS/found"; echo hi > "$EIDER_OUTPUTS/word"'
        """)
    served.run("leaves", "one")
    path = "/dags/leaves/dagRuns/one/taskInstances/a/xcomEntries"
    entries = served.get(path)
    assert ids(entries, "xcom_entries", "key") == ["found", "word"]
    assert entries["total_entries"] == 2 and "value" not in entries["xcom_entries"][0]
    assert entries["xcom_entries"][0]["timestamp"] and entries["xcom_entries"][0]["execution_date"]
    assert served.get(f"{path}/found")["value"] == '{"rows":7}'
    assert served.get(f"{path}/found", stringify="false")["value"] == {"rows": 7}
    assert served.get(f"{path}/word")["value"] == "hi"
    assert served.get(path, xcom_key="word")["total_entries"] == 1
    served.get(f"{path}/none", code=404)


def test_dags_in_pages(served):
    assert ids(served.get("/dags"), "dags", "dag_id") == ["chain", "fed", "flaky", "mapped", "slow"]
    page = served.get("/dags", limit=2, offset=1)
    assert ids(page, "dags", "dag_id") == ["fed", "flaky"] and page["total_entries"] == 5
    assert ids(served.get("/dags", order_by="-dag_id", limit=2), "dags", "dag_id") == ["slow",
                                                                                     "mapped"]
    assert ids(served.get("/dags", dag_id_pattern="LA"), "dags", "dag_id") == ["flaky"]
    assert served.get("/dags", tags="etl")["total_entries"] == 2
    paused = served.send("PATCH", "/dags", {"is_paused": True}, dag_id_pattern="f")
    assert ids(paused, "dags", "dag_id") == ["fed", "flaky"]
    assert ids(served.get("/dags", paused="true"), "dags", "dag_id") == ["fed", "flaky"]
    assert served.get("/dags", paused="false")["total_entries"] == 3
    served.send("PATCH", "/dags", {"is_paused": False}, dag_id_pattern="~")
    assert served.get("/dags", paused="true")["total_entries"] == 0
    shown = served.get("/dags/chain")
    again = served.send("PATCH", "/dags/chain", {**shown, "is_paused": True},
                        update_mask="is_paused")
    assert again["is_paused"]
    assert served.get("/dags/chain/versions")["versions"][0]["version_number"] == 1
    assert "extract" in served.text("/dagSources/chain").text
    (served.eider.work / "dags/slow.yaml").unlink()
    wait_for(lambda: served.get("/dags")["total_entries"] == 4, "its file is gone")
    assert served.get("/dags", only_active="false")["total_entries"] == 5
    assert served.send("DELETE", "/dags/slow", code=204) is None
    assert served.get("/dags", only_active="false")["total_entries"] == 4


def test_dags_posted_as_json(served):
    dag = {"dag": "posted", "tags": ["api"], "tasks": {"a": {"run": "echo one"}}}
    made = served.send("POST", "/dags", dag)
    assert made["dag_id"] == "posted" and made["dag_version"] == 1 and made["is_active"]
    served.send("POST", "/dags", dag, code=409)
    run = served.run("posted", "first")
    logs = "/dags/posted/dagRuns/{}/taskInstances/a/logs/1"
    assert served.text(logs.format(run)).text == "one\n"
    dag["tasks"]["a"]["run"] = "echo two"
    assert served.send("PUT", "/dags/posted", dag)["dag_version"] == 2
    assert served.text(logs.format(served.run("posted", "second"))).text == "two\n"
    assert "echo two" in served.text("/dagSources/posted").text
    assert served.get("/dags", tags="api")["total_entries"] == 1

    served.send("PUT", "/dags/other", dag, code=400)
    served.send("PUT", "/dags/chain", {"tasks": {"a": {"run": "true"}}}, code=409)  # has a file
    problem = served.send("POST", "/dags", {"dag": "bad", "tasks": {"a": {"ruin": "x"}}}, code=422)
    assert "task 'a' has no kind" in problem["detail"]
    served.send("POST", "/dags", {"tasks": {"a": {"run": "x"}}}, code=400)
    served.send("POST", "/dags", [], code=400)

    token = served.eider("tokens", "add", "sales", "--role", "sales=editor", "-o", "json",
                         code=0).json()["token"]
    served.api.token = token
    served.send("POST", "/dags", {**dag, "dag": "theirs"}, code=403)
    served.send("PUT", "/dags/posted", dag, code=403)
    served.send("POST", "/dags", {**dag, "dag": "ours", "namespace": "sales"})
    assert ids(served.get("/dags"), "dags", "dag_id") == ["ours"]
    served.get("/dags/posted", code=404)
    served.api.token = served.token
    assert served.send("DELETE", "/dags/posted", code=204) is None
    served.get("/dags/posted", code=404)


THINGS = [  # path, their name for the name, what to make, what to change
    ("pools", "name", {"slots": 1}, {"slots": 2}),
    ("variables", "key", {"value": "1"}, {"value": "2"}),
    ("connections", "connection_id", {"conn_type": "http", "host": "a"}, {"host": "b"}),
]


def test_things_of_namespaces(served):
    def names(path, key, **query):
        listed = ids(served.get(f"/{path}", **query), path, key)
        return [name for name in listed if name != "default"]  # a pool that is always there

    eider, whole = served.eider, served.api.token
    made = eider("tokens", "add", "seller", "--role", "sales=editor", "-o", "json", code=0).json()
    for path, key, new, change in THINGS:
        one, (member, value) = f"/{path}/thing", list(change.items())[0]
        served.api.token = whole
        served.send("POST", f"/{path}", {key: "ours", **new})
        sold = served.send("POST", f"/{path}", {key: "thing", **new, "namespace": "sales"})
        assert sold["namespace"] == "sales"
        assert names(path, key) == ["ours"]
        assert served.get(f"/{path}/ours")["namespace"] == "default"
        assert names(path, key, namespace="sales") == ["thing"]
        served.get(one, code=404)
        served.send("PATCH", one, change, code=404, namespace="hr")
        assert served.get(one, namespace="sales")[key] == "thing"
        served.send("PATCH", one, {**change, "namespace": "hr"}, code=400, namespace="sales")
        assert served.send("PATCH", one, change, namespace="sales")[member] == value
        sent_back = {key: "thing", "namespace": "sales", **new}  # without the parameter
        assert served.send("PATCH", one, sent_back)[member] == new[member]
        served.api.token = made["token"]
        assert names(path, key) == ["thing"]
        assert served.send("PATCH", one, change)["namespace"] == "sales"
        assert served.get(one)[member] == value
        served.get(f"/{path}/ours", code=404, namespace="default")
        assert served.send("POST", f"/{path}", {key: "ours", **new})["namespace"] == "sales"
        served.send("DELETE", one, code=204)
        served.api.token = whole
        assert names(path, key, namespace="sales") == ["ours"]
        served.send("DELETE", f"/{path}/ours", code=204)
        assert names(path, key) == []
        assert names(path, key, namespace="sales") == ["ours"]


def test_a_dataset_that_was_never_updated_has_no_times(served):
    uri = "file:///data/orders"
    dataset, = served.get("/datasets")["datasets"]
    assert dataset["uri"] == uri and dataset["id"] == 0
    consumer, = dataset["consuming_dags"]
    assert consumer["dag_id"] == "fed"
    for one in (dataset, consumer):
        assert "created_at" not in one and "updated_at" not in one
    made = served.send("POST", "/datasets/events", {"dataset_uri": uri})
    dataset, = served.get("/datasets")["datasets"]
    assert dataset["id"] == made["dataset_id"] > 0
    for one in (dataset, dataset["consuming_dags"][0]):
        assert one["created_at"] > "2020" and one["updated_at"] > "2020"


def test_events_as_logs(served):
    served.run("chain", "one")
    served.run("mapped", "two")
    before = served.get("/eventLogs")["total_entries"]
    assert before > 4
    newest = served.get("/eventLogs", order_by="-event_log_id", limit=3)["event_logs"]
    oldest = served.get("/eventLogs", limit=3)["event_logs"]
    assert newest[0]["event_log_id"] > oldest[-1]["event_log_id"]
    ended = served.get("/eventLogs", event="task_ended", dag_id="chain", run_id="one")
    assert ids(ended, "event_logs", "task_id") == ["extract", "load"]
    assert served.get("/eventLogs", included_events="run_created")["total_entries"] == 2
    assert served.get("/eventLogs", excluded_events="run_created")["total_entries"] == before - 2
    assert served.get("/eventLogs", owner="token test")["total_entries"] >= 2
    assert served.get("/eventLogs", after="2200-01-01T00:00:00Z")["total_entries"] == 0
    assert served.get("/eventLogs", before="2200-01-01T00:00:00Z")["total_entries"] == before


def test_settings_backfills_and_what_there_is_none_of(served):
    options = served.get("/config")["sections"][0]["options"]
    assert {"key": "listen", "value": "127.0.0.1:0"} in options
    assert "listen = 127.0.0.1:0\n" in served.text("/config").text
    assert served.get("/config/section/eider/option/listen")["sections"][0]["options"]
    assert served.get("/plugins")["plugins"] == [] and served.get("/providers")["providers"] == []
    served.add("daily", """
        schedule: {cron: "0 0 * * *", start: 2026-01-01}
        tasks: {a: {run: "echo day"}}
        """)
    served.send("PATCH", "/dags/daily", {"is_paused": True})
    made = served.send("POST", "/backfills", {
        "dag_id": "daily", "from_date": "2026-01-01T00:00:00Z",
        "to_date": "2026-01-03T00:00:00Z"})
    path = f"/backfills/{made['id']}"
    wait_for(lambda: served.get(path)["state"] == "success", "the backfill ends")
    assert served.get("/backfills", dag_id="daily")["total_entries"] == 1
    assert ids(served.get("/dags/daily/dagRuns"), key="run_type") == ["backfill"] * 3
