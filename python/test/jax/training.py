"""Training steps of models from several libraries: state and batch in, state and loss out."""

import os
from dataclasses import dataclass

os.environ.setdefault("KERAS_BACKEND", "jax")  # keras reads it when it is imported

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import keras
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


def placed(tree, shardings):
    """A tree of this process's values on devices of which some may be another process's."""
    is_key = jax.tree.map(lambda leaf: jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key), tree)
    host = jax.tree.map(lambda leaf, key: np.asarray(jax.random.key_data(leaf) if key else leaf), tree, is_key)

    def logical(host):
        return jax.tree.map(lambda leaf, key: jax.random.wrap_key_data(leaf) if key else leaf, host, is_key)

    return jax.jit(logical, out_shardings=shardings)(host)


def _trained(apply_loss, params, optimizer, batch, shard):
    """A Training of `apply_loss(params, key, *batch)`; `shard(tree)` gives a tree's shardings."""

    def step(state, *batch):
        key, used = jax.random.split(state["key"])
        loss, gradient = jax.value_and_grad(apply_loss)(state["params"], used, *batch)
        updates, optimizer_state = optimizer.update(gradient, state["optimizer"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "optimizer": optimizer_state, "key": key}, loss

    state = {"params": params, "optimizer": optimizer.init(params), "key": jax.random.key(1)}
    shardings = {name: shard(state[name]) for name in ("params", "optimizer")} | {"key": on()}
    return Training(step, placed(state, shardings), batch, (shardings, *(on("data") for _ in batch)))


MEGATRON = [
    (r"(query|key|value)/kernel", P(None, "model")),
    (r"out/kernel", P("model")),
    (r"Dense_0/kernel", P(None, "model")),
    (r"Dense_1/kernel|Embed_0/embedding", P("model")),
    (".*", P()),
]


def linen_transformer():
    """Megatron's shardings, by the paths of parameters; moments like parameters."""
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


def fully_sharded(tree):
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

    return _trained(loss, model.init(jax.random.key(0), tokens), optax.adam(1e-2), (tokens, labels), fully_sharded)


def equinox_mlp():
    """FSDP of an equinox model, layers under remat."""
    params, static = eqx.partition(eqx.nn.MLP(32, 16, 64, 2, key=jax.random.key(0)), eqx.is_inexact_array)
    inputs, labels = normal(16, 32), integers(16, high=16)

    def loss(params, key, inputs, labels):
        model = jax.checkpoint(jax.vmap(eqx.combine(params, static)))
        return cross_entropy(model(inputs), labels)

    return _trained(loss, params, optax.lion(1e-3), (inputs, labels), fully_sharded)


class Decoder(nn.Module):
    """Layers under `nn.scan` and remat, with logical names on their kernels."""

    @nn.compact
    def __call__(self, tokens):
        def kernel(*names):
            return nn.with_logical_partitioning(nn.initializers.lecun_normal(), names)

        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x, _):
                attention = nn.MultiHeadDotProductAttention(4, kernel_init=kernel("embed", "heads", "of_head"))
                x = x + attention(nn.LayerNorm()(x), mask=nn.make_causal_mask(x[..., 0]))
                hidden = nn.gelu(nn.Dense(64, kernel_init=kernel("embed", "mlp"))(nn.LayerNorm()(x)))
                return x + nn.Dense(32, kernel_init=kernel("mlp", "embed"))(hidden), None

        layers = nn.scan(
            nn.remat(Layer),
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=3,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )
        embed = nn.Embed(64, 32, embedding_init=kernel("vocabulary", "embed"))
        x, _ = layers()(embed(tokens), None)
        return embed.attend(nn.LayerNorm()(x))


def linen_scanned():
    """Three strategies by one table of logical axes; gradients of two steps are added up before an update."""
    tokens, labels = integers(8, 16, high=64), integers(8, 16, high=64, seed=1)
    model = Decoder()

    def loss(params, key, tokens, labels):
        return cross_entropy(model.apply(params, tokens), labels)

    boxed = model.init(jax.random.key(0), tokens)
    rules = [("vocabulary", "model"), ("embed", "data"), ("heads", "model"), ("mlp", "model")]
    optimizer = optax.MultiSteps(optax.adamw(1e-2), 2)
    shardings = by_logical_axes(rules, boxed, MESH)

    def shard(tree):
        """The optimizer's leaves are sharded like the parameters of their shape."""
        placed = {
            np.shape(leaf): sharding for leaf, sharding in zip(*map(jax.tree.leaves, (nn.unbox(boxed), shardings)))
        }
        return jax.tree.map(lambda leaf: placed.get(np.shape(leaf), on()), tree)

    return _trained(loss, nn.unbox(boxed), optimizer, (tokens, labels), shard)


