"""Control flow and structure as JAX prints it: loops, branches, shard_map, calls, checkpoints, custom derivatives.

Every program is compiled from JAX's text, runs on eight devices, and has to agree with what JAX computes itself.
"""


import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
from shardonnay import compare, run

CASES = []
SIZES = {"data": 4, "model": 2}


def mesh():
    devices = np.array(jax.devices()[:8]).reshape(*SIZES.values())
    return Mesh(devices, tuple(SIZES), axis_types=(AxisType.Auto,) * 2)


def values(shape, dtype=np.float32, seed=0):
    generator = np.random.default_rng(seed + len(shape) + sum(shape))
    if np.issubdtype(dtype, np.integer):
        return generator.integers(0, 8, shape).astype(dtype)
    return generator.uniform(-1, 1, shape).astype(dtype)


def case(*arguments, collectives=None, only=None):
    """A program of these (array, spec).

    collectives: the kinds that it has to communicate by, if that is known; only: all kinds that it may communicate by,
        besides what is written by hand.
    """

    def add(function):
        CASES.append(pytest.param(function, arguments, collectives, only, id=function.__name__))
        return function

    return add


X = (values((8, 32)), P("data"))
W1 = (values((4, 32, 64), seed=1) / 4, P(None, None, "model"))
W2 = (values((4, 64, 32), seed=2) / 4, P(None, "model", None))
SQUARE = (values((32, 32), seed=3) / 4, P("model", None))
WIDE = (values((32, 64), seed=4) / 4, P(None, "model"))


def layers(x, first, second):
    def layer(x, weights):
        return x + jnp.tanh(jnp.tanh(x @ weights[0]) @ weights[1]), jnp.sum(x)

    return lax.scan(layer, x, (first, second))


#
# Loops
#


@case(X, W1, W2, collectives={"all_reduce"})
def scan_over_layers(x, first, second):
    return layers(x, first, second)


@case(X, (W1[0], P("data", None, "model")), (W2[0], P("data", "model")))
def scan_over_layers_sharded_along_the_layers(x, first, second):
    return layers(x, first, second)


@case(X, W1, W2)
def gradient_of_a_scan(x, first, second):
    def loss(first, second):
        return jnp.sum(layers(x, first, second)[0] ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1))(first, second)


@case(X, W1, W2)
def gradient_of_a_scan_of_checkpoints(x, first, second):
    @jax.checkpoint
    def layer(x, weights):
        return jnp.tanh(x @ weights[0]) @ weights[1], None

    return jax.grad(lambda first, second: jnp.sum(lax.scan(layer, x, (first, second))[0] ** 2), argnums=(0, 1))(
        first, second
    )


@case(X, SQUARE)
def while_until_the_data_say_stop(x, w):
    def go_on(state):
        return jnp.logical_and(jnp.sum(state[1]) < 2000.0, state[0] < 20)

    return lax.while_loop(go_on, lambda state: (state[0] + 1, jnp.abs(state[1] @ w) + 1), (0, x))


@case(X, SQUARE)
def fori_loop_with_an_invariant_carry(x, w):
    def body(step, state):
        x, w, total = state
        return jnp.tanh(x @ w), w, total + step * jnp.max(x)

    return lax.fori_loop(0, 5, body, (x, w, 0.0))


@case(X, SQUARE)
def fori_loop_whose_carry_changes_its_sharding(x, w):
    def body(_, x):
        y = lax.with_sharding_constraint(x, NamedSharding(mesh(), P(None, "model")))
        return jnp.sin(y) @ w

    return lax.fori_loop(0, 3, body, x)


@case(X, (values((8, 32), seed=9), P(None, "model")))
def fori_loop_that_swaps_its_carries(x, y):
    return lax.fori_loop(0, 3, lambda _, s: (s[1] + 1, s[0] * 2), (x, y))


