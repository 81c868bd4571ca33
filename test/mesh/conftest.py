"""The MPIs that are installed, for every test that asks for `mpi`."""

import pytest
from shardonnay import mpi as package

INSTALLED = package.installed()


def pytest_generate_tests(metafunc):
    if "mpi" not in metafunc.fixturenames:
        return
    if INSTALLED:
        metafunc.parametrize("mpi", INSTALLED, ids=[mpi.kind for mpi in INSTALLED], scope="session")
    else:
        skipped = pytest.param(
            None, marks=pytest.mark.skip(reason="NO MPI IS INSTALLED: run scripts/setup --mpi"), id="none"
        )
        metafunc.parametrize("mpi", [skipped], scope="session")
