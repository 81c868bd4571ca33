"""Decoding and sampling."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import integers, normal, step


@step(lambda: ({"k": normal(8, 32, 4, 8), "v": normal(8, 32, 4, 8), "q": normal(32, 4, 8), "o": normal(4, 8, 32)},
               normal(8, 32), integers(1, high=31)))
def cached_attention(parameters, x, position):
    """One decoding step: the cache is written at a position known at run time."""
    new = jnp.einsum("bd,dhk->bhk", x, parameters["q"])[:, None]
    k, v = (lax.dynamic_update_slice(parameters[n], new, (0, position[0], 0, 0)) for n in "kv")
    scores = jnp.where(jnp.arange(32) <= position[0], jnp.einsum("bhk,bshk->bhs", new[:, 0], k), -1e9)
    return jnp.einsum("bhs,bshk,hkd->bd", nn.softmax(scores), v, parameters["o"]), k, v


@step(lambda: ({"e": normal(64, 16), "w": normal(16, 64)}, integers(8, high=64)))
def greedy_decoding(parameters, start):
    """A loop until a token or the limit, the best of three drawn by a counter."""

    def body(state):
        i, token, out = state
        logits, ids = lax.top_k(nn.tanh(parameters["e"][token]) @ parameters["w"], 3)
        token = jnp.take_along_axis(ids, (jnp.argmax(logits, -1) + i)[:, None] % 3, 1)[:, 0]
        return i + 1, token, out.at[:, i].set(token)

    return lax.while_loop(lambda s: (s[0] < 12) & jnp.any(s[1] != 0), body, (0, start, jnp.zeros((8, 12), jnp.int32)))[
        2
    ]


@step(lambda: ({"w": normal(32, 64), "key": np.array([1, 2], np.uint32)}, normal(8, 32)))
def dropout(parameters, x):
    key = jax.random.wrap_key_data(parameters["key"])
    keep = jax.random.bernoulli(key, 0.8, (8, 64))
    noise = jax.random.normal(jax.random.fold_in(key, 1), (8, 64))
    return jnp.where(keep, x @ parameters["w"] / 0.8, 0) + noise


@step(lambda: ({"e": normal(64, 32), "q": normal(32, 4, 8, scale=0.2), "k": normal(32, 4, 8, scale=0.2),
                "v": normal(32, 4, 8, scale=0.2), "o": normal(4, 8, 32, scale=0.2), "key": np.array([1, 2], np.uint32)},
                integers(8, high=64)),
      split={"e": 0, "q": 1, "k": 1, "v": 1, "o": 0}, also=("megatron",))  # fmt: skip
def generation(parameters, start):
    """Eight tokens with a cache of keys and values, each drawn from the best five."""
    p = parameters

    def body(i, state):
        token, keys, values, out = state
        x = p["e"][token]
        query, key, value = (jnp.einsum("bd,dhk->bhk", x, p[name]) for name in "qkv")
        keys, values = keys.at[:, i].set(key), values.at[:, i].set(value)
        scores = jnp.where(jnp.arange(8) <= i, jnp.einsum("bhk,bshk->bhs", query, keys), -1e9)
        x = x + jnp.einsum("bhs,bshk,hkd->bd", nn.softmax(scores), values, p["o"])
        best, ids = lax.top_k(x @ p["e"].T, 5)
        noise = jax.random.gumbel(jax.random.fold_in(jax.random.wrap_key_data(p["key"]), i), best.shape)
        token = jnp.take_along_axis(ids, jnp.argmax(best + noise, -1)[:, None], 1)[:, 0]
        return token, keys, values, out.at[:, i].set(token)

    cache = jnp.zeros((8, 8, 4, 8))
    return lax.fori_loop(0, 8, body, (start, cache, cache, jnp.zeros((8, 8), jnp.int32)))[3]


@step(lambda: ({"e": normal(32, 16), "w": normal(16, 32)}, integers(8, high=32)))
def beam_search(parameters, start):
    """The four best continuations so far, reordered at every step."""

    def body(state, _):
        scores, tokens = state
        logits = nn.log_softmax(jnp.tanh(parameters["e"][tokens]) @ parameters["w"])
        best, flat = lax.top_k((scores[..., None] + logits).reshape(8, -1), 4)
        return (best, flat % 32), flat // 32

    first = jnp.where(jnp.arange(4) == 0, 0.0, -1e9) * jnp.ones((8, 1))
    (scores, tokens), parents = lax.scan(body, (first, jnp.tile(start[:, None], (1, 4))), None, length=6)
    return scores, tokens, parents


@step(lambda: ({"u": integers(32, 64, low=-127, high=127).astype(np.int8), "a": normal(64) ** 2, "v": normal(64, 16)},
               normal(16, 32)),
      split={"u": 1, "a": 0, "v": 0}, also=("megatron",))  # fmt: skip
def quantised(parameters, x):
    """Weights of eight bits, inputs rounded by row, products in integers; the rest in bfloat16."""
    scale = jnp.abs(x).max(-1, keepdims=True) / 127
    rounded = jnp.round(x / scale).astype(jnp.int8)
    sums = lax.dot(rounded, parameters["u"], preferred_element_type=jnp.int32)
    hidden = nn.relu(sums.astype(jnp.float32) * scale * parameters["a"] / 127).astype(jnp.bfloat16)
    return (hidden @ parameters["v"].astype(jnp.bfloat16)).astype(jnp.float32)
