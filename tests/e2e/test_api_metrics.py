"""Metrics, health, StatsD and traces, as those who read them see them."""
import json
import re
import socket
import subprocess

import pytest

from api import LISTEN, Api
from fleet import FAST
from harness import ROOT, wait_for
from prometheus import Prometheus, parse, value
from receiver import Receiver

DAG = """\
tasks:
  good: {run: "true", pool: small}
  bad: {run: exit 1, retries: 1, retry_delay: 10ms, allow_failure: true}
  odd: {run: "true", if: "{{ false }}"}
"""
TABLE = re.compile(r'X\(\w+, "(eider_\w+)", (\w+), (\w+), ')


@pytest.fixture
def busy(world, up):
    """A daemon that has worked: a run with a success, a retry, a failure and a skip; two jobs."""
    world.write("dags/shop.yaml", DAG)
    world.write("eider.yaml", "handlers: {echo: 'true'}\n")
    world("pools", "set", "small", "--slots", "3", code=0)
    daemon = up(env={**LISTEN, **FAST})
    api = Api(daemon)
    world("run", "shop", code=0)
    return world, api, daemon


def metrics(api, **options):
    return api("GET", "/metrics", code=200, **options).text


# --- metrics -----------------------------------------------------------------------------------


def test_what_happens_is_counted_once_it_is_durable(busy):
    world, api, _ = busy
    text = metrics(api)
    assert value(text, "eider_tasks_total", dag_id="shop", task_id="good", state="success") == 1
    assert value(text, "eider_tasks_total", dag_id="shop", task_id="bad", state="failed") == 1
    assert value(text, "eider_tasks_total", dag_id="shop", task_id="odd", state="skipped") == 1
    assert value(text, "eider_task_retries_total", dag_id="shop", task_id="bad") == 1
    assert value(text, "eider_dag_runs_total", dag_id="shop", state="success") == 1
    assert value(text, "eider_dag_run_duration_seconds_count", dag_id="shop") == 1
    assert value(text, "eider_task_duration_seconds_count", task_id="good", state="success") == 1
    assert value(text, "eider_task_duration_seconds_count", task_id="odd") is None
    assert value(text, "eider_scheduling_latency_seconds_count") >= 4
    assert value(text, "eider_claim_latency_seconds_count") >= 1
    assert value(text, "eider_store_batch_size_sum") >= 4
    assert value(text, "eider_store_commit_seconds_count") >= 3
    assert value(text, "eider_scheduler_tick_seconds_count") >= 1
    assert value(text, "eider_tasks_scheduled_total") >= 4
    assert value(text, "eider_dags_parsed_total") == 1
    assert value(text, "eider_pool_slots", pool="small", state="open") == 3
    assert value(text, "eider_tasks_starving") == 0
    assert value(text, "eider_dag_runs_active") == 0
    assert value(text, "eider_worker_slots") >= 1
    assert value(text, "eider_worker_memory_bytes") > 0
    assert value(text, "eider_leader_changes_total") == 0


def test_jobs_are_counted_by_their_queue(world, up):
    world("queues", "set", "mail", code=0)
    world("queues", "pause", "mail", code=0)
    api = Api(up(env={**LISTEN, **FAST}))
    for _ in range(3):
        api.post("/api/v1/x/operations/job.enqueue",
                 {"jobs": [{"queue": "mail", "handler": "nobody"}]},
                 headers=admin(world), code=200)
    text = wait_for(lambda: seen(api, "eider_jobs_pending", 3), "the jobs")
    assert value(text, "eider_jobs_enqueued_total", queue="mail") == 3
    assert value(text, "eider_queue_depth", queue="mail") == 3
    assert value(text, "eider_queue_ready", queue="mail") == 3
    assert value(text, "eider_queue_ready", queue="default") == 0
    assert value(text, "eider_jobs_claimed") == 0


def seen(api, name, number, **labels):
    text = metrics(api)
    return text if value(text, name, **labels) == number else None


def admin(world, role="*=admin"):
    made = world("tokens", "add", "test", "--role", role, "-o", "json", code=0).json()
    return {"Authorization": f"Bearer {made['token']}"}


def test_every_metric_of_the_table_is_told_and_documented(busy):
    _, api, _ = busy
    rows = TABLE.findall((ROOT / "src/model/metric_map.h").read_text())
    assert len(rows) > 40
    text = metrics(api)
    named = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
    assert named == [(name, kind.lower()) for name, kind, _ in rows]
    documented = (ROOT / "docs/metrics.md").read_text()
    assert [name for name, _, _ in rows if f"`{name}`" not in documented] == []


