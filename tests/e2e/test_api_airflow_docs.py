"""The examples of docs/airflow-api.md do what they say."""
import re
import subprocess

from airflow import ROOT, served  # noqa: F401  (a fixture)


def test_every_example_works(served):
    text = (ROOT / "docs/airflow-api.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    script = "set -euo pipefail\n" + "\n".join(blocks)
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False,
        env=served.eider.environment({"EIDER": f"http://{served.api.host}:{served.api.port}",
                                      "TOKEN": served.token}))
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr}"
    assert "from x" in done.stdout and '"is_paused":true' in done.stdout
    assert '"slots":8' in done.stdout and '"dataset_uri":"file:///data/orders"' in done.stdout
    assert "secret" not in done.stdout
