"""Two axes: the batch over `data`, heads and hidden units over `model`, by flax's logical axes and a table of rules."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from agreement import show
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from shardonnay.jax import by_logical_axes, partition

jax.config.update("jax_num_cpu_devices", 8)


def dense(features, names):
    init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), names)
    return nn.Dense(features, use_bias=False, kernel_init=init)


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            hidden = nn.gelu(dense(256, ("embed", "mlp"))(x))
            x = x + dense(64, ("mlp", "embed"))(hidden)
        return x


optimizer = optax.sgd(0.1, momentum=0.9)
model = Mlp()


def train_step(state, x, y):
    params, moments = state

    def loss_of(params):
        return jnp.mean((model.apply(params, x) - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    updates, moments = optimizer.update(gradients, moments)
    return (optax.apply_updates(params, updates), moments), loss


mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
x, y = jax.random.normal(jax.random.key(0), (2, 64, 64))
params = model.init(jax.random.key(1), x)
state = params, optimizer.init(params)

# Another table is another strategy: ("embed", "data") as well is FSDP within the 2-D mesh.
shardings = by_logical_axes([("mlp", "model"), ("embed", None)], state, mesh)
sharded, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
step = partition(train_step, in_shardings=(shardings, sharded, sharded), out_shardings=(shardings, whole))
show(step, train_step, nn.unbox(state), x, y)
