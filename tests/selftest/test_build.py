"""The build and the unit tests notice leaks, undefined behaviour, warnings and upward calls."""
import sys

TEST = """#include "expect.h"
#include <stdlib.h>
%s
Test(planted, planted)
{
    %s
}
"""


def plant_test(tree, body, before=""):
    tree.plant("tests/unit/base/test_planted.c", TEST % (before, body))
    return tree.build("test_planted")


def test_a_sound_test_passes(tree):
    code, out = plant_test(tree, "cr_assert(1);")
    assert code == 0, out

    code, out = tree.ctest("test_planted")

    assert code == 0, out
    assert "1 tests" in out or "out of 1" in out


def test_a_leak_fails_the_test(tree):
    code, out = plant_test(tree, "void *volatile lost = malloc(77); cr_assert(lost); lost = NULL;")
    assert code == 0, out

    code, out = tree.ctest("test_planted")

    assert code != 0
    assert "LeakSanitizer" in out, out


def test_a_read_after_free_fails_the_test(tree):
    code, out = plant_test(
        tree, "volatile char *p = malloc(3); free((void *)p); cr_assert(p[1] != 7);")
    if code == 0:
        code, out = tree.ctest("test_planted")
    assert code != 0
    assert "use-after-free" in out, out


def test_an_overflow_fails_the_test(tree):
    code, out = plant_test(tree, "volatile int x = 0x7fffffff; x = x + 1;")
    assert code == 0, out

    code, out = tree.ctest("test_planted")

    assert code != 0
    assert "signed integer overflow" in out, out


def test_a_warning_fails_the_build(tree):
    tree.plant("src/base/planted.c",
               "int planted(void);\nint planted(void)\n{\n    int unused;\n    return 0;\n}\n")

    code, out = tree.build("base")

    assert code != 0
    assert "unused-variable" in out, out


def test_a_header_that_needs_another_fails_alone(tree):
    tree.plant("src/base/planted.h", "#pragma once\nsize_t planted(void);\n")

    code, out = tree.build("base_verify_interface_header_sets")

    assert code != 0
    assert "size_t" in out, out


UPWARD = """extern const char *task_state_name(int state);
const char *planted(void);
const char *planted(void)
{
    return task_state_name(0);
}
"""


def test_an_upward_call_does_not_link(tree):
    tree.plant("src/base/planted.c", UPWARD)

    code, out = plant_test(tree, 'cr_assert_not_null(planted());', "const char *planted(void);")

    assert code != 0
    assert "undefined reference to `task_state_name'" in out, out


def test_an_upward_call_that_no_test_links_is_found_too(tree):
    tree.plant("src/base/planted.c", UPWARD)
    code, out = tree.build("base", "model")
    assert code == 0, out

    code, out = tree.run(sys.executable, "tools/check-calls.py", "build/dev")

    assert code == 1
    assert "calls task_state_name of model" in out, out


def test_the_layers_as_they_are_call_downward_only(tree):
    code, out = tree.build("base", "model")
    assert code == 0, out

    code, out = tree.run(sys.executable, "tools/check-calls.py", "build/dev")

    assert code == 0, out
