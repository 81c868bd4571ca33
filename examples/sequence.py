"""Sequence parallel as in Megatron: between its matmuls, where nothing mixes tokens, the sequence is sharded too.

The sums of megatron.py become a reduce_scatter and an all_gather: as many bytes, but norms, residuals and what
the backward pass keeps of them take an eighth.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from agreement import show
from flax.training.train_state import TrainState
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from shardonnay.jax import by_path, partition

jax.config.update("jax_num_cpu_devices", 8)


mesh = jax.make_mesh((8,), ("model",), axis_types=(AxisType.Auto,))
tokens, whole = NamedSharding(mesh, P(None, "model")), NamedSharding(mesh, P())


def by_tokens(x):
    return jax.lax.with_sharding_constraint(x, tokens)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        normed = by_tokens(nn.LayerNorm(name="ln1")(x))
        x = by_tokens(x + nn.MultiHeadDotProductAttention(num_heads=8, use_bias=False, name="attention")(normed))
        normed = by_tokens(nn.LayerNorm(name="ln2")(x))
        hidden = nn.gelu(nn.Dense(512, use_bias=False, name="up")(normed))
        return by_tokens(x + nn.Dense(128, use_bias=False, name="down")(hidden))


def train_step(state, x, y):
    def loss_of(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


RULES = [
    (r"(query|key|value)/kernel", P(None, "model", None)),
    (r"out/kernel", P("model", None, None)),
    (r"up/kernel", P(None, "model")),
    (r"down/kernel", P("model", None)),
    (r".*", P()),
]

x, y = jax.random.normal(jax.random.key(0), (2, 2, 32, 128))
model = Block()
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(1), x), tx=optax.sgd(0.1))

shardings = by_path(RULES, state, mesh)
state = jax.device_put(state, shardings)
step = partition(train_step, in_shardings=(shardings, tokens, tokens), out_shardings=(shardings, whole))
show(step, train_step, state, x, y)
