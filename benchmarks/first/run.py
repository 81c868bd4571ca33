"""Seconds from a call to its first result: a flax transformer's AdamW step on eight CPU devices, against `jax.jit`.

    python benchmarks/first/run.py [--quick]

Each measurement is a process of its own on one core, that of `partition` follows that of `jax.jit`. Arguments are on
their devices before the clock starts. Ratios are of CPU seconds, which other work moves less than those of the wall.
Says how much of the wall is XLA's. Exits with 1 if the call takes a quarter longer than `jax.jit`'s.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "scripts")]

import measured

BAR = 1.25
FORMS = ("jax.jit", "partition")


def prepared():
    """(step, shardings, arguments) of the demo's model: Megatron's shardings, a sharded batch."""
    import demo
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    jax.config.update("jax_num_cpu_devices", 8)
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    step, arguments = demo.step_and_arguments()

    def sharding(path, _):
        return NamedSharding(mesh, demo.megatron(jax.tree_util.keystr(path, simple=True, separator="/"), None))

    shardings = tuple(jax.tree_util.tree_map_with_path(sharding, tree) for tree in arguments[:2])
    shardings += (NamedSharding(mesh, PartitionSpec("data")),) * 2
    return step, shardings, jax.block_until_ready(jax.device_put(arguments, shardings))


def one(form):
    """Prints the seconds of one form, in a process of its own."""
    import jax
    import shardonnay.jax
    from jax import monitoring

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    step, shardings, arguments = prepared()
    events = {}
    monitoring.register_event_duration_secs_listener(
        lambda name, seconds, **_: events.update({name: events.get(name, 0) + seconds})
    )
    transform = jax.jit if form == "jax.jit" else shardonnay.jax.partition
    start, cpu = time.perf_counter(), time.process_time()
    jax.block_until_ready(transform(step, in_shardings=shardings)(*arguments))
    found = {"wall": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    found["XLA"] = events["/jax/core/compile/backend_compile_duration"]
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one turn")
    parser.add_argument("--one", choices=FORMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return one(options.one)
    print(measured.machine())
    measured.first_in_line()
    runs = {form: [] for form in FORMS}
    for _ in range(1 if options.quick else 5):
        for form in FORMS:
            done = subprocess.run([sys.executable, __file__, "--one", form], capture_output=True, text=True, check=True)
            runs[form].append(json.loads(done.stdout))
    ratios = {}
    for form, found in runs.items():
        ratio = measured.Spread(tuple(run["cpu"] / base["cpu"] for run, base in zip(found, runs["jax.jit"])))
        ratios[form] = ratio.median
        columns = "  ".join(f"{key} {measured.spread(found, key)} s" for key in ("wall", "cpu", "XLA"))
        print(f"{form:24} {columns}  ratio {ratio}")
    return int(ratios["partition"] > BAR)


if __name__ == "__main__":
    sys.exit(main())
