"""Train steps as users have them: unrolled layers, and private functions where JAX prints a call.

    python steps.py MODEL LAYERS     prints one
"""

import sys
from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

_MESH = (4, 2), ("data", "model")
_WIDTH, _HEADS, _HEAD, _HIDDEN, _WORDS, _EXPERTS = 256, 8, 32, 1024, 4096, 8
_TOKENS = 16, 128
_IMAGES = 32, 32, 32, 64


def _norm(x, layer):
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - jnp.mean(x, axis=-1, keepdims=True)) * jax.lax.rsqrt(variance + 1e-5) * layer["scale"] + layer["shift"]


def _attention(x, layer, key):
    query, keys, values = (jnp.einsum("bsd,dhk->bshk", x, layer[name]) for name in "qkv")
    scores = jnp.einsum("bshk,bthk->bhst", query, keys) * _HEAD**-0.5
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9))
    kept = jax.random.bernoulli(key, 0.9, weights.shape)
    return jnp.einsum("bhst,bthk,hkd->bsd", jnp.where(kept, weights / 0.9, 0), values, layer["o"])


def _dense(x, layer):
    return jax.nn.gelu(x @ layer["up"]) @ layer["down"]


def _experts(x, layer):
    """Each token goes to its two best experts, as far as they have room."""
    room = 2 * _TOKENS[1] // _EXPERTS
    weights, chosen = jax.lax.top_k(jax.nn.softmax(x @ layer["gate"]), 2)
    wanted = jax.nn.one_hot(chosen, _EXPERTS)
    place = jnp.cumsum(wanted.sum(2), axis=1).astype(jnp.int32) - 1
    slots = jax.nn.one_hot(jnp.clip(place, 0, room), room) * jnp.einsum("bske->bse", wanted)[..., None]
    sent = jnp.einsum("bsec,bsd->ebcd", slots, x)
    done = jnp.einsum("ebcf,efd->ebcd", jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", sent, layer["up"])), layer["down"])
    return jnp.einsum("bsec,bske,bsk,ebcd->bsd", slots, wanted, weights, done)


def _language_model(feed_forward, parameters, tokens, key):
    x = jnp.take(parameters["words"], tokens, axis=0)
    for number, layer in enumerate(parameters["layers"]):
        x = x + _attention(_norm(x, layer["first"]), layer, jax.random.fold_in(key, number))
        x = x + feed_forward(_norm(x, layer["second"]), layer)
    found = jax.nn.log_softmax(x @ parameters["words"].T)
    return -jnp.take_along_axis(found, jnp.roll(tokens, -1, axis=1)[..., None], axis=-1).mean()


def _convolved(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _convnet(parameters, images, key):
    x = images
    for layer in parameters["layers"]:
        inner = jax.nn.relu(_norm(_convolved(x, layer["in"]), layer["first"]))
        x = jax.nn.relu(x + _norm(_convolved(inner, layer["out"]), layer["second"]))
    return (x.mean((1, 2)) @ parameters["head"]).var()


def _columns(*shape):
    return shape, PartitionSpec(*[None] * (len(shape) - 1), "model")


def _rows(*shape):
    return shape, PartitionSpec("model")


def _whole(*shape):
    return shape, PartitionSpec()


_NORM = {"scale": _whole(_WIDTH), "shift": _whole(_WIDTH)}
_BLOCK = {name: ((_WIDTH, _HEADS, _HEAD), PartitionSpec(None, "model")) for name in "qkv"}
_BLOCK |= {"o": _rows(_HEADS, _HEAD, _WIDTH), "first": _NORM, "second": _NORM}
_DENSE = {"up": _columns(_WIDTH, _HIDDEN), "down": _rows(_HIDDEN, _WIDTH)}
_EXPERT = {"gate": _whole(_WIDTH, _EXPERTS), "up": _rows(_EXPERTS, _WIDTH, _HIDDEN),
           "down": _rows(_EXPERTS, _HIDDEN, _WIDTH)}
_CHANNELS = _IMAGES[-1]
_CHANNEL_NORM = {"scale": _whole(_CHANNELS), "shift": _whole(_CHANNELS)}
_CONVOLUTION = {
    "in": _columns(3, 3, _CHANNELS, _CHANNELS),
    "out": ((3, 3, _CHANNELS, _CHANNELS), PartitionSpec(None, None, "model")),
}
_WORD_TABLE = {"words": ((_WORDS, _WIDTH), PartitionSpec("model"))}

# name -> (loss, a layer's parameters, the other parameters, the batch)
MODELS = {
    "transformer": (partial(_language_model, _dense), _BLOCK | _DENSE, _WORD_TABLE, (_TOKENS, jnp.int32)),
    "moe": (partial(_language_model, _experts), _BLOCK | _EXPERT, _WORD_TABLE, (_TOKENS, jnp.int32)),
    "convnet": (
        _convnet,
        _CONVOLUTION | {"first": _CHANNEL_NORM, "second": _CHANNEL_NORM},
        {"head": _columns(_CHANNELS, 1000)},
        (_IMAGES, jnp.float32),
    ),
}


def _clipped(gradients):
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradients)))
    return jax.tree.map(lambda leaf: jnp.where(norm < 1, leaf, leaf / norm), gradients)


def _adam(parameter, first, second, gradient):
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient**2
    return parameter - 1e-3 * first / (jnp.sqrt(second) + 1e-8), first, second


def train_step(name, layers):
    """The text of one AdamW step with `layers` layers: (parameters, first, second, batch, key) -> the first three."""
    model, layer, others, (batch, kind) = MODELS[name]
    mesh = jax.sharding.AbstractMesh(*_MESH, axis_types=(AxisType.Auto,) * 2)

    def step(parameters, first, second, batch, key):
        gradients = _clipped(jax.grad(lambda values: model(values, batch, key))(parameters))
        updated = jax.tree.map(_adam, parameters, first, second, gradients)
        return jax.tree.transpose(jax.tree.structure(parameters), jax.tree.structure((0, 0, 0)), updated)

    def sharded(shape, spec, kind=jnp.float32):
        return jax.ShapeDtypeStruct(shape, kind, sharding=NamedSharding(mesh, spec))

    described = others | {"layers": [layer] * layers}
    state = jax.tree.map(lambda leaf: sharded(*leaf), described, is_leaf=lambda leaf: isinstance(leaf, tuple))
    key = jax.ShapeDtypeStruct((2,), jnp.uint32)
    traced = jax.jit(step, keep_unused=True, donate_argnums=(0, 1, 2)).trace(
        state, state, state, sharded(batch, PartitionSpec("data"), kind), key
    )
    return traced.lower(lowering_platforms=("cpu",)).as_text()


if __name__ == "__main__":
    print(train_step(sys.argv[1], int(sys.argv[2])))
