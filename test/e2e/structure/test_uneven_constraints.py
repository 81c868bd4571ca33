"""JAX programs with uneven constraints inside: sequences of 17 tokens, 6 heads on 4 devices, vocabularies of 50."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
from uneven import SHARDED

CASES = []


def mesh():
    return Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def constrain(value, *axes):
    return jax.lax.with_sharding_constraint(value, NamedSharding(mesh(), P(*axes)))


def values(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def tokens(*shape, below):
    return np.random.default_rng(sum(shape)).integers(0, below, shape).astype(np.int32)


def case(*arguments, specs=None, kinds=None):
    """A program of these; `specs`: how they come in, else whole; `kinds`: what it may communicate by."""

    def add(function):
        CASES.append(pytest.param(function, arguments, specs or [P()] * len(arguments), kinds, id=function.__name__))
        return function

    return add


X = values(17, 12)


def embedding_loss(table, ids):
    return jnp.sum(jnp.tanh(constrain(table[ids], None, "data", None)) ** 2)


@case(values(50, 16), tokens(3, 17, below=50), specs=[P(None, "model"), P()])
def embedding_gradient_of_uneven_sequences(table, ids):
    return jax.grad(embedding_loss)(table, ids)


@case(values(100, 16), tokens(3, 17, below=100), specs=[P("data", None), P()])
def embedding_gradient_of_a_sharded_table(table, ids):
    return jax.grad(embedding_loss)(table, ids)


@case(values(8, 1, 16), values(16, 32), values(32, 16), specs=[P(), P(None, "data"), P("data")], kinds={"all_reduce"})
def one_token_as_a_sequence(x, up, down):
    """The gather of a dim of 1 that is sharded would be one of padding."""
    return jnp.tanh(constrain(constrain(x, None, "data") @ up @ down, None, "data"))


@case(X, values(12, 10))
def softmax_over_uneven_rows(x, weights):
    return jax.nn.softmax(constrain(x, "data") @ weights, axis=0)


@case(X)
def layer_norm_over_uneven_features(x):
    y = constrain(x, None, ("data", "model"))
    return (y - y.mean(1, keepdims=True)) / y.std(1, keepdims=True)


@case(X, kinds={"all_gather"})
def argmax_over_uneven_rows(x):
    rows = constrain(jnp.sin(constrain(x, "data")), "data")
    return jnp.argmax(rows, 0), jnp.argmin(rows, 0)


@case(X, kinds={"all_gather"})
def product_over_uneven_rows(x):
    return jnp.prod(constrain(x, "data"), 0)


@case(X)
def any_and_all_over_uneven_rows(x):
    positive = constrain(x, "data") > 1
    return jnp.any(positive, 0), jnp.all(positive, 0)


@case(X)
def roll_and_flip(x):
    return constrain(jnp.roll(constrain(x, "data"), 3, 0), "data"), constrain(jnp.flip(constrain(x, "data"), 0), "data")


@case(X)
def differences(x):
    return jnp.diff(constrain(x, "data"), axis=0)


@case(values(2, 17, 6, 8), values(2, 17, 6, 8), values(2, 17, 6, 8))
def attention_over_uneven_sequences(q, k, v):
    return jax.nn.dot_product_attention(constrain(q, None, "data"), constrain(k, None, "data"), v)


@case(values(2, 16, 6, 8), values(2, 16, 6, 8), values(2, 16, 6, 8))
def attention_of_six_heads(q, k, v):
    return jax.nn.dot_product_attention(constrain(q, None, None, "data"), constrain(k, None, None, "data"), v)


@case(values(2, 16, 6, 8), values(2, 16, 6, 8), values(2, 16, 6, 8))
def attention_gradient_of_six_heads(q, k, v):
    def loss(q):
        heads = constrain(q, None, None, "data")
        return jnp.sum(jax.nn.dot_product_attention(heads, constrain(k, None, None, "data"), v) ** 2)

    return jax.grad(loss)(q)


@case(X, tokens(17, below=6))
def segment_sum_of_uneven_rows(x, segments):
    return jax.ops.segment_sum(constrain(x, "data"), segments, 5)


@case(X)
def scan_with_uneven_columns(x):
    return jax.lax.scan(
        lambda state, row: (state + row, state * row), jnp.zeros(12), constrain(x, None, ("data", "model"))
    )


@case(X)
def concatenation_of_sharded_and_whole(x):
    return jnp.concatenate([constrain(x, "data"), x * 2], 0)


@case(values(5, 3, 4), values(5, 4, 6))
def batches_of_five(x, weights):
    return jnp.einsum("bij,bjk->bik", constrain(x, "data"), weights)


@case(X.astype(np.complex64), X.astype(jnp.bfloat16))
def complex_and_bfloat16_sums(x, y):
    return jnp.sum(constrain(x, "data") * 2j, 0), jnp.sum(constrain(y, "data"), 0)


@case(values(4, 17, 32), values(32, 64), values(64, 50), tokens(4, 17, below=50))
def training_step_on_a_vocabulary_of_fifty(x, inner, outer, labels):
    def loss(inner, outer):
        logits = constrain(jax.nn.relu(constrain(x, "model", "data") @ inner) @ outer, "model", "data")
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))

    return jax.value_and_grad(loss, (0, 1))(inner, outer)


@pytest.mark.parametrize("function, arguments, specs, kinds", CASES)
def test_agrees(function, arguments, specs, kinds):
    shardings = tuple(NamedSharding(mesh(), spec) for spec in specs)
    text = jax.jit(function, in_shardings=shardings).lower(*arguments).as_text()
    compiled = shardonnay.compile(text, **SHARDED)  # so that what is small is sharded too
    inputs = [np.asarray(argument) for argument in arguments]
    assert_agrees(compiled, text, inputs)
    assert kinds is None or {entry["kind"] for entry in compiled.report["collectives"]} == kinds
