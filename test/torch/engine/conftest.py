"""Eight CPU devices of JAX for the reference, before anything uses it, and eight ranks for all tests of a session."""

import sys
from pathlib import Path

import pytest
from shardonnay import engine as pjrt

sys.path.append(str(Path(__file__).resolve().parents[2] / "e2e"))
pjrt.prepare(8)

from cluster import Cluster  # noqa: E402 -- torch behind JAX's settings
from threads import Threads  # noqa: E402


@pytest.fixture(scope="session")
def ranks():
    cluster = Cluster()
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def any_ranks(request):
    """Threads; with --gloo the processes of `ranks`."""
    return request.getfixturevalue("ranks") if request.config.getoption("--gloo") else Threads()
