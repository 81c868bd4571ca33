"""Fully sharded data parallel (ZeRO 3): parameters and Adam's moments are sharded over the axis that shards the batch.

Parameters are gathered where they are used, gradients arrive as the shard that the device updates.
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


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = x + nn.Dense(64, use_bias=False)(nn.gelu(nn.Dense(256, use_bias=False)(x)))
        return x


def train_step(state, x, y):
    def loss_of(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


mesh = jax.make_mesh((8,), ("fsdp",), axis_types=(AxisType.Auto,))
x, y = jax.random.normal(jax.random.key(0), (2, 1024, 64))
model = Mlp()
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(1), x), tx=optax.adam(1e-3))

# The paths of Adam's moments end like those of the parameters.
shardings = by_path([(r"kernel", P("fsdp")), (r".*", P())], state, mesh)
sharded, whole = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P())
step = partition(train_step, in_shardings=(shardings, sharded, sharded), out_shardings=(shardings, whole))
show(step, train_step, state, x, y, tolerance=1e-4)