@case((values((2, 8, 64, 4)), P()), (values((8, 4)), P("data")), (values((2, 4, 4), seed=1), P()), only={"all_gather"})
def cache_that_is_given_whole(caches, x, weights):
    """Only what a layer writes is gathered, not the caches behind the loop."""

    def layer(x, given):
        cache, w = given
        cache = lax.dynamic_update_slice(cache, (x @ w)[:, None], (0, 5, 0))
        return x + jnp.tanh(jnp.einsum("be,bse->be", x, cache)), cache

    x, caches = lax.scan(layer, x, (caches, weights))
    return x, lax.with_sharding_constraint(caches, NamedSharding(mesh(), P()))


@case((values((3, 8, 4)), P()), (values((8, 4)), P("data")), only=set())
def scan_that_returns_what_it_is_given(layers, x):
    def layer(x, given):
        return jnp.tanh(x + given), (given, given * 2)

    x, (same, twice) = lax.scan(layer, x, layers)
    return x, lax.with_sharding_constraint(same, NamedSharding(mesh(), P())), twice


@case((values((16, 8, 4)), P(None, "data")), (values((4, 4), seed=1), P()), (values((4, 4), seed=2), P()))
def recurrent_network(xs, w, u):
    def cell(h, x):
        h = jnp.tanh(x @ w + h @ u)
        return h, h

    return lax.scan(cell, jnp.zeros((8, 4)), xs, reverse=True)


@case((values((64,)), P("data")))
def map_in_batches(x):
    return lax.map(lambda v: v * jnp.sum(v * jnp.arange(4.0)), x.reshape(16, 4))


@case(X, SQUARE)
def vmap_of_a_while_loop(x, w):
    def steps(row):
        return lax.while_loop(lambda s: s[0] < jnp.abs(s[1][0]) * 5, lambda s: (s[0] + 1, jnp.sin(s[1] @ w)), (0, row))

    return jax.vmap(steps)(x)


#
# Branches
#


@case(X, (np.int32(1), P()))
def switch_of_three(x, which):
    return lax.switch(which, [jnp.sin, lambda x: x * 2, lambda x: x @ x.T @ x], x)


@case(X, (values((32, 8), seed=5), P(None, "model")))
def cond_that_captures(x, w):
    return lax.cond(jnp.sum(x) > 0, lambda: x @ w, lambda: jnp.zeros((8, 8)))


@case(X, SQUARE)
def cond_with_branches_of_different_shardings(x, w):
    def left(x):
        return lax.with_sharding_constraint(x @ w, NamedSharding(mesh(), P(None, "model")))

    return lax.cond(x[0, 0] > 0, left, lambda x: lax.with_sharding_constraint(-x, NamedSharding(mesh(), P("data"))), x)


@case(X, (W1[0][:, :, :32], P(None, "model", None)))
def scan_in_a_cond_in_a_loop(x, w):
    def body(step, x):
        scan = lambda x: lax.scan(lambda carry, w: (jnp.tanh(carry @ w), None), x, w)[0]
        return lax.cond(step % 2 == 0, scan, lambda x: x + 1, x)

    return lax.fori_loop(0, 4, body, x)


@case(X, (values((8,), seed=6), P("data")))
def gradient_of_a_cond(x, scale):
    def loss(x):
        return jnp.sum(lax.cond(jnp.sum(scale) > 0, lambda x: jnp.sin(x) * scale[:, None], lambda x: x**2, x))

    return jax.grad(loss)(x)


#
# shard_map
#


def by_hand(f, in_specs, out_specs, **options):
    return jax.shard_map(f, mesh=mesh(), in_specs=in_specs, out_specs=out_specs, check_vma=False, **options)


@case(X, (WIDE[0], P("model")), collectives={"all_reduce"})
def shard_map_with_psum(x, w):
    return by_hand(lambda x, w: lax.psum(x @ w, "model"), (P("data", "model"), P("model")), P("data"))(x, w)


@case(X, WIDE)
def shard_map_with_all_gather_and_psum_scatter(x, w):
    def f(x, w):
        y = lax.all_gather(x @ w, "model", axis=1, tiled=True)
        return lax.psum_scatter(y, "data", scatter_dimension=0, tiled=True), lax.pmax(jnp.max(y), ("data", "model"))

    return by_hand(f, (P("data"), P(None, "model")), (P("data"), P()))(jnp.tile(x, (2, 1)), w)


