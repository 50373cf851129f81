"""`eider run FILE`: what a DAG does, seen from outside."""
import json
import os
import signal
import time

import pytest

from harness import PATIENCE, is_alive, overlap_max, wait_for


def test_the_smallest_file_runs(eider):
    eider.run("tasks:\n  hello: { run: echo hello }\n", name="hello.yaml")

    assert eider.run_state("hello") == "success"
    assert eider.states("hello") == {"hello": "success"}
    assert eider.log("hello", "hello").strip() == "hello"


def test_a_failed_task_fails_the_run_and_the_summary_says_where_to_look(eider):
    result = eider.run("""
        tasks:
          good: { run: "true" }
          bad: { run: "echo oh dear >&2; exit 3" }
          after: { needs: [bad], run: "true" }
        """, code=1)

    assert "bad" in result.err + result.out
    assert "3" in result.err + result.out
    assert "log" in (result.err + result.out).lower()
    assert eider.run_state() == "failed"
    assert eider.states() == {"good": "success", "bad": "failed", "after": "upstream_failed"}
    assert eider.tasks()["bad"]["reason"]


def test_nothing_but_data_goes_to_standard_output(eider):
    result = eider.run("tasks: { a: { run: echo noise } }")

    assert "noise" not in result.out


def test_parents_run_before_children(eider, evidence):
    eider.run("""
        tasks:
          d: { needs: [b, c], run: "echo d >> @evidence" }
          c: { needs: [a], run: "echo c >> @evidence" }
          b: { needs: [a], run: "echo b >> @evidence" }
          a: { run: "echo a >> @evidence" }
        """)

    lines = evidence.lines()
    assert sorted(lines) == ["a", "b", "c", "d"]
    assert lines[0] == "a" and lines[-1] == "d"


def test_what_exit_codes_mean(eider):
    eider.run("""
        tasks:
          ok: { run: exit 0 }
          skip: { run: exit 99 }
          after_skip: { needs: [skip], run: "true" }
          fail: { run: exit 1, allow_failure: true }
          own_skip: { run: exit 4, exit: { skip: [4, 5] } }
          not_skip: { run: exit 99, exit: { skip: [4] }, allow_failure: true }
          by_signal: { run: kill -KILL $$, allow_failure: true }
        """)

    assert eider.states() == {
        "ok": "success", "skip": "skipped", "after_skip": "skipped", "fail": "failed",
        "own_skip": "skipped", "not_skip": "failed", "by_signal": "failed"}
    tasks = eider.tasks()
    assert "exit" in tasks["fail"]["reason"]
    assert "signal" in tasks["by_signal"]["reason"]


# Params, conf, date

PARAMS = """
    params:
      region: { type: string, enum: [eu, us], default: eu }
      count: { type: integer, minimum: 1, maximum: 9, default: 3 }
      full: { type: boolean, default: false }
    tasks:
      show:
        run: |
          echo "{{ params.region }} {{ params.count }} {{ params.full }}"
          echo "$EIDER_PARAMS"
    """


def test_params_have_defaults_and_are_given_by_name(eider):
    eider.run(PARAMS, name="one.yaml")
    eider.run(PARAMS, "-p", "region=us", "-p", "count=9", "-p", "full=true", name="two.yaml")

    text, as_json = eider.log("one", "show").splitlines()
    assert text == "eu 3 false"
    assert json.loads(as_json) == {"region": "eu", "count": 3, "full": False}
    text, as_json = eider.log("two", "show").splitlines()
    assert text == "us 9 true"
    assert json.loads(as_json) == {"region": "us", "count": 9, "full": True}


@pytest.mark.parametrize("given, named", [
    ("region=mars", "region"), ("count=ten", "count"), ("count=10", "count"), ("count=0", "count"),
    ("full=perhaps", "full"), ("regoin=eu", "region"), ("region", "region")])
