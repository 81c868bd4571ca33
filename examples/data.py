"""Data parallel: every device has all parameters and its shard of the batch."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from agreement import show
from flax.training.train_state import TrainState
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from shardonnay.jax import partition

jax.config.update("jax_num_cpu_devices", 8)


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(10)(x)


def train_step(state, images, labels):
    def loss_of(params):
        logits = state.apply_fn(params, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
images = jax.random.normal(jax.random.key(0), (64, 784))
labels = jnp.arange(64) % 10
model = Classifier()
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(1), images), tx=optax.sgd(0.1))

everywhere, sharded = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
step = partition(train_step, in_shardings=(everywhere, sharded, sharded), out_shardings=(everywhere, everywhere))
show(step, train_step, state, images, labels)
