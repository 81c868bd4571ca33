"""Gathers and scatters in which `arange` is an index, as users write a batch: each row looks into its own, and nothing
is sent.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

LOCAL, OTHER = [], []
RNG = np.random.default_rng(17)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def places(*shape, high, low=0, dtype=np.int32):
    return RNG.integers(low, high, shape).astype(dtype)


def case(cases, *arguments):
    """A function of arguments that are all sharded by rows."""

    def add(function):
        cases.append(pytest.param(function, arguments, id=function.__name__))
        return function

    return add


def rows(x, rank=2):
    return jnp.arange(x.shape[0]).reshape(-1, *[1] * (rank - 1))


@case(LOCAL, normal(16, 4, 2), places(16, 4, 2, low=-9, high=9))
def routing(weights, chosen):
    """MaxText's mask of experts; places out of range on either side are dropped."""
    return jnp.zeros((16, 4, 8)).at[rows(weights, 3), jnp.arange(4)[None, :, None], chosen].set(weights, mode="drop")


@case(LOCAL, normal(16, 9), places(16, 3, low=-20, high=20))
def picked(x, at):
    return x[rows(x), at]


@case(LOCAL, normal(16, 9), places(16, 3, low=-20, high=20))
def filled(x, at):
    return x.at[rows(x), at].get(mode="fill", fill_value=7)


@case(LOCAL, normal(16, 9), places(16, 3, low=-20, high=20))
def clipped(x, at):
    return x.at[rows(x), at].get(mode="clip")


@case(LOCAL, normal(16, 9), places(16, 3, high=9))
def numpy_counts(x, at):
    return x[np.arange(16)[:, None], at]


@case(LOCAL, normal(16, 16))
def diagonal(x):
    return x[jnp.arange(16), jnp.arange(16)]


@case(LOCAL, normal(16, 5, 9), places(16, high=9))
def windows(x, at):
    """The loss of labels, with a dim between that is taken whole."""
    return jax.grad(lambda x: jnp.sum(x[jnp.arange(16), :, at] ** 2))(x)


@case(LOCAL, normal(16, 9), places(16, 6, high=9))
def carried_by_a_scan(x, at):
    count = jnp.arange(16)

    def body(state, column):
        return state.at[count, column].add(1.0), state[count, column]

    return jax.lax.scan(body, x, at.T)


@case(OTHER, normal(16, 9), places(8, 3, high=9), normal(8, 3))
def fewer_rows(x, at, updates):
    return x.at[jnp.arange(8)[:, None], at].set(updates)


@case(OTHER, normal(8, 9), places(16, 3, high=9))
def more_rows(x, at):
    return x.at[jnp.arange(16)[:, None], at].get(mode="fill", fill_value=3)


@case(OTHER, normal(16, 9), places(16, 3, high=9), normal(16, 3))
def the_next_row(x, at, updates):
    return x.at[rows(x) + 1, at].add(updates)


@case(OTHER, normal(16, 9), places(16, 3, high=9))
def from_the_end(x, at):
    return x[rows(x) - 16, at] + x[-1 - rows(x), at]


@case(OTHER, normal(200, 9), places(200, 1, high=9))
def a_count_that_wraps_around(x, at):
    return x[jax.lax.iota(np.int8, 200)[:, None].astype(np.int32), at]


@case(OTHER, normal(8, 8), places(8, 8, high=8))
def a_count_along_the_other_dim(x, at):
    return x[jnp.arange(8)[None, :], at]


def by_rows():
    return NamedSharding(Mesh(np.array(jax.devices()[:8]), ("data",)), P("data"))


def agree(function, arguments, shardings, **options):
    """The report, once the numbers have been compared."""
    text = jax.jit(function, in_shardings=shardings).lower(*arguments).as_text(debug_info=True)
    program, inputs = shardonnay.compile(text, **options), list(arguments)
    assert_agrees(program, text, inputs)
    return program.report


@pytest.mark.parametrize("function, arguments", LOCAL)
def test_rows_stay_where_they_are(function, arguments):
    report = agree(function, arguments, by_rows(), no_implicit_replication=True)
    assert report["collectives"] == []


@pytest.mark.parametrize("function, arguments", OTHER)
def test_other_counts_are_looked_up(function, arguments):
    assert agree(function, arguments, by_rows())["collectives"]


def test_uneven_rows():
    """The result alone is gathered: at the boundary 13 rows are whole."""

    def add(x, at, updates):
        x = jax.lax.with_sharding_constraint(x, by_rows())
        return x.at[rows(x), at].add(updates)

    arguments = normal(13, 9), places(13, 3, high=9), normal(13, 3)
    report = agree(add, arguments, None, no_implicit_replication=True)
    assert [entry["kind"] for entry in report["collectives"]] == ["all_gather"]
