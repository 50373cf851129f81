"""tools/lint finds a mistake, also in what it has seen pass."""

SOUND = '#include "base/planted.h"\nint planted(const int *p)\n{\n    return READ(p);\n}\n'
HEADER = "#pragma once\nint planted(const int *p);\n#define READ(p) (%s)\n"


def lint(tree, cache):
    return tree.run("env", f"XDG_CACHE_HOME={cache}", "tools/lint", "src/base/planted.c")


def test_what_passed_is_known_until_what_it_includes_changes(tree, tmp_path):
    tree.plant("src/base/planted.c", SOUND)
    tree.plant("src/base/planted.h", HEADER % "p == 0 ? 0 : *(p)")
    code, out = tree.run("cmake", "--preset", "dev")
    assert code == 0, out

    code, out = lint(tree, tmp_path)
    assert code == 0 and "0 of them known" in out, out
    code, out = lint(tree, tmp_path)
    assert code == 0 and "1 of them known" in out, out

    (tree.root / "src/base/planted.h").write_text(HEADER % "p == 0 ? *(p) : 0")
    for _ in range(2):  # and what was found is not forgotten
        code, out = lint(tree, tmp_path)
        assert code == 1, out
        assert "NullDereference" in out, out


def test_what_passed_is_looked_at_again_with_other_checks(tree, tmp_path):
    tree.plant("src/base/planted.c", SOUND)
    tree.plant("src/base/planted.h", HEADER % "p == 0 ? 0 : *(p)")
    code, out = tree.run("cmake", "--preset", "dev")
    assert code == 0, out
    code, out = lint(tree, tmp_path)
    assert code == 0, out

    checks = tree.root / ".clang-tidy"
    before = checks.read_text()
    try:
        checks.write_text(before.replace("value: '70'", "value: '0'"))
        code, out = lint(tree, tmp_path)
    finally:
        checks.write_text(before)

    assert code == 1, out
    assert "readability-function-size" in out, out
