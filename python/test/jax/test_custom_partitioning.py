"""`jax.experimental.custom_partitioning`: propagation goes along the rule, a device computes what the author says."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from jax.experimental.custom_partitioning import custom_partitioning
from outcomes import MESH, P, compare, on, put, ramp
from shardonnay.jax import deserialize, partition, propagate, serialize

X, W = put(ramp(8, 16) / 23, "data"), put(ramp(16, 32) / 23, None, "model")
SEEN = []


def seen(mesh, args, result):
    """Notes how the author's function is asked."""
    SEEN.append(tuple([kind.sharding.spec for kind in jax.tree.leaves(kinds)] for kinds in (args, result)))


@custom_partitioning
def doubled(x):
    return x * 2


def partition_doubled(mesh, args, result):
    seen(mesh, args, result)
    return mesh, lambda x: x * 2, result.sharding, (args[0].sharding,)


doubled.def_partition(
    partition=partition_doubled,
    infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
    sharding_rule="i j -> i j",
)


@custom_partitioning
def product(x, w):
    return x @ w


def partition_product(mesh, args, result):
    """Each device has a part of what is summed over."""
    seen(mesh, args, result)
    axis = args[0].sharding.spec[1]

    def local(x, w):
        y = x @ w
        return y if axis is None else jax.lax.psum(y, axis)

    return mesh, local, result.sharding, tuple(arg.sharding for arg in args)


product.def_partition(
    partition=partition_product, sharding_rule="i k, k j -> i j", reduction_factors=("k",)
)


@functools.partial(custom_partitioning, static_argnums=(1,))
def normalized(x, power):
    """(x by the norms of its rows, these norms)."""
    norms = (jnp.abs(x) ** power).sum(-1) ** (1 / power)
    return x / norms[:, None], norms


def partition_normalized(power, mesh, args, result):
    """Wants whole rows, whatever there is."""
    seen(mesh, args, result)
    rows = on(args[0].sharding.spec[0])
    return mesh, lambda x: normalized.fun(x, power), (rows, rows), (rows,)


normalized.def_partition(partition=partition_normalized, sharding_rule="i j -> i j, i")


def kinds(function, *arguments):
    report = partition(function).lower(*arguments).compile().report()
    return [entry["kind"] for entry in report["collectives"]]


def test_a_call_is_sharded_by_its_rule():
    SEEN.clear()
    found = partition(lambda x: jnp.sin(doubled(x)))(X)
    compare(found, jax.jit(lambda x: jnp.sin(doubled(x)))(X))
    assert SEEN[-1] == ([P("data", None)], [P("data", None)])
    assert not kinds(lambda x: jnp.sin(doubled(x)), X)


def test_what_a_device_computes_may_communicate():
    x, w = put(ramp(8, 16) / 23, "data", "model"), put(ramp(16, 32) / 23, "model")
    SEEN.clear()
    compare(partition(product)(x, w), jax.jit(product)(x, w), places=False)
    assert SEEN[-1][0] == [P("data", "model"), P("model", None)]
    assert kinds(product, x, w) == ["all_reduce"]


def test_shardings_that_the_author_wants_are_had():
    x = put(ramp(8, 16) + 1, "data", "model")
    f = lambda x: normalized(x, 2)  # noqa: E731
    compare(partition(f)(x), jax.jit(f)(x), places=False)
    assert kinds(f, x) == ["all_gather"]


@pytest.mark.parametrize("transform", [partition, propagate])
def test_calls_in_loops_branches_and_derivatives(transform):
    @jax.custom_vjp
    def smooth(x):
        return doubled(x)

    smooth.defvjp(lambda x: (doubled(x), None), lambda _, g: (doubled(g),))

    def f(x, w):
        def step(carry, _):
            return jnp.tanh(smooth(carry)), carry.sum()

        x, sums = jax.lax.scan(step, x, None, length=3)
        x = jax.lax.cond(sums[0] > 0, lambda x: jax.jit(smooth)(x), lambda x: x, x)
        return product(jax.checkpoint(smooth)(x), w).sum() + normalized(x + 2, 2)[1].sum()

    g = jax.grad(lambda x: (smooth(jnp.sin(smooth(x))) ** 2).sum())
    options = {"in_shardings": on("data"), "out_shardings": on("data")}
    compare(transform(g, **options)(X), jax.jit(g, **options)(X))
    compare(transform(f)(X, W), jax.jit(f)(X, W), places=False)


def test_arguments_keep_what_is_said_of_them():
    """Donation, static arguments, keywords and shardings are those of the function."""

    def step(state, x, power, *, scale):
        rows, norms = normalized(state["w"] * scale + x, power)
        return {"w": doubled(rows)}, norms

    def call(transform):
        state = {"w": put(ramp(8, 16) + 1, "data")}
        f = transform(step, static_argnames="power", donate_argnums=0, out_shardings=({"w": on("data")}, on()))
        return f(state, X, 2, scale=3.0), state["w"].is_deleted()

    compare(call(partition), call(jax.jit))


def test_saved_it_needs_no_python():
    found = partition(lambda x: doubled(x) + 1).lower(X).compile()
    assert "CustomSPMDPartitioning" not in found.as_text()
    compare(deserialize(*serialize(found))(X), jax.jit(lambda x: doubled(x) + 1)(X))


def test_under_transformations():
    f = partition(lambda x: jnp.sin(doubled(x)), in_shardings=on("data"))
    np.testing.assert_allclose(jax.jit(lambda x: f(x) + 1)(X), jnp.sin(X * 2) + 1, rtol=1e-5)


def test_shards_that_make_no_result_are_refused():
    first = custom_partitioning(lambda x: x * 2)
    first.def_partition(
        partition=lambda mesh, args, result: (mesh, lambda x: x[:1] * 2, result.sharding, (args[0].sharding,)),
        sharding_rule="i j -> i j",
    )
    message = r"test_custom_partitioning.py:\d+: error: .* the shards that the devices compute make float32\[4, 16\], "
    with pytest.raises(shardonnay.CompileError, match=message + r"expected float32\[8, 16\]"):
        partition(first)(X)


def test_where_it_cannot_be_it_is_refused():
    some = {"in_specs": P("data"), "out_specs": P("data"), "axis_names": {"data"}}
    f = jax.shard_map(lambda x: doubled(x), mesh=MESH, check_vma=False, **some)
    message = r"test_custom_partitioning.py:\d+:\d+: error: .*custom_partitioning"
    with pytest.raises(shardonnay.CompileError, match=message):
        partition(f)(np.asarray(X))


def test_a_plan_has_what_the_devices_compute():
    lowered = partition(lambda x: doubled(x) + 1).lower(X)
    planned = lowered.plan().as_text()
    assert "custom_call" not in planned
    assert planned == lowered.compile().as_text()
