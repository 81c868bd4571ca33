"""Eight CPU devices for every test of this folder, before anything uses JAX; and a table of results at the end."""

import pytest
from shardonnay import engine

engine.prepare(8)

_ROWS = pytest.StashKey[list]()


@pytest.fixture(scope="session")
def row(pytestconfig):
    """Adds a line to the table that is printed after the tests."""
    return pytestconfig.stash.setdefault(_ROWS, []).append


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash.get(_ROWS, []):
        terminalreporter.write_line(line)
