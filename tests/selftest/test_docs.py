"""The documents name what the tables in the source name."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


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
    ("docs/templates.md", "src/model/template*_priv.h", r"^    X\((\w+), \d, \""),
    ("docs/templates.md", "src/model/dag_roots.c", r'^    \{"(\w+)", "'),
    ("docs/semantics.md", "src/model/trigger_rule.h", r'^    X\(\w+, "(\w+)"\)'),
])
def test_every_row_of_a_table_is_documented(document, sources, pattern):
    names = table(sources, pattern)
    nested = {"cpu", "memory", "procs", "output", "skip", "retry"}  # shown inside their parent

    assert missing(document, [name for name in names if name not in nested]) == []


def test_every_link_between_documents_leads_somewhere():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    later = {"cli.md", "process-protocol.md", "operations.md"}
    broken = [
        f"{document.relative_to(ROOT)}: {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
        if not (document.parent / target).exists() and pathlib.Path(target).name not in later
    ]
    assert broken == []
