"""DAG files and a daemon: what is edited takes effect, what is broken or gone is said."""
import json
import os
import shutil
import time

import pytest
from fleet import LONG, Daemon, finish_all, let_go, started, wait_for_state
from harness import rows_of, wait_for


BUSY = {"EIDER_CPU_MOST": "1000000"}  # tests run on busy machines


@pytest.fixture
def up(world):
    daemons = []

    def start(*args, times=1, waits=True):
        daemon = Daemon(world, *args, env=BUSY)
        daemons.append(daemon)
        return daemon.wait_until_up(times) if waits else daemon

    yield start
    finish_all(daemons)


def folder_of(eider):
    return eider.work / "dags"


def put(eider, name, text):
    """As an editor does it: beside, then renamed."""
    path = eider.write(f"dags/{name}.beside", text)
    path.rename(folder_of(eider) / name)
    return folder_of(eider) / name


def dags(eider, *args):
    listed = rows_of(eider("dags", "list", *args, "-o", "json", code=0).json())
    return {row["dag_id"]: row for row in listed}


def status(eider, dag):
    return dags(eider, "--all").get(dag, {}).get("status")


def version(eider, dag="dag"):
    return dags(eider).get(dag, {}).get("dag_version")


def errors(eider, *args):
    return rows_of(eider("dags", "errors", *args, "-o", "json", code=0).json())


def versions(eider, dag="dag"):
    return {row["version_number"]: row for row in
            rows_of(eider("dags", "versions", dag, "-o", "json", code=0).json())}


def trigger(eider, dag="dag", *args):
    run = eider("dags", "trigger", dag, *args, "-o", "json", code=0).json()["number"]
    wait_for(lambda: eider("runs", "show", run, "-o", "json", code=0).json()["state"] == "success",
             f"run {run} succeeds")
    return run


def say(word):
    return f"tasks: {{a: {{run: 'echo {word}'}}}}\n"


def test_a_file_just_written_is_known_once_the_daemon_is_up(world, up):
    path = put(world, "dag.yaml", "tasks: {a: {noop: true}}\n")
    daemon = up(waits=False)
    while "DAG files" not in daemon.text():
        path.chmod(0o644)
    daemon.wait_until_up()
    assert version(world) == 1


def test_an_edit_takes_effect_within_a_second(world, up):
    put(world, "dag.yaml", say("one"))
    daemon = up()
    assert version(world) == 1
    began = time.monotonic()
    put(world, "dag.yaml", say("two"))
    wait_for(lambda: daemon.text().count("changed=1") == 2, "the daemon has read it")
    assert time.monotonic() - began < 1.0
    assert version(world) == 2
    (folder_of(world) / "dag.yaml").write_text(say("three"))
    wait_for(lambda: version(world) == 3, "written in place")
    assert "three" in world.log(trigger(world), "a")
    world.write("dags/new/deep/other.yaml", say("deep"))
    wait_for(lambda: status(world, "other") == "active", "a file in a new folder")
    put(world, "new/deep/other.yaml", say("deeper"))
    wait_for(lambda: version(world, "other") == 2, "and it is watched")


def test_a_broken_file_keeps_its_last_good_version(world, up):
    put(world, "dag.yaml", say("good"))
    put(world, "never.yaml", "tasks: {a: {rum: x}}")
    up()
    assert [row["file"] for row in errors(world)] == [str(folder_of(world) / "never.yaml")] * 2
    for name in ("never", "never.yaml", folder_of(world) / "never.yaml"):
        assert errors(world, name) == errors(world)
    assert errors(world, "dag") == errors(world, "dag.yaml") == []
    unknown = world("dags", "errors", "dagg")
    assert unknown.code == 3 and "did you mean 'dag'" in unknown.err
    put(world, "dag.yaml", "tasks:\n  a: {run: 'echo bad', reties: 3}\n")
    wait_for(lambda: status(world, "dag") == "broken", "the file is broken")
    found = [row for row in errors(world) if row["file"].endswith("dag.yaml")]
    assert [(row["line"], row["column"]) for row in found] == [(2, 24)], found
    assert "retries" in found[0]["message"] and found[0]["since"]
    assert "good" in world.log(trigger(world), "a")
    put(world, "dag.yaml", say("good"))
    wait_for(lambda: status(world, "dag") == "active", "the file is mended")
    assert version(world) == 1
    (folder_of(world) / "never.yaml").unlink()
    wait_for(lambda: errors(world) == [], "no errors are left")