def test_promtool_finds_nothing_to_complain_of(busy):
    _, api, _ = busy
    done = subprocess.run(["promtool", "check", "metrics"], input=metrics(api), text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_beyond_a_number_of_tasks_the_rest_is_counted_together(eider, up):
    tasks = "".join(f"  t{i}: {{noop: }}\n" for i in range(9))
    eider.write("dags/many.yaml", f"tasks:\n{tasks}")
    api = Api(up(env={**LISTEN, **FAST, "EIDER_METRICS_SERIES": "4"}))
    eider("run", "many", code=0)
    found = [labels for labels, _ in parse(metrics(api))["eider_tasks_total"]]
    assert len({labels["task_id"] for labels in found}) == 5
    assert value(metrics(api), "eider_tasks_total", dag_id="other", task_id="other") == 5
    assert value(metrics(api), "eider_tasks_total") == 9


def test_a_missed_deadline_is_counted_with_its_dag(eider, up):
    eider.write("dags/late.yaml", "sla: 50ms\ntasks:\n  slow: {run: sleep 0.5}\n")
    api = Api(up(env={**LISTEN, **FAST}))
    eider("run", "late", code=0)
    wait_for(lambda: seen(api, "eider_sla_misses_total", 1, dag_id="late"), "the miss")
    assert value(metrics(api), "eider_sla_miss_duration_seconds_count", dag_id="late") == 1


def test_metrics_are_for_who_may_see_all_or_is_at_the_machine(busy):
    world, api, _ = busy
    for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
        assert api("GET", "/metrics", headers={header: "1.2.3.4"}).status == 401, header
    far = {"X-Forwarded-For": "1.2.3.4"}
    assert "eider_tasks_total" in metrics(api, headers={**far, **admin(world, "*=viewer")})
    assert api("GET", "/metrics", headers={**far, **admin(world, "sales=admin")}).status == 403
    assert api("GET", "/metrics", headers={"Authorization": "Bearer nonsense", **far}).status == 401


@pytest.mark.parametrize("hosts", [2])
def test_any_host_of_a_fleet_tells_the_same_of_the_store(fleet_up, hosts):
    apis = [Api(fleet_up(f"host{i}", **LISTEN, **FAST)) for i in range(hosts)]
    kinds = TABLE.findall((ROOT / "src/model/metric_map.h").read_text())
    of_store = {"eider_queue_depth", "eider_pool_slots", "eider_worker_slots", "eider_dead_letters",
                "eider_worker_active_tasks", "eider_leader_changes_total", "eider_dag_runs_active"}
    assert of_store <= {name for name, _, _ in kinds}
    answers = wait_for(lambda: fleet_answers(apis, hosts), "both hosts see both")
    told = [{name: answer[name] for name in of_store} for answer in answers]
    assert told[0] == told[1]


def fleet_answers(apis, hosts):
    answers = [parse(metrics(api)) for api in apis]
    sizes = {len(answer["eider_worker_slots"]) for answer in answers}
    return answers if sizes == {hosts} else None


def test_a_change_of_the_leader_is_counted(fleet_up):
    first = fleet_up("first", **FAST)
    second = Api(fleet_up("second", **LISTEN, **FAST))
    wait_for(lambda: len(parse(metrics(second))["eider_worker_slots"]) == 2, "both hosts")
    assert value(metrics(second), "eider_leader_detection_seconds_count") == 0
    first.finish()
    wait_for(lambda: seen(second, "eider_leader_detection_seconds_count", 1), "the detection")
    wait_for(lambda: seen(second, "eider_leader_changes_total", 1), "the change")


# --- a real Prometheus -------------------------------------------------------------------------


def test_the_dashboard_shows_data_of_a_real_prometheus(eider, up, tmp_path):
    eider.write("dags/shop.yaml", "sla: 1ms\n" + DAG)
    eider("pools", "set", "small", "--slots", "3", code=0)
    daemon = up(env={**LISTEN, **FAST})
    api = Api(daemon)
    token = admin(eider)
    prometheus = Prometheus(tmp_path / "prometheus", [f"{api.host}:{api.port}"])
    try:
        wait_for(lambda: prometheus.query('up{job="eider"} == 1'), "a scrape")
        panels = json.loads((ROOT / "packaging/grafana/eider.json").read_text())["panels"]
        queries = [target["expr"] for panel in panels for target in panel["targets"]]
        assert len(queries) > 25
        missing = dict.fromkeys(queries)

        def work():
            """Everything the dashboard shows happens again until all of it was seen."""
            eider("run", "shop", code=0)
            api.post("/api/v1/x/operations/job.enqueue",
                     {"jobs": [{"queue": "default", "handler": "nobody"}]}, headers=token)
            for query in list(missing):
                if has_number(prometheus.query(query.replace("$__rate_interval", "1m"))):
                    del missing[query]
            return not missing

        wait_for(work, f"data for {len(queries)} queries", timeout=120)
    finally:
        prometheus.close()
        assert not missing, list(missing)


def has_number(series):
    return any(item["value"][1] != "NaN" for item in series)


# --- health ------------------------------------------------------------------------------------


def test_health_in_both_shapes(busy):
    world, api, _ = busy
    assert api("GET", "/healthz", code=200).text == "ok\n"
    assert api("GET", "/readyz", code=200).text == "ready\n"
    health = api.get("/api/v1/health")
    assert health["status"] == "healthy" and health["database"] == "healthy"
    assert health["metadatabase"] == {"status": "healthy"}
    scheduler = health["scheduler"]
    assert scheduler["status"] == "healthy"
    assert scheduler["latest_heartbeat"] == scheduler["latest_scheduler_heartbeat"]
    assert re.match(r"\d{4}-\d\d-\d\dT", scheduler["latest_heartbeat"])
    assert health["workers"] == {"active": 1, "target": 0}
    assert "checks" not in health, "reasons are for who is known"
    assert len(api.get("/api/v1/health", headers=admin(world))["checks"]) == 5
    assert world("health").code == 0


def test_without_a_daemon_it_is_unhealthy(busy):
    world, _, daemon = busy
    daemon.finish()
    done = world("health", "-o", "json")
    assert done.code == 8
    answer = done.json()
    assert answer["status"] == "unhealthy" and answer["scheduler"]["status"] == "unhealthy"
    assert answer["scheduler"]["latest_heartbeat"] is None
    assert "no host schedules" in world("health").out


def test_work_that_nobody_takes_is_unhealthy(world, up):
    world.write("dags/dag.yaml", "tasks:\n  one: {run: 'true'}\n")
    api = Api(up("--roles", "scheduler,api", env={**LISTEN, **FAST}))
    assert api.get("/api/v1/health")["status"] == "healthy"
    world("dags", "trigger", "dag", code=0)
    health = wait_for(lambda: unhealthy(api, admin(world)), "it is seen")
    assert "no host works, and 1 wait" in json.dumps(health["checks"])
    assert health["workers"] == {"active": 0, "target": 1}
    assert api("GET", "/readyz").status == 200, "requests are still answered"


def unhealthy(api, headers):
    health = api.get("/api/v1/health", headers=headers)
    return health if health["status"] == "unhealthy" else None


def test_a_database_that_is_away_is_unhealthy_and_not_ready(server, eider, up):
    api = Api(up(env={**LISTEN, **FAST}))
    assert api("GET", "/readyz").status == 200
    server.stop()
    try:
        wait_for(lambda: api("GET", "/readyz").status == 503, "it is not ready")
        health = api.get("/api/v1/health")
        assert health["status"] == health["database"] == "unhealthy"
        assert health["metadatabase"]["status"] == "unhealthy"
        assert api("GET", "/healthz").status == 200
        assert value(metrics(api), "eider_worker_cpu_ratio") is not None, "its own part stays"
    finally:
        server.start()
    wait_for(lambda: api("GET", "/readyz").status == 200, "it is ready again")


# --- StatsD ------------------------------------------------------------------------------------


def test_statsd_gets_what_was_added(eider, up):
    eider.write("dags/shop.yaml", "tasks:\n  good: {run: 'true'}\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(0.2)
        up(env={**FAST, "EIDER_STATSD": f"127.0.0.1:{listener.getsockname()[1]}",
                "EIDER_STATSD_PREFIX": "here", "EIDER_STATSD_PERIOD": "100ms"})
        for _ in range(2):
            eider("run", "shop", code=0)
        lines = []

        def total():
            try:
                lines.extend(listener.recv(65536).decode().split("\n"))
            except TimeoutError:
                pass
            counts = [line for line in lines if line.startswith("here.tasks.shop.good.success:")]
            assert all(line.endswith("|c") for line in counts)
            return sum(float(line.split(":")[1].split("|")[0]) for line in counts)

        wait_for(lambda: total() == 2, "two tasks")
        for _ in range(20):
            assert total() == 2, "nothing is sent twice"
        assert any(re.match(r"here\.task_duration\.shop\.good\.success:\d+\|ms", line)
                   for line in lines)
        assert any(re.match(r"here\.queue_depth\.default:0\|g", line) for line in lines)


def test_an_address_that_is_none_is_refused(eider):
    done = eider("up", env={"EIDER_STATSD": "nonsense"})
    assert done.code != 0 and "HOST:PORT" in done.err
    done = eider("up", env={"EIDER_OTLP_ENDPOINT": "nonsense"})
    assert done.code != 0 and "otlp_endpoint" in done.err


# --- traces ------------------------------------------------------------------------------------


@pytest.fixture
def collector():
    receiver = Receiver()
    yield receiver
    receiver.close()


def spans_of(collector):
    found = {}
    for request in list(collector.requests):
        assert request["path"] == "/v1/traces"
        assert request["headers"]["Content-Type"] == "application/json"
        for resource in json.loads(request["text"])["resourceSpans"]:
            names = {item["key"] for item in resource["resource"]["attributes"]}
            assert {"service.name", "host.name"} <= names
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    attributes = {item["key"]: next(iter(item["value"].values()))
                                  for item in span["attributes"]}
                    found[span["spanId"]] = {**span, "attributes": attributes}
    return list(found.values())


def test_runs_and_attempts_become_spans_of_one_trace(world, up, collector):
    world.write("dags/shop.yaml", """\
        tasks:
          first: {run: 'echo "$TRACEPARENT" >> @evidence'}
          bad: {run: exit 3, retries: 1, retry_delay: 10ms, needs: [first]}
        """)
    up(env={**FAST, "EIDER_OTLP_ENDPOINT": collector.url(""),
            "EIDER_OTLP_HEADERS": "x-key=secret,x-team=data"})
    world("run", "shop", code=1)
    spans = wait_for(lambda: len(spans_of(collector)) == 4 and spans_of(collector), "four spans")
    assert collector.requests[0]["headers"]["x-key"] == "secret"
    assert len({span["traceId"] for span in spans}) == 1
    run = next(span for span in spans if "parentSpanId" not in span)
    assert run["name"] == "shop" and run["attributes"]["eider.state"] == "failed"
    tasks = [span for span in spans if span is not run]
    assert {span["parentSpanId"] for span in tasks} == {run["spanId"]}
    tries = sorted(span["attributes"]["eider.try_number"] for span in tasks
                   if span["name"] == "shop.bad")
    assert tries == ["1", "2"]
    failed = next(span for span in tasks if span["name"] == "shop.bad")
    assert failed["status"]["code"] == 2 and failed["attributes"]["process.exit.code"] == "3"
    first = next(span for span in tasks if span["name"] == "shop.first")
    assert int(first["startTimeUnixNano"]) <= int(first["endTimeUnixNano"])
    assert world.evidence.lines() == [f"00-{first['traceId']}-{first['spanId']}-01"]


def test_a_run_belongs_to_the_trace_that_asked_for_it(world, up, collector):
    trace, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    world.write("dags/dag.yaml", "tasks:\n  one: {run: 'echo $TRACEPARENT >> @evidence'}\n")
    api = Api(up(env={**LISTEN, **FAST, "EIDER_OTLP_ENDPOINT": collector.url("")}))
    headers = {**admin(world), "traceparent": f"00-{trace}-{caller}-01"}
    api.post("/api/v1/x/operations/dag.trigger", {"dag": "dag"}, headers=headers)
    spans = wait_for(lambda: len(spans_of(collector)) == 2 and spans_of(collector), "two spans")
    assert {span["traceId"] for span in spans} == {trace}
    run = next(span for span in spans if span["name"] == "dag")
    assert run["parentSpanId"] == caller
    assert world.evidence.lines()[0].startswith(f"00-{trace}-")
    nonsense = {**admin(world), "traceparent": "00-nonsense"}
    api.post("/api/v1/x/operations/dag.trigger", {"dag": "dag"}, headers=nonsense)
    wait_for(lambda: len(spans_of(collector)) == 4, "another trace")
    assert len({span["traceId"] for span in spans_of(collector)}) == 2


def test_spans_that_nobody_takes_are_dropped_and_counted(eider, up, collector):
    eider.write("dags/dag.yaml", "tasks:\n  one: {run: 'true'}\n")
    collector.status = 400
    api = Api(up(env={**LISTEN, **FAST, "EIDER_OTLP_ENDPOINT": collector.url("/own/path")}))
    eider("run", "dag", code=0)
    wait_for(lambda: seen(api, "eider_spans_dropped_total", 2), "they are dropped")
    assert {request["path"] for request in collector.requests} == {"/own/path"}
    collector.status = 200
    eider("run", "dag", code=0)
    wait_for(lambda: seen(api, "eider_spans_sent_total", 2), "others are sent")


def test_without_a_collector_tasks_hear_of_no_trace(eider, up):
    eider.write("dags/dag.yaml", "tasks:\n  one: {run: 'echo [$TRACEPARENT] >> @evidence'}\n")
    up(env=FAST)
    eider("run", "dag", code=0)
    assert eider.evidence.lines() == ["[]"]