def test_a_wrong_param_is_a_usage_error_and_nothing_runs(eider, evidence, given, named):
    result = eider.run(PARAMS + "      mark: { run: 'touch @evidence' }\n", "-p", given, code=2)

    assert named in result.err
    assert not evidence.path.exists()


def test_a_param_without_default_must_be_given(eider):
    text = "params: { who: { type: string } }\ntasks: { a: { run: 'echo {{ params.who }}' } }\n"

    result = eider.run(text, code=2)

    assert "who" in result.err
    eider.run(text, "-p", "who=me")
    assert eider.log("dag", "a").strip() == "me"


def test_conf_is_json_and_reaches_templates(eider):
    text = "tasks: { a: { run: 'echo {{ dag_run.conf.x.y }}' } }"

    eider.run(text, "--conf", '{"x": {"y": "deep"}}')

    assert eider.log("dag", "a").strip() == "deep"
    assert "conf" in eider.run(text, "--conf", "{broken", code=2).err


def test_the_date_of_a_run(eider):
    text = """
        tasks:
          a:
            run: |
              echo {{ ds }} {{ ds_nodash }} {{ ts }}
              echo $EIDER_LOGICAL_DATE
        """

    eider.run(text, "--date", "2025-01-15")

    rendered, from_env = eider.log("dag", "a").splitlines()
    assert rendered.split()[:2] == ["2025-01-15", "20250115"]
    assert rendered.split()[2].startswith("2025-01-15T00:00:00")
    assert from_env.startswith("2025-01-15T00:00:00")
    assert "date" in eider.run(text, "--date", "yesterday-ish", code=2).err


# Templates and environment

def test_templates_in_commands_env_and_conditions(eider):
    eider.run("""
        dag: shop
        params: { names: { type: array, default: [ann, bob] } }
        tasks:
          a:
            env: { GREETING: "hi {{ params.names | join('+') }}" }
            run: |
              echo "$GREETING"
              echo "{{ dag.id }} {{ task.id }} {{ run_id | length > 3 }}"
              {% for name in params.names %}
              echo "{{ loop.index }} {{ name | upper }}"
              {% endfor %}
              {% if params.names | length == 2 %}
              echo two
              {% else %}
              echo other
              {% endif %}
              echo "{{ params.nothing | default('spare') }}"
              echo {{ "it's; rm -rf /" | sh }}
        """, name="any.yaml")

    lines = [line for line in eider.log("shop", "a").splitlines() if line.strip()]
    assert lines == ["hi ann+bob", "shop a true", "1 ANN", "2 BOB", "two", "spare",
                     "it's; rm -rf /"]


def test_a_template_error_names_the_place_in_the_file(eider, evidence):
    result = eider("run", eider.write("dag.yaml", """\
        tasks:
          a:
            run: |
              touch @evidence
              echo {{ tasks.b.missing }}
            needs: [b]
          b: { run: "true" }
        """))

    assert result.code == 1, result
    assert not evidence.path.exists()
    row = eider.tasks()["a"]
    assert row["state"] == "failed"
    assert "template_error" in row["reason"]
    said = result.err + result.out + eider("explain", "dag", "a").out
    assert "dag.yaml:" in said
    assert "missing" in said


def test_the_environment_of_a_task_is_clean(eider):
    eider.run("""
        tasks:
          a:
            env: { MINE: "1", TZ: Asia/Tokyo }
            env_pass: [PASSED, ABSENT]
            run: env
        """, env={"LEAKED": "no", "PASSED": "yes", "EIDER_STORE_SECRET": "x"})

    seen = dict(line.split("=", 1) for line in eider.log("dag", "a").splitlines() if "=" in line)
    assert "LEAKED" not in seen and "EIDER_STORE_SECRET" not in seen and "EIDER_HOME" not in seen
    assert seen["PASSED"] == "yes" and "ABSENT" not in seen
    assert seen["MINE"] == "1" and seen["TZ"] == "Asia/Tokyo"
    assert {"PATH", "HOME", "USER", "LANG"} <= set(seen)
    for name in ("DAG_ID", "RUN_ID", "TASK_ID", "MAP_INDEX", "TRY_NUMBER", "LOGICAL_DATE",
                 "DATA_INTERVAL_START", "DATA_INTERVAL_END", "IDEMPOTENCY_KEY", "PARAMS",
                 "OUTPUTS"):
        assert f"EIDER_{name}" in seen
    assert seen["EIDER_DAG_ID"] == "dag" and seen["EIDER_TASK_ID"] == "a"
    assert seen["EIDER_TRY_NUMBER"] == "1"
    assert not any(name.startswith(("ASAN", "UBSAN", "TSAN")) for name in seen)


