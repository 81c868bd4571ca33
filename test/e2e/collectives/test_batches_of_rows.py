"""Gradients of batches of one flat tensor, as users write them: devices share each batch, and send no more than what
brings the rows to their batches, and the gradients once.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES, UNITS = 8, 128
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def gradients(weights, x):
    return jax.grad(lambda weights: jnp.mean((jnp.tanh(x @ weights["up"]) @ weights["down"] - x) ** 2))(weights)


def add(weights, sum_, batch):
    return jax.tree.map(jnp.add, sum_, gradients(weights, batch))


def zeros(weights):
    return jax.tree.map(jnp.zeros_like, weights)


@case
def reshaped(weights, x, number):
    batches = x.reshape(number, -1, x.shape[1])
    return lax.scan(lambda sum_, batch: (add(weights, sum_, batch), None), zeros(weights), batches)[0]


@case
def sliced(weights, x, number):
    size = x.shape[0] // number

    def step(i, sum_):
        return add(weights, sum_, lax.dynamic_slice_in_dim(x, i * size, size))

    return lax.fori_loop(0, number, step, zeros(weights))


@case
def scan_of_numbers(weights, x, number):
    size = x.shape[0] // number

    def step(sum_, i):
        return add(weights, sum_, lax.dynamic_slice(x, (size * i, 0), (size, x.shape[1]))), None

    return lax.scan(step, zeros(weights), jnp.arange(number))[0]


@case
def first_before_the_loop(weights, x, number):
    """As training scripts of vision transformers have it."""
    size = x.shape[0] // number

    def step(i, sum_):
        return add(weights, sum_, lax.dynamic_slice(x, (i * size, 0), (size, x.shape[1])))

    return lax.fori_loop(1, number, step, gradients(weights, x[:size]))


def compile_step(name, weights, x, number, model):
    """The text, and what it is compiled to."""
    mesh = Mesh(np.array(jax.devices("cpu")[:DEVICES]), ("data",))
    whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    text = jax.jit(CASES[name], static_argnums=2, in_shardings=(whole, rows)).lower(weights, x, number).as_text()
    compiled = shardonnay.compile(text, device_model=model, report=True)
    flops, sent = compiled.report["contraction_flops"], compiled.report["executed_bytes"]
    assert flops["per_device"] * DEVICES == flops["global"]
    # Two all_to_alls of the rows, and an all_reduce of the gradients.
    sizes = [4 * weight.size for weight in weights.values()]
    assert sent <= 2 * 4 * x.size / DEVICES + 1.01 * 2 * sum(sizes)
    return text, compiled


@pytest.mark.parametrize("model", ["bytes", "cpu"])
@pytest.mark.parametrize("number", [4, 6, 8])
@pytest.mark.parametrize("name", CASES)
def test_devices_share_each_batch(name, number, model, row):
    normal = np.random.default_rng(0).standard_normal
    weights = {name: normal((UNITS, UNITS)).astype(np.float32) for name in ("up", "down")}
    x = normal((number * 512, UNITS)).astype(np.float32)
    text, compiled = compile_step(name, weights, x, number, model)
    row(f"{name}, {number} batches, {model}: {compiled.report['executed_bytes']:,} bytes")
    assert_agrees(compiled, text, [*jax.tree.leaves(weights), x])


@pytest.mark.parametrize("name", CASES)
def test_on_fast_devices(name):
    """Which could compute all of it in the time that they take to communicate."""
    float32 = jnp.float32
    weights = {name: jax.ShapeDtypeStruct((1024, 1024), float32) for name in ("up", "down")}
    compile_step(name, weights, jax.ShapeDtypeStruct((8192, 1024), float32), 8, "gpu-cluster")
