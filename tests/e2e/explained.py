"""Asking `eider explain`, and doing what it says."""
import re
import shlex

import pytest
from fleet import Daemon, finish_all
from harness import wait_for

# Says that it started and runs until a line "go" is there.
WAITS = "echo + {{ task.id }} >> @evidence; until grep -q go @evidence; do sleep 0.05; done"


@pytest.fixture(params=["sqlite", "postgres"])
def up(request, eider):
    """Starts a daemon on the folder of DAG files; all are stopped at the end."""
    if request.param == "postgres":
        request.getfixturevalue("server")
    daemons = []

    def start(*args, **env):
        daemons.append(Daemon(eider, *args, name=f"up-{len(daemons)}",
                              env={"EIDER_SLOTS": "4", **env}))
        return daemons[-1].wait_until_up()

    yield start
    with eider.evidence.path.open("a") as out:
        out.write("go\n")
    finish_all(daemons)


def answer(eider, *args):
    return eider("explain", *args, "-o", "json", code=0).json()


def conditions(eider, run, task, *args):
    """Of the first row of a task: code to condition."""
    row = answer(eider, run, task, *args)["tasks"][0]
    assert all(condition["because"] in row["because"] for condition in row["conditions"]), row
    return {condition["code"]: condition for condition in row["conditions"]}


def of_dag(eider, dag="dag"):
    found = {condition["code"]: condition for condition in answer(eider, dag)["conditions"]}
    said = eider("explain", dag, code=0).out
    assert all(condition["because"] in said for condition in found.values()
               if condition["code"] != "not_due"), said
    return found


def wait_for_code(eider, code, run, task):
    return wait_for(lambda: conditions(eider, run, task).get(code), f"{task} has {code}")


def numbers(condition, *names):
    return tuple(condition[name] for name in names)


def trigger(eider, text, *args, dag="dag"):
    """Makes a run of a DAG file once a host offers it."""
    eider.write(f"dags/{dag}.yaml", text)
    wait_for(lambda: eider("dags", "trigger", dag, *args).code == 0, f"{dag} is offered")


def has_started(eider, *tasks):
    wait_for(lambda: {f"+ {task}" for task in tasks} <= set(eider.evidence.lines()),
             f"{tasks} started")


def commands(condition):
    """What a condition tells people to type, as lists of words without the program."""
    found = [shlex.split(text) for text in re.findall("`([^`]*)`", condition["change"] or "")]
    assert found and all(words[0] == "eider" for words in found), condition
    return [words[1:] for words in found]


def follow(eider, condition, nth=0, number=None):
    """Types what it says, with a number for N."""
    words = [str(number) if word == "N" else word for word in commands(condition)[nth]]
    return eider(*words, code=0)
