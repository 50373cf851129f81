#!/usr/bin/env python3
"""Measures Eider beside the limits of this machine and prints the table.

    bench/run.py [--passes N] [--strict] [ROW..]      rows by their short names; all by default

Everything is measured in the same minutes on the same disk: the limits by the small C loops of
this folder, Eider by its release build with durable commits. Times are whole commands, start-up
included, unless the row says otherwise. Results also go to build/bench.json.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/eider"
LOOPS = ROOT / "build/release/bench"
PLACE = ROOT / "build/bench"
MEGABYTE = 1e6
SAMPLE_SECONDS = 0.004


class Unmeasured(Exception):
    """A row that could not be measured, and why."""


# Running and watching

class MemoryWatch(threading.Thread):
    """Peak memory of every process of the program under one parent, itself included."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.peak_kb = 0
        self.done = threading.Event()

    def run(self):
        while not self.done.is_set():
            self.peak_kb = max(self.peak_kb, sum(self.sample().values()))
            self.done.wait(SAMPLE_SECONDS)

    def sample(self):
        sizes, waiting = {}, [self.pid]
        while waiting:
            pid = waiting.pop()
            try:
                if os.readlink(f"/proc/{pid}/exe") == str(PROGRAM):
                    status = pathlib.Path(f"/proc/{pid}/status").read_text()
                    sizes[pid] = int(status.split("VmRSS:")[1].split()[0])
                for task in os.listdir(f"/proc/{pid}/task"):
                    children = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text()
                    waiting += [int(child) for child in children.split()]
            except (OSError, IndexError):
                continue
        return sizes


def eider(*args, home="state", fresh=True, output=subprocess.DEVNULL, watch=False):
    """Runs to the end in an empty state directory: (seconds, peak memory in KB or None)."""
    state = PLACE / home
    if fresh:
        shutil.rmtree(state, ignore_errors=True)
    env = {**os.environ, "EIDER_HOME": str(state)}
    log = (PLACE / "stderr").open("w+")
    started = time.monotonic()
    child = subprocess.Popen([PROGRAM, *map(str, args)], stdin=subprocess.DEVNULL, stdout=output,
                             stderr=log, env=env, cwd=PLACE)
    watcher = MemoryWatch(child.pid) if watch else None
    if watcher:
        watcher.start()
    code = child.wait()
    seconds = time.monotonic() - started
    if watcher:
        watcher.done.set()
        watcher.join()
    log.seek(0)
    last = log.read().strip().splitlines()[-1:]
    log.close()
    if code != 0:
        raise Unmeasured(f"eider {args[0]}: exit {code} {' '.join(last)}")
    if watcher and not watcher.peak_kb:
        raise Unmeasured(f"eider {args[0]}: ended before its memory was seen")
    return seconds, watcher.peak_kb if watcher else None


