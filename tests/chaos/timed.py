"""DAGs that start by themselves: by time, by datasets, by another DAG's end; and one to backfill.

Each is offered from a file like any other. Their timetables end with the load, so that a run can
come to rest; @ is the probe, as in load.py.
"""
import datetime
import random

DATASET = "chaos://ticks"
HISTORY, PAUSED = "history", "ticking"
HISTORY_START = datetime.date(2026, 1, 1)
HISTORY_DAYS, BACKFILL_DAYS = 40, 4
CANARY, CANARY_SECONDS = "canary", 3.0

# One that keeps up, one that has to wait for itself and catches up a few at a time, one that
# leaves out what it cannot run; the rest follows those.
DAGS = {
    "ticking": """
max_active_runs: 100
schedule: { cron: "*/3 * * * * *", catchup: all, start: "$start", end: "$end" }
tasks:
  a: { run: "@ ms=100", outputs: ["chaos://ticks"] }
""",
    "queued": """
max_active_runs: 1
schedule: { every: 4s, catchup: all, grace: 2s, start: "$start", end: "$end" }
tasks:
  a: { run: "@ ms=800", retries: 1, retry_delay: 1s }
""",
    "skipping": """
max_active_runs: 1
schedule: { cron: "*/2 * * * * *", catchup: all, overlap: skip, start: "$start", end: "$end" }
tasks:
  a: { run: "@ ms=2500" }
""",
    "follower": """
max_active_runs: 100
schedule: { datasets: "chaos://ticks" }
tasks:
  a: { run: "@ ms=50" }
""",
    "mourner": """
max_active_runs: 1000
schedule: { after: { dag: chain, states: any } }
tasks:
  a: { run: "@ ms=50" }
""",
    HISTORY: """
max_active_runs: 2
schedule: { cron: "@daily", start: 2026-01-01 }
tasks:
  a: { run: "@ ms=100" }
  b: { needs: [a], run: "@ ms=100 fail=1", retries: 1, retry_delay: 500ms }
""",
}
CANARY_DAG = """
max_active_runs: 10
schedule: { every: 1s, catchup: all, start: "$start", end: "$end" }
tasks:
  a: { run: "@ ms=50" }
"""


def instant(at_us: int) -> str:
    whole = datetime.datetime.fromtimestamp(at_us // 1_000_000, datetime.timezone.utc)
    return whole.strftime("%Y-%m-%dT%H:%M:%SZ")


def text_of(name: str, command: str, now_us: int, seconds: float) -> str:
    """The file of a DAG that ticks for so long, from now on."""
    start = -(-now_us // 1_000_000) * 1_000_000
    body = DAGS.get(name, CANARY_DAG).replace("@ ", command + " ")
    body = body.replace("$start", instant(start))
    return f"dag: {name}\n" + body.replace("$end", instant(start + int(seconds * 1e6)))


def some_days(rng: random.Random) -> tuple[str, str]:
    """The first and the last day of a backfill; those of two often meet."""
    first = HISTORY_START + datetime.timedelta(rng.randrange(HISTORY_DAYS))
    return str(first), str(first + datetime.timedelta(rng.randrange(BACKFILL_DAYS)))
