"""Each rule of tools/tidy.py notices the mistake that it is there for."""
import pytest

BODY = "int planted(void);\nint planted(void)\n{\n%s    return 0;\n}\n"
TABLE = "/* clang-format off */\n/* %s */\n/* clang-format on */\n"


def test_the_tree_as_it_is_has_no_problems(tree):
    code, out = tree.tidy()
    assert code == 0, out


@pytest.mark.parametrize("relative, text, complaint", [
    ("src/base/planted.c", '#include "model/task_state.h"\n', "base may not use model"),
    ("src/model/planted.c", "#include <sqlite3.h>\n", "<sqlite3.h> belongs to store"),
    ("src/model/planted.c", '#include "base/secret_priv.h"\n', "is private to base"),
    ("src/base/planted.c", BODY % "    system(0);\n", "system() is banned"),
    ("src/base/planted.c", BODY % "    strcpy (a, b);\n", "strcpy() is banned"),
    ("src/model/planted.c", BODY % "    fork();\n", "fork() belongs to src/os/"),
    ("src/base/planted.c", BODY % "    // why\n", "// is for experiments"),
    ("src/base/planted.c", BODY % ("    /* TO" "DO later */\n"), "finish it"),
    ("src/base/planted.c", BODY % ("    f();\n" * 70), "function of 71 lines"),
    ("src/base/planted.c", "\n" * 801, "801 lines, at most 800"),
    ("src/base/planted.h", "#pragma once\n" + "\n" * 250, "251 lines, at most 250"),
    ("src/base/planted.h", "int planted(void);\n", "starts with #pragma once"),
    ("src/base/planted.c", "/* " + "x" * 96 + "*/\n", "line has 101 columns"),
    ("src/base/planted.c", TABLE % ("x" * 145), "line has 151 columns"),
    ("src/base/planted.c", TABLE % "x" + "/* " + "x" * 96 + "*/\n", "line has 101 columns"),
    ("src/base/planted.c", "int x; \n", "spaces at the end"),
    ("src/model/arena.c", "int x;\n", "file name used twice"),
    ("src/base/helpers.c", "int x;\n", "says nothing"),
    ("src/nowhere/planted.c", "int x;\n", "no layer of src/LAYERS"),
    ("tests/unit/base/test_planted.c", "/* " + "x" * 96 + "*/\n", "line has 101 columns"),
    ("bench/planted.c", "/* " + "x" * 96 + "*/\n", "line has 101 columns"),
    ("ui/src/core/planted.ts", 'import { x } from "../pages/runs";\n', "core may not use pages"),
    ("ui/src/parts/planted.tsx", "box.innerHTML = name;\n", "use text nodes"),
    ("ui/src/parts/planted.tsx", "x" * 121 + "\n", "line has 121 columns"),
])
def test_a_planted_mistake_is_reported(corner, relative, text, complaint):
    corner.plant(relative, text)

    code, out = corner.tidy()

    assert code == 1
    assert complaint in out
    folder = relative.rsplit("/", 1)[0]
    assert relative in out or folder in out


@pytest.mark.parametrize("relative, text", [
    ("src/model/planted.c", '#include "base/err.h"\n'),
    ("src/store/planted.c", "#include <sqlite3.h>\n"),
    ("src/base/planted.c", BODY % '    log("system(0) // strcpy(a)");\n'),
    ("src/base/planted.c", BODY % "    /* sleep(1) is never right */\n"),
    ("src/base/planted.c", BODY % "    table->time(0); table.rand();\n"),
    ("src/base/planted.c", BODY % "    clock_time(0); run_system();\n"),
    ("src/base/planted.c", BODY % ("    f();\n" * 69)),
    ("src/base/planted.c", "\n" * 800),
    ("src/base/planted.c", "/* " + "x" * 95 + "*/\n"),
    ("src/base/planted.c", TABLE % ("x" * 144)),
])
def test_what_only_looks_like_a_mistake_is_left_alone(corner, relative, text):
    corner.plant(relative, text)

    _, out = corner.tidy()

    assert relative not in out


def test_layers_only_name_what_stands_above_them(corner):
    layers = corner.root / "src/LAYERS"
    before = layers.read_text()
    try:
        layers.write_text(before.replace("base    :", "base    : model", 1))
        code, out = corner.tidy()
    finally:
        layers.write_text(before)

    assert code == 1
    assert "base names model" in out
