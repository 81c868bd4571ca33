"""Tensor parallel as in Megatron: attention is sharded by heads, the MLP by its hidden units.

The first matmul of each pair is sharded by columns, the second by rows: one sum at the end of each, forwards and
backwards. """

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


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        normed = nn.LayerNorm(name="ln1")(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=8, use_bias=False, name="attention")(normed)
        normed = nn.LayerNorm(name="ln2")(x)
        hidden = nn.gelu(nn.Dense(512, use_bias=False, name="up")(normed))
        return x + nn.Dense(128, use_bias=False, name="down")(hidden)


def train_step(state, x, y):
    def loss_of(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


RULES = [
    (r"(query|key|value)/kernel", P(None, "model", None)),  # [features, heads, of a head]
    (r"out/kernel", P("model", None, None)),  # [heads, of a head, features]
    (r"up/kernel", P(None, "model")),
    (r"down/kernel", P("model", None)),
    (r".*", P()),
]

mesh = jax.make_mesh((8,), ("model",), axis_types=(AxisType.Auto,))
x, y = jax.random.normal(jax.random.key(0), (2, 2, 32, 128))
model = Block()
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(1), x), tx=optax.sgd(0.1))

shardings, whole = by_path(RULES, state, mesh), NamedSharding(mesh, P())
step = partition(train_step, in_shardings=(shardings, whole, whole), out_shardings=(shardings, whole))
show(step, train_step, state, x, y)
