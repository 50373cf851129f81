"""`eider validate`: every problem at once, with place, line, caret and a way out."""
import json

import pytest

from harness import rows_of


def validate(eider, text, *args, code=6, name="dag.yaml"):
    return eider("validate", eider.write(name, text), *args, code=code)


def test_a_sound_file_passes(eider):
    validate(eider, "tasks: { a: { run: 'true' } }", code=0)


def test_all_problems_in_one_go_each_with_its_place(eider):
    result = validate(eider, """\
        taks_typo: 1
        tasks:
          a:
            rnu: echo
          b:
            run: echo
            needs: [nowhere]
          c:
            run: echo
            retries: many
        """)

    said = result.out + result.err
    for place in ("dag.yaml:1:1", "dag.yaml:4:", "dag.yaml:7:", "dag.yaml:10:"):
        assert place in said, said
    assert "run" in said and "nowhere" in said
    lines = said.splitlines()
    caret = next(line for line in lines if line.strip(" |").startswith("^"))
    assert set(caret.strip(" |")) <= {"^", "~"}
    assert any("needs: [nowhere]" in line for line in lines), "the line itself is shown"


def test_the_caret_stands_under_the_word(eider):
    result = validate(eider, "tasks:\n  b: { run: echo, needs: [nowhere] }\n")

    lines = (result.out + result.err).splitlines()
    at = next(i for i, line in enumerate(lines) if "needs: [nowhere]" in line)
    assert lines[at + 1].index("^") == lines[at].index("nowhere")


@pytest.mark.parametrize("typo, meant", [
    ("rum: echo", "run"), ("run: echo, neeeds: []", "needs"), ("run: echo, retires: 1", "retries"),
    ("run: echo, trigger_rule: all_sucess", "all_success"),
    ("run: echo, on_failure: [{ slak: ops }]", "slack"),
    ("run: echo, on_retry: { pagerduty: { sevrity: info } }", "severity")])
def test_a_typo_gets_a_suggestion(eider, typo, meant):
    result = validate(eider, f"tasks:\n  a: {{ {typo} }}\n")

    assert "did you mean" in result.out + result.err
    assert meant in result.out + result.err


def test_a_cycle_is_named_by_its_path(eider):
    result = validate(eider, """
        tasks:
          a: { needs: [c], run: echo }
          b: { needs: [a], run: echo }
          c: { needs: [b], run: echo }
          free: { run: echo }
        """)

    said = result.out + result.err
    assert "cycle" in said
    assert " -> ".join("abca") in said or any(
        " -> ".join(path) in said for path in ("bcab", "cabc", "acba", "cbac", "bacb")), said
    assert "free" not in said


@pytest.mark.parametrize("text, expected", [
    ("tasks:\n  a: { run: echo }\n  a: { run: echo }\n", "dag.yaml:3:"),
    ("tasks:\n  a: { run: echo, script: x }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { retries: 1 }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { run: [1, 2] }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { run: echo, timeout: 5 parsecs }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { run: echo, needs: [a] }\n", "dag.yaml:2:"),
    ("tasks: [a, b]\n", "dag.yaml:1:"),
    ("tasks:\n  a: { run: 'echo {{ 1 + }}' }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { run: '{% if x %}' }\n", "dag.yaml:2:"),
    ("tasks: {}\n", "dag.yaml"),
    ("", "dag.yaml"),
    ("tasks:\n  a: { run: echo\n", "dag.yaml:"),
    ("tasks:\n\ta: x\n", "dag.yaml:2:"),
    ("dag: 'has space'\ntasks: { a: { run: echo } }\n", "dag.yaml:1:"),
    ("tasks:\n  '../a': { run: echo }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { run: echo, teardown: [b] }\n  b: { run: echo }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { branch: [{ else: [zz] }] }\n", "dag.yaml:2:"),
    ("tasks:\n  a: { sql: { text: x } }\n", "dag.yaml:2:"),
])
def test_what_is_wrong_is_placed(eider, text, expected):
    result = validate(eider, text)

    assert expected in result.out + result.err, result


def test_problems_as_json(eider):
    result = validate(eider, "tasks:\n  a: { rnu: echo }\n", "-o", "json")

    files = rows_of(json.loads(result.out))
    first = files[0]["problems"][0]
    assert first["line"] == 2
    assert first["column"] >= 1
    assert "rnu" in json.dumps(first)


def test_several_files_and_folders(eider):
    eider.write("dags/good.yaml", "tasks: { a: { run: 'true' } }")
    eider.write("dags/deep/bad.yaml", "tasks: { a: { rnu: 'true' } }")
    eider.write("dags/_ignored.yaml", "broken: [")
    eider.write("dags/.hidden.yaml", "broken: [")

    result = eider("validate", "dags", code=6)

    assert "bad.yaml:1:" in result.out + result.err
    assert "ignored" not in result.out + result.err
    assert "hidden" not in result.out + result.err
    eider("validate", "dags/good.yaml", code=0)


def test_a_file_that_is_not_there(eider):
    result = eider("validate", "nowhere.yaml", code=3)

    assert "nowhere.yaml" in result.err


def test_running_an_invalid_file_says_the_same_and_runs_nothing(eider, evidence):
    result = eider.run("tasks:\n  a: { run: 'touch @evidence' }\n  b: { rnu: x }\n", code=6)

    assert "dag.yaml:3:" in result.err + result.out
    assert not evidence.path.exists()
    assert eider.runs() == []
