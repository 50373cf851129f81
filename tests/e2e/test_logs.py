"""`eider logs`: each attempt's output, whole, live, searchable."""
import re

from harness import wait_for

DAG = r"""
    tasks:
      talk:
        run: |
          for i in $(seq 1 100); do echo "line $i"; done
          echo "to stderr" >&2
      other: { run: echo other }
    """


def test_the_whole_log_in_order(eider):
    eider.run(DAG)

    lines = eider.log("dag", "talk").splitlines()

    assert [line for line in lines if line.startswith("line")] == [
        f"line {i}" for i in range(1, 101)]
    assert "to stderr" in lines


def test_tail_and_grep(eider):
    eider.run(DAG)

    assert eider.log("dag", "talk", "--tail", "3").splitlines() == [
        "line 99", "line 100", "to stderr"]
    assert eider.log("dag", "talk", "--tail", "0") == ""
    assert len(eider.log("dag", "talk", "--tail", "1000").splitlines()) == 101
    assert eider.log("dag", "talk", "--grep", "line [0-9]0$").splitlines() == [
        f"line {i}0" for i in range(1, 10)]
    assert eider.log("dag", "talk", "--grep", "nothing like this") == ""
    assert eider("logs", "dag", "talk", "--grep", "[", code=2).err


def test_without_a_task_all_logs_are_shown_with_their_names(eider):
    eider.run(DAG)

    out = eider("logs", "dag", code=0).out

    assert "line 100" in out and "talk" in out
    assert re.search(r"other.*other", out, re.S)


def test_each_attempt_has_its_own_log(eider, evidence):
    eider.run("""
        tasks:
          a:
            retries: 2
            retry_delay: 10ms
            run: "echo x >> @evidence; echo attempt $EIDER_TRY_NUMBER; [ $EIDER_TRY_NUMBER = 3 ]"
        """)

    for number in ("1", "2", "3"):
        assert eider.log("dag", "a", "--try", number).strip() == f"attempt {number}"
    assert eider.log("dag", "a").strip() == "attempt 3", "the newest by default"
    assert eider("logs", "dag", "a", "--try", "4").code == 3
    assert eider("logs", "dag", "a", "--try", "0").code in (2, 3)


def test_what_is_not_there(eider):
    eider.run(DAG)

    assert "nowhere" in eider("logs", "nowhere", "talk", code=3).err
    assert "talk" in eider("logs", "dag", "tlak", code=3).err


def test_output_is_kept_byte_for_byte(eider):
    eider.run(r"""
        tasks:
          a: { run: "printf 'a\\000b\\377\\033[31mred\\033[0m\\r\\nno newline at end'" }
        """)

    with eider.start("logs", "dag", "a", text=False) as child:
        out, _ = child.communicate(timeout=60)

    assert out.rstrip(b"\n") == b"a\0b\xff\x1b[31mred\x1b[0m\r\nno newline at end"


def test_output_that_looks_like_templates_or_json_is_not_interpreted(eider):
    eider.run("""
        tasks:
          a: { run: "echo '{% raw %}{{ 1 + 1 }}{% endraw %}'; echo '::set-output x=1'" }
        """)

    assert eider.log("dag", "a").splitlines() == ["{{ 1 + 1 }}", "::set-output x=1"]


def test_following_a_live_log_until_it_ends(eider, evidence):
    path = eider.write("dag.yaml", """
        tasks:
          a: { run: "echo early; while [ ! -e @evidence ]; do sleep 0.05; done; echo late" }
        """)
    run = eider.start("run", path)
    wait_for(lambda: "early" in eider("logs", "dag", "a").out, "the first line in the log")

    follower = eider.start("logs", "dag", "a", "-f")
    assert follower.stdout.readline() == "early\n"
    evidence.path.touch()
    rest, errors = follower.communicate(timeout=60)

    assert rest == "late\n", errors
    assert follower.returncode == 0
    run.communicate(timeout=60)
    assert run.returncode == 0


def test_a_log_is_cut_at_its_limit_with_a_mark(eider):
    eider.run("""
        tasks:
          a: { run: "seq 1 200000", limits: { output: 64KiB } }
          b: { run: "seq 1 1000", limits: { output: 64KiB } }
        """)

    cut = eider.log("dag", "a")
    assert len(cut) < 80 * 1024
    assert cut.startswith("1\n2\n3\n")
    assert re.search(r"limit|cut|truncat|dropped|omitted", cut), "a mark says what is missing"
    assert eider.log("dag", "b").splitlines() == [str(i) for i in range(1, 1001)]
