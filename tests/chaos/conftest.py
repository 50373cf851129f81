"""Fixtures: one PostgreSQL for all tests of this folder, and proxies in front of it."""
import pytest

from cluster import Cluster
from proxy import Proxies


@pytest.fixture(scope="session")
def cluster():
    server = Cluster()
    yield server
    server.close()


@pytest.fixture
def proxies(cluster):
    links = Proxies(cluster.socket)
    yield links
    links.close()
