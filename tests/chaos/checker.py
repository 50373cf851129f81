#!/usr/bin/python3
"""Decides whether a history keeps Eider's promises.

    checker.py FOLDER [-o json] [--slack-ms N]

Exit code 0 valid, 1 violated, 3 inconclusive (nothing is wrong, but a fault had no effect or too
little happened to tell).
"""
import argparse
import collections
import dataclasses
import gc
import json
import pathlib
import sys
import time
from typing import Any

import check_life
import check_schedule
import check_store
import check_witness
import history as h
from joined import Bounds, Joined, Violation

VALID, VIOLATED, INCONCLUSIVE = 0, 1, 3
NAMES = {VALID: "valid", VIOLATED: "violated", INCONCLUSIVE: "inconclusive"}
PER_RULE_MAX = 20
CHECKS = (*check_store.CHECKS, *check_witness.CHECKS, *check_life.CHECKS, *check_schedule.CHECKS)


@dataclasses.dataclass
class Report:
    """What the checker says of one history."""

    violations: list[Violation]
    counts: dict[str, int]
    missing: list[str]  # why a clean history is still no proof
    seconds: float

    @property
    def code(self) -> int:
        if self.violations:
            return VIOLATED
        return INCONCLUSIVE if self.missing else VALID

    def as_json(self) -> dict[str, Any]:
        return {"verdict": NAMES[self.code], "violations": [v.as_json() for v in self.violations],
                "by_rule": dict(collections.Counter(v.rule for v in self.violations)),
                "missing": self.missing, "counts": self.counts,
                "seconds": round(self.seconds, 3)}


def count(joined: Joined) -> dict[str, int]:
    history = joined.history
    counts = {name: len(getattr(history, name))
              for name in ("event", "task", "run", "job", "probe", "client")}
    counts |= {f"fault {kind}": number for kind, number in
               sorted(collections.Counter(fault.kind for fault in history.nemesis).items())}
    phases = collections.Counter(call.phase for call in
                                 check_store.final_phase(history).values())
    counts |= {f"calls {name}": phases[phase] for phase, name in
               (("o", "ok"), ("f", "refused"), ("u", "unknown"), ("i", "unanswered"))}
    counts["processes"] = len(joined.processes)
    counts["lost owners"] = sum(map(check_life.is_loss, history.event))
    counts["daemons ended by themselves"] = sum(
        sample.values.get("asked_us") is None and sample.values.get("code") != -9
        for sample in history.process if sample.what == "exit")
    counts |= {f"runs {kind}": number for kind, number in
               sorted(collections.Counter(run.kind for run in history.run).items())}
    counts["pauses"] = len(check_schedule.pauses(joined))
    counts["missed ticks"] = len(history.missed)
    counts["updates of datasets"] = len(history.asset_event)
    counts["latest run ms"] = max(
        (late for _, late in check_schedule.lateness(joined)), default=0) // 1000
    together = [overlap[3] for overlap in check_witness.overlaps(joined)]
    counts["overlaps"] = len(together)
    counts["longest overlap ms"] = max(together, default=0) // 1000
    return counts


def missing_of(joined: Joined) -> list[str]:
    """S20 needs more than one host to have been the oldest; C17 needs every fault to bite."""
    missing = [f"no visible effect of {kind}" for kind in check_life.toothless(joined)]
    if joined.history.nemesis:
        if len({row.name for row in joined.history.host}) < 2:
            missing.append("fewer than two hosts: nothing is said about leaders")
        if not joined.processes:
            missing.append("no probe ran")
    return missing


def check(history: h.History, bounds: Bounds = Bounds()) -> Report:
    """All rules over one history."""
    started = time.monotonic()
    gc.disable()  # millions of rows, none of which becomes garbage here
    try:
        return _check(Joined(history, bounds), started)
    finally:
        gc.enable()


def _check(joined: Joined, started: float) -> Report:
    violations: list[Violation] = []
    per_rule: collections.Counter[str] = collections.Counter()
    for one in CHECKS:
        for violation in one(joined):
            per_rule[violation.rule] += 1
            if per_rule[violation.rule] <= PER_RULE_MAX:
                violations.append(violation)
    return Report(violations, count(joined), missing_of(joined), time.monotonic() - started)


def show(report: Report) -> None:
    for name, number in report.counts.items():
        print(f"  {name:<24} {number}")
    for text in report.missing:
        print(f"  inconclusive: {text}")
    by_rule = collections.Counter(violation.rule for violation in report.violations)
    for rule, number in sorted(by_rule.items()):
        print(f"  {rule:<4} {number}{'+' if number == PER_RULE_MAX else ''} violations")
    if report.violations:
        first = report.violations[0]
        print(f"first: {first.rule}: {first.text}")
        for row in first.rows:
            print(f"    {row}")
    print(f"{NAMES[report.code]} ({report.seconds:.1f} s)")


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a history.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")
    parser.add_argument("--slack-ms", type=int, default=Bounds.slack // 1000)
    options = parser.parse_args()
    if not (options.folder / "store.jsonl").exists():
        print(f"checker: {options.folder} holds no history", file=sys.stderr)
        return 2
    report = check(h.load(options.folder), Bounds(slack=options.slack_ms * 1000))
    if options.output == "json":
        print(json.dumps(report.as_json(), indent=1))
    else:
        show(report)
    return report.code


if __name__ == "__main__":
    sys.exit(main())