def test_no_descriptor_leaks_into_a_task(eider):
    eider.run("tasks: { a: { run: 'ls /proc/self/fd' } }")

    open_files = {int(word) for word in eider.log("dag", "a").split()}
    assert open_files <= {0, 1, 2, 3}  # 3 is ls itself reading the folder


def test_where_a_task_runs(eider):
    (eider.work / "sub").mkdir()
    eider.run("""
        tasks:
          here: { run: pwd }
          there: { run: pwd, workdir: sub }
          templated: { run: pwd, workdir: "{{ params.where }}" }
        params: { where: { type: string, default: /tmp } }
        """, cwd="/")

    assert eider.log("dag", "here").strip() == str(eider.work)
    assert eider.log("dag", "there").strip() == str(eider.work / "sub")
    assert eider.log("dag", "templated").strip() == "/tmp"


def test_a_missing_workdir_is_reported_exactly(eider):
    result = eider.run("tasks: { a: { run: 'true', workdir: /no/such/place } }", code=1)

    assert "/no/such/place" in result.err + result.out + eider("explain", "dag", "a").out
    assert eider.tasks()["a"]["state"] == "failed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run a task as someone else")
def test_a_task_runs_as_the_user_it_names(eider):
    os.chmod(eider.folder, 0o755)
    eider.run("""
        tasks:
          a: { run: id -un, user: nobody, workdir: / }
          b: { run: "true", user: no_such_user_here, allow_failure: true }
        """)

    assert eider.log("dag", "a").strip() == "nobody"
    assert eider.states()["b"] == "failed"


def test_scripts_run_by_their_interpreter(eider):
    eider.run("""
        tasks:
          a:
            interpreter: python3
            script: |
              import os, sys
              print(sum(range(10)), os.environ["EIDER_TASK_ID"], "{{ ds }}")
        """, "--date", "2025-01-15")

    assert eider.log("dag", "a").strip() == "45 a 2025-01-15"


def test_a_missing_interpreter_is_an_exec_error(eider):
    result = eider.run("""
        tasks:
          a: { interpreter: /no/such/interpreter, script: "whatever" }
        """, code=1)

    assert "/no/such/interpreter" in result.err + result.out + eider("explain", "dag", "a").out
    assert "exec_error" in eider.tasks()["a"]["reason"]


# Values

def test_values_pass_through_the_outputs_folder(eider):
    eider.run(r"""
        tasks:
          make:
            run: |
              echo '{"rows": 12, "ok": true}' > $EIDER_OUTPUTS/stats
              printf 'plain words' > $EIDER_OUTPUTS/note
              echo '[1, 2, 3]' > $EIDER_OUTPUTS/return_value
          use:
            needs: [make]
            run: |
              echo "{{ tasks.make.stats.rows + 1 }} {{ tasks.make.stats.ok }}"
              echo "{{ tasks['make'].note }}"
              echo "{{ tasks.make.return_value | length }}"
              echo "{{ ti.xcom_pull('make', key='note') }} {{ ti.xcom_pull('make') }}"
        """)

    sums, note, length, pulled = eider.log("dag", "use").splitlines()
    assert (sums, note, length) == ("13 true", "plain words", "3")
    assert pulled.startswith("plain words ")
    assert json.loads(pulled.removeprefix("plain words ")) == [1, 2, 3]