@case(X, collectives={"collective_permute"})
def shard_map_with_ppermute(x):
    ring = [(i, (i + 1) % 4) for i in range(4)]
    return by_hand(lambda x: lax.ppermute(x, "data", ring), P("data"), P("data"))(x)


@case(X, collectives={"all_to_all"})
def shard_map_with_all_to_all(x):
    return by_hand(lambda x: lax.all_to_all(x, "data", 1, 0, tiled=True), P("data"), P(None, "data"))(x)


@case(X)
def shard_map_with_axis_index(x):
    return by_hand(
        lambda x: x + lax.axis_index("data") * 10 + lax.axis_index("model"), P("data", "model"), P("data", "model")
    )(x)


@case(X, WIDE)
def shard_map_along_one_axis_only(x, w):
    f = by_hand(
        lambda x, w: jnp.tanh(x @ w) + lax.psum(jnp.sum(x), "data"), (P("data"), P()), P("data"), axis_names={"data"}
    )
    return f(x, w) * 2


@case(X, collectives={"collective_permute"})
def shard_map_in_a_scan(x):
    shift = by_hand(lambda x: lax.ppermute(x, "model", [(0, 1), (1, 0)]) * 2, P("data", "model"), P("data", "model"))
    return lax.scan(lambda x, _: (shift(x) + 1, jnp.sum(x)), x, None, length=3)


@case(X)
def scan_in_a_shard_map(x):
    def f(x):
        return lax.scan(lambda c, _: (lax.psum(c, "data") / 4 + x, None), x, None, length=3)[0]

    return by_hand(f, P("data"), P("data"))(x)


@case(X, WIDE)
def gradient_of_a_shard_map(x, w):
    f = by_hand(lambda x, w: lax.psum(jnp.sum(jnp.tanh(x @ w)), ("data", "model")), (P("data"), P(None, "model")), P())
    return jax.grad(f, argnums=(0, 1))(x, w)


@case(X, WIDE)
def nested_shard_maps(x, w):
    def inner(x, w):
        return lax.psum(jnp.tanh(x @ w), "model")

    def outer(x, w):
        part = jax.shard_map(
            inner, in_specs=(P(None, "model"), P("model")), out_specs=P(), axis_names={"model"}, check_vma=False
        )
        return part(x, w) + lax.axis_index("data")

    return by_hand(outer, (P("data"), P()), P("data"), axis_names={"data"})(x, w)


def along_data(f, out_specs=P("data")):
    """By hand along "data"; what "model" shards is the compiler's."""
    return by_hand(f, P("data"), out_specs, axis_names={"data"})


BOTH = (values((8, 32)), P("data", "model"))


@case(BOTH, only=set())
def psum_of_what_another_axis_shards(x):
    return along_data(lambda x: lax.psum(x, "data"), P())(x) * 2


@case(BOTH, only=set())
def psum_of_several(x):
    return along_data(lambda x: lax.psum((x, x > 0, -x), "data"), P())(x)


@case(BOTH, only=set())
def exchanges_of_what_another_axis_shards(x):
    def f(x):
        y = lax.psum_scatter(lax.all_gather(x, "data", axis=0, tiled=True), "data", scatter_dimension=0, tiled=True)
        return lax.ppermute(y, "data", [(0, 1), (2, 3)]) + lax.pmax(y, "data")

    return along_data(f)(x)


@case(BOTH)
def reducers_that_jax_constrains(x):
    """By hand along some axes only, JAX writes constraints into the bodies of reductions."""
    return along_data(lambda x: (jnp.argmax(x, -1), jnp.argmin(x, -1), lax.cumlogsumexp(x, 1)))(x)