def loop(name, *args):
    done = subprocess.run([LOOPS / name, *map(str, args)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Unmeasured(f"{name}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def spawn_rate(count=1000):
    """The best rate of captured spawns over several degrees of parallelism."""
    return max(loop("spawn_loop", parallel, count, "captured")["rate"] for parallel in (1, 2, 4, 8))


def passes(count, measure):
    return sorted(measure() for _ in range(count))


def seconds_of(*args, count, **options):
    return passes(count, lambda: eider(*args, **options)[0])


def write(name, lines):
    path = PLACE / name
    path.write_text("\n".join(lines) + "\n")
    return path


# Rows: each gives the cells eider, limit, ratio, bar and whether the bar is met

def row(eider_text, limit_text, ratio, bar, met, **figures):
    return {"eider": eider_text, "limit": limit_text, "ratio": ratio, "bar": bar, "met": met,
            "figures": figures}


def per_second(value):
    return f"{value:,.0f}/s"


def row_version(options):
    """eider version, wall time"""
    took = seconds_of("version", count=20) if options.passes > 1 else seconds_of("version", count=5)
    bare = passes(len(took), lambda: timed(["/bin/true"]))
    median, limit = statistics.median(took) * 1e3, statistics.median(bare) * 1e3
    return row(f"{median:.1f} ms", f"{limit:.1f} ms (/bin/true)", limit / median, "< 15 ms",
               median < 15, median_ms=median, best_ms=took[0] * 1e3, true_ms=limit)


def timed(command):
    started = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


def row_size(options):
    """size of the program"""
    size = PROGRAM.stat().st_size
    return row(f"{size / MEGABYTE:.2f} MB", "", None, "< 10 MB", size < 10 * MEGABYTE, bytes=size)


def row_memory(options):
    """memory of eider run, one task, with the keeper"""
    path = write("one.yaml", ["tasks:", "  a: { run: sleep 0.4 }"])
    peaks = passes(options.passes, lambda: eider("run", path, watch=True)[1])
    peak = statistics.median(peaks) * 1024 / MEGABYTE
    return row(f"{peak:.1f} MB", "", None, "< 25 MB", peak < 25, peak_kb=peaks)


def row_chain(options):
    """chain of 40 tasks, per hop beyond the bare spawn"""
    def chain(length):
        lines = ["tasks:"]
        for i in range(length):
            needs = f"needs: [t{i - 1}], " if i else ""
            lines.append(f'  t{i}: {{ {needs}run: "true" }}')
        return write(f"chain{length}.yaml", lines)

    long, short = chain(40), chain(1)
    times = []
    for _ in range(options.passes + 2):
        bare = loop("spawn_loop", 1, 100, "bare")["seconds"] / 100
        hop = (eider("run", long)[0] - eider("run", short)[0]) / 39
        times.append((hop - bare, hop, bare))
    beyond, hop, bare = (statistics.median(column) * 1e3 for column in zip(*times))
    return row(f"{beyond:.2f} ms beyond ({hop:.2f} per hop)", f"{bare:.2f} ms per spawn",
               bare / hop, "< 2 ms beyond", beyond < 2, beyond_ms=beyond, hop_ms=hop, spawn_ms=bare)


def row_wide(options):
    """1,000 independent tasks"""
    path = write("wide.yaml", ["tasks:"] + [f'  t{i}: {{ run: "true" }}' for i in range(1000)])
    rates = []
    for _ in range(options.passes):
        limit = spawn_rate()
        rate = 1000 / eider("run", path)[0]
        rates.append((rate / limit, rate, limit))
    ratio, rate, limit = (statistics.median(column) for column in zip(*rates))
    return row(per_second(rate), f"{per_second(limit)} (spawn loop)", ratio, ">= 70 %",
               ratio >= 0.7, rate=rate, limit=limit, ratios=[r for r, _, _ in rates])


def against_store(tasks, times, bar, extra=True, **figures):
    """A row for work that is transactions only, beside the bare transaction loop."""
    limit = loop("sqlite_loop", PLACE / "limit.db", "hop", 1)["rate"]
    rate = tasks / statistics.median(times)
    return row(per_second(rate), f"{per_second(limit)} (bare hop loop)", rate / limit, bar,
               rate >= 20000 and extra, rate=rate, best=tasks / min(times), limit=limit, **figures)


def row_fan(options):
    """10,000 noops, fan-out and fan-in"""
    names = [f"t{i}" for i in range(10000)]
    lines = ["tasks:", "  start: { noop: {} }"]
    lines += [f"  {name}: {{ needs: [start], noop: {{}} }}" for name in names]
    lines += [f"  end: {{ needs: [{', '.join(names)}], noop: {{}} }}"]
    path = write("fan.yaml", lines)
    times = seconds_of("run", path, count=options.passes)
    return against_store(10002, times, ">= 20,000/s")


def row_runs(options):
    """500 runs of 20 noops"""
    lines = ["tasks:", "  t0: { noop: {} }"]
    lines += [f"  t{i}: {{ needs: [t{(i - 1) // 2}], noop: {{}} }}" for i in range(1, 20)]
    path = write("runs.yaml", lines)
    results = []
    for _ in range(options.passes):
        with (PLACE / "stdout").open("w+") as out:
            eider("__bench", "runs", path, 500, output=out)
            out.seek(0)
            results.append(json.loads(out.read()))
    if any(result["tasks"] != 10000 for result in results):
        raise Unmeasured(f"expected 10000 tasks, got {results}")
    return against_store(10000, [result["seconds"] for result in results], ">= 20,000/s")


def row_foreach(options):
    """foreach over 100,000 items of noop"""
    items = ", ".join(str(i) for i in range(100000))
    path = write("foreach.yaml", ["tasks:", f"  each: {{ foreach: [{items}], noop: {{}} }}"])
    results = [eider("run", path, watch=True) for _ in range(max(1, options.passes - 1))]
    peak = max(peak for _, peak in results) * 1024 / MEGABYTE
    cells = against_store(100000, [seconds for seconds, _ in results], ">= 20,000/s, < 300 MB",
                          extra=peak < 300, peak_mb=peak)
    cells["eider"] += f", {peak:.0f} MB"
    return cells


def row_validate(options):
    """validate a file of 10,000 tasks"""
    lines = ["tasks:"]
    for i in range(10000):
        needs = f"needs: [t{(i - 1) // 3}], " if i else ""
        lines.append(f'  t{i}: {{ {needs}run: "echo {{{{ ds }}}} {i}", retries: 2 }}')
    path = write("large.yaml", lines)
    median = statistics.median(seconds_of("validate", path, count=options.passes + 2)) * 1e3
    return row(f"{median:.0f} ms", f"{path.stat().st_size / 1e3:.0f} KB of YAML", None, "< 150 ms",
               median < 150, median_ms=median)


def row_output(options):
    """200 MB of output from one task"""
    wanted = 200_000_000
    text = "0123456789" * 9 + "012345678"

    def file(name, size):
        return write(name, ["tasks:", "  a:", "    limits: { output: 300MiB }",
                            f'    run: "yes {text} | head -c {size}"'])

    _, small = eider("run", file("small.yaml", wanted // 20), watch=True)
    seconds, peak = eider("run", file("output.yaml", wanted), watch=True)
    reader = subprocess.Popen([PROGRAM, "logs", "output", "a"], stdout=subprocess.PIPE, cwd=PLACE,
                              env={**os.environ, "EIDER_HOME": str(PLACE / "state")})
    kept = 0
    while chunk := reader.stdout.read(1 << 20):
        kept += len(chunk)
    reader.wait()
    bare = timed(["sh", "-c", f"yes {text} | head -c {wanted} > {PLACE / 'bare'}"])
    grown = (peak - small) * 1024 / MEGABYTE
    return row(f"{kept / MEGABYTE:.1f} MB kept, {peak * 1024 / MEGABYTE:.1f} MB memory, "
               f"{seconds:.2f} s", f"{bare:.2f} s (to a file)", bare / seconds,
               "all kept, flat", kept == wanted and grown < 4, kept=kept, peak_kb=peak,
               peak_small_kb=small, seconds=seconds, bare_seconds=bare)


ROWS = {
    "version": row_version, "size": row_size, "memory": row_memory, "chain": row_chain,
    "wide": row_wide, "fan": row_fan, "runs": row_runs, "foreach": row_foreach,
    "validate": row_validate, "output": row_output,
}


# The table

MET = {True: "yes", False: "NO", None: ""}  # None: there is no bar


def measure(function, *arguments):
    """The cells of a row; they say why when it could not be measured."""
    try:
        cells = function(*arguments)
    except (Unmeasured, OSError, ValueError, KeyError, subprocess.SubprocessError) as problem:
        cells = row(f"not measured: {problem}", "", None, "", False)
        cells["broken"] = True
    cells.setdefault("what", function.__doc__)
    return cells


def print_table(results):
    heads = ["what", "Eider", "limit", "ratio", "bar", "met?"]
    lines = [[cells["what"], cells["eider"], cells["limit"],
              f"{cells['ratio']:.0%}" if cells["ratio"] is not None else "", cells["bar"],
              MET[cells["met"]]] for cells in results.values()]
    widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
    for line in [heads, ["-" * width for width in widths], *lines]:
        print(" | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def parser_of(document, rows, passes):
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    parser.add_argument("--passes", type=int, default=passes, help="times each thing is measured")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is not met")
    parser.add_argument("rows", nargs="*", choices=[[], *rows], default=[], metavar="ROW",
                        help=", ".join(rows))
    return parser


def prepare(place):
    """The loops are built, and the place is empty."""
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "loops"], cwd=ROOT,
                   stdout=subprocess.DEVNULL, check=True)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)


def publish(name, results, note, options, **facts):
    """Prints the table and keeps build/NAME.json; returns the exit code."""
    print_table(results)
    print(note)
    (ROOT / f"build/{name}.json").write_text(json.dumps(
        {"rows": results, **facts, "passes": options.passes, "cores": os.cpu_count()},
        indent=2) + "\n")
    is_bad = any(cells.get("broken") or (options.strict and cells["met"] is False)
                 for cells in results.values())
    return 1 if is_bad else 0


def main():
    options = parser_of(__doc__, ROWS, passes=3).parse_args()
    prepare(PLACE)
    started = time.monotonic()
    before = spawn_rate(400)
    results = {}
    for name in options.rows or ROWS:
        print(f"measuring: {ROWS[name].__doc__}", file=sys.stderr, flush=True)
        results[name] = measure(ROWS[name], options)
    after = spawn_rate(400)

    drift = abs(after - before) / max(after, before)
    note = (f"{options.passes} passes, medians; {os.cpu_count()} cores; "
            f"{time.monotonic() - started:.0f} s; the machine's own spawn rate drifted by "
            f"{drift:.0%} meanwhile ({before:,.0f}/s to {after:,.0f}/s)")
    code = publish("bench", results, note, options, drift=drift)
    shutil.rmtree(PLACE, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
