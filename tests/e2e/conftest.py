"""Fixtures: the binary with a state directory of its own, and a file for evidence."""
import pytest

from harness import BINARY, Eider


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"{BINARY} does not exist; build it (make dev) or set EIDER_BIN", returncode=3)


@pytest.fixture
def eider(tmp_path):
    program = Eider(tmp_path)
    yield program
    program.close()


@pytest.fixture
def evidence(eider):
    return eider.evidence
