"""What the public route cannot carry is refused where it is written."""

import jax
import numpy as np
import pytest
import shardonnay
from jax.experimental import io_callback
from jax.sharding import NamedSharding
from outcomes import MESH, P, put, ramp
from shardonnay.jax import partition, propagate

X = put(ramp(8, 16), "data")


def pure(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def printed(x):
    jax.debug.print("{}", x.sum())
    return x


def ordered(x):
    io_callback(lambda a: None, None, x, ordered=True)
    return x


@pytest.mark.parametrize("function", [pure, printed, ordered])
@pytest.mark.parametrize("transform", [partition, propagate])
def test_callbacks(function, transform):
    with pytest.raises(shardonnay.CompileError, match=r"test_effects.py:\d+:\d+: error: a call back into Python"):
        transform(function)(X)


def test_other_memories():
    host = NamedSharding(MESH, P("data"), memory_kind="pinned_host")
    with pytest.raises(shardonnay.CompileError, match=r"test_effects.py:\d+: error: a value in a memory kind"):
        partition(lambda x: x + 1, in_shardings=host, out_shardings=host)(np.ones((8, 16), np.float32))


def test_on_one_device_there_is_nothing_to_partition():
    np.testing.assert_allclose(partition(pure)(np.ones(3, np.float32)), np.sin(np.ones(3)), rtol=1e-6)
