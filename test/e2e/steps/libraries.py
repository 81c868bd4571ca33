"""Models written with libraries other than flax: equinox and haiku."""

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from .registry import cross_entropy, fit, integers, normal, square_error


class Block(eqx.Module):
    """A transformer's layer on one sequence."""

    attention: eqx.nn.MultiheadAttention
    norms: list
    mlp: eqx.nn.MLP

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.attention = eqx.nn.MultiheadAttention(4, 32, key=first)
        self.norms = [eqx.nn.LayerNorm(32), eqx.nn.RMSNorm(32)]
        self.mlp = eqx.nn.MLP(32, 32, 64, 1, jax.nn.gelu, key=second)

    def __call__(self, x):
        y = jax.vmap(self.norms[0])(x)
        x = x + self.attention(y, y, y, mask=jnp.tril(jnp.ones((x.shape[0],) * 2, bool)))
        return x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))


class Denoiser(eqx.Module):
    """Convolutions that are told the time, as diffusion models are."""

    layers: list
    time: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 4)
        self.layers = [eqx.nn.Conv2d(3, 16, 3, padding=1, key=keys[0]), eqx.nn.GroupNorm(4, 16),
                       eqx.nn.Conv2d(16, 3, 3, padding=1, key=keys[1])]
        self.time = eqx.nn.Linear(1, 16, key=keys[2])

    def __call__(self, batch):
        x, noise, time = batch
        kept = jnp.exp(-time)
        y = self.layers[0](x * kept + noise * jnp.sqrt(1 - kept**2))
        y = jax.nn.silu(self.layers[1](y) + self.time(time[None])[:, None, None])
        return self.layers[2](y)


def _equinox(make):
    def initial():
        return eqx.partition(make(jax.random.key(0)), eqx.is_inexact_array)[0], {}

    def apply(parameters, rest, inputs):
        static = eqx.filter_eval_shape(make, jax.random.key(0))
        static = eqx.partition(static, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))[1]
        return jax.vmap(eqx.combine(parameters, static))(inputs), rest

    return initial, apply


def _haiku(function, sample):
    transformed = hk.without_apply_rng(hk.transform_with_state(function))

    def apply(parameters, rest, inputs):
        return transformed.apply(parameters, rest, inputs)

    return lambda: transformed.init(jax.random.key(0), sample), apply


def _residual(x):
    x = hk.BatchNorm(True, True, 0.9)(hk.Conv2D(16, 3)(x), is_training=True)
    x = x + hk.Conv2D(16, 3)(jax.nn.relu(x))
    return hk.Linear(10)(hk.AvgPool(2, 2, "SAME")(x).mean((1, 2)))


def _recurrent(tokens):
    x = hk.Embed(64, 32)(tokens)
    core = hk.DeepRNN([hk.VanillaRNN(16), hk.LSTM(16)])
    x, _ = hk.dynamic_unroll(core, x, core.initial_state(tokens.shape[0]), time_major=False)
    return hk.Linear(64)(x)


IMAGES = normal(8, 16, 16, 3)
TOKENS, NEXT = integers(8, 16, high=64), integers(8, 16, high=64, seed=1)
SPLIT = {
    "query_proj/weight": 0,
    "key_proj/weight": 0,
    "value_proj/weight": 0,
    "output_proj/weight": 1,
    "layers/0/weight": 0,
    "layers/1/weight": 1,
}
fit(
    "equinox-block",
    *_equinox(Block),
    square_error,
    normal(8, 16, 32),
    normal(8, 16, 32, seed=1),
    optimizer=optax.adam(1e-3),
    split=SPLIT,
    also=("megatron", "sequence"),
)
fit("diffusion", *_equinox(Denoiser), square_error,
    (normal(8, 3, 16, 16), normal(8, 3, 16, 16, seed=2), normal(8, seed=3) ** 2), normal(8, 3, 16, 16, seed=2))
fit("haiku-residual", *_haiku(_residual, IMAGES), cross_entropy, IMAGES, integers(8, high=10),
    optimizer=optax.sgd(1e-2, momentum=0.9))
fit("haiku-recurrent", *_haiku(_recurrent, TOKENS), cross_entropy, TOKENS, NEXT)
