"""Clients: they submit runs and jobs, repeat themselves, cancel, clear, and are killed at times.

Every call is written down before it is made (invoke) and after it (ok, fail, unknown). Which exit
codes are a definite no is stated once, in REFUSED; whatever else is not 0 is unknown.
"""
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
from typing import Any

import history as h
import timed
from processes import wall_us

REFUSED = {2, 3, 4, 5, 6}  # usage, not found, not allowed, conflict, invalid
CALL_SECONDS = 20.0
PAUSE_SECONDS = (0.2, 1.0)
PAUSED_SECONDS = 4.0  # a tick or two of a DAG
BATCH = 10
QUEUE = "default"
REPEATS = 50  # how far back a dedupe key is repeated

# Chains of probes in several shapes; @ is the command. Times are short, so that much happens.
SHAPES = {
    "chain": """
tasks:
  a: { run: "@ ms=200" }
  b: { needs: [a], run: "@ ms=600 lines=20", retries: 1, retry_delay: 1s }
  c: { needs: [b], run: "@ ms=100" }
""",
    "diamond": """
tasks:
  a: { run: "@ ms=300 fail=1", retries: 3, retry_delay: 500ms, retry_backoff: 1 }
  b: { needs: [a], run: "@ ms=1500 lines=50" }
  c: { needs: [a], run: "@ ms=100 code=1", retries: 1, retry_delay: 1s }
  d: { needs: [b, c], run: "@ ms=100" }
  e: { needs: [b, c], trigger_rule: all_done, run: "@ ms=100" }
""",
    "fan": """
tasks:
  a: { run: "@ ms=100" }
  m: { needs: [a], foreach: [1, 2, 3, 4, 5, 6], run: "@ ms=400", retries: 1, retry_delay: 1s }
  z: { needs: [m], run: "@ ms=100" }
""",
    "closing": """
tasks:
  a: { run: "@ ms=5000 lines=100" }
  b: { needs: [a], run: "@ ms=100 code=3" }
finally:
  sweep: { run: "@ ms=100" }
""",
    "narrow": """
max_active_tasks: 2
tasks:
  a: { run: "@ ms=500" }
  b: { run: "@ ms=500" }
  c: { run: "@ ms=500" }
  d: { run: "@ ms=500 fail=1", retries: 1, retry_delay: 500ms }
  e: { needs: [a, b, c, d], run: "@ ms=100" }
""",
    "pooled": """
tasks:
  a: { run: "@ ms=700", pool: narrow, slots: 2 }
  b: { run: "@ ms=700", pool: narrow, priority: 3 }
  c: { run: "@ ms=400 fail=1", pool: narrow, retries: 1, retry_delay: 500ms }
  m: { foreach: [1, 2, 3], run: "@ ms=300", pool: narrow }
  z: { needs: [a, b, c, m], run: "@ ms=100", trigger_rule: all_done }
""",
    # A file, a time and a command are waited for; who asked tells whose file it is.
    "waits": """
tasks:
  a: { run: "@ ms=300 && touch $flags/{{ params.op }}" }
  t: { sensor: { duration: 1s } }
  f: { sensor: { file: "$flags/{{ params.op }}", every: 1s, timeout: 60s, soft_fail: true } }
  c: { sensor: { run: "test -e $flags/{{ params.op }} && @ ms=50", every: 1s, timeout: 60s } }
  z: { needs: [t, f, c], trigger_rule: all_done, run: "@ ms=100" }
""",
}
POOL, POOL_SLOTS = "narrow", 3  # of the shape `pooled`
DAG_MAX_RUNNING = 5  # of the same, over all its runs
HEAD = """dag: {name}
max_active_runs: 1000
params:
  op: {{ type: string, default: "" }}
"""
JOBS = ("ms=100", "ms=300 lines=10", "ms=2500 lines=40", "ms=100 code=4", "ms=200 fail=1")


def text_of(name: str, command: str, flags: pathlib.Path) -> str:
    """The file of a DAG that clients start; `flags` is where its sensors look."""
    body = SHAPES[name].replace("@", command).replace("$flags", str(flags))
    return HEAD.format(name=name) + body


@dataclasses.dataclass
class Setup:
    """Where clients work and what they may call."""

    program: pathlib.Path
    folder: pathlib.Path
    probe: pathlib.Path
    url: str
    seed: int
    clients: int = 3
    extra_env: dict[str, str] = dataclasses.field(default_factory=dict)


def rows_in(reply: Any) -> list[dict[str, Any]]:
    """What an answer tells of: a list, the list `jobs` of an object, or the object itself."""
    if isinstance(reply, dict):
        reply = reply.get("jobs", [reply])
    return [row for row in reply if isinstance(row, dict)] if isinstance(reply, list) else []


def answer_in(row: dict[str, Any]) -> dict[str, Any]:
    """The id, whatever it is called there, and whether nothing new was made."""
    names = [name for name in ("id", "run", "number") if str(row.get(name, "")).isdigit()]
    return {"id": str(row[names[0]]), "existed": bool(row.get("existed"))} if names else {}


