"""Experts, graphs and tables: steps whose data choose where they go."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax import lax

from .registry import cross_entropy, integers, normal, step


@step(lambda: ({"gate": normal(16, 4), "up": normal(4, 16, 32, scale=0.2), "down": normal(4, 32, 16, scale=0.2)},
               normal(8, 6, 16)),
      split={"up": 0, "down": 0}, also=("expert",))  # fmt: skip
def experts(parameters, x):
    """Two of four experts a token, with a capacity: dispatch and combine by one-hot products."""

    def loss(p):
        weights, chosen = lax.top_k(nn.softmax(x @ p["gate"]), 2)
        place = jax.nn.one_hot(chosen, 4) * weights[..., None]
        sent = jnp.einsum("bske,bsd->ebsd", (place > 0).astype(x.dtype), x)
        hidden = nn.relu(jnp.einsum("ebsd,edf->ebsf", sent, p["up"]))
        return jnp.mean(jnp.einsum("ebsf,efd,bske->bsd", hidden, p["down"], place) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(
    lambda: ({"gate": normal(16, 4), "up": normal(4, 16, 32, scale=0.2)}, normal(48, 16)),
    split={"up": 0},
    also=("expert",),
)
def ragged_experts(parameters, x):
    """Tokens sorted by expert and multiplied in groups."""
    chosen = jnp.argmax(x @ parameters["gate"], -1)
    order = jnp.argsort(chosen)
    sizes = jnp.bincount(chosen, length=4).astype(jnp.int32)
    return lax.ragged_dot(x[order], parameters["up"], sizes)[jnp.argsort(order)]


@step(lambda: ({"w": normal(16, 16, scale=0.3), "u": normal(16, 8)}, normal(40, 16), integers(120, high=40),
               integers(120, high=40, seed=1)))
def graph(parameters, nodes, senders, receivers):
    """Message passing over edges, mean by receiver."""

    def loss(p):
        x = nodes
        for _ in range(2):
            messages = nn.relu(x @ p["w"])[senders]
            count = jax.ops.segment_sum(jnp.ones(senders.shape), receivers, 40)
            x = x + jax.ops.segment_sum(messages, receivers, 40) / jnp.maximum(count, 1)[:, None]
        return jnp.mean((x @ p["u"]) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"table": normal(96, 16), "w": normal(16, 1)}, integers(32, 5, high=96)))
def embedding_bag(parameters, ids):
    def loss(p):
        return jnp.mean(jnp.tanh(p["table"][ids].sum(1) @ p["w"]) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"gate": normal(16, 8), "up": normal(8, 16, 32, scale=0.2), "down": normal(8, 32, 16, scale=0.2)},
               normal(8, 8, 16)),
      split={"up": 0, "down": 0}, also=("expert",))  # fmt: skip
def switch(parameters, x):
    """One of eight experts a token, its place by a running count; what is over the capacity is dropped."""

    def loss(p):
        tokens = x.reshape(-1, 16)
        weight = nn.softmax(tokens @ p["gate"])
        chosen = jnp.argmax(weight, -1)
        hot = jax.nn.one_hot(chosen, 8, dtype=jnp.int32)
        place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
        sent = jnp.zeros((8, 12, 16)).at[chosen, place].set(tokens, mode="drop")
        back = jnp.einsum("ecf,efd->ecd", nn.relu(jnp.einsum("ecd,edf->ecf", sent, p["up"])), p["down"])
        out = back.at[chosen, place].get(mode="fill", fill_value=0) * weight.max(-1)[:, None]
        return jnp.mean((tokens + out) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"up": normal(4, 16, 32, scale=0.2), "down": normal(4, 32, 16, scale=0.2)}, normal(48, 16),
               integers(48, high=4)),
      split={"up": 0, "down": 0}, also=("expert",))  # fmt: skip
def ragged_training(parameters, x, chosen):
    """Two products in groups, and their gradients, which are ragged along the contraction."""
    order = jnp.argsort(chosen)
    sizes = jnp.bincount(chosen, length=4).astype(jnp.int32)

    def loss(p):
        hidden = nn.relu(lax.ragged_dot(x[order], p["up"], sizes))
        return jnp.mean(lax.ragged_dot(hidden, p["down"], sizes) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"w": normal(16, 4, 8, scale=0.3), "l": normal(4, 8), "r": normal(4, 8)}, normal(40, 16),
               integers(120, high=40), integers(120, high=40, seed=1)),
      split={"w": 1, "l": 0, "r": 0}, also=("megatron",))  # fmt: skip
def graph_attention(parameters, nodes, senders, receivers):
    """Softmax over the edges that arrive, four heads."""

    def loss(p):
        x = jnp.einsum("nd,dhk->nhk", nodes, p["w"])
        scores = nn.leaky_relu((x * p["l"]).sum(-1)[senders] + (x * p["r"]).sum(-1)[receivers])
        top = jax.ops.segment_max(scores, receivers, 40)
        weights = jnp.exp(scores - lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))[receivers])
        total = jax.ops.segment_sum(weights, receivers, 40)
        mixed = jax.ops.segment_sum(weights[..., None] * x[senders], receivers, 40)
        return jnp.mean((mixed / jnp.maximum(total, 1e-6)[..., None]) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"tables": normal(4, 48, 8), "w": normal(8, 8), "u": normal(18, 16), "v": normal(16, 1)}, normal(16, 8),
               integers(16, 4, high=48), normal(16)),
      split={"tables": 1, "u": 1, "v": 0}, also=("megatron",))  # fmt: skip
def recommender(parameters, dense, ids, clicked):
    """Rows of four tables, their products with each other, a small network behind."""

    def loss(p):
        rows = jax.vmap(lambda table, column: table[column], (0, 1), 1)(p["tables"], ids)
        parts = jnp.concatenate([nn.relu(dense @ p["w"])[:, None], rows], 1)
        products = jnp.einsum("bid,bjd->bij", parts, parts)
        upper = jnp.stack([products[:, i, j] for i in range(5) for j in range(i)], -1)
        x = jnp.concatenate([upper, parts[:, 0]], -1)
        return optax.sigmoid_binary_cross_entropy((nn.relu(x @ p["u"]) @ p["v"])[:, 0], nn.sigmoid(clicked)).mean()

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"image": normal(48, 16, scale=0.2), "text": normal(64, 16), "t": normal(1)}, normal(16, 48),
               integers(16, 6, high=64)),
      split={"image": 1, "text": 0}, also=("megatron",))  # fmt: skip
def contrastive(parameters, images, texts):
    """Every image against every text of the whole batch."""

    def loss(p):
        left = images @ p["image"]
        right = p["text"][texts].mean(1)
        left, right = (part * lax.rsqrt((part**2).sum(-1, keepdims=True)) for part in (left, right))
        logits = jnp.exp(p["t"][0]) * left @ right.T
        labels = jnp.arange(logits.shape[0])
        return cross_entropy(logits, labels) + cross_entropy(logits.T, labels)

    return jax.value_and_grad(loss)(parameters)


@step(
    lambda: (
        {
            "gate": normal(32, 8),
            "up": normal(8, 32, 64, scale=0.2, seed=1),
            "down": normal(8, 64, 32, scale=0.2, seed=2),
        },
        normal(8, 32, 32),
    ),
    split={"gate": 1, "up": 0, "down": 0},
    also=("expert",),
)
def expert_choice(parameters, x):
    """Experts choose their tokens, a fixed number each."""

    def loss(p):
        tokens = x.reshape(-1, 32)
        weights, chosen = lax.top_k(jax.nn.softmax(tokens @ p["gate"]).T, 64)
        hidden = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", tokens[chosen], p["up"]))
        out = jnp.einsum("ecf,efd->ecd", hidden, p["down"]) * weights[..., None]
        return jnp.mean(jnp.zeros_like(tokens).at[chosen.reshape(-1)].add(out.reshape(-1, 32)) ** 2)

    value, gradient = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradient), value
