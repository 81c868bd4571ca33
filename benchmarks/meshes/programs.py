"""The programs of the sweep: dims of tensors are named by why people shard them, and a mesh says which axes these are.

JAX lowers each on a mesh whose axes are the names; run.py puts the axes of another in their place.

    python programs.py     prints {name: text}
"""

import json

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

_MESH = jax.sharding.AbstractMesh((1, 1, 1), ("data", "tensor", "fsdp"), axis_types=(AxisType.Auto,) * 3)

# Dims that one name shards, two axes then: of 16 and 4, of 6 and 3. Those that two names shard, up to 65,536 devices.
_N, _WIDE, _LONG = 2880, 184320, 2949120
_SEQUENCE, _HEAD, _LAYERS = 64, 16, 4


def _place(x, *spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(_MESH, P(*spec)))


def _norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def _mlp(x, up, down):
    return jax.nn.silu(x @ up) @ down


def _attention(x, q, k, v, o):
    query, key, value = (jnp.einsum("bsd,dhk->bshk", x, w) for w in (q, k, v))
    weights = jax.nn.softmax(jnp.einsum("bshk,bthk->bhst", query, key))
    return jnp.einsum("bhst,bthk,hkd->bsd", weights, value, o)


def _block(x, q, k, v, o, up, down):
    x = x + _attention(_norm(x), q, k, v, o)
    return x + _mlp(_norm(x), up, down)


def _scanned(x, up, down):
    return jax.lax.scan(lambda x, w: (x + _mlp(_norm(x), *w), None), x, (up, down))[0]


def _experts(x, gate, up, down):
    chosen = jax.nn.one_hot((x @ gate).argmax(-1), gate.shape[-1])
    sent = jnp.einsum("bse,bsd->ebsd", chosen, x)
    return jnp.einsum("ebsf,efd,bse->bsd", jax.nn.relu(jnp.einsum("ebsd,edf->ebsf", sent, up)), down, chosen)


def _gqa(x, q, k, o):
    """Queries in groups that share a key."""
    query = jnp.einsum("bsd,dhk->bshk", x, q)
    query = query.reshape(*query.shape[:2], -1, 2, _HEAD)
    key = jnp.einsum("bsd,dhk->bshk", x, k)
    weights = jax.nn.softmax(jnp.einsum("bshgk,bthk->bhgst", query, key))
    return jnp.einsum("bhgst,bthk->bshgk", weights, key).reshape(*x.shape[:2], -1, _HEAD).sum(2) @ o


def _loss(x, words, labels):
    found = jax.nn.log_softmax(x @ words.T)
    return -jnp.take_along_axis(found, labels[..., None], -1).mean()


def _sequence_parallel(x, up, down):
    x = _place(x, ("data",), "tensor")
    inner = _place(jax.nn.gelu(x @ up), ("data",), None, "tensor")
    return _place(inner @ down, ("data",), "tensor")


def _gradient(function, count):
    """What `function` takes -> it less its gradient, for the first `count` weights behind x."""

    def step(x, *weights):
        gradients = jax.grad(lambda w: (function(x, *w, *weights[count:]) ** 2).mean())(weights[:count])
        return [w - 0.1 * g for w, g in zip(weights, gradients)]

    return step


_X = (_N, _SEQUENCE, _N), P("data")
_UP, _DOWN = ((_N, 2 * _N), P("fsdp", "tensor")), ((2 * _N, _N), P("tensor", "fsdp"))
_HEADS, _OUT = ((_N, _N, _HEAD), P("fsdp", "tensor")), ((_N, _HEAD, _N), P("tensor", None, "fsdp"))
_ATTENTION = [_HEADS] * 3 + [_OUT]
_EXPERTS = [((_SEQUENCE, _N), P(None, "tensor"))] + [((_N, _SEQUENCE, _SEQUENCE), P("fsdp"))] * 2
_TOKENS = (_N, _SEQUENCE), P("data")
_MANY_TOKENS = (_WIDE, _SEQUENCE), P(("data", "fsdp"))
_WORDS = (_N, _N), P("tensor", "fsdp")
_MATRIX, _TALL = (_N, _N), (_WIDE, _N)

# name -> (function, (shape, sharding) of each argument; tokens are integers)
PROGRAMS = {
    "dot": (jnp.matmul, [(_MATRIX, P("data", "fsdp")), (_MATRIX, P("fsdp", "tensor"))]),
    "dot-fsdp-batch": (jnp.matmul, [(_TALL, P(("data", "fsdp"))), (_MATRIX, P("fsdp", "tensor"))]),
    "dot-crossed": (jnp.matmul, [(_MATRIX, P("data", "tensor")), (_MATRIX, P("fsdp", "data"))]),
    "mlp": (_mlp, [_X, _UP, _DOWN]),
    "mlp-step": (_gradient(_mlp, 2), [_X, _UP, _DOWN]),
    "attention": (_attention, [_X, *_ATTENTION]),
    "attention-step": (_gradient(_attention, 4), [_X, *_ATTENTION]),
    "block-step": (_gradient(_block, 6), [_X, *_ATTENTION, _UP, _DOWN]),
    "scan-step": (_gradient(_scanned, 2), [_X, *(((_LAYERS, *shape), P(None, *spec)) for shape, spec in (_UP, _DOWN))]),
    "experts": (_experts, [((_WIDE, 8, _SEQUENCE), P(("data", "fsdp"))), *_EXPERTS]),
    "grouped-queries": (
        _gqa,
        [_X, _HEADS, ((_N, _N // 2, _HEAD), P("fsdp", "tensor")), ((_HEAD, _N), P(None, "tensor"))],
    ),
    "loss": (_loss, [_X, _WORDS, _TOKENS]),
    "loss-step": (_gradient(_loss, 1), [_X, _WORDS, _TOKENS]),
    "embedding": (lambda tokens, words: jnp.take(words, tokens, axis=0), [_MANY_TOKENS, _WORDS]),
    "sequence-parallel": (_sequence_parallel, [((_N, _N, _N), P("data")), _UP, _DOWN]),
    "moved": (lambda x: _place(x * 2, "fsdp", ("tensor", "data")), [((_WIDE, _WIDE), P(("data", "tensor"), "fsdp"))]),
    "moved-one-dim": (lambda x: _place(x * 2, ("fsdp", "data", "tensor")), [((_LONG,), P(("data", "tensor", "fsdp")))]),
    "transposed": (
        lambda x: _place(x.T.reshape(_WIDE, 2, -1) + 1, ("data", "fsdp"), None, None),
        [((_N, _WIDE), P("data", ("tensor", "fsdp")))],
    ),
    "convolution": (
        lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        [((_N, 16, 16, _N), P("data")), ((3, 3, _N, _N), P(None, None, "fsdp", "tensor"))],
    ),
    "statistics": (
        lambda x: (jnp.cumsum(_norm(x), axis=1), jnp.sort(x, axis=-1)),
        [(_TALL, P(("data", "fsdp"), "tensor"))],
    ),
}


def lowered(name):
    """The text of a program, on the mesh of names."""
    function, arguments = PROGRAMS[name]

    def described(argument):
        shape, spec = argument
        kind = jnp.int32 if argument in (_TOKENS, _MANY_TOKENS) else jnp.float32
        return jax.ShapeDtypeStruct(shape, kind, sharding=NamedSharding(_MESH, spec))

    traced = jax.jit(function).trace(*map(described, arguments))
    return traced.lower(lowering_platforms=("cpu",)).as_text()


if __name__ == "__main__":
    print(json.dumps({name: lowered(name) for name in PROGRAMS}))
