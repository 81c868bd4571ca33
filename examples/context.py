"""Context parallel: one long sequence, sharded; keys and values are gathered, each device has its queries'
attention."""

import jax
import jax.numpy as jnp
from agreement import show
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from shardonnay.jax import partition

jax.config.update("jax_num_cpu_devices", 8)


def attention(params, x):
    """x [tokens, features], one head, causal."""
    queries, keys, values = x @ params["query"], x @ params["key"], x @ params["value"]
    scores = queries @ keys.T / queries.shape[-1] ** 0.5
    tokens = jnp.arange(x.shape[0])
    return jax.nn.softmax(jnp.where(tokens[:, None] >= tokens, scores, -1e9)) @ values


def train_step(params, x, y):
    def loss_of(params):
        return jnp.mean((x + attention(params, x) - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


mesh = jax.make_mesh((8,), ("context",), axis_types=(AxisType.Auto,))
x, y = jax.random.normal(jax.random.key(0), (2, 512, 32))
names = ("query", "key", "value")
params = {name: jax.random.normal(jax.random.key(at), (32, 32)) / 32**0.5 for at, name in enumerate(names)}

sharded, whole = NamedSharding(mesh, P("context")), NamedSharding(mesh, P())
step = partition(train_step, in_shardings=(whole, sharded, sharded), out_shardings=(whole, whole))
show(step, train_step, params, x, y)
