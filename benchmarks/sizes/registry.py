"""What a step is, how one is added, and how its arguments are said: by shape and type alone, as none is ever run."""

import functools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax

STEPS = {}


@dataclass(frozen=True)
class Weight:
    """A parameter, and the dim of it that tensor parallelism shards."""

    shape: tuple
    split: int | None = None


def weight(*shape, split=None):
    return Weight(shape, split)


def floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def integers(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


@dataclass(frozen=True)
class Step:
    """`function(parameters, *batch)`; `weights` is the tree of the parameters, of Weight."""

    function: callable
    weights: dict
    batch: tuple

    @property
    def parameters(self):
        return jax.tree.map(lambda leaf: floats(*leaf.shape), self.weights)


def step(weights, *batch):
    """Registers a step by the name of its function."""

    def register(function):
        STEPS[function.__name__] = Step(function, weights, batch)
        return function

    return register


def descend(parameters, gradient, rate=1e-3):
    return jax.tree.map(lambda value, slope: value - rate * slope, parameters, gradient)


def trained(loss):
    """A training step of `loss(parameters, *batch)`: the new parameters and the loss."""

    @functools.wraps(loss)
    def train(parameters, *batch):
        value, gradient = jax.value_and_grad(loss)(parameters, *batch)
        return descend(parameters, gradient), value

    return train


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()


def square_error(output, target):
    return ((output - target) ** 2).mean()


def normalized(x):
    """A layer's norm without a scale."""
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-6)


def block_weights(width=1024, heads=16, hidden=4096, layers=()):
    """Of a block of a transformer, or of as many stacked ones as `layers` = (number,) says."""
    size, first = width // heads, len(layers)
    return {
        "query": weight(*layers, width, heads, size, split=first + 1),
        "key": weight(*layers, width, heads, size, split=first + 1),
        "value": weight(*layers, width, heads, size, split=first + 1),
        "output": weight(*layers, heads, size, width, split=first),
        "up": weight(*layers, width, hidden, split=first + 1),
        "down": weight(*layers, hidden, width, split=first),
    }


def attention(x, weights, causal):
    query = jnp.einsum("bsd,dhk->bshk", x, weights["query"])
    key = jnp.einsum("bsd,dhk->bshk", x, weights["key"])
    value = jnp.einsum("bsd,dhk->bshk", x, weights["value"])
    scores = jnp.einsum("bqhk,bshk->bhqs", query, key) / math.sqrt(query.shape[-1])
    if causal:
        length = x.shape[1]
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores, -1), value)
    return jnp.einsum("bqhk,hkd->bqd", mixed, weights["output"])


def feed_forward(x, weights):
    return jax.nn.gelu(x @ weights["up"]) @ weights["down"]


def block(x, weights, causal=True):
    x = x + attention(normalized(x), weights, causal)
    return x + feed_forward(normalized(x), weights)
