"""An L-layer transformer step with Adam, and the schedules that its designer shards it by.

Only what a schedule names is sharded by hand: the batch, the parameters, the optimizer's state. What comes out is
sharded as what went in.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P



def mesh_of(tactics):
    """The axes that the schedule uses, and no other: an idle one would be used for what pays."""
    if "MP" not in tactics and "EMB" not in tactics:
        return {"batch": 8}
    return {"batch": 4, "model": 2} if "BP" in tactics else {"model": 8}


# Dims that no two axes' products confuse: 16 sequences of 24 tokens, 128 words, width 64, 8 heads of 8, hidden 256.
BATCH, LENGTH, WORDS, WIDTH, HEADS, SIZE, HIDDEN = 16, 24, 128, 64, 8, 8, 256

# The matrices of a layer: shape, and how Megatron shards it.
MATRICES = {
    "query": ((WIDTH, HEADS, SIZE), P(None, "model")),
    "key": ((WIDTH, HEADS, SIZE), P(None, "model")),
    "value": ((WIDTH, HEADS, SIZE), P(None, "model")),
    "out": ((HEADS, SIZE, WIDTH), P("model")),
    "up": ((WIDTH, HIDDEN), P(None, "model")),
    "down": ((HIDDEN, WIDTH), P("model")),
}
NORMS = ("norm_attention", "norm_mlp")
PER_LAYER = len(MATRICES) + len(NORMS)
GLOBALS = {
    "table": ((WORDS, WIDTH), P("model")),
    "norm": ((WIDTH,), P()),
    "head": ((WIDTH, WORDS), P(None, "model")),
}


def parameters(layers):
    generator = np.random.default_rng(0)

    def matrix(shape):
        return (generator.standard_normal(shape) / 8).astype(np.float32)

    tree = {
        name: np.ones(shape, np.float32) if len(shape) == 1 else matrix(shape) for name, (shape, _) in GLOBALS.items()
    }
    for layer in range(layers):
        tree[f"layer{layer:02}"] = {name: matrix(shape) for name, (shape, _) in MATRICES.items()} | {
            name: np.ones((WIDTH,), np.float32) for name in NORMS
        }
    return tree


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def forward(p, tokens):
    x = p["table"][tokens]
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    for name in sorted(key for key in p if key.startswith("layer")):
        w = p[name]
        y = rms_norm(x, w["norm_attention"])
        query, key, value = (jnp.einsum("bsd,dhk->bshk", y, w[n]) for n in ("query", "key", "value"))
        scores = jnp.where(mask, jnp.einsum("bqhk,bshk->bhqs", query, key) / SIZE**0.5, -1e9)
        mixed = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), value)
        x = x + jnp.einsum("bqhk,hkd->bqd", mixed, w["out"])
        x = x + jax.nn.gelu(rms_norm(x, w["norm_mlp"]) @ w["up"]) @ w["down"]
    return rms_norm(x, p["norm"]) @ p["head"]


def loss(p, tokens, labels):
    logits = forward(p, tokens)
    chosen = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


def adam(p, first, second, tokens, labels):
    value, gradient = jax.value_and_grad(loss)(p, tokens, labels)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)
    p = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, first, second)
    return p, first, second, value


def sharded_by_batch(spec, shape, size):
    """`spec` with "batch" on its first free dim, as ZeRO does; of a vocabulary that is sharded, on that dim, too."""
    dims = list(spec) + [None] * (len(shape) - len(spec))
    if WORDS in shape and "model" in dims:
        return P(*(("model", "batch") if used else None for used in dims))
    free = next(d for d, used in enumerate(dims) if used is None and shape[d] % size == 0)
    return P(*("batch" if d == free else used for d, used in enumerate(dims)))


def specs(layers, tactics):
    """(parameters, optimizer state, batch) of the schedule: "BP", "MP", "Z2", "Z3", "EMB"."""

    def matrix(shape, megatron, is_embedding):
        spec = megatron if "EMB" in tactics and is_embedding or "MP" in tactics and not is_embedding else P()
        # What ZeRO shards: the matrices.
        zero = sharded_by_batch(spec, shape, mesh_of(tactics)["batch"]) if len(shape) > 1 and ("Z2" in tactics
            or "Z3" in tactics) else spec
        return (zero if "Z3" in tactics else spec), zero

    pairs = {name: matrix(shape, dims, True) for name, (shape, dims) in GLOBALS.items()}
    for layer in range(layers):
        pairs[f"layer{layer:02}"] = {name: matrix(shape, dims, False) for name, (shape, dims) in MATRICES.items()} | {
            name: (P(), P()) for name in NORMS
        }
    is_pair = lambda x: isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], P)
    state = jax.tree.map(lambda pair: pair[1], pairs, is_leaf=is_pair)
    return jax.tree.map(lambda pair: pair[0], pairs, is_leaf=is_pair), state, P("batch") if "BP" in tactics else P()


def lower(layers, tactics):
    """(text, inputs): the step under the schedule as JAX prints it, and its inputs in order."""
    sizes = mesh_of(tactics)
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(tuple(sizes.values())), tuple(sizes))
    weights = parameters(layers)
    tokens, labels = np.random.default_rng(1).integers(0, WORDS, (2, BATCH, LENGTH)).astype(np.int32)
    arguments = (weights, jax.tree.map(np.zeros_like, weights), jax.tree.map(np.zeros_like, weights), tokens, labels)
    parameter, state, batch = jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs(layers, tactics))
    shardings = (parameter, state, state, batch, batch)
    step = jax.jit(adam, in_shardings=shardings, out_shardings=(parameter, state, state, NamedSharding(mesh, P())))
    return step.lower(*arguments).as_text(debug_info=True), [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
