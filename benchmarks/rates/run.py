#!/usr/bin/env python3
"""What eight CPU devices of this machine can do, beside what the built-in device model `cpu` says they can: run.py
[--quick].

CPU time of the whole process, per device, so that a machine of fewer than eight cores says the same; the best of
several runs. Plans depend on the rates over each other alone: the last column is each rate over the model's, scaled so
that the links' is 1.
"""

import argparse
import os
import time
from functools import partial

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES, RUNS = 8, 5
# shardonnay/cost/DeviceModel.cpp
MODEL = {"link, GB/s": 4, "memory, GB/s": 20, "dots, GFLOP/s": 50, "a step of a collective, us": 2}


def seconds(body, elements, turns):
    """Of one device, for one turn of `body` on a vector of so many f32 a device."""
    mesh = jax.make_mesh((DEVICES,), ("x",), axis_types=(AxisType.Auto,))

    @jax.jit
    @partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    def loop(vector):
        return jax.lax.fori_loop(0, turns, lambda _, value: body(value), vector)

    vector = jax.device_put(jnp.ones(DEVICES * elements), NamedSharding(mesh, P("x")))
    loop(vector).block_until_ready()
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        loop(vector).block_until_ready()
        best = min(best, time.process_time() - start)
    return best / turns / DEVICES


def gathered(vector):
    return jax.lax.all_gather(vector[: vector.size // DEVICES], "x", tiled=True)


def reduced(vector):
    return jax.lax.psum(vector, "x") * (1 / DEVICES)


def multiplied(vector):
    side = int(vector.size**0.5)
    square = vector.reshape(side, side)
    return (square @ square * (1 / side)).reshape(-1)


def rates(elements):
    """{rate: what was measured} with vectors of so many f32 a device."""
    sent = 4 * elements * (DEVICES - 1) / DEVICES
    turns = max(4, (1 << 23) // elements)
    return {
        "link, GB/s": sent / seconds(gathered, elements, turns) / 1e9,
        "link, all_reduce, GB/s": 2 * sent / seconds(reduced, elements, turns) / 1e9,
        "memory, GB/s": 8 * elements / seconds(lambda value: value * 1.01 + 0.5, elements, turns) / 1e9,
        "dots, GFLOP/s": 2 * elements**1.5 / seconds(multiplied, elements, 4) / 1e9,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one size")
    options = parser.parse_args()
    # A tiny sum is one rendezvous, however many steps are in it: an all_reduce over 8 has 7 by cost/Collective.h.
    step = seconds(reduced, 8, 300) / 7 * 1e6
    print(f"{'rate':28} {'bytes':>10} {'here':>9} {'model':>7} {'here/model, links as 1':>23}")
    for elements in (1 << 18,) if options.quick else (1 << 16, 1 << 18, 1 << 20, 1 << 22):
        found = rates(elements)
        links = found["link, GB/s"] / MODEL["link, GB/s"]
        for name, rate in found.items():
            model = MODEL[name.replace(", all_reduce", "")]
            print(f"{name:28} {4 * elements:10,} {rate:9.1f} {model:7} {rate / model / links:23.2f}", flush=True)
    name = "a step of a collective, us"
    print(f"{name:28} {32:10,} {step:9.1f} {MODEL[name]:7} {step / MODEL[name] * links:23.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