def test_two_files_with_one_dag(world, up):
    put(world, "b.yaml", "dag: same\n" + say("first"))
    daemon = up()
    put(world, "a.yaml", "dag: same\n" + say("second"))
    found = wait_for(lambda: errors(world), "the second file is refused")
    assert found[0]["file"].endswith("a.yaml")
    assert "b.yaml" in found[0]["message"] and "a.yaml" in found[0]["message"]
    assert errors(world, "same") == errors(world, "a.yaml") == found
    assert "first" in world.log(trigger(world, "same"), "a")
    put(world, "b.yaml", "dag: same\ntags: [t]\n" + say("first"))
    wait_for(lambda: version(world, "same") == 2, "the first file is read again")
    said = [line for line in daemon.text().splitlines() if "has problems" in line]
    assert len(said) == 1 and "in " + str(folder_of(world) / "b.yaml") in said[0], said
    (folder_of(world) / "b.yaml").unlink()
    wait_for(lambda: not errors(world), "the second file has it now")
    assert status(world, "same") == "active"
    assert "second" in world.log(trigger(world, "same"), "a")


def test_a_removed_file_and_its_return(world, up, evidence):
    put(world, "dag.yaml", LONG.replace("@evidence", str(evidence)))
    up()
    # A file that is just written is read a little later; a trigger by its path does not wait.
    wait_for(lambda: status(world, "dag") == "active", "the daemon offers it")
    world("dags", "trigger", "dag", code=0)
    wait_for(lambda: started(evidence), "the task runs")
    (folder_of(world) / "dag.yaml").unlink()
    wait_for(lambda: status(world, "dag") == "inactive", "the DAG is inactive")
    assert "dag" not in dags(world)
    refused = world("dags", "trigger", "dag")
    assert refused.code == 5 and "inactive" in refused.err, refused
    refused = world("dags", "delete", "dag", "--yes")
    assert refused.code == 5 and "not over" in refused.err, refused
    let_go(world)
    wait_for_state(world, "success")
    put(world, "dag.yaml", LONG.replace("@evidence", str(evidence)))
    wait_for(lambda: status(world, "dag") == "active", "it is back")
    assert version(world) == 1
    refused = world("dags", "delete", "dag", "--yes")
    assert refused.code == 5 and "offers it" in refused.err, refused
    (folder_of(world) / "dag.yaml").unlink()
    wait_for(lambda: status(world, "dag") == "inactive", "the DAG is inactive again")
    assert world("dags", "delete", "dag").code == 2
    world("dags", "delete", "dag", "--yes", "--dry-run", code=0)
    assert len(world.runs()) == 1
    world("dags", "delete", "dag", "--yes", "--reason", "done with it", code=0)
    assert world.runs() == []
    assert status(world, "dag") is None
    world("store", "check", code=0)


