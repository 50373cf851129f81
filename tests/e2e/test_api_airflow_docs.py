"""The examples of docs/airflow-api.md do what they say."""
import re
import subprocess
import sys

from airflow import ROOT, served  # noqa: F401  (a fixture)


def blocks_of(language):
    text = (ROOT / "docs/airflow-api.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(served, *command):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False,
        env=served.eider.environment({"EIDER": f"http://{served.api.host}:{served.api.port}",
                                      "TOKEN": served.token, "PYTHONPATH": ":".join(sys.path)}))
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr}"
    return done


def test_every_example_works(served):
    blocks = blocks_of("sh")
    assert len(blocks) >= 6
    done = run(served, "bash", "-c", "set -euo pipefail\n" + "\n".join(blocks))
    assert "from x" in done.stdout and '"is_paused":true' in done.stdout
    assert '"slots":8' in done.stdout and '"dataset_uri":"file:///data/orders"' in done.stdout
    assert "secret" not in done.stdout


def test_the_example_of_the_client_works(served):
    (script,) = blocks_of("python")
    assert run(served, sys.executable, "-c", script).stdout.split()[1:] == ["success"]