def test_a_large_value_spills_and_a_huge_one_fails_clearly(eider):
    result = eider.run("""
        tasks:
          large: { run: "head -c 300000 /dev/zero | tr '\\\\0' x > $EIDER_OUTPUTS/big" }
          use: { needs: [large], run: "echo {{ tasks.large.big | length }}" }
          huge:
            run: "head -c 17000000 /dev/zero | tr '\\\\0' x > $EIDER_OUTPUTS/big"
        """, code=1)

    states = eider.states()
    assert states["large"] == "success" and states["use"] == "success"
    assert eider.log("dag", "use").strip() == "300000"
    assert states["huge"] == "failed"
    assert "big" in result.err + result.out + eider("explain", "dag", "huge").out


def test_values_of_a_failed_attempt_are_not_seen(eider, evidence):
    eider.run("""
        tasks:
          a:
            retries: 1
            retry_delay: 10ms
            run: |
              if [ ! -e @evidence ]; then
                touch @evidence; echo 1 > $EIDER_OUTPUTS/stale; exit 1
              fi
              echo 2 > $EIDER_OUTPUTS/fresh
          b:
            needs: [a]
            run: echo {{ tasks.a.stale | default('none') }} {{ tasks.a.fresh }}
        """)

    assert eider.log("dag", "b").strip() == "none 2"


# Mapping

def test_foreach_runs_once_per_item_and_a_later_task_sees_all_results(eider):
    eider.run("""
        tasks:
          list: { run: "echo '[3, 1, 2]' > $EIDER_OUTPUTS/items" }
          square:
            needs: [list]
            foreach: "{{ tasks.list.items }}"
            label: "n={{ item }}"
            run: "echo $(({{ item }} * {{ item }})) > $EIDER_OUTPUTS/result"
          sum:
            needs: [square]
            run: "echo {{ tasks.square.result | sum }} {{ tasks.square.result }}"
        """)

    instances = eider.mapped("square")
    assert [row["map_index"] for row in instances] == [0, 1, 2]
    assert [row["state"] for row in instances] == ["success"] * 3
    total, results = eider.log("dag", "sum").split(" ", 1)
    assert total == "14"
    assert json.loads(results) == [9, 1, 4], "in the order of the items"
    assert "n=3" in json.dumps(instances[0])


def test_foreach_over_a_literal_list_and_over_nothing(eider, evidence):
    eider.run("""
        tasks:
          each: { foreach: [a, b], run: "echo {{ item }}$EIDER_MAP_INDEX >> @evidence" }
          none: { foreach: [], run: "echo never >> @evidence" }
          after: { needs: [none], run: "echo never >> @evidence" }
          whatever: { needs: [none], trigger_rule: all_done, run: "echo done >> @evidence" }
        """)

    assert sorted(evidence.lines()) == ["a0", "b1", "done"]
    states = eider.states()
    assert states["none"] == "skipped" and states["after"] == "skipped"


def test_an_instance_fails_alone_and_retries_alone(eider, evidence):
    eider.run("""
        tasks:
          each:
            foreach: [1, 2, 3]
            retries: 1
            retry_delay: 10ms
            run: |
              echo "{{ item }}" >> @evidence
              [ "{{ item }}" != 2 ]
          after: { needs: [each], run: "true" }
        """, code=1)

    assert sorted(evidence.lines()) == ["1", "2", "2", "3"]
    assert [row["state"] for row in eider.mapped("each")] == ["success", "failed", "success"]
    assert [row["try_number"] for row in eider.mapped("each")] == [1, 2, 1]
    assert eider.states()["after"] == "upstream_failed"


def test_foreach_over_something_else_than_a_list_fails_clearly(eider):
    result = eider.run("""
        tasks:
          a: { run: "echo '{}' > $EIDER_OUTPUTS/x" }
          b: { needs: [a], foreach: "{{ tasks.a.x }}", run: "true" }
        """, code=1)

    assert eider.states()["b"] == "failed"
    assert "list" in result.err + result.out + eider("explain", "dag", "b").out