def test_a_rollback_holds_until_the_next_edit(world, up):
    put(world, "dag.yaml", say("one"))
    daemon = up()
    put(world, "dag.yaml", say("two"))
    wait_for(lambda: version(world) == 2, "the second version")
    old = trigger(world)
    world("dags", "rollback", "dag", "1", "--reason", "two is wrong", code=0)
    assert status(world, "dag") == "rolled_back"
    assert "one" in world.log(trigger(world), "a")
    assert "one" in world("run", "dag", "--logs", code=0).err
    for which, number in (("current", 1), ("newest", 2), ("1", 1), ("original", 2)):
        run = world("runs", "rerun", old, "--version", which, "-o", "json", code=0).json()
        assert run["dag_version"] == number, which
    looks = daemon.text().count("DAG files folder")
    daemon.signal(1)
    wait_for(lambda: daemon.text().count("DAG files folder") > looks, "another look")
    put(world, "dag.yaml", say("two") + "# the same\n")
    wait_for(lambda: "# the same" in world("dags", "source", "dag", "--version", "2").out,
             "the comment is read")
    assert status(world, "dag") == "rolled_back"
    assert versions(world)[1]["is_current"] and versions(world)[2]["is_filed"]
    daemon.finish()
    up(times=2)
    assert status(world, "dag") == "rolled_back"
    put(world, "dag.yaml", say("three"))
    wait_for(lambda: version(world) == 3, "the edit counts")
    assert status(world, "dag") == "active"
    run = world("runs", "rerun", old, "--version", "original", "-o", "json", code=0).json()
    assert run["dag_version"] == 2 and run["note"] == f"rerun of {old}"
    run = world("runs", "rerun", old, "--version", "newest", "--reason", "why not", "-o", "json",
                code=0).json()
    assert run["dag_version"] == 3 and run["note"] == f"rerun of {old}: why not"
    wait_for(lambda: {row["state"] for row in world.runs()} == {"success"}, "all are done")
    assert "three" in world.log(run["number"], "a")
    assert world("dags", "rollback", "dag", "9").code == 3
    assert world("dags", "rollback", "dag", "3").code == 5


def test_versions_differ_in_meaning_and_text(world, up):
    put(world, "x.sh", "echo from the script\n")
    put(world, "dag.yaml", "tasks:\n  a: {run: one}\n  s: {script: {file: x.sh}}\n")
    up()
    put(world, "dag.yaml", "owner: ann\ntasks:\n  b: {run: one}\n  s: {script: {file: x.sh}}\n")
    wait_for(lambda: version(world) == 2, "the second version")
    diff = world("dags", "diff", "dag", code=0).out
    assert diff.startswith("~ (the DAG): owner\n- a\n+ b\n\n--- "), diff
    assert "\n-  a: {run: one}\n+  b: {run: one}\n" in diff
    put(world, "x.sh", "echo from another script\n")
    wait_for(lambda: version(world) == 3, "another script is another version")
    found = world("dags", "diff", "dag", "-o", "json", code=0).json()
    assert found["changes"] == [{"what": "changed", "task": None, "keys": ["file x.sh"]}]
    assert "-echo from the script\n+echo from another script\n" in found["text"]
    assert world("dags", "diff", "dag", "1", "3", "-o", "json", code=0).json()["from"] == 1
    assert world("dags", "diff", "dag", "1", "7").code == 3
    first = world("dags", "source", "dag", "--version", "1", code=0).out
    assert "a: {run: one}" in first
    second = world("dags", "show", "dag", "--version", "2", "-o", "json", code=0).json()
    assert second["owner"] == "ann"


def test_every_host_runs_the_script_of_the_version(eider, server, fleet_up):
    """The second host has no folder, and the script is changed before the task starts."""
    put(eider, "x.sh", "echo the first script\n")
    put(eider, "dag.yaml", """
        tasks:
          s: {queue: far, workdir: /tmp, script: {file: x.sh}}
    """)
    fleet_up("near", "--queues", "default", **BUSY)
    run = eider("dags", "trigger", "dag", "-o", "json", code=0).json()["number"]
    put(eider, "x.sh", "echo the second script\n")
    wait_for(lambda: version(eider) == 2, "the script is changed")
    (eider.folder / "nothing").mkdir()
    fleet_up("far", "--queues", "far", "--dags", eider.folder / "nothing", **BUSY)
    wait_for(lambda: eider("runs", "show", run, "-o", "json", code=0).json()["state"] == "success",
             "the other host runs it")
    assert "the first script" in eider.log(run, "s")


