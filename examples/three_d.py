"""Three axes: replicas over `data`, within each the batch and the parameters over `fsdp`, hidden units over `model`."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from agreement import show
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from shardonnay.jax import by_path, partition

jax.config.update("jax_num_cpu_devices", 8)


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        for layer in range(2):
            hidden = nn.gelu(nn.Dense(256, use_bias=False, name=f"up_{layer}")(x))
            x = x + nn.Dense(64, use_bias=False, name=f"down_{layer}")(hidden)
        return x


optimizer = optax.adam(1e-3)
model = Mlp()


def train_step(state, x, y):
    params, moments = state

    def loss_of(params):
        return jnp.mean((model.apply(params, x) - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    updates, moments = optimizer.update(gradients, moments)
    return (optax.apply_updates(params, updates), moments), loss


RULES = [
    (r"up_\d/kernel", P("fsdp", "model")),
    (r"down_\d/kernel", P("model", "fsdp")),
    (r".*", P()),
]

mesh = jax.make_mesh((2, 2, 2), ("data", "fsdp", "model"), axis_types=(AxisType.Auto,) * 3)
x, y = jax.random.normal(jax.random.key(0), (2, 1024, 64))
params = model.init(jax.random.key(1), x)
state = params, optimizer.init(params)

shardings = by_path(RULES, state, mesh)
sharded, whole = NamedSharding(mesh, P(("data", "fsdp"))), NamedSharding(mesh, P())
step = partition(train_step, in_shardings=(shardings, sharded, sharded), out_shardings=(shardings, whole))
show(step, train_step, state, x, y, tolerance=1e-4)