class Load:
    """All clients together."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.record = setup.folder / "client.jsonl"
        self.lock = threading.Lock()
        self.next_op = 0
        self.children: set[subprocess.Popen[str]] = set()
        self.runs: list[int] = []
        self.jobs: list[int] = []
        self.keys: list[tuple[str, str, str]] = []  # key, handler, payload
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self._work, args=(number,), daemon=True)
                        for number in range(setup.clients)]
        self.command = f"{setup.probe} {setup.folder / 'probe'}"
        self.dags = setup.folder / "dags"
        self.dags.mkdir(exist_ok=True)
        self.flags = setup.folder / "flags"
        self.flags.mkdir(exist_ok=True)
        for name in SHAPES:
            (self.dags / f"{name}.yaml").write_text(text_of(name, self.command, self.flags))
        self.is_timed = False
        self.pausing = threading.Lock()

    def must(self, *args: str) -> None:
        """A call while all is well."""
        code, _ = self.eider(*args)
        if code != 0:
            raise RuntimeError(f"{' '.join(args)} failed with {code}; see client.err")

    def prepare(self) -> None:
        """What those who run the platform set up."""
        self.must("pools", "set", POOL, "--slots", str(POOL_SLOTS))
        self.must("limits", "set", "dag", "pooled", "--max-running", str(DAG_MAX_RUNNING))

    def offer(self, seconds: float, *names: str) -> None:
        """DAGs that start by themselves, for so long; each is triggered once, too."""
        self.is_timed = True
        for name in names:
            (self.dags / f"{name}.yaml").write_text(
                timed.text_of(name, self.command, wall_us(), seconds))
            self.must("dags", "trigger", f"{name}.yaml", "-o", "json")

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def kill_some(self) -> int:
        """Kills clients that are just calling; how many."""
        with self.lock:
            children = list(self.children)
        killed = 0
        for child in children:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                killed += 1
        return killed

    # --- calls

    def note(self, call: h.Call) -> None:
        with self.lock:
            h.append(self.record, call)

    def take_ops(self, count: int) -> list[int]:
        with self.lock:
            first = self.next_op + 1
            self.next_op += count
        return list(range(first, first + count))

    def eider(self, *args: str, text: str | None = None) -> tuple[int, Any]:
        """Runs the program; its exit code and what it answered."""
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8",
               "HOME": str(self.setup.folder), "EIDER_HOME": str(self.setup.folder / "client"),
               "USER": "chaos", "EIDER_STORE": self.setup.url, **self.setup.extra_env}
        child = subprocess.Popen([str(self.setup.program), *args], env=env, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, cwd=self.dags)
        with self.lock:
            self.children.add(child)
        try:
            out, err = child.communicate(text or "", timeout=CALL_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
        finally:
            with self.lock:
                self.children.discard(child)
        if child.returncode not in (0, -signal.SIGKILL):
            with self.lock, (self.setup.folder / "client.err").open("a") as log:
                log.write(f"{' '.join(args[:3])}: {child.returncode}: {err[-500:]}\n")
        return child.returncode, parse(out)

    def call(self, do: str, key: str, body: dict[str, Any], *args: str) -> h.Call:
        """One call with its record."""
        op = body.pop("as_op", None) or self.take_ops(1)[0]
        args = tuple(arg.replace("@op", str(op)) for arg in args)
        self.note(h.Call(op, "i", wall_us(), do, key, body, {}, 0))
        code, reply = self.eider(*args)
        phase = "o" if code == 0 else "f" if code in REFUSED else "u"
        rows = rows_in(reply) if code == 0 else []
        answer = answer_in(rows[0]) if rows else {}
        done = h.Call(op, phase, wall_us(), do, key, body, answer, code)
        self.note(done)
        return done

    def submit_run(self, shape: str) -> None:
        done = self.call("run", "", {"dag": shape}, "run", f"{shape}.yaml", "--detach", "-p",
                         "op=@op", "-o", "json")
        if "id" in done.reply:
            self.runs.append(int(done.reply["id"]))

    def submit_job(self, plan: str, retries: int = 1, delay_ms: int = 0, canary: bool = False
                   ) -> h.Call:
        op = self.take_ops(1)[0]
        key = f"key-{self.setup.seed}-{op}"
        handler = f"$ {self.command} {plan}"
        payload = json.dumps({"op": op})
        body = {"handler": handler, "delay_ms": delay_ms, "canary": canary, "as_op": op}
        late = ("--delay", f"{delay_ms}ms") if delay_ms else ()
        done = self.call("job", key, body, "enqueue", QUEUE, handler, payload, "--dedupe", key,
                         "--retries", str(retries), "--retry-delay", "1s", *late, "-o", "json")
        # A repeat of a call that never arrived makes the job, and has no delay.
        if done.phase == "o" or (done.phase == "u" and not delay_ms):
            self.keys.append((key, handler, payload))
        if "id" in done.reply:
            self.jobs.append(int(done.reply["id"]))
        return done

    def repeat_job(self, rng: random.Random) -> None:
        """The same key again: the same job, or a refusal when the body differs."""
        key, handler, payload = rng.choice(self.keys[-REPEATS:])
        differs = rng.random() < 0.3
        handler = handler + " lines=1" if differs else handler
        self.call("repeat", key, {"handler": handler}, "enqueue", QUEUE, handler, payload,
                  "--dedupe", key, "--retries", "1", "--retry-delay", "1s", "-o", "json")

    def submit_batch(self, rng: random.Random) -> None:
        ops = self.take_ops(BATCH)
        lines, bodies = [], []
        for op in ops:
            handler = f"$ {self.command} {rng.choice(JOBS)}"
            lines.append(json.dumps({"handler": handler, "payload": {"op": op}, "retries": 1,
                                     "retry_delay": "1s", "dedupe": f"key-{self.setup.seed}-{op}"}))
            bodies.append({"handler": handler, "batch": ops[0]})
        for op, body in zip(ops, bodies):
            self.note(h.Call(op, "i", wall_us(), "job", f"key-{self.setup.seed}-{op}", body, {}, 0))
        code, reply = self.eider("enqueue", QUEUE, "--batch", "-o", "json",
                                 text="\n".join(lines) + "\n")
        phase = "o" if code == 0 else "f" if code in REFUSED else "u"
        rows = rows_in(reply) if code == 0 else []
        for number, (op, body) in enumerate(zip(ops, bodies)):
            answer = answer_in(rows[number]) if number < len(rows) else {}
            self.note(h.Call(op, phase, wall_us(), "job", f"key-{self.setup.seed}-{op}", body,
                             answer, code))

    def cancel_run(self, rng: random.Random) -> None:
        run = rng.choice(self.runs[-10:])
        self.call("cancel_run", "", {"id": run}, "runs", "cancel", str(run), "-o", "json")

    def cancel_job(self, rng: random.Random) -> None:
        job = rng.choice(self.jobs[-10:])
        self.call("cancel_job", "", {"id": job}, "jobs", "cancel", str(job), "-o", "json")

    def clear(self, rng: random.Random) -> None:
        run = rng.choice(self.runs[-20:])
        self.call("clear", "", {"id": run}, "retry", str(run), "-o", "json")

    def emit(self) -> None:
        """A dataset is said to be updated."""
        op = self.take_ops(1)[0]
        self.call("emit", "", {"uri": timed.DATASET, "as_op": op}, "assets", "emit", timed.DATASET,
                  "--extra", f'{{"op": {op}}}', "-o", "json")

    def backfill(self, rng: random.Random) -> None:
        op = self.take_ops(1)[0]
        first, last = timed.some_days(rng)
        self.call("backfill", "", {"from": first, "to": last, "as_op": op}, "backfill", "create",
                  timed.HISTORY, "--from", first, "--to", last, "--max-active", "2", "--reason",
                  f'{{"op": {op}}}', "-o", "json")

    def pause(self) -> None:
        """A DAG stops for a while; whatever happens to a call, it goes on in the end."""
        if not self.pausing.acquire(blocking=False):
            return
        self.change_pause("pause")
        self.is_over.wait(PAUSED_SECONDS)
        while self.change_pause("unpause").phase != "o":
            time.sleep(PAUSE_SECONDS[0])
        self.pausing.release()

    def change_pause(self, verb: str) -> h.Call:
        return self.call(verb, "", {"dag": timed.PAUSED}, "dags", verb, timed.PAUSED, "-o", "json")

    def _work(self, number: int) -> None:
        rng = random.Random(f"{self.setup.seed}/{number}")
        while not self.is_over.is_set():
            self.step(rng)
            time.sleep(rng.uniform(*PAUSE_SECONDS))

    def step(self, rng: random.Random) -> None:
        """One call of a random kind."""
        chance = rng.random()
        if chance < 0.35:
            self.submit_run(rng.choice(sorted(SHAPES)))
        elif chance < 0.65 or not self.jobs or not self.runs:
            self.submit_job(rng.choice(JOBS), rng.randrange(3), rng.choice((0, 0, 0, 1500)))
        elif chance < 0.75 and self.keys:
            self.repeat_job(rng)
        elif chance < 0.82:
            self.submit_batch(rng)
        elif chance < 0.89:
            self.cancel_run(rng)
        elif chance < 0.92:
            self.cancel_job(rng)
        elif chance < 0.96 or not self.is_timed:
            self.clear(rng)
        elif chance < 0.98:
            self.emit()
        elif chance < 0.99:
            self.pause()
        else:
            self.backfill(rng)


def parse(text: str) -> Any:
    """JSON, or JSON lines as a list."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError:
        return {}