def test_one_host_does_not_take_what_another_offers(eider, server, fleet_up):
    folders = {name: eider.folder / f"dags-{name}" for name in ("left", "right")}
    for folder in folders.values():
        folder.mkdir()
        (folder / "dag.yaml").write_text(say("here"))
    for name, folder in folders.items():
        fleet_up(name, "--dags", folder, **BUSY)
    (folders["left"] / "dag.yaml").unlink()
    (folders["left"] / "other.yaml").write_text(say("there"))
    wait_for(lambda: status(eider, "other") == "active", "the left one has looked")
    assert status(eider, "dag") == "active"
    (folders["right"] / "dag.yaml").unlink()
    wait_for(lambda: status(eider, "dag") == "inactive", "nobody has it")


def test_folders_that_are_swapped(world, up):
    """The folder is a link, and so is what is in it, as mounts of configuration have it."""
    for name in ("one", "two"):
        world.write(f"releases/{name}/..data/dag.yaml", say(name))
        (world.work / f"releases/{name}/dag.yaml").symlink_to("..data/dag.yaml")
    link = world.work / "dags"
    link.symlink_to("releases/one")
    up()
    assert version(world) == 1
    (world.work / "next").symlink_to("releases/two")
    (world.work / "next").rename(link)
    wait_for(lambda: version(world) == 2, "the link was turned")
    world.write("releases/two/..later/dag.yaml", say("three"))
    data = world.work / "releases/two/..data"
    data.rename(world.work / "releases/two/..before")
    (world.work / "releases/two/..tmp").symlink_to("..later")
    (world.work / "releases/two/..tmp").rename(data)
    wait_for(lambda: version(world) == 3, "the links inside were turned")
    assert "three" in world.log(trigger(world), "a")


def test_a_folder_that_comes_late_and_goes(world, up):
    daemon = up()
    assert not folder_of(world).exists()
    world.write("dags/dag.yaml", say("late"))
    wait_for(lambda: status(world, "dag") == "active", "the folder was heard of")
    folder_of(world).rename(world.work / "away")
    daemon.wait_until("its DAGs stay as they are")
    assert status(world, "dag") == "active"
    (world.work / "away").rename(folder_of(world))
    put(world, "dag.yaml", say("again"))
    wait_for(lambda: version(world) == 2, "it goes on")


def test_ignored_files(world, up):
    put(world, "dag.yaml", say("x"))
    world.write("dags/drafts/a.yaml", say("x"))
    put(world, "_hidden.yaml", say("x"))
    put(world, ".eiderignore", "drafts/\n")
    up()
    assert set(dags(world)) == {"dag"}
    put(world, ".eiderignore", "dag.yaml\n")
    wait_for(lambda: set(dags(world)) == {"a"}, "the rules were changed")


def test_unchanged_files_are_not_read_after_a_restart(world, up):
    for i in range(30):
        world.write(f"dags/d{i}.yaml", say(i))
    daemon = up()
    assert "files=30 read=30 changed=30" in daemon.text()
    daemon.finish()
    daemon = up(times=2)
    assert "files=30 read=0 changed=0" in daemon.text()
    shutil.copy(folder_of(world) / "d1.yaml", folder_of(world) / "copy.yaml")
    os.utime(folder_of(world) / "d2.yaml")
    wait_for(lambda: "files=31 read=1 changed=1" in daemon.text(), "only the new one is read")


def test_changes_are_recorded_with_who_and_why(world, up):
    put(world, "dag.yaml", say("one"))
    daemon = up()
    put(world, "dag.yaml", say("two"))
    wait_for(lambda: version(world) == 2, "the second version")
    world("dags", "rollback", "dag", "1", "--reason", "because", code=0)
    daemon.finish()
    world("store", "export", world.folder / "all.jsonl", code=0)
    text = (world.folder / "all.jsonl").read_text()
    assert "because" in text
    assert versions(world)[1]["actor"].startswith("host ")
    assert json.loads(text.splitlines()[0])
