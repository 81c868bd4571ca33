"""Training loops as users write them: what a loop adds up is reduced once, behind it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES, UNITS, BATCHES = 8, 32, 6
CASES = {}


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def case(function):
    CASES[function.__name__] = function
    return function


def layer(weights, x):
    return jnp.tanh(x @ weights["w"] + weights["b"])


def loss(weights, batch):
    return jnp.mean(layer(weights, batch) ** 2)


def accumulated(weights, x, add, unroll=1):
    """The gradients of all batches, as `add(sum, gradient, number)` adds them up."""

    def step(total, numbered):
        number, batch = numbered
        gradients = jax.grad(loss)(weights, batch)
        return jax.tree.map(lambda sum_, gradient: add(sum_, gradient, number), total, gradients), None

    zeros = jax.tree.map(jnp.zeros_like, weights)
    return lax.scan(step, zeros, (jnp.arange(float(BATCHES)), x), unroll=unroll)[0]


@case
def plain(weights, x):
    return accumulated(weights, x, lambda sum_, gradient, _: sum_ + gradient)


@case
def divided(weights, x):
    return accumulated(weights, x, lambda sum_, gradient, _: sum_ + gradient / BATCHES)


@case
def masked(weights, x):
    return accumulated(weights, x, lambda sum_, gradient, number: sum_ + jnp.where(number < 4, gradient, 0))


@case
def weighted(weights, x):
    return accumulated(weights, x, lambda sum_, gradient, number: sum_ + number * gradient)


@case
def unrolled(weights, x):
    return accumulated(weights, x, lambda sum_, gradient, _: sum_ + gradient, unroll=2)


@case
def scaled(weights, x):
    """What scales the gradients is sharded as they are."""
    return accumulated(weights, x, lambda sum_, gradient, _: sum_ + gradient * weights["b"])


@case
def used_three_times(weights, x):
    def total(weights):
        def step(sum_, batch):
            for _ in range(3):
                batch = batch + layer(weights, batch)
            return sum_ + jnp.mean(batch**2), None

        return lax.scan(step, 0.0, x)[0]

    return jax.grad(total)(weights)


@case
def computed_again(weights, x):
    """What a scan keeps for its gradient is computed again, from behind a barrier."""

    def total(weights):
        @jax.checkpoint
        def step(state, batch):
            return jnp.tanh(state @ weights["w"] + batch + weights["b"]), None

        return jnp.mean(lax.scan(step, jnp.zeros((16, UNITS)), x)[0] ** 2)

    return jax.grad(total)(weights)


@case
def gates(weights, x):
    """Two gates are computed by one product: slices of one gradient are added to those of the weights."""

    def total(weights):
        def step(state, batch):
            product = batch @ jnp.concatenate([weights["w"], weights["v"]], 1)
            forget, update = jnp.split(product, 2, axis=-1)
            return jnp.tanh(state * forget + update), None

        return jnp.mean(lax.scan(step, jnp.zeros((16, UNITS)), x)[0] ** 2)

    return jax.grad(total)(weights)


@pytest.mark.parametrize("model", ["bytes", "cpu"])
@pytest.mark.parametrize("strategy", ["data", "fsdp"])
@pytest.mark.parametrize("name", CASES)
def test_reduced_once(name, strategy, model, row):
    other = {"v": normal(UNITS, UNITS, seed=2)} if name == "gates" else {"b": normal(UNITS, seed=2)}
    weights = {"w": normal(UNITS, UNITS, seed=1), **other}
    arguments = (weights, normal(BATCHES, 16, UNITS))
    mesh = Mesh(np.array(jax.devices("cpu")[:DEVICES]), ("data",))
    spec = NamedSharding(mesh, P("data") if strategy == "fsdp" else P())
    text = (
        jax.jit(CASES[name], in_shardings=(spec, NamedSharding(mesh, P(None, "data"))), out_shardings=spec)
        .lower(*arguments)
        .as_text()
    )
    compiled = shardonnay.compile(text, device_model=model, report=True)
    sent = compiled.report["executed_bytes"]
    row(f"{name}, {strategy}, {model}: {sent:,} bytes")
    # An all_reduce of the gradients; or a gather of the weights, and a reduce_scatter of the gradients.
    size = sum(weight.nbytes for weight in weights.values())
    assert sent <= 1.1 * 2 * size * (DEVICES - 1) / DEVICES
    assert_agrees(compiled, text, jax.tree.leaves(arguments))


def test_batches_of_one_that_the_devices_do_not_divide(row):
    """Six batches are made of rows of which each device has an eighth: they go to where they are read, twice by
    all_to_all, and what the loop carries and nothing reads is not gathered.
    """
    units = 128

    def total(weights, x, y):
        xs, ys = (rows.reshape(BATCHES, -1, units) for rows in (x, y))

        def loss(weights, x, y):
            return jnp.mean((jnp.tanh(x @ weights) - y) ** 2)

        def step(number, sum_):
            return sum_ + jax.grad(loss)(weights, xs[number], ys[number])

        return lax.fori_loop(0, BATCHES, step, jnp.zeros_like(weights))

    mesh = Mesh(np.array(jax.devices("cpu")[:DEVICES]), ("data",))
    rows = NamedSharding(mesh, P("data"))
    arguments = normal(units, units), *(normal(BATCHES * 512, units, seed=seed) for seed in (1, 2))
    text = jax.jit(total, in_shardings=(NamedSharding(mesh, P()), rows, rows)).lower(*arguments).as_text()
    compiled = shardonnay.compile(text, device_model="cpu", report=True)
    assert not any(entry["kind"] == "all_gather" for entry in compiled.report["collectives"])
    sent = compiled.report["executed_bytes"]
    row(f"batches of an undivided one: {sent:,} bytes")
    given = 2 * arguments[1].nbytes / DEVICES
    assert sent <= 2 * given + 2 * arguments[0].nbytes
    assert_agrees(compiled, text, arguments)
