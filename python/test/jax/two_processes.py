"""One of two processes that train together under `partition`: RANK PORT MODEL. Prints the losses, and `jax.jit`'s."""

import functools
import sys
from pathlib import Path

import jax
from jax._src import xla_bridge

STEPS = 4


def main(rank, port, model):
    jax.config.update("jax_num_cpu_devices", 4)
    make = xla_bridge._jax.make_gloo_tcp_collectives  # all addresses on the loopback interface, also in a container
    xla_bridge._jax.make_gloo_tcp_collectives = functools.partial(make, hostname="127.0.0.1")
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, rank)
    sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))
    import training  # names the devices of both processes, so after they have met
    from outcomes import on
    from shardonnay.jax import partition

    made = getattr(training, model)()
    batch = training.placed(made.batch, made.shardings[1:])
    for transform in (jax.jit, partition):
        state = jax.tree.map(lambda leaf: leaf.copy(), made.state)
        step = transform(made.step, out_shardings=(made.shardings[0], on()), donate_argnums=0)
        for _ in range(STEPS):
            state, value = step(state, *batch)
            print(transform.__name__, f"{float(value):.4f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), sys.argv[3])