@pytest.mark.parametrize("where", ["max_parallel: 2", "max_active_tasks"])
def test_limits_on_parallelism_hold(eider, evidence, where):
    dag_limit = "max_active_tasks: 2" if where == "max_active_tasks" else "title: no limit"
    task_limit = where if where.startswith("max_parallel") else "doc: no limit"
    eider.run(f"""
        {dag_limit}
        tasks:
          each:
            {task_limit}
            foreach: [1, 2, 3, 4, 5, 6]
            run: "echo +{{{{ item }}}} >> @evidence; sleep 0.2; echo -{{{{ item }}}} >> @evidence"
        """)

    assert len(evidence.lines()) == 12
    assert overlap_max(evidence.lines()) <= 2


def test_matrix_is_every_combination(eider, evidence):
    eider.run("""
        tasks:
          each:
            matrix: { os: [deb, rpm], arch: [x, y, z] }
            run: "echo {{ item.os }}-{{ item.arch }} >> @evidence"
        """)

    assert sorted(evidence.lines()) == ["deb-x", "deb-y", "deb-z", "rpm-x", "rpm-y", "rpm-z"]
    assert len(eider.mapped("each")) == 6


# Branches, conditions, setups, groups

BRANCH = """
    params: { way: { type: string, default: left } }
    tasks:
      choose:
        branch:
          - { if: "{{ params.way == 'left' }}", then: [left] }
          - { if: "{{ params.way == 'both' }}", then: [left, right] }
          - { else: [right] }
      left: { needs: [choose], run: "true" }
      right: { needs: [choose], run: "true" }
      join:
        needs: [left, right]
        trigger_rule: none_failed_min_one_success
        run: "true"
    """


@pytest.mark.parametrize("way, left, right", [
    ("left", "success", "skipped"), ("right", "skipped", "success"),
    ("both", "success", "success")])
def test_a_branch_skips_what_it_did_not_choose(eider, way, left, right):
    eider.run(BRANCH, "-p", f"way={way}")

    assert eider.states() == {"choose": "success", "left": left, "right": right, "join": "success"}


def test_a_task_downstream_of_the_chosen_one_is_not_skipped(eider):
    eider.run("""
        tasks:
          choose: { branch: [{ else: [work] }] }
          work: { needs: [choose], run: "true" }
          publish:
            needs: [choose, work]
            run: "true"
        """)

    assert eider.states()["publish"] == "success"


def test_short_circuit_skips_what_depends_on_it(eider):
    eider.run("""
        tasks:
          stop: { short_circuit: "{{ 1 > 2 }}" }
          go: { short_circuit: "{{ 2 > 1 }}" }
          after_stop: { needs: [stop], run: "true" }
          then: { needs: [after_stop], run: "true" }
          after_go: { needs: [go], run: "true" }
        """)

    assert eider.states() == {"stop": "success", "go": "success", "after_stop": "skipped",
                              "then": "skipped", "after_go": "success"}


def test_a_condition_skips_the_task_itself(eider):
    eider.run("""
        tasks:
          no: { if: "{{ false }}", run: "true" }
          yes: { if: "{{ ds | length == 10 }}", run: "true" }
          after: { needs: [no], run: "true" }
          anyway: { needs: [no], trigger_rule: none_failed, run: "true" }
        """)

    assert eider.states() == {"no": "skipped", "yes": "success", "after": "skipped",
                              "anyway": "success"}


def test_a_teardown_runs_when_work_failed_but_not_when_setup_did(eider, evidence):
    def dag(setup, work):
        return f"""
            tasks:
              up: {{ setup: true, run: "{setup}" }}
              work: {{ needs: [up], run: "{work}" }}
              down: {{ needs: [work], teardown: [up], run: "echo down >> @evidence" }}
            """

    eider.run(dag("true", "false"), name="one.yaml", code=1)
    assert evidence.lines() == ["down"]
    eider.run(dag("false", "true"), name="two.yaml", code=1)
    assert evidence.lines() == ["down"]
    assert eider.states("two") == {"up": "failed", "work": "upstream_failed",
                                   "down": "upstream_failed"}


