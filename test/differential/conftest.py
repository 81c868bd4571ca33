"""As many CPU devices as the largest mesh of this folder has, before anything uses JAX; and a process for jaxlib's
passes.
"""

import pytest
from shardonnay import engine

engine.prepare(24)


@pytest.fixture(scope="module")
def jaxlib():
    from workers import Jaxlib

    worker = Jaxlib()
    yield worker
    worker.close()
