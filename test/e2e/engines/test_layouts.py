"""Arrays in other layouts than the engine's own, as jax.experimental.layout asks for them."""

import jax
import numpy as np
import pytest
import shardonnay
from jax.experimental.layout import Format, Layout, with_layout_constraint
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from shardonnay import compare, run

COLUMNS, AUTO = Layout((1, 0)), Layout.AUTO


def lower(function, argument, result):
    """Text of `function` of two matrices, the first and the first result in these layouts."""
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("x", "y"))
    sharding = NamedSharding(mesh, P("x", "y"))
    inner, outer = (Format(layout, sharding) if layout else sharding for layout in (argument, result))
    shape = jax.ShapeDtypeStruct((8, 16), np.float32)
    return (
        jax.jit(function, in_shardings=(inner, sharding), out_shardings=(outer, sharding)).lower(shape, shape).as_text()
    )


@pytest.mark.parametrize("mode", ["split", "whole"])
@pytest.mark.parametrize("argument, result", [(COLUMNS, None), (None, COLUMNS), (COLUMNS, COLUMNS), (AUTO, AUTO)])
def test_boundary(argument, result, mode):
    text = lower(lambda a, b: (a @ b.T, a + 2 * b), argument, result)
    assert text.count("mhlo.layout_mode") == (argument is not None) + (result is not None)
    inputs = [np.random.default_rng(i).standard_normal((8, 16)).astype(np.float32) for i in range(2)]
    program = run.LoadedProgram(shardonnay.compile(text, arguments=mode, results=mode))
    expected = [inputs[0] @ inputs[1].T, inputs[0] + 2 * inputs[1]]
    for found, wanted in zip(program(inputs)[0], expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert all(agreement.ok for agreement in run.check(program, inputs, compare.reference(text, inputs)))


def test_inside():
    text = lower(lambda a, b: (with_layout_constraint(a * b, COLUMNS), a), None, None)
    assert "@LayoutConstraint" in text
    inputs = [np.random.default_rng(i).standard_normal((8, 16)).astype(np.float32) for i in range(2)]
    (found, _), _ = run.LoadedProgram(shardonnay.compile(text))(inputs)
    np.testing.assert_array_equal(found, inputs[0] * inputs[1])
