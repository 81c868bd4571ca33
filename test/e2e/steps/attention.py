"""Attention, its variants and its relatives."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax import lax

from .registry import cross_entropy, integers, normal, square_error, train


class Attention(nn.Module):
    """Grouped queries, rotary positions, a causal mask; `heads` and the length need not divide."""

    heads: int = 8
    groups: int = 4
    width: int = 32

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(64, self.width)(tokens)
        size, length = self.width // 4, tokens.shape[1]
        query = nn.DenseGeneral((self.heads, size))(x)
        key, value = (nn.DenseGeneral((self.groups, size))(x) for _ in range(2))
        angle = jnp.arange(length)[:, None, None] / 100.0 ** (jnp.arange(size // 2) / size)
        query, key = (
            jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)
            for a, b in (jnp.split(part, 2, -1) for part in (query, key))
        )
        key, value = (jnp.repeat(part, self.heads // self.groups, 2) for part in (key, value))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / size**0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        x = x + nn.DenseGeneral(self.width, (-2, -1))(jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), value))
        x = x + nn.Dense(self.width)(nn.silu(nn.Dense(2 * self.width)(nn.RMSNorm()(x))) * nn.Dense(2 * self.width)(x))
        return nn.Dense(64)(x)


class VisionTransformer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(32, (4, 4), strides=4)(x).reshape(x.shape[0], -1, 32)
        x = jnp.concatenate(
            [jnp.broadcast_to(self.param("class", nn.initializers.normal(), (1, 1, 32)), (x.shape[0], 1, 32)), x], 1
        )
        x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x))
        x = x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))
        return nn.Dense(10)(x[:, 0])


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(32)(x.reshape(x.shape[0], 16, -1))
        x = x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x).swapaxes(1, 2)))).swapaxes(1, 2)
        return nn.Dense(10)((x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))).mean(1))


class Fourier(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(64, 32)(tokens)
        x = nn.LayerNorm()(x + jnp.fft.fft(jnp.fft.fft(x, axis=-1), axis=-2).real)
        return nn.Dense(64)(x + nn.Dense(32)(nn.gelu(nn.Dense(64)(x))))


IMAGES, LABELS = normal(8, 16, 16, 3), integers(8, high=10)
TOKENS, NEXT = integers(8, 16, high=64), integers(8, 16, high=64, seed=1)
# Heads and hidden units are columns of one product and rows of the next.
SPLIT = {
    "DenseGeneral_0/kernel": 1, "DenseGeneral_1/kernel": 1, "DenseGeneral_2/kernel": 1, "DenseGeneral_3/kernel": 0,
    "Dense_0/kernel": 1, "Dense_1/kernel": 1, "Dense_2/kernel": 0, "Embed_0/embedding": 0, "Dense_3/kernel": 1,
}  # fmt: skip
LONG = ("sequence", "context")
train(
    "attention",
    Attention(),
    cross_entropy,
    TOKENS,
    NEXT,
    optimizer=optax.adamw(1e-3),
    split=SPLIT,
    also=("megatron", "zero-2", *LONG),
)
train("attention-uneven", Attention(heads=6, groups=3, width=24), cross_entropy, TOKENS[:6, :13], NEXT[:6, :13])
train("vit", VisionTransformer(), cross_entropy, IMAGES, LABELS, optimizer=optax.lamb(1e-3), also=("zero-2",))
train("mixer", Mixer(), cross_entropy, IMAGES, LABELS, optimizer=optax.lion(1e-3))
train("fourier", Fourier(), cross_entropy, TOKENS, NEXT)


class MultiQuery(Attention):
    """One head of keys and values for all heads of queries."""

    groups: int = 1


class Decoder(nn.Module):
    """Two layers before and after the norm, as flax has them; the output matrix is the embedding."""

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(64, 32)
        x = embed(tokens) + self.param("position", nn.initializers.normal(), (tokens.shape[1], 32))
        mask = nn.make_causal_mask(tokens)
        for _ in range(2):
            x = x + nn.MultiHeadDotProductAttention(8)(nn.LayerNorm()(x), mask=mask)
            x = x + nn.Dense(32)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(x))))
        return embed.attend(nn.LayerNorm()(x))


class SlidingWindow(nn.Module):
    """Blocks of queries see their own block of keys and the one before."""

    block: int = 4

    @nn.compact
    def __call__(self, x):
        query, key, value = (nn.DenseGeneral((4, 8))(x) for _ in range(3))
        blocks = [part.reshape(x.shape[0], -1, self.block, 4, 8) for part in (query, key, value)]
        before = [jnp.pad(part, ((0, 0), (1, 0), (0, 0), (0, 0), (0, 0)))[:, :-1] for part in blocks[1:]]
        key, value = (jnp.concatenate(pair, 2) for pair in zip(before, blocks[1:]))
        scores = jnp.einsum("bnqhd,bnkhd->bnhqk", blocks[0], key) / 8**0.5
        there = jnp.arange(2 * self.block)[None] - self.block <= jnp.arange(self.block)[:, None]
        scores = jnp.where(there, scores, -1e9)
        mixed = jnp.einsum("bnhqk,bnkhd->bnqhd", nn.softmax(scores), value)
        return nn.DenseGeneral(x.shape[-1], (-2, -1))(mixed.reshape(*x.shape[:2], 4, 8))


class Flash(nn.Module):
    """Keys and values in blocks, with a running maximum and a running sum."""

    @nn.compact
    def __call__(self, x):
        query, key, value = (nn.DenseGeneral((4, 8))(x) for _ in range(3))
        blocks = [part.reshape(x.shape[0], 4, -1, 4, 8).swapaxes(0, 1) for part in (key, value)]

        def body(carried, block):
            top, total, sums = carried
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, block[0]) / 8**0.5
            new = jnp.maximum(top, scores.max(-1))
            weights, old = jnp.exp(scores - new[..., None]), jnp.exp(top - new)
            sums = sums * old[..., None] + jnp.einsum("bhqk,bkhd->bhqd", weights, block[1])
            return (new, total * old + weights.sum(-1), sums), None

        start = (jnp.full((x.shape[0], 4, x.shape[1]), -1e9), jnp.zeros((x.shape[0], 4, x.shape[1])),
                 jnp.zeros((x.shape[0], 4, x.shape[1], 8)))
        (_, total, sums), _ = lax.scan(jax.checkpoint(body), start, tuple(blocks))
        return nn.DenseGeneral(x.shape[-1], (-2, -1))((sums / total[..., None]).swapaxes(1, 2))


class Translator(nn.Module):
    """An encoder of sentences of several lengths, and a decoder that looks at it."""

    @nn.compact
    def __call__(self, batch):
        source, lengths, target = batch
        real = jnp.arange(source.shape[1]) < lengths[:, None]
        x = nn.Embed(64, 32)(source)
        x = x + nn.MultiHeadDotProductAttention(4)(x, mask=nn.make_attention_mask(real, real))
        x = nn.LayerNorm()(x + nn.Dense(32)(nn.relu(nn.Dense(64)(x))))
        y = nn.Embed(64, 32)(target)
        y = y + nn.MultiHeadDotProductAttention(4)(y, mask=nn.make_causal_mask(target))
        y = y + nn.MultiHeadDotProductAttention(4)(
            y, x, mask=nn.make_attention_mask(jnp.ones(target.shape, bool), real)
        )
        return nn.Dense(64)(nn.LayerNorm()(y))


# flax's own attention, and the two matrices behind it.
FLAX_SPLIT = {"query/kernel": 1, "key/kernel": 1, "value/kernel": 1, "out/kernel": 0}
STATES = normal(8, 16, 32)
train("multi-query", MultiQuery(), cross_entropy, TOKENS, NEXT, optimizer=optax.adafactor(1e-3),
      split={key: dim for key, dim in SPLIT.items() if key[:14] not in ("DenseGeneral_1", "DenseGeneral_2")},
      also=("megatron",))  # fmt: skip
train("decoder", Decoder(), cross_entropy, TOKENS, NEXT, optimizer=optax.adamw(1e-3),
      also=("megatron", "zero-2", *LONG), split={**FLAX_SPLIT, "Dense_0/kernel": 1, "Dense_1/kernel": 0,
                                                 "Dense_2/kernel": 1, "Dense_3/kernel": 0,
             "embedding": 0})  # fmt: skip
train("sliding-window", SlidingWindow(), square_error, STATES, normal(8, 16, 32, seed=1), also=LONG)
train("flash", Flash(), square_error, STATES, normal(8, 16, 32, seed=1), also=LONG)
train("translator", Translator(), cross_entropy, (TOKENS, integers(8, low=3, high=17), NEXT[:, :12]), TOKENS[:, :12],
      optimizer=optax.adam(1e-3), split={**FLAX_SPLIT, "Dense_0/kernel": 1, "Dense_1/kernel": 0, "Dense_2/kernel": 1},
      also=("megatron",))  # fmt: skip