def test_finally_runs_last_whatever_happened(eider, evidence):
    eider.run("""
        tasks:
          a: { run: "echo a >> @evidence; exit 1" }
          b: { needs: [a], run: "echo b >> @evidence" }
        finally:
          clean: { run: "echo clean >> @evidence" }
        """, code=1)

    assert evidence.lines() == ["a", "clean"]
    assert eider.states()["clean"] == "success"


def test_a_failing_finally_fails_the_run(eider):
    eider.run("""
        tasks: { a: { run: "true" } }
        finally: { clean: { run: "false" } }
        """, code=1)

    assert eider.run_state() == "failed"


def test_groups_prefix_their_tasks(eider):
    eider.run("""
        groups:
          load:
            tasks:
              one: { run: "true" }
              two: { needs: [one], run: "true" }
        tasks:
          after: { needs: [load.two], run: "true" }
        """)

    assert eider.states() == {"load.one": "success", "load.two": "success", "after": "success"}


def test_a_failure_is_not_hidden_by_a_task_that_cleans_up(eider):
    text = """
        {verdict}
        tasks:
          bad: {{ run: "false" }}
          clean: {{ needs: [bad], trigger_rule: all_done, run: "true" }}
        """

    eider.run(text.format(verdict=""), name="strict.yaml", code=1)
    eider.run(text.format(verdict="verdict: leaves"), name="leaves.yaml", code=0)


TRIGGER_RULES = {
    "all_success": "upstream_failed", "all_failed": "skipped", "all_done": "success",
    "all_skipped": "skipped", "one_success": "success", "one_failed": "success",
    "one_done": "success", "none_failed": "upstream_failed",
    "none_failed_min_one_success": "upstream_failed", "none_skipped": "skipped",
    "all_done_min_one_success": "success", "always": "success",
}


def test_every_trigger_rule_over_a_success_a_failure_and_a_skip(eider):
    tasks = "".join(
        f"          {rule}: {{ needs: [good, bad, skip], trigger_rule: {rule}, noop: {{}} }}\n"
        for rule in TRIGGER_RULES)
    eider.run("""
        tasks:
          good: { run: "true" }
          bad: { run: "false", allow_failure: true }
          skip: { run: "exit 99" }
""" + tasks, code=None)

    states = eider.states()
    assert {rule: states[rule] for rule in TRIGGER_RULES} == TRIGGER_RULES


# Retries, timeouts, processes

def test_a_retry_until_it_works(eider, evidence):
    eider.run("""
        tasks:
          a:
            retries: 3
            retry_delay: 10ms
            run: |
              echo "$EIDER_TRY_NUMBER $EIDER_IDEMPOTENCY_KEY" >> @evidence
              [ $(wc -l < @evidence) -ge 3 ]
          b: { run: "echo $EIDER_IDEMPOTENCY_KEY" }
        """)

    tries, keys = zip(*(line.split() for line in evidence.lines()))
    assert tries == ("1", "2", "3")
    assert len(set(keys)) == 1, "the key is stable over retries"
    assert eider.log("dag", "b").strip() != keys[0], "and differs between tasks"
    assert eider.tasks()["a"]["try_number"] == 3


def test_retries_end(eider, evidence):
    eider.run("""
        defaults: { retries: 2, retry_delay: 10ms }
        tasks:
          a: { run: "echo x >> @evidence; exit 1" }
        """, code=1)

    assert evidence.lines() == ["x"] * 3


def test_retry_only_on_given_codes(eider, evidence):
    eider.run("""
        defaults: { retries: 2, retry_delay: 10ms, retry_on: [75] }
        tasks:
          listed: { run: "echo listed >> @evidence; exit 75", allow_failure: true }
          other: { run: "echo other >> @evidence; exit 1", allow_failure: true }
        """)

    assert evidence.count("listed") == 3
    assert evidence.count("other") == 1


