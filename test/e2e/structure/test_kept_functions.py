"""Private functions kept where calls share them: one function for each way that they are sharded, and the numbers of
the whole.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

SIZES = {"data": 4, "model": 2}
CASES = []


def values(shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def case(*arguments, functions, calls):
    """`functions`, `calls`: how many private functions the device's program has, and how many calls of them."""

    def add(function):
        CASES.append(pytest.param(function, arguments, functions, calls, id=function.__name__))
        return function

    return add


X = (values((16, 32)), P("data"))
WIDE = (values((32, 64)) / 4, P(None, "model"))
BACK = (values((64, 32)) / 4, P("model", None))
BIAS = (values((32,)), P())


@jax.jit
def layer(x, w1, w2, bias):
    hidden = jnp.tanh(x @ w1)
    y = x + hidden @ w2
    return (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5) + bias


@case(X, WIDE, BACK, BIAS, functions=1, calls=3)
def shared_layer(x, w1, w2, bias):
    for _ in range(3):
        x = layer(x, w1, w2, bias)
    return x


@case(X, WIDE, BACK, BIAS, functions=0, calls=0)
def called_once(x, w1, w2, bias):
    return layer(x, w1, w2, bias)


@jax.jit
def two_layers(x, w1, w2, bias):
    return jnp.sin(layer(layer(x, w1, w2, bias), w1, w2, bias)) * 2 - jnp.cos(x) + jnp.tanh(x) * x - jnp.exp(-x * x)


@case(X, WIDE, BACK, BIAS, functions=2, calls=4)
def nested(x, w1, w2, bias):
    return two_layers(two_layers(x, w1, w2, bias), w1, w2, bias)


@jax.jit
def normalised(x):
    y = jnp.tanh(x) * jnp.exp(-x) + x
    return (y - y.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + 1e-3)


@case(X, (values((16, 32), seed=1), P(None, "model")), functions=2, calls=4)
def sharded_in_two_ways(x, y):
    return normalised(normalised(x)), normalised(normalised(y))


@case(X, WIDE, BACK, BIAS, functions=1, calls=2)
def in_a_loop(x, w1, w2, bias):
    def body(i, x):
        return layer(layer(x, w1, w2, bias), w1, w2, bias)

    return lax.fori_loop(0, 3, body, x)


@case(X, WIDE, BACK, BIAS, functions=None, calls=None)
def gradient(x, w1, w2, bias):
    def loss(weights):
        y = x
        for _ in range(3):
            y = layer(y, *weights)
        return jnp.mean(y**2)

    return jax.grad(loss)((w1, w2, bias))


@case((values((16, 32)), P("data")), functions=0, calls=0)
def small_helpers(x):
    """`_where` and `relu` are smaller than what a call saves."""
    return jnp.where(x > 0, jax.nn.relu(x), 0.1) + jnp.where(x < 0, jax.nn.relu(-x), 0.2)


def lowered(function, arguments):
    devices = np.array(jax.devices()[:8]).reshape(*SIZES.values())
    mesh = Mesh(devices, tuple(SIZES), axis_types=(AxisType.Auto,) * 2)
    shapes = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array, _ in arguments]
    shardings = [NamedSharding(mesh, spec) for _, spec in arguments]
    return jax.jit(function, in_shardings=shardings, keep_unused=True).lower(*shapes).as_text()


@pytest.mark.parametrize("function, arguments, functions, calls", CASES)
def test_shared_functions(function, arguments, functions, calls):
    text = lowered(function, arguments)
    arrays = [array for array, _ in arguments]
    inlined = shardonnay.compile(text)
    kept = shardonnay.compile(text, keep_functions_of=8)
    assert not re.search(r"func\.func private|\bcall @", inlined.text)
    if functions is not None:
        assert len(re.findall(r"func\.func private", kept.text)) == functions, kept.text
        assert len(re.findall(r"\bcall @", kept.text)) == calls
    assert_agrees(kept, text, arrays)
    # The report counts each call, and so do the FLOPs.
    flops = [compiled.report["contraction_flops"] for compiled in (inlined, kept)]
    assert flops[0] == flops[1]
    if functions != 0 and functions is not None and not function.__name__.startswith("in_a_loop"):
        assert len(kept.text) < len(inlined.text)
    print(f"{function.__name__}: {inlined.report['collective_bytes']} bytes inlined, "
          f"{kept.report['collective_bytes']} kept")
    # Inlined, the gradients of weights that layers share are summed before they are reduced; each call reduces its own.
    dearer = 3 if function.__name__ == "gradient" else 1
    assert kept.report["collective_bytes"] <= dearer * inlined.report["collective_bytes"]
