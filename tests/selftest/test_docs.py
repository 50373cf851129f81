"""The documents say what the tables in the source say, and their examples work."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("EIDER_BIN", ROOT / "build/dev/eider"))
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=60, check=False)
    return result.returncode, result.stdout


def table(sources, pattern):
    paths = sorted(ROOT.glob(sources))
    if not paths:
        pytest.skip(f"{sources} does not exist")
    found = [name for path in paths for name in re.findall(pattern, path.read_text(), re.M)]
    assert found, f"no rows in {sources}: has the table moved?"
    return found


def missing(document, names):
    """Names that never stand at the beginning of a code span: `name`, `name.x`, `name(..)`."""
    text = (ROOT / document).read_text()
    return [name for name in names if not re.search(rf"`{name}\b", text)]


@pytest.mark.parametrize("document, sources, pattern", [
    ("docs/dag-format.md", "src/model/dag_fields.c", r'^    \{"(\w+)", (?:NULL|"\w+"), FIELD_'),
    ("docs/dag-format.md", "src/model/kind.h", r'^    X\(\w+, "(\w+)", (?:true|false)\)'),
    ("docs/scheduling.md", "src/model/schedule_fields.c", r'\{"(\w+)", (?:NULL|"\w+"), FIELD_'),
    ("docs/scheduling.md", "src/model/cron_parse.c", r'^    \{"(@\w+)", "'),
    ("docs/templates.md", "src/model/template*_priv.h", r"^    X\((\w+), \d, \""),
    ("docs/templates.md", "src/model/dag_roots.c", r'^    \{"(\w+)", "'),
    ("docs/semantics.md", "src/model/trigger_rule.h", r'^    X\(\w+, "(\w+)"\)'),
])
def test_every_row_of_a_table_is_documented(document, sources, pattern):
    names = table(sources, pattern)
    nested = {"cpu", "memory", "procs", "output", "skip", "retry", "gap"}  # inside their parent

    assert missing(document, [name for name in names if name not in nested]) == []


@needs_program
def test_generated_parts_are_up_to_date():
    assert run(ROOT / "tools/write-docs", PROGRAM, "--check") == (0, ""), \
        "run: make docs"


@needs_program
def test_every_dag_in_the_documents_is_valid(tmp_path):
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    found = [(document, text) for document in documents
             for text in re.findall(r"^```yaml\n(.*?)^```$", document.read_text(), re.M | re.S)
             if re.search(r"^tasks:", text, re.M)]
    assert len(found) >= 3
    for number, (document, text) in enumerate(found):
        path = tmp_path / f"{document.stem}_{number}.yaml"
        path.write_text(text)
        code, out = run(PROGRAM, "--home", tmp_path / "home", "validate", path)
        assert code == 0, f"{document.relative_to(ROOT)}: {out}"


@needs_program
def test_the_picture_in_the_readme_is_what_the_program_draws():
    _, drawn = run(PROGRAM, "dags", "graph", ROOT / "examples/pipeline.yaml", "--format", "svg")
    assert (ROOT / "docs/images/pipeline.svg").read_text() == drawn, "run: make docs"


def test_every_link_between_documents_leads_somewhere():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    broken = [
        f"{document.relative_to(ROOT)}: {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
        if not (document.parent / target).exists()
    ]
    assert broken == []
