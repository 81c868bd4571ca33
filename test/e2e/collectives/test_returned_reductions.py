"""What a user reduces at the end of a shard_map, and what happens to it outside: one collective, with jax.jit's
numbers.
"""

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from shardonnay import run

MESH = Mesh(np.array(jax.devices("cpu")[:8]).reshape(4, 2), ("x", "y"))


def numbers(*shape, dtype=np.float32):
    """Small integers, so that sums are exact in every order."""
    return np.random.default_rng(0).integers(-8, 9, shape).astype(dtype)


def over(axes, body, out, manual=("x", "y")):
    """`body` on the shards of rows along x and of columns along y, reduced along `axes`."""
    return jax.shard_map(body, mesh=MESH, in_specs=P(*(axis if axis in manual else None for axis in ("x", "y"))),
                         out_specs=out, axis_names=set(manual), check_vma=False)  # fmt: skip


def rows_of(spec):
    return lambda value: lax.with_sharding_constraint(value, NamedSharding(MESH, spec))


def twice(value):
    return rows_of(P("x", "y"))(value) + 1, value[:1]


def gradients(value):
    """Three layers' gradients in a loop, each summed along x and kept in shards."""

    def layer(carry, scale):
        summed = over("x", lambda part: lax.psum(part * scale, "x"), P(None, "y"))(carry)
        return carry + 1, rows_of(P("x", "y"))(summed)

    return lax.scan(layer, value, jnp.arange(3.0))[1]


def halves(value):
    """The sum of each half of the devices along x: no axis' groups."""
    groups = [[0, 1], [2, 3]]
    return rows_of(P("x", "y"))(
        over("x", lambda part: lax.psum(part, "x", axis_index_groups=groups), P(None, "y"))(value)
    )


# What is computed, and how often it is all_reduce and reduce_scatter.
CASES = {
    "a sum": (lambda v: rows_of(P("x", "y"))(over("x", lambda part: lax.psum(part, "x"), P(None, "y"))(v)), (0, 1)),
    "a maximum": (lambda v: rows_of(P("x", "y"))(over("x", lambda part: lax.pmax(part, "x"), P(None, "y"))(v)), (0, 1)),
    "a minimum along both": (lambda v: rows_of(P("x", "y"))(over("xy", lambda part: lax.pmin(part, ("x", "y")),
                                                                 P())(v)), (0, 2)),
    "along the other axis": (lambda v: rows_of(P("x", "y"))(over("y", lambda part: lax.psum(part, "y"),
                                                                 P("x", None))(v)), (0, 1)),
    "columns instead of rows": (lambda v: rows_of(P(None, "x"))(over("x", lambda part: lax.psum(part, "x"),
                                                                     P(None, None), ("x",))(v)), (1, 1)),
    "needed whole": (lambda v: rows_of(P(None, "y"))(over("x", lambda part: lax.psum(part, "x"), P(None, "y"))(v)),
                     (1, 0)),
    "read twice": (lambda v: twice(over("x", lambda part: lax.psum(part, "x"), P(None, "y"))(v)), (1, 0)),
    "returned twice": (lambda v: [rows_of(P("x", "y"))(each)
                                  for each in over("x", lambda part: (lax.psum(part, "x"),) * 2, P(None, "y"))(v)],
                                  None),
    "used inside too": (lambda v: rows_of(P("x", "y"))(over("x", lambda part: (lambda s: s * s)(lax.psum(part, "x")),
                                                            P(None, "y"))(v)), (1, 0)),
    "of groups": (halves, (1, 0)),
    "in a loop": (gradients, (0, 1)),
}  # fmt: skip


def compare(function, value):
    """The emitted program of `function`, whose devices compute what jax.jit's do."""
    jitted = jax.jit(function, in_shardings=NamedSharding(MESH, P("x", "y")))
    compiled = shardonnay.compile(jitted.lower(value).as_text())
    outputs, spreads = run.LoadedProgram(compiled)([value])
    assert max(spreads) == 0
    for output, wanted in zip(outputs, jax.tree.leaves(jitted(value)), strict=True):
        np.testing.assert_array_equal(output, wanted)
    return compiled


@pytest.mark.parametrize("name", CASES)
def test_cases(name):
    function, expected = CASES[name]
    text = compare(function, numbers(16, 16)).text
    if expected:
        assert (
            len(re.findall("stablehlo.all_reduce", text)),
            len(re.findall("stablehlo.reduce_scatter", text)),
        ) == expected, text


@pytest.mark.parametrize("shape", [(16, 16), (12, 16), (20, 6), (4, 2), (16, 0)], ids=str)
@pytest.mark.parametrize(
    "dtype", [np.float32, np.int8, jnp.bfloat16, np.complex64, np.bool_], ids=lambda each: np.dtype(each).name
)
def test_sizes_and_types(shape, dtype):
    """Shards of the sum that have no equal share of its rows, too."""
    reduce = partial(lax.pmax, axis_name="x") if dtype == np.bool_ else partial(lax.psum, axis_name="x")
    compare(lambda v: rows_of(P("x", "y"))(over("x", reduce, P(None, "y"))(v)), numbers(*shape, dtype=dtype))
