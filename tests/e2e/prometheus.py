"""A Prometheus of the test's own, and its text format read back."""
import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request

from fleet import free_port
from harness import wait_for

LINE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def parse(text):
    """{name: [(labels, value)]} of an answer of /metrics."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = LINE.match(line)
        assert match, line
        labels = dict(LABEL.findall(match[2] or ""))
        found.setdefault(match[1], []).append((labels, float(match[3])))
    return found


def value(text, name, **labels):
    """The sum over all series with these labels; None when there is none."""
    values = [number for found, number in parse(text).get(name, [])
              if labels.items() <= found.items()]
    return sum(values) if values else None


class Prometheus:
    """Scrapes what it is told to, often, and answers queries."""

    def __init__(self, folder, targets, token=None):
        program = shutil.which("prometheus")
        assert program, "Prometheus is not installed; run tools/setup test"
        folder.mkdir()
        self.port = free_port()
        config = folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "500ms"},
            "scrape_configs": [{
                "job_name": "eider",
                "static_configs": [{"targets": targets}],
                **({"authorization": {"credentials": token}} if token else {}),
            }],
        }))
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=self.log, stderr=subprocess.STDOUT)
        wait_for(self.is_ready, "Prometheus is ready")

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read()

    def is_ready(self):
        try:
            return b"Ready" in self.get("/-/ready")
        except OSError:
            return False

    def query(self, text):
        """The series of an instant query."""
        answer = json.loads(self.get("/api/v1/query", query=text))
        assert answer["status"] == "success", answer
        return answer["data"]["result"]

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()