@case((values((8, 32)), P("data")), (values((32, 10)), P()), only={"all_gather", "all_reduce", "collective_permute"})
def uneven_psum(x, w):
    def f(x, w):
        w = lax.with_sharding_constraint(w, NamedSharding(mesh(), P(None, "model")))
        return lax.psum(lax.with_sharding_constraint(x @ w, NamedSharding(mesh(), P(None, "model"))), "data")

    return by_hand(f, (P("data"), P()), P(), axis_names={"data"})(x, w)


#
# Functions
#


@case(X, SQUARE)
def calls_of_one_function(x, w):
    layer = jax.jit(lambda x: jax.nn.relu(x @ w))
    return layer(layer(x)) + jax.nn.softmax(layer(x + 1))


@case(X, WIDE)
def gradient_of_a_checkpoint(x, w):
    return jax.grad(jax.checkpoint(lambda x, w: jnp.sum(jnp.tanh(x @ w) ** 2)), argnums=(0, 1))(x, w)


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, x), lambda x, g: (jnp.where(jnp.abs(x) < 0.5, g, 0),))


@case(X, WIDE)
def custom_vjp_in_a_scan(x, w):
    def loss(w):
        return jnp.sum(lax.scan(lambda x, _: (clipped(jnp.tanh(x @ w @ w.T)), None), x, None, length=3)[0])

    return jax.grad(loss)(w)


@case(X)
def random_numbers_in_a_loop(x):
    def body(step, x):
        return x + jax.random.uniform(jax.random.fold_in(jax.random.key(0), step), x.shape)

    return lax.fori_loop(0, 3, body, x)


#
# The check
#


def lower(function, arguments):
    shapes = [
        jax.ShapeDtypeStruct(np.shape(value), value.dtype, sharding=NamedSharding(mesh(), spec))
        for value, spec in arguments
    ]
    return jax.jit(function, keep_unused=True).lower(*shapes).as_text()


def expected(function, inputs, text):
    """What one device computes; of what is written for several devices, what JAX computes."""
    if "sdy.manual_computation" not in text:
        return compare.reference(text, inputs)

    def outputs(inputs):
        return [np.asarray(value) for value in jax.tree.leaves(jax.jit(function)(*inputs))]

    found = outputs(inputs)
    moved = outputs([value * np.float32(1 + 1e-6) if value.dtype.kind == "f" else value for value in inputs])
    tolerances = [
        1e-5 * np.max(np.abs(a)) + 10 * np.max(np.abs(a - b)) if a.dtype.kind == "f" else 0.0
        for a, b in zip(found, moved)
    ]
    return compare.Reference(found, tolerances, [None] * len(found), None)


@pytest.mark.parametrize("function, arguments, collectives, only", CASES)
def test_agrees_with_jax(function, arguments, collectives, only):
    inputs = [np.asarray(value) for value, _ in arguments]
    text = lower(function, arguments)
    compiled = shardonnay.compile(text)
    assert compiled.manifest["devices"] == 8
    assert_agrees(compiled, text, inputs, expected(function, inputs, text))
    for kind in collectives or ():
        assert f"stablehlo.{kind}" in compiled.text
    found = {group["kind"] for group in compiled.report["collectives"] if not group["written"]}
    assert only is None or found <= only, found


def test_devices_that_communicate_agree_on_the_branch():
    """Devices that differ along "data" take other branches, in which those along "model" move rows among themselves.

    JAX's own partitioner leaves a permute of all devices in each branch, over which the engine waits for ever.
    """

    def body(x):
        def turned(x):
            return lax.fori_loop(0, lax.axis_index("data"), lambda _, x: jnp.roll(x, 1, 1) * 2, x)

        return lax.cond(lax.axis_index("data") % 2 == 0, lambda x: x[:, ::-1], turned, x)

    x = values((8, 32))
    text = lower(along_data(body), [(x, P("data", "model"))])
    compiled = shardonnay.compile(text)
    assert "collective_permute" not in compiled.text and "all_gather" in compiled.text
    (found,), _ = run.LoadedProgram(compiled)([x])
    wanted = [x[0:2, ::-1], np.roll(x[2:4], 1, 1) * 2, x[4:6, ::-1], np.roll(x[6:8], 3, 1) * 8]
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-6)
