"""The published client of Airflow works against a daemon as it does against Airflow."""
import pytest
from airflow import served  # noqa: F401  (a fixture)
from harness import wait_for

from airflow_client import client  # tools/setup installs it
from airflow_client.client.api import (
    config_api, connection_api, dag_api, dag_run_api, dataset_api, event_log_api,
    import_error_api, monitoring_api, pool_api, task_instance_api, variable_api, x_com_api)
from airflow_client.client.model.clear_dag_run import ClearDagRun
from airflow_client.client.model.clear_task_instances import ClearTaskInstances
from airflow_client.client.model.connection import Connection
from airflow_client.client.model.create_dataset_event import CreateDatasetEvent
from airflow_client.client.model.dag import DAG
from airflow_client.client.model.dag_run import DAGRun
from airflow_client.client.model.list_dag_runs_form import ListDagRunsForm
from airflow_client.client.model.list_task_instance_form import ListTaskInstanceForm
from airflow_client.client.model.pool import Pool
from airflow_client.client.model.set_dag_run_note import SetDagRunNote
from airflow_client.client.model.task_state import TaskState
from airflow_client.client.model.update_dag_run_state import UpdateDagRunState
from airflow_client.client.model.variable import Variable


@pytest.fixture
def airflow(served):
    configuration = client.Configuration(
        host=f"http://{served.api.host}:{served.api.port}/api/v1")
    with client.ApiClient(configuration) as connection:
        connection.set_default_header("Authorization", f"Bearer {served.token}")
        yield connection


def test_from_the_list_of_dags_to_the_log_of_a_task(served, airflow):
    dags = dag_api.DAGApi(airflow)
    runs = dag_run_api.DAGRunApi(airflow)
    tasks = task_instance_api.TaskInstanceApi(airflow)

    listed = dags.get_dags(tags=["nightly"])
    assert [dag.dag_id for dag in listed.dags] == ["chain"] and listed.total_entries == 1
    assert dags.get_dags(limit=2, offset=1).total_entries == 5
    dag = dags.get_dag("chain")
    assert dag.description == "extract, then load" and dag.owners == ["anna"]
    assert {tag.name for tag in dag.tags} == {"etl", "nightly"}
    assert dags.get_dag_details("chain").params
    assert [task.task_id for task in dags.get_tasks("chain").tasks] == ["extract", "load"]
    assert dags.get_task("chain", "load").trigger_rule.value == "all_success"
    assert "extract" in dags.get_dag_source(dag.file_token).content

    made = runs.post_dag_run("chain", DAGRun(dag_run_id="mine", conf={"source": "there"},
                                             note="by hand"))
    assert made.dag_run_id == "mine" and made.dag_id == "chain"
    wait_for(lambda: runs.get_dag_run("chain", "mine").state.value == "success", "the run ends")
    run = runs.get_dag_run("chain", "mine")
    assert run.conf == {"source": "there"} and run.note == "by hand" and run.external_trigger
    assert run.logical_date == run.execution_date and run.run_type == "manual"
    with pytest.raises(client.ApiException) as twice:
        runs.post_dag_run("chain", DAGRun(dag_run_id="mine"))
    assert twice.value.status == 409

    listed = tasks.get_task_instances("chain", "mine")
    assert listed.total_entries == 2
    assert {task.task_id: task.state.value for task in listed.task_instances} == {
        "extract": "success", "load": "success"}
    one = tasks.get_task_instance("chain", "mine", "extract")
    assert one.try_number == 1 and one.max_tries == 1 and one.duration >= 0 and one.pid
    log = tasks.get_log("chain", "mine", "extract", 1, full_content=True)
    assert "from there" in log.content

    everywhere = tasks.get_task_instances("~", "~", state=["success"])
    assert everywhere.total_entries == 2
    assert runs.get_dag_runs("~").total_entries == 1
    form = ListDagRunsForm(dag_ids=["chain"], states=["success"])
    assert runs.get_dag_runs_batch(form).total_entries == 1
    form = ListTaskInstanceForm(dag_ids=["chain"], state=[TaskState("success")])
    assert tasks.get_task_instances_batch(form).total_entries == 2

    noted = runs.set_dag_run_note("chain", "mine", SetDagRunNote(note="looked at"))
    assert noted.note == "looked at"
    runs.delete_dag_run("chain", "mine")
    with pytest.raises(client.ApiException) as gone:
        runs.get_dag_run("chain", "mine")
    assert gone.value.status == 404


