"""Mistakes made on purpose: only in programs built for them, and each has a test that finds it."""
import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FINDERS = ROOT / "tests/chaos/saboteurs.py"
PROGRAMS = ["build/eider", "build/release/eider", "build/dev/eider"]


def planted():
    sources = "\n".join(path.read_text() for path in sorted(ROOT.glob("src/**/*.c")))
    return set(re.findall(r'\bSABOTAGE\("(\w+)"\)', sources))


def listed():
    """Keys of the table SABOTEURS."""
    for node in ast.parse(FINDERS.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SABOTEURS":
            return {key.value for key in node.value.keys}
    return set()


def test_some_are_planted():
    assert len(planted()) >= 13


@pytest.mark.skipif(not FINDERS.exists(), reason=f"{FINDERS} does not exist")
def test_each_has_a_test_that_finds_it():
    assert planted() == listed()


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_for_users_have_none(program):
    path = ROOT / program
    if not path.exists():
        pytest.skip(f"{program} is not built")
    content = path.read_bytes()
    assert [name for name in planted() if name.encode() in content] == []
    assert b"EIDER_SABOTAGE" not in content


def test_the_program_for_tests_has_all():
    path = ROOT / "build/sabotage/eider"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    content = path.read_bytes()
    assert [name for name in planted() if name.encode() not in content] == []
