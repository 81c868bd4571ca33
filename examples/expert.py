"""Expert parallel: each device has its experts and its tokens, and tokens travel to their experts and back."""

import jax
import jax.numpy as jnp
from agreement import show
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from shardonnay.jax import partition

jax.config.update("jax_num_cpu_devices", 8)

GROUPS, TOKENS, FEATURES, HIDDEN, EXPERTS, CAPACITY = 8, 32, 32, 64, 8, 8


def moe(params, x):
    """x [groups, tokens, features]: every token to its best expert, as far as that one has places left."""
    gates = jax.nn.softmax(x @ params["router"])
    best = jax.nn.one_hot(jnp.argmax(gates, -1), EXPERTS)
    place = (jnp.cumsum(best, axis=1) * best - 1).astype(jnp.int32)  # -1 and over the capacity: no place
    dispatch = jax.nn.one_hot(place, CAPACITY)  # [group, token, expert, place]
    sent = jnp.einsum("gtec,gtf->egcf", dispatch, x)
    hidden = jax.nn.gelu(jnp.einsum("egcf,efh->egch", sent, params["up"]))
    answers = jnp.einsum("egch,ehf->egcf", hidden, params["down"])
    return jnp.einsum("gtec,gte,egcf->gtf", dispatch, gates, answers)


def train_step(params, x, y):
    def loss_of(params):
        return jnp.mean((x + moe(params, x) - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


mesh = jax.make_mesh((8,), ("expert",), axis_types=(AxisType.Auto,))
x, y = jax.random.normal(jax.random.key(0), (2, GROUPS, TOKENS, FEATURES))
params = {
    "router": jax.random.normal(jax.random.key(1), (FEATURES, EXPERTS)),
    "up": jax.random.normal(jax.random.key(2), (EXPERTS, FEATURES, HIDDEN)) / FEATURES**0.5,
    "down": jax.random.normal(jax.random.key(3), (EXPERTS, HIDDEN, FEATURES)) / HIDDEN**0.5,
}

sharded, whole = NamedSharding(mesh, P("expert")), NamedSharding(mesh, P())
shardings = {"router": whole, "up": sharded, "down": sharded}
step = partition(train_step, in_shardings=(shardings, sharded, sharded), out_shardings=(shardings, whole))
show(step, train_step, params, x, y)
