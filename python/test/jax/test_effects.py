"""Calls back into Python run as under `jax.jit`; what the public route cannot carry is refused where it is written."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
import shardonnay.jax
from jax.experimental import io_callback
from outcomes import MESH, P, doubled, on, put, ramp
from shardonnay.jax import partition, propagate

X = put(ramp(8, 16), "data")
SEEN = []


def saw(value):
    SEEN.append(np.asarray(value).tolist())


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def pure(x):
    return jax.pure_callback(lambda a: np.sin(a), like(x), x) * 2


def pure_of_a_product(x):
    return jax.pure_callback(lambda a, b: np.asarray(a) - b, like(x @ x.T), x @ x.T, (x * x) @ x.T).sum(0)


def in_a_loop(x):
    return jax.lax.fori_loop(0, 3, lambda i, y: pure(y) + i, x)


def in_a_scan(x):
    def step(carried, row):
        jax.debug.callback(saw, row.sum())
        return carried + pure(row), carried.sum()

    return jax.lax.scan(step, jnp.zeros(16), x)


def in_a_branch(x):
    return jax.lax.cond(x.sum() > 0, pure, lambda x: x, x)


def several(x):
    kinds = like(x), jax.ShapeDtypeStruct((), np.int32)
    whole = jax.pure_callback(lambda a: (np.asarray(a) + 1, np.int32(len(a))), kinds, x)
    return whole, pure(x), jax.pure_callback(lambda a: np.cos(a), like(x), x)


def printed(x):
    jax.debug.callback(saw, x.sum(1))
    return x + 1


def unordered(x):
    return io_callback(lambda a: np.asarray(a) * 3, like(x), x) + x


def on_shards(x):
    def body(shard):
        jax.debug.callback(saw, shard.sum())
        return pure(shard) + jax.lax.psum(shard, "model")

    return jax.shard_map(body, mesh=MESH, in_specs=P("data", "model"), out_specs=P("data", "model"))(x)


def without_types(x):
    return jax.pure_callback(lambda a: np.asarray(a) > 0, jax.ShapeDtypeStruct(x.shape, bool), x), jnp.zeros((0, 3))


FUNCTIONS = [
    pure, pure_of_a_product, in_a_loop, in_a_scan, in_a_branch, several, printed, unordered, on_shards, without_types
]  # fmt: skip


def ran(function, *arguments):
    """The results, and what was seen, in an order of its own."""
    SEEN.clear()
    results = jax.block_until_ready(function(*arguments))
    jax.effects_barrier()
    return results, sorted(SEEN, key=str)


def check(ours, theirs, *arguments):
    (results, seen), (wanted, wanted_seen) = ran(ours, *arguments), ran(theirs, *arguments)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), results, wanted)
    assert len(seen) == len(wanted_seen)
    for found, expected in zip(seen, wanted_seen):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_callbacks(function):
    partitioned = partition(function)
    for _ in range(2):
        check(partitioned, jax.jit(function), X)


def test_within_another_program_that_calls_back():
    """Places on JAX's list are those of the whole program, and another program's come before and behind."""
    first, second = partition(several), partition(lambda x: jax.pure_callback(lambda a: np.asarray(a) - 5, like(x), x))

    def outer(of, and_of):
        def function(x):
            jax.debug.callback(saw, x.mean())
            (a, count), b, c = of(x)
            d = and_of(a)
            return of(pure(d)), jax.lax.scan(lambda y, _: (and_of(y) * 0.5, count), b + c, None, length=2)

        return function

    check(jax.jit(outer(first, second)), jax.jit(outer(several, second.__wrapped__)), X)


def test_transformed():
    batch = put(ramp(2, 8, 16), None, "data")

    def mapped(x):
        return jax.pure_callback(lambda a: np.sin(a), like(x), x, vmap_method="expand_dims")

    check(jax.vmap(partition(mapped)), jax.vmap(mapped), batch)
    check(jax.grad(lambda x: partition(printed)(x).sum()), jax.grad(lambda x: printed(x).sum()), X)


def test_ahead_of_time_but_not_saved():
    compiled = partition(in_a_loop).lower(X).compile()
    check(compiled, jax.jit(in_a_loop), X)
    with pytest.raises(shardonnay.jax.FormatError, match="calls back into Python"):
        shardonnay.jax.serialize(compiled)


def ordered(x):
    io_callback(lambda a: None, None, x, ordered=True)
    return x


def nothing(x):
    jax.debug.callback(saw, x)


def on_its_shards(x):
    jax.debug.callback(saw, x, partitioned=True)
    return x


@pytest.mark.parametrize(
    "function, transform, message",
    [
        (ordered, partition, "that is ordered; expected none: call it with ordered=False"),
        (nothing, partition, "of a function without results, of which nothing would be run"),
        (on_its_shards, partition, "with the shards of a value; expected none: call it with partitioned=False"),
        (lambda x: pure(doubled(x)), partition, "beside a custom_partitioning; expected none: call it outside"),
        (pure, propagate, "where XLA partitions; expected none: use shardonnay.jax.partition"),
    ],
)
def test_callbacks_that_are_refused(function, transform, message):
    where = r"test_effects.py:\d+:\d+"
    with pytest.raises(shardonnay.CompileError, match=f"{where}: error: a call back into Python {message}"):
        transform(function)(X)


@pytest.mark.parametrize("transform", [partition, propagate])
def test_what_the_compiler_warns_of_is_a_warning_at_the_line(transform):
    def inspected(x):
        jax.debug.inspect_array_sharding(x * 2, callback=print)
        return x + 1

    with pytest.warns(UserWarning, match="@InspectSharding is left out.*`explain` tells") as found:
        transform(inspected, in_shardings=on("data"))(np.ones((8, 16), np.float32))
    line = inspected.__code__.co_firstlineno + 1
    assert [(warning.filename, warning.lineno) for warning in found] == [(__file__, line)]


def test_a_warning_has_its_notes():
    said = r"'stablehlo.sort' cannot be computed sharded(.|\n)*note: operand 0 is sharded"
    with pytest.warns(UserWarning, match=said):
        partition(jnp.sort, in_shardings=on(("data", "model"))).lower(np.ones(64, np.float32)).compile()


@pytest.mark.parametrize("call", [lambda f, r: f(r), lambda f, r: f.lower(r), lambda f, r: f({"held": [r]})])
def test_a_ref_as_argument_is_refused(call):
    function = partition(lambda tree: jax.tree.map(lambda ref: ref[...], tree))
    with pytest.raises(TypeError, match=r"<lambda>: .*got a jax.Ref.*float32\[8,16\].*ref\[\.\.\.\]"):
        call(function, jax.new_ref(X))


def test_a_ref_closed_over_is_refused():
    held = jax.new_ref(X)
    with pytest.raises(TypeError, match=r"<lambda>: got a jax.Ref"):
        partition(lambda x: x + held[...])(X)


def test_on_one_device_there_is_nothing_to_partition():
    np.testing.assert_allclose(partition(pure)(np.ones(3, np.float32)), 2 * np.sin(np.ones(3)), rtol=1e-6)
