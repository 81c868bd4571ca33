"""Pipeline parallel: each device has a stage's layers, and activations go from stage to stage, a microbatch at a time.

Stages are a dim, sharded over `stage`: all of them work at the same time, each on another microbatch, and after each
tick what they made is shifted along that dim.
"""

import jax
import jax.numpy as jnp
from agreement import show
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from shardonnay.jax import partition

jax.config.update("jax_num_cpu_devices", 8)

STAGES, MICROBATCHES, SIZE, FEATURES = 8, 16, 4, 32


def stage(params, x):
    return x + jnp.tanh(x @ params["up"]) @ params["down"]


def pipeline(params, x):
    """x [microbatches, size, features] through all stages, the first dim of params: [microbatches, stages, ...]."""

    def tick(held, entering):
        held = jax.vmap(stage)(params, jnp.concatenate([entering[None], held[:-1]]))
        return held, held

    bubble = jnp.zeros((STAGES - 1, *x.shape[1:]))  # until the last microbatch has come out
    _, made = jax.lax.scan(tick, jnp.zeros((STAGES, *x.shape[1:])), jnp.concatenate([x, bubble]))
    return made[STAGES - 1 :]


def train_step(params, x, y):
    def loss_of(params):
        # What the last stage has made counts, and stays where it is: only the sum travels.
        is_last = (jnp.arange(STAGES) == STAGES - 1)[:, None, None]
        return jnp.sum(jnp.where(is_last, pipeline(params, x) - y[:, None], 0) ** 2) / y.size

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


mesh = jax.make_mesh((8,), ("stage",), axis_types=(AxisType.Auto,))
x, y = jax.random.normal(jax.random.key(0), (2, MICROBATCHES, SIZE, FEATURES))
params = {
    "up": jax.random.normal(jax.random.key(1), (STAGES, FEATURES, 64)) / FEATURES**0.5,
    "down": jax.random.normal(jax.random.key(2), (STAGES, 64, FEATURES)) / 64**0.5 / STAGES,
}

sharded, whole = NamedSharding(mesh, P("stage")), NamedSharding(mesh, P())
step = partition(train_step, in_shardings=(sharded, whole, whole), out_shardings=(sharded, whole))
show(step, train_step, params, x, y)
