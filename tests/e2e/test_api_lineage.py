"""What a dataset is made of, and what is made of it."""
from api import LISTEN
from admitted import admin

PATH = "/api/v1/lineage/dataset?dataset="
DAGS = {
    "load": """
        namespace: sales
        tasks:
          fetch: {run: "echo fetch", inputs: ["s3://raw"], outputs: ["s3://orders"]}
    """,
    "report": """
        namespace: sales
        tasks:
          sum: {run: "echo sum", inputs: "s3://orders", outputs: ["s3://sums", "s3://totals"]}
          other: {run: "true", outputs: ["s3://else"]}
    """,
    "tell": """
        namespace: sales
        schedule: {datasets: "s3://orders"}
        tasks: {mail: {run: "true"}}
    """,
    "secret": """
        namespace: hr
        tasks:
          pay: {run: "echo pay", inputs: ["s3://orders"], outputs: ["s3://salaries"]}
    """,
}


def test_the_lineage_of_a_dataset_is_told_one_step_either_way(world, up):
    for name, text in DAGS.items():
        world.write(f"dags/{name}.yaml", text)
    api = admin(world, up(env=LISTEN))
    world("assets", "emit", "s3://raw", code=0)
    world("dags", "trigger", "load", code=0)
    world("runs", "wait", "load", code=0)
    found = api.get(PATH + "s3://orders")
    [raw] = found["upstream_datasets"]
    assert found["dataset"] == "s3://orders"
    assert raw["dataset"] == "s3://raw" and raw["source"] and raw["last_updated"]
    [writer] = found["transformations"]
    assert (writer["dag_id"], writer["task_id"]) == ("load", "fetch")
    assert "echo fetch" in writer["code"]
    assert [(row["dag_id"], row["dataset"]) for row in found["downstream_datasets"]] == [
        ("report", "s3://sums"), ("report", "s3://totals"), ("secret", "s3://salaries"),
        ("tell", None)]
    [orders] = api.get(PATH + "s3://sums")["upstream_datasets"]
    assert orders["source"] == "load/fetch"
    made = world("tokens", "add", "small", "--role", "sales=viewer", "-o", "json", code=0).json()
    seen = api.with_token(made["token"]).get(PATH + "s3://orders")["downstream_datasets"]
    assert {row["dag_id"] for row in seen} == {"report", "tell"}, "nothing of other namespaces"
    assert api("GET", PATH + "s3://none").status == 404
    assert "s3://sums" in world("assets", "lineage", "s3://orders", code=0).out