def test_a_timeout_ends_the_whole_tree(eider, evidence):
    started = time.monotonic()
    eider.run("""
        tasks:
          a:
            timeout: 500ms
            run: |
              trap '' TERM
              sh -c 'echo $$ >> @evidence; trap "" TERM; while :; do sleep 1; done' &
              echo $$ >> @evidence
              wait
        """, code=1, timeout=90)

    assert time.monotonic() - started < 60
    assert "timeout" in eider.tasks()["a"]["reason"]
    pids = [int(line) for line in evidence.lines()]
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


def test_a_timeout_is_retried_like_a_failure(eider, evidence):
    eider.run("""
        tasks:
          a:
            timeout: 1s
            retries: 1
            retry_delay: 10ms
            run: "echo x >> @evidence; [ $(wc -l < @evidence) -ge 2 ] || sleep 100"
        """)

    assert evidence.lines() == ["x", "x"]


def test_a_grandchild_that_keeps_the_output_open_hangs_nothing(eider, evidence):
    started = time.monotonic()
    eider.run("""
        tasks:
          a: { run: "sleep 300 & echo $! > @evidence; echo done" }
          b: { needs: [a], run: "true" }
        """)

    assert time.monotonic() - started < 45
    assert eider.log("dag", "a").strip() == "done"
    [pid] = evidence.lines()
    wait_for(lambda: not is_alive(int(pid)), "the grandchild to end with the run")


def test_resource_limits_hold(eider):
    eider.run("""
        tasks:
          cpu: { run: "while :; do :; done", limits: { cpu: 1s }, allow_failure: true }
          memory:
            interpreter: python3
            script: "x = bytearray(512 * 1024 * 1024)"
            limits: { memory: 128MiB }
            allow_failure: true
        """)

    assert eider.states() == {"cpu": "failed", "memory": "failed"}


def test_one_task_alone(eider, evidence):
    eider.run("""
        tasks:
          a: { run: "echo a >> @evidence" }
          b: { needs: [a], run: "echo b >> @evidence" }
          c: { needs: [b], run: "echo c >> @evidence" }
        """, "--task", "b")

    assert evidence.count("b") == 1
    assert evidence.count("c") == 0


def test_a_trial_run_records_nothing(eider, evidence):
    path = eider.write("dag.yaml", """
        tasks:
          a: { run: "echo a >> @evidence" }
          b: { run: "echo b >> @evidence" }
        """)

    eider("test", path, "b", code=0)

    assert evidence.lines() == ["b"]
    assert eider.runs() == []


def test_a_thousand_noops_and_a_wide_fan_in(eider):
    names = [f"t{i}" for i in range(1000)]
    tasks = "".join(f"  {name}: {{ needs: [start], noop: {{}} }}\n" for name in names)
    last = f"  end: {{ needs: [{', '.join(names)}], noop: {{}} }}\n"

    eider.run("tasks:\n  start: { noop: {} }\n" + tasks + last)

    states = eider.states()
    assert set(states.values()) == {"success"}
    assert len(states) == 1002


def test_a_program_without_a_shell(eider):
    eider.run("""
        tasks:
          a: { run: [printf, "%s|", "$HOME", "two words", "{{ ds }}"] }
        """, "--date", "2025-01-15")

    assert eider.log("dag", "a").strip() == "$HOME|two words|2025-01-15|"


def test_a_script_from_a_file_with_arguments(eider):
    eider.write("work.py", "import sys\nprint(sys.argv[1:])\n")
    eider.run("""
        tasks:
          a: { script: { file: work.py, interpreter: python3, args: [one, "{{ ds }}"] } }
        """, "--date", "2025-01-15")

    assert eider.log("dag", "a").strip() == "['one', '2025-01-15']"


