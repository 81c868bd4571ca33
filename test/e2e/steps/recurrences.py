"""Recurrences over time or over layers."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax import lax

from .registry import cross_entropy, integers, normal, square_error, step, train


class Lstm(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(64)(nn.RNN(nn.OptimizedLSTMCell(32))(nn.Embed(64, 32)(tokens)))


class ScannedBlocks(nn.Module):
    """Layers stacked along a leading dim and scanned over, each rematerialised."""

    @nn.compact
    def __call__(self, x):
        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, _):
                return x + nn.Dense(32)(nn.relu(nn.Dense(64)(nn.LayerNorm()(x)))), None

        stack = nn.scan(nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
        return stack()(x, None)[0]


TOKENS, NEXT = integers(8, 16, high=64), integers(8, 16, high=64, seed=1)
train("lstm", Lstm(), cross_entropy, TOKENS, NEXT)
train("scanned-blocks", ScannedBlocks(), square_error, normal(8, 32), normal(8, 32, seed=1))


@step(lambda: ({"a": normal(16), "b": normal(8, 16), "c": normal(16, 8)}, normal(8, 24, 8)))
def state_space(parameters, x):
    """A linear recurrence by a parallel scan, and the gradient of its energy."""

    def loss(p):
        decay = jnp.broadcast_to(nn.sigmoid(p["a"]), (*x.shape[:2], 16))
        _, states = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (decay, x @ p["b"]), axis=1)
        return jnp.mean((states @ p["c"] - x) ** 2)

    return jax.value_and_grad(loss)(parameters)


class Bidirectional(nn.Module):
    """Two directions over sentences of several lengths."""

    @nn.compact
    def __call__(self, batch):
        tokens, lengths = batch
        both = nn.Bidirectional(nn.RNN(nn.GRUCell(16)), nn.RNN(nn.GRUCell(16)))
        return nn.Dense(64)(both(nn.Embed(64, 32)(tokens), seq_lengths=lengths))


train("bidirectional", Bidirectional(), cross_entropy, (TOKENS, integers(8, low=3, high=17)), NEXT,
      optimizer=optax.adagrad(1e-2))


@step(lambda: ({"d": normal(32, 32, scale=0.1), "b": normal(32, 8), "c": normal(32, 8), "a": normal(32, 8)},
               normal(8, 24, 32)),
      split={"d": 1, "a": 0}, also=("megatron",))  # fmt: skip
def selective_scan(parameters, x):
    """A recurrence whose decay depends on its input, step by step, and its gradient."""

    def loss(p):
        delta = nn.softplus(x @ p["d"])

        def body(state, at):
            d, b, c, u = at
            state = state * jnp.exp(-d[..., None] * jnp.exp(p["a"])) + (d * u)[..., None] * b[:, None]
            return state, (state * c[:, None]).sum(-1)

        parts = (delta, x @ p["b"], x @ p["c"], x)
        _, y = lax.scan(body, jnp.zeros((x.shape[0], 32, 8)), tuple(part.swapaxes(0, 1) for part in parts))
        return jnp.mean(y**2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"u": normal(16, 64, scale=0.2), "v": normal(64, 16, scale=0.2)}, normal(8, 4, 16),
               normal(8, 4, 16, seed=1)),
      split={"u": 1, "v": 0}, also=("megatron",))  # fmt: skip
def accumulation(parameters, inputs, labels):
    """Gradients of four small batches, dim 1 of the data, added up in a loop."""

    def loss(p, x, y):
        return jnp.mean((nn.relu(x @ p["u"]) @ p["v"] - y) ** 2)

    def body(sums, batch):
        return jax.tree.map(jnp.add, sums, jax.grad(loss)(parameters, *batch)), None

    sums, _ = lax.scan(body, jax.tree.map(jnp.zeros_like, parameters), (inputs.swapaxes(0, 1), labels.swapaxes(0, 1)))
    return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, sums)


@step(
    lambda: ({"u": normal(8, 32, scale=0.3), "v": normal(32, 8, scale=0.3)}, normal(16, 8)),
    split={"u": 1, "v": 0},
    also=("megatron",),
)
def neural_ode(parameters, x):
    """Runge-Kutta through a small network, and the gradient through the steps."""

    def loss(p):
        def slope(y):
            return jnp.tanh(y @ p["u"]) @ p["v"]

        def body(y, _):
            a = slope(y)
            b = slope(y + 0.05 * a)
            c = slope(y + 0.05 * b)
            return y + 0.1 / 6 * (a + 2 * b + 2 * c + slope(y + 0.1 * c)), None

        return jnp.mean(lax.scan(body, x, None, length=5)[0] ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"w": normal(16, 12)}, normal(8, 20, 16), integers(8, 6, high=12, low=1)))
def speech(parameters, frames, labels):
    """Alignment of labels with frames by dynamic programming (CTC)."""

    def loss(p):
        none = jnp.zeros(frames.shape[:2]), jnp.zeros(labels.shape)
        return optax.ctc_loss(frames @ p["w"], none[0], labels, none[1]).mean()

    return jax.value_and_grad(loss)(parameters)


@step(
    lambda: (
        {name: normal(32, 32, scale=0.2, seed=seed) for seed, name in enumerate("rkvo")} | {"w": normal(32, scale=0.2)},
        normal(8, 16, 32),
    ),
    split={"r": 1, "k": 1, "v": 1, "o": 0, "w": 0},
    also=("megatron", "sequence"),
)
def linear_attention(parameters, x):
    """As RWKV has it: shifted tokens, a state for each head that decays channel by channel."""

    def loss(p):
        mixed = (x + jnp.concatenate([jnp.zeros((8, 1, 32)), x[:, :-1]], 1)) / 2
        heads = [(mixed @ p[name]).reshape(8, 16, 4, 8).swapaxes(0, 1) for name in "rkv"]
        decay = jnp.exp(-jnp.exp(p["w"].reshape(4, 8)))[..., None]

        def token(state, rkv):
            r, k, v = rkv
            return state * decay + k[..., None] * v[..., None, :], jnp.einsum("bhk,bhkv->bhv", r, state)

        _, out = lax.scan(token, jnp.zeros((8, 4, 8, 8)), tuple(heads))
        return jnp.mean((out.swapaxes(0, 1).reshape(8, 16, 32) @ p["o"] + x) ** 2)

    value, gradient = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradient), value


@step(
    lambda: ({"next": normal(16, 16), "emit": normal(16, 32, seed=1)}, integers(16, 24, high=32)),
    split={"next": 1, "emit": 0},
    also=("megatron",),
)
def markov_model(parameters, observed):
    """The likelihood of sequences under a hidden Markov model, forward in time."""

    def loss(p):
        emitted = p["emit"].T[observed].swapaxes(0, 1)

        def step(alpha, emission):
            return jax.nn.logsumexp(alpha[:, :, None] + p["next"], 1) + emission, None

        return -jax.nn.logsumexp(lax.scan(step, emitted[0], emitted[1:])[0], -1).mean()

    value, gradient = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradient), value