def test_what_failed_is_cleared_and_runs_again(served, airflow):
    runs = dag_run_api.DAGRunApi(airflow)
    tasks = task_instance_api.TaskInstanceApi(airflow)
    served.run("flaky", "one", state="failed")
    states = {task.task_id: task.state.value
              for task in tasks.get_task_instances("flaky", "one").task_instances}
    assert states == {"first": "success", "second": "failed", "third": "upstream_failed"}
    served.flag.touch()

    dags = dag_api.DAGApi(airflow)
    planned = dags.post_clear_task_instances("flaky", ClearTaskInstances(
        dag_run_id="one", task_ids=["second"], include_downstream=True))
    assert {task.task_id for task in planned.task_instances} == {"second", "third"}
    assert runs.get_dag_run("flaky", "one").state.value == "failed"
    dags.post_clear_task_instances("flaky", ClearTaskInstances(
        dag_run_id="one", task_ids=["second"], include_downstream=True, dry_run=False))
    wait_for(lambda: runs.get_dag_run("flaky", "one").state.value == "success", "it runs again")
    tries = tasks.get_task_instance_tries("flaky", "one", "second")
    assert [(one.try_number, one.state.value) for one in tries.task_instances] == [
        (1, "failed"), (2, "success")]

    runs.clear_dag_run("flaky", "one", ClearDagRun(dry_run=False))
    wait_for(lambda: runs.get_dag_run("flaky", "one").state.value == "success", "and once more")
    assert tasks.get_task_instance("flaky", "one", "first").try_number == 2


def test_a_run_is_stopped(served, airflow):
    runs = dag_run_api.DAGRunApi(airflow)
    served.trigger("slow", "one")
    wait_for(lambda: served.tasks("slow", "one")["waits", -1]["state"] == "running", "it runs")
    stopped = runs.update_dag_run_state("slow", "one", UpdateDagRunState(state="failed"))
    assert stopped.state.value == "failed"
    wait_for(lambda: runs.get_dag_run("slow", "one").end_date is not None, "it stops")
    assert runs.get_dag_run("slow", "one").state.value == "failed"


def test_a_dag_is_paused(airflow):
    dags = dag_api.DAGApi(airflow)
    assert dags.patch_dag("chain", DAG(is_paused=True), update_mask=["is_paused"]).is_paused
    assert [dag.dag_id for dag in dags.get_dags(paused=True).dags] == ["chain"]
    assert not dags.patch_dag("chain", DAG(is_paused=False)).is_paused


def test_pools(airflow):
    pools = pool_api.PoolApi(airflow)
    made = pools.post_pool(Pool(name="db", slots=3, description="connections"))
    assert made.slots == 3 and made.open_slots == 3 and made.occupied_slots == 0
    with pytest.raises(client.ApiException) as twice:
        pools.post_pool(Pool(name="db", slots=3))
    assert twice.value.status == 409
    changed = pools.patch_pool("db", Pool(name="db", slots=5), update_mask=["slots"])
    assert changed.slots == 5 and changed.description == "connections"
    assert "db" in [pool.name for pool in pools.get_pools().pools]
    pools.delete_pool("db")
    with pytest.raises(client.ApiException) as gone:
        pools.get_pool("db")
    assert gone.value.status == 404