def test_a_mapped_task_is_reported_after_its_instances(eider):
    result = eider.run("""
        tasks:
          many: { foreach: [1, 2, 3, 4, 5, 6, 7, 8], run: "true" }
        """, name="many.yaml")

    ends = [line.split()[2] for line in result.err.splitlines() if " success " in line]
    assert ends[-1] == "many" and len(ends) == 9


def test_values_can_be_pulled_the_way_airflow_does(eider):
    eider.run("""
        tasks:
          give: { run: "echo 41 > $EIDER_OUTPUTS/return_value; echo x > $EIDER_OUTPUTS/k" }
          take:
            needs: [give]
            run: echo {{ xcom_pull('give') }} {{ ti.xcom_pull(['give'], key='k') | first }}
        """, name="pull.yaml")

    assert eider.log("pull", "take").strip() == "41 x"


def test_bad_outputs_do_not_hide_why_a_task_failed(eider):
    eider.run("""
        tasks:
          slow: { run: "echo 1 > $EIDER_OUTPUTS/__x; sleep 300", timeout: 1s }
          bad: { run: "echo 1 > $EIDER_OUTPUTS/__x; exit 3" }
          good: { run: "echo 1 > $EIDER_OUTPUTS/__x" }
        """, code=1)

    reasons = {name: row["reason"] for name, row in eider.tasks().items()}
    assert reasons == {"slow": "timeout", "bad": "exit", "good": "limit"}


def test_tasks_of_one_slot_do_not_see_each_others_outputs(eider):
    """A slot's outputs folder is used again; what one task left is not there for the next."""
    eider.run("""
        tasks:
          a: { run: "echo 1 > $EIDER_OUTPUTS/x" }
          b: { needs: [a], run: "ls -A $EIDER_OUTPUTS; echo 2 > $EIDER_OUTPUTS/.y" }
          c: { needs: [b], run: "ls -A $EIDER_OUTPUTS; rmdir $EIDER_OUTPUTS" }
          d: { needs: [c], run: "ls -A $EIDER_OUTPUTS; echo {{ tasks.a.x }}{{ tasks.b['.y'] }}" }
          e: { needs: [d], run: "ln -s /etc/passwd $EIDER_OUTPUTS/p", allow_failure: true }
          f: { needs: [e], trigger_rule: all_done, run: "ls -A $EIDER_OUTPUTS" }
        """, "--slots", "1", name="slots.yaml", code=0)

    assert eider.log("slots", "d").strip() == "12"
    assert [eider.log("slots", task).strip() for task in "bcf"] == ["", "", ""]
    scratch, = eider.home.glob("stores/*/scratch")
    assert not list(scratch.iterdir())


def test_values_are_pulled_from_another_dag(eider):
    """From its run for the same date, or the last one before."""
    other = "tasks: { give: { run: 'echo {{ ds_nodash }} > $EIDER_OUTPUTS/return_value' } }"
    for date in ("2026-01-10", "2026-01-12", "2026-01-14"):
        eider.run(other, "--date", date, name="other.yaml", code=0)
    taker = "tasks: { take: { run: \"echo {{ ti.xcom_pull('give', dag_id='other') }}\" } }"

    for date, wanted in (("2026-01-12", "20260112"), ("2026-01-13", "20260112")):
        eider.run(taker, "--date", date, name="taker.yaml", code=0)
        assert eider.log("taker", "take").strip() == wanted
    result = eider.run(taker, "--date", "2026-01-09", name="taker.yaml", code=1)

    assert "DAG 'other' has no run for this date or before it" in result.out


def test_a_task_that_no_host_can_run_is_told_of(eider):
    path = eider.write("dag.yaml", "tasks: {a: {run: 'true', worker: [gpu, eu]}}")
    child = eider.start("run", path)
    wait_for(eider.runs, "the run is made")
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE)
    assert "task 'a' waits for ever: it asks for a host with 'eu gpu'" in said
    able = eider("run", path, env={"EIDER_LABELS": "gpu,eu,big"}, code=0)
    assert "warning" not in able.err
