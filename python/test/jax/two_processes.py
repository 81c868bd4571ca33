"""One of two processes that train together under `partition`: RANK PORT. Prints the losses."""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge
from jax.sharding import NamedSharding, PartitionSpec
from shardonnay.jax import partition


def main(rank, port):
    jax.config.update("jax_num_cpu_devices", 4)
    make = xla_bridge._jax.make_gloo_tcp_collectives  # all addresses on the loopback interface, also in a container
    xla_bridge._jax.make_gloo_tcp_collectives = functools.partial(make, hostname="127.0.0.1")
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    placed = functools.partial(NamedSharding, mesh)

    def loss(w, x):
        return jnp.mean(jnp.tanh(x @ w["up"]) @ w["down"])

    def step(w, x):
        value, gradient = jax.value_and_grad(loss)(w, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, w, gradient), value

    cuts = {"up": placed(PartitionSpec(None, "model")), "down": placed(PartitionSpec("model"))}
    random = np.random.default_rng(0)
    sizes = {"up": (16, 32), "down": (32, 8)}
    weights = {name: random.standard_normal(size).astype(np.float32) for name, size in sizes.items()}
    x = jax.device_put(random.standard_normal((8, 16)).astype(np.float32), placed(PartitionSpec("data")))
    for transform in (jax.jit, partition):
        state = jax.device_put(weights, cuts)
        train = transform(step, out_shardings=(cuts, None), donate_argnums=0)
        for _ in range(4):
            state, value = train(state, x)
            print(transform.__name__, f"{float(value):.5f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