class Recogniser(nnx.Module):
    """Attention with dropout and a batch norm, whose state and keys are in the module."""

    def __init__(self, rngs):
        self.inner = nnx.Linear(12, 32, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(4, 32, decode=False, rngs=rngs)
        self.norm = nnx.BatchNorm(32, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.head = nnx.Linear(32, 10, rngs=rngs)

    def __call__(self, x):
        x = self.inner(x)
        x = self.norm(x + self.dropout(self.attention(x)))
        return self.head(x.mean(axis=1))


def nnx_attention():
    """A model and its `nnx.Optimizer`, merged and split in the step as in nnx's guides."""
    patches, labels = normal(8, 8, 12), integers(8, high=10)
    model = Recogniser(nnx.Rngs(0))
    graph, state = nnx.split((model, nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)))

    def step(state, patches, labels):
        model, optimizer = nnx.merge(graph, state)
        loss, gradient = nnx.value_and_grad(lambda model: cross_entropy(model(patches), labels))(model)
        optimizer.update(model, gradient)
        return nnx.state((model, optimizer)), loss

    rules = [(r"(query|key|value)/kernel", P(None, "model")), (r"out/kernel", P("model")), (".*", P())]
    shardings = by_path(rules, state, MESH)
    return Training(step, jax.device_put(state, shardings), (patches, labels), (shardings, on("data"), on("data")))


def haiku_quantized():
    """A VQ-VAE with haiku's quantizer, whose moving averages are state."""
    images = normal(16, 8, 8, 3)

    def forward(images):
        code = hk.Conv2D(16, 3, 2)(jax.nn.relu(hk.Conv2D(16, 3, 2)(images)))
        quantized = hk.nets.VectorQuantizerEMA(16, 8, 0.25, 0.99)(code, is_training=True)
        x = jax.nn.relu(hk.Conv2DTranspose(16, 3, 2)(quantized["quantize"]))
        return ((hk.Conv2DTranspose(3, 3, 2)(x) - images) ** 2).mean() + quantized["loss"]

    model = hk.without_apply_rng(hk.transform_with_state(forward))
    params, kept = model.init(jax.random.key(0), images)
    optimizer = optax.adam(3e-3)

    def step(state, images):
        (loss, kept), gradient = jax.value_and_grad(model.apply, has_aux=True)(state["params"], state["kept"], images)
        updates, moments = optimizer.update(gradient, state["optimizer"])
        return {"params": optax.apply_updates(state["params"], updates), "kept": kept, "optimizer": moments}, loss

    state = {"params": params, "kept": kept, "optimizer": optimizer.init(params)}
    shardings = fully_sharded(state)
    return Training(step, jax.device_put(state, shardings), (images,), (shardings, on("data")))


class Patches(eqx.Module):
    """A vision transformer of one block."""

    inner: eqx.nn.Linear
    attention: eqx.nn.MultiheadAttention
    norms: tuple
    mlp: eqx.nn.MLP
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 4)
        self.inner = eqx.nn.Linear(12, 32, key=keys[0])
        self.attention = eqx.nn.MultiheadAttention(4, 32, key=keys[1])
        self.norms = (eqx.nn.LayerNorm(32), eqx.nn.LayerNorm(32))
        self.mlp = eqx.nn.MLP(32, 32, 64, 1, jax.nn.gelu, key=keys[2])
        self.head = eqx.nn.Linear(32, 10, key=keys[3])

    def __call__(self, patches):
        x = jax.vmap(self.inner)(patches)
        normed = jax.vmap(self.norms[0])(x)
        x = x + self.attention(normed, normed, normed)
        x = x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))
        return self.head(x.mean(axis=0))


def equinox_patches():
    """Megatron's shardings of an equinox model; gradients clipped by their norm over all devices, a schedule."""
    params, static = eqx.partition(Patches(jax.random.key(0)), eqx.is_inexact_array)
    patches, labels = normal(8, 8, 12), integers(8, high=10)

    def loss(params, key, patches, labels):
        return cross_entropy(jax.vmap(eqx.combine(params, static))(patches), labels)

    rows, columns = P("model"), P(None, "model")  # equinox has outputs first
    rules = [
        (r"(query|key|value)_proj/weight|mlp/layers/0/weight", rows),
        (r"(output_proj|mlp/layers/1)/weight", columns),
    ]
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-2, 100)))
    return _trained(loss, params, optimizer, (patches, labels), lambda tree: by_path([*rules, (".*", P())], tree, MESH))


def keras_convolutions():
    """A keras model on JAX: batch norm, dropout with a seed in its state, keras' own AdamW."""
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(16, 3, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(32, activation="gelu"),
            layers.Dropout(0.1),
            layers.Dense(10),
        ]
    )
    optimizer = keras.optimizers.AdamW(1e-2)
    optimizer.build(model.trainable_variables)
    images, labels = normal(16, 8, 8, 3), integers(16, high=10)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def loss(params, rest, images, labels):
        logits, rest = model.stateless_call(params, rest, images, training=True)
        return loss_of(labels, logits), rest

    def step(state, images, labels):
        (value, rest), gradient = jax.value_and_grad(loss, has_aux=True)(state["params"], state["rest"], images, labels)
        params, moments = optimizer.stateless_apply(state["optimizer"], gradient, state["params"])
        return {"params": params, "rest": rest, "optimizer": moments}, value

    variables = {
        "params": model.trainable_variables,
        "rest": model.non_trainable_variables,
        "optimizer": optimizer.variables,
    }
    state = {name: [jnp.asarray(variable.value) for variable in found] for name, found in variables.items()}
    shardings = fully_sharded(state)
    return Training(step, jax.device_put(state, shardings), (images, labels), (shardings, on("data"), on("data")))


MODELS = [
    linen_transformer,
    linen_convolutions,
    linen_scanned,
    nnx_blocks,
    nnx_attention,
    haiku_recurrent,
    haiku_quantized,
    equinox_mlp,
    equinox_patches,
    keras_convolutions,
]
