"""Training steps of models from several libraries: state and batch in, state and loss out."""

from dataclasses import dataclass

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import numpy as np
import optax
from demo import LanguageModel
from flax import nnx
from outcomes import MESH, P, on
from shardonnay.jax import by_logical_axes, by_path


@dataclass(frozen=True)
class Training:
    """`step(state, *batch)` = (state, loss); `shardings` of (state, *batch)."""

    step: callable
    state: dict
    batch: tuple
    shardings: tuple


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def integers(*shape, high, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.int32)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def _trained(apply_loss, params, optimizer, batch, shard):
    """A Training of `apply_loss(params, key, *batch)`; `shard(tree)` gives a tree's shardings."""

    def step(state, *batch):
        key, used = jax.random.split(state["key"])
        loss, gradient = jax.value_and_grad(apply_loss)(state["params"], used, *batch)
        updates, optimizer_state = optimizer.update(gradient, state["optimizer"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "optimizer": optimizer_state, "key": key}, loss

    state = {"params": params, "optimizer": optimizer.init(params), "key": jax.random.key(1)}
    shardings = {name: shard(state[name]) for name in ("params", "optimizer")} | {"key": on()}
    return Training(step, jax.device_put(state, shardings), batch, (shardings, *(on("data") for _ in batch)))


MEGATRON = [
    (r"(query|key|value)/kernel", P(None, "model")),
    (r"out/kernel", P("model")),
    (r"Dense_0/kernel", P(None, "model")),
    (r"Dense_1/kernel|Embed_0/embedding", P("model")),
    (".*", P()),
]


def linen_transformer():
    """Megatron's cuts, by the paths of parameters; moments like parameters."""
    tokens, labels = integers(8, 16, high=64), integers(8, 16, high=64, seed=1)
    model = LanguageModel(64, 32, 4, 1, 16)

    def loss(params, key, tokens, labels):
        return cross_entropy(model.apply(params, tokens), labels)

    params = model.init(jax.random.key(0), tokens)
    return _trained(loss, params, optax.adamw(1e-2), (tokens, labels), lambda tree: by_path(MEGATRON, tree, MESH))


class Convolutional(nn.Module):
    """Convolutions, group norms and dropout."""

    @nn.compact
    def __call__(self, x):
        for width in (8, 8):
            x = nn.relu(nn.GroupNorm(4)(nn.Conv(width, (3, 3))(x)))
            x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.Dropout(0.2, deterministic=False)(x.reshape(x.shape[0], -1))
        return nn.Dense(10)(x)


def linen_convolutions():
    """Data-parallel, with dropout from typed keys in the state."""
    images, labels = normal(8, 8, 8, 3), integers(8, high=10)
    model = Convolutional()

    def loss(params, key, images, labels):
        return cross_entropy(model.apply(params, images, rngs={"dropout": key}), labels)

    params = model.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, images)
    replicated = lambda tree: jax.tree.map(lambda _: on(), tree)  # noqa: E731
    return _trained(loss, params, optax.sgd(1e-1, momentum=0.9), (images, labels), replicated)


class Mixer(nnx.Module):
    """Blocks with logical names on their kernels."""

    def __init__(self, rngs):
        names = [("embed", "mlp"), ("mlp", "embed")] * 2
        sizes = [(32, 64), (64, 32)] * 2
        self.layers = nnx.List(
            [nnx.Linear(*size, rngs=rngs, kernel_metadata={"out_sharding": name}) for size, name in zip(sizes, names)]
        )
        self.norm = nnx.LayerNorm(32, rngs=rngs)

    def __call__(self, x):
        for first, second in zip(self.layers[::2], self.layers[1::2]):
            x = x + second(jax.nn.gelu(first(self.norm(x))))
        return x


def nnx_blocks():
    """FSDP and tensor parallelism by logical axis rules over nnx's metadata."""
    with nnx.use_eager_sharding(False):
        graph, params = nnx.split(Mixer(nnx.Rngs(0)))
    inputs, targets = normal(16, 32), normal(16, 32, seed=1)

    def loss(params, key, inputs, targets):
        return ((nnx.merge(graph, params)(inputs) - targets) ** 2).mean()

    rules = [("embed", "data"), ("mlp", "model")]
    return _trained(loss, params, optax.adam(1e-2), (inputs, targets), lambda tree: by_logical_axes(rules, tree, MESH))


def _fully_sharded(tree):
    def sharding(leaf):
        dims = [dim for dim, size in enumerate(np.shape(leaf)) if size % 8 == 0]
        return on(*(("data", "model") if dim == dims[0] else None for dim in range(np.ndim(leaf)))) if dims else on()

    return jax.tree.map(sharding, tree)


def haiku_recurrent():
    """FSDP of an LSTM over tokens."""
    tokens, labels = integers(8, 8, high=32), integers(8, 8, high=32, seed=1)

    def forward(tokens):
        core = hk.LSTM(32)
        outputs, _ = hk.dynamic_unroll(
            core, hk.Embed(32, 32)(tokens), core.initial_state(tokens.shape[0]), time_major=False
        )
        return hk.Linear(32)(outputs)

    model = hk.without_apply_rng(hk.transform(forward))

    def loss(params, key, tokens, labels):
        return cross_entropy(model.apply(params, tokens), labels)

    return _trained(loss, model.init(jax.random.key(0), tokens), optax.adam(1e-2), (tokens, labels), _fully_sharded)


def equinox_mlp():
    """FSDP of an equinox model, layers under remat."""
    params, static = eqx.partition(eqx.nn.MLP(32, 16, 64, 2, key=jax.random.key(0)), eqx.is_inexact_array)
    inputs, labels = normal(16, 32), integers(16, high=16)

    def loss(params, key, inputs, labels):
        model = jax.checkpoint(jax.vmap(eqx.combine(params, static)))
        return cross_entropy(model(inputs), labels)

    return _trained(loss, params, optax.lion(1e-3), (inputs, labels), _fully_sharded)


MODELS = [linen_transformer, linen_convolutions, nnx_blocks, haiku_recurrent, equinox_mlp]