def test_variables(airflow):
    variables = variable_api.VariableApi(airflow)
    made = variables.post_variables(Variable(key="region", value="north", description="where"))
    assert made.value == "north"
    changed = variables.patch_variable("region", Variable(key="region", value="south"))
    assert changed.value == "south" and variables.get_variable("region").description == "where"
    assert variables.get_variables().total_entries == 1
    variables.delete_variable("region")
    assert variables.get_variables().total_entries == 0


def test_connections_keep_their_secrets(served, airflow):
    connections = connection_api.ConnectionApi(airflow)
    secret = "a-secret-nobody-sees"
    made = connections.post_connection(Connection(
        connection_id="warehouse", conn_type="postgres", host="db.example", port=5432,
        login="eider", password=secret, extra='{"sslmode": "require"}'))
    assert made.host == "db.example" and made.port == 5432 and "password" not in made.to_dict()
    changed = connections.patch_connection(
        "warehouse", Connection(connection_id="warehouse", conn_type="postgres", port=6432),
        update_mask=["port"])
    assert changed.port == 6432 and changed.host == "db.example"
    assert "require" in connections.get_connection("warehouse").extra
    assert [one.connection_id for one in connections.get_connections().connections] == [
        "warehouse"]
    shown = served.api("GET", "/api/v1/connections/warehouse").text
    assert secret not in shown and "require" in shown
    kept = served.eider("conns", "show", "warehouse", "-o", "json", code=0)
    assert "6432" in kept.out and secret not in kept.out
    with pytest.raises(client.ApiException) as unknown:
        connections.test_connection(Connection(connection_id="elsewhere", conn_type="http",
                                               host="127.0.0.1", port=served.api.port))
    assert unknown.value.status == 404
    connections.delete_connection("warehouse")
    assert connections.get_connections().total_entries == 0


def test_datasets(served, airflow):
    datasets = dataset_api.DatasetApi(airflow)
    waited = datasets.get_datasets().datasets
    assert [(one.uri, [dag.dag_id for dag in one.consuming_dags]) for one in waited] == [
        ("file:///data/orders", ["fed"])]
    event = datasets.create_dataset_event(CreateDatasetEvent(
        dataset_uri="file:///data/orders", extra={"rows": 3}))
    assert event.dataset_uri == "file:///data/orders" and event.extra == {"rows": 3}
    runs = dag_run_api.DAGRunApi(airflow)
    wait_for(lambda: runs.get_dag_runs("fed").total_entries == 1, "the DAG starts")
    run = runs.get_dag_runs("fed").dag_runs[0]
    assert run.run_type == "dataset_triggered"
    upstream = dag_run_api.DAGRunApi(airflow).get_upstream_dataset_events("fed", run.dag_run_id)
    assert upstream.dataset_events[0].extra == {"rows": 3}
    listed = datasets.get_dataset_events(dataset_id=event.dataset_id)
    assert listed.total_entries == 1
    assert listed.dataset_events[0].created_dagruns[0].run_id == run.dag_run_id
    assert datasets.get_dataset("file:///data/orders").id == event.dataset_id


def test_what_is_around(served, airflow):
    served.eider.write("dags/broken.yaml", "tasks: {a: {ruin: x}}\n")
    errors = import_error_api.ImportErrorApi(airflow)
    wait_for(lambda: errors.get_import_errors().total_entries == 1, "the file is seen")
    error = errors.get_import_errors().import_errors[0]
    assert error.filename.endswith("broken.yaml") and "ruin" in error.stack_trace
    assert errors.get_import_error(error.import_error_id).filename == error.filename

    served.run("chain", "one")
    events = event_log_api.EventLogApi(airflow)
    log = events.get_event_logs(dag_id="chain", event="run_created")
    assert log.total_entries == 1 and log.event_logs[0].run_id == "one"
    assert events.get_event_log(log.event_logs[0].event_log_id).event == "run_created"

    assert config_api.ConfigApi(airflow).get_config().sections[0].options
    assert monitoring_api.MonitoringApi(airflow).get_version().version
    values = x_com_api.XComApi(airflow).get_xcom_entries("chain", "one", "extract")
    assert values.total_entries >= 0
