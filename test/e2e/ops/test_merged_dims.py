"""Programs that flatten a batch with a sequence that is sharded: nothing is gathered for that."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

LOCAL, SUMS = [], []
RNG = np.random.default_rng(23)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def places(*shape, high, low=0):
    return RNG.integers(low, high, shape).astype(np.int32)


def case(cases, *arguments):
    """A function of arguments, of which those that begin with 4 x 16 are sharded there."""

    def add(function):
        cases.append(pytest.param(function, arguments, id=function.__name__))
        return function

    return add


TOKENS, WEIGHT = normal(4, 16, 8), normal(8, 24)


@case(LOCAL, TOKENS, WEIGHT, normal(24))
def dense(x, weight, bias):
    return jax.nn.gelu(x.reshape(-1, 8) @ weight + bias).reshape(4, 16, 24)


@case(LOCAL, TOKENS, normal(8, 3), normal(3, 8, 8))
def experts(x, router, weights):
    """Each token by all experts, as they have them; the experts stand before the tokens."""
    tokens = x.reshape(64, 8)
    chosen = jax.nn.softmax(tokens @ router)
    repeated = jnp.broadcast_to(tokens, (3, 64, 8)).reshape(192, 8) * chosen.T.reshape(192, 1)
    return jnp.einsum("etd,edf->tf", repeated.reshape(3, 64, 8), weights).reshape(4, 16, 8)


@case(LOCAL, TOKENS)
def norms_and_sorts(x):
    flat = x.reshape(64, 8)
    flat = (flat - flat.mean(1, keepdims=True)) * jax.lax.rsqrt(flat.var(1, keepdims=True) + 1e-6)
    ranked = jnp.sort(flat, axis=1)[:, ::-1]
    return jnp.concatenate([ranked, jax.lax.top_k(flat, 3)[0], flat[:, 1:5:2]], axis=1).reshape(4, 16, 13)


@case(LOCAL, TOKENS, places(4, 16, high=8, low=-3))
def masked(x, at):
    """Places out of range are dropped, and a mask is made of what is flat."""
    flat, at = x.reshape(64, 8), at.reshape(64)
    kept = flat.at[jnp.arange(64), at].set(jnp.nan, mode="drop")
    return jnp.where(jnp.isnan(kept) & (at > 2)[:, None], 0, kept).reshape(4, 16, 8)


@case(LOCAL, normal(4, 16, 2, 4).astype(jnp.bfloat16))
def heads(x):
    """Other dims are merged beside, and split in other places."""
    flat = x.reshape(64, 8) * 2
    return flat.reshape(4, 16, 4, 2).transpose(0, 2, 1, 3)


@case(SUMS, TOKENS, WEIGHT, places(4, 16, high=24))
def cross_entropy(x, weight, labels):
    """As PyTorch's users have it: flat logits and labels."""
    logits, labels = (x @ weight).reshape(-1, 24), labels.reshape(-1)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


@case(SUMS, TOKENS, normal(11, 8), places(4, 16, high=11))
def embedding(x, table, ids):
    def value(table):
        return (table[ids.reshape(-1)].reshape(4, 16, 8) ** 2 * x).sum()

    return jax.grad(value)(table)


def compiled_on(mesh, function, arguments, sharding):
    shardings = [NamedSharding(mesh, sharding if array.shape[:2] == (4, 16) else P()) for array in arguments]
    text = jax.jit(function, in_shardings=shardings).lower(*arguments).as_text()
    return shardonnay.compile(text, device_model="bytes", report=True), text


@pytest.fixture(scope="module")
def mesh():
    return Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("batch", "sequence"))


@pytest.mark.parametrize("sharding", [P("batch", "sequence"), P(None, "sequence"), P("sequence", "batch")])
@pytest.mark.parametrize("function, arguments", LOCAL)
def test_nothing_is_sent(mesh, function, arguments, sharding):
    compiled, text = compiled_on(mesh, function, arguments, sharding)
    assert compiled.report["executed_bytes"] == 0
    assert_agrees(compiled, text, list(arguments))


@pytest.mark.parametrize("sharding", [P("batch", "sequence"), P(None, ("sequence", "batch"))])
@pytest.mark.parametrize("function, arguments", SUMS)
def test_sums_are_reduced(mesh, function, arguments, sharding):
    """No more is sent than for an all_reduce of the result on eight devices."""
    compiled, text = compiled_on(mesh, function, arguments, sharding)
    assert compiled.report["executed_bytes"] <= 2 * 7 / 8 * jax.eval_shape(function, *arguments).size * 4
    assert_agrees(compiled, text, list(arguments))


def test_next_tokens(mesh):
    """A sequence one less, which does not divide: labels go to the neighbour, one of each sequence."""

    def loss(x, weight, labels):
        logits, labels = (x @ weight)[:, :-1].reshape(-1, 24), labels[:, 1:].reshape(-1)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()

    arguments = TOKENS, WEIGHT, places(4, 16, high=24)
    compiled, text = compiled_on(mesh, loss, arguments, P(None, ("batch", "sequence")))
    assert compiled.report["executed_bytes"] <= 4 * 4 + 2 * 7 / 8 * 4
    assert_agrees(compiled, text, list(arguments))


def test_gradients(mesh):
    """The weight's gradient is all that is reduced."""
    function, arguments = cross_entropy, (TOKENS, WEIGHT, places(4, 16, high=24))
    compiled, text = compiled_on(mesh, jax.grad(function, (0, 1)), arguments, P("batch", "sequence"))
    assert [collective["operand"] for collective in compiled.report["collectives"]] == ["tensor<8x24xf32>"]
    assert_agrees(compiled, text, list(arguments))


def test_propagated_shardings_can_be_kept(mesh):
    _, text = compiled_on(mesh, dense, (TOKENS, WEIGHT, normal(24)), P(None, "sequence"))
    kept = shardonnay.compile(text, keep_propagated=True, report=True)
    assert [collective["kind"] for collective in kept.report["collectives"]] == ["all_gather"]
