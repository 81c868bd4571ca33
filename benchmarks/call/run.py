"""What a call of a partitioned function costs beyond one of `jax.jit`, and what `import shardonnay` takes.

    python benchmarks/call/run.py [--quick]

Calls take turns in random order, and their lower quartiles are compared. A call of 100 arguments returns before its
work is done: its time is that of the calling thread; a step is waited for. Exits with 1 if 100 arguments cost 30 us
more, a step of some 10 ms a tenth more, or the import 0.1 s.
"""

import argparse
import functools
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
import measured
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from shardonnay.jax import partition

jax.config.update("jax_num_cpu_devices", 8)
PLACED = PartitionSpec("data")


def turns(theirs, ours, count, wait):
    """Seconds of both, each called `count` times in random order: the lower quartile, which other work moves least.

    wait: for the results; else the time is that of the calling thread alone.
    """
    clock = time.perf_counter if wait else time.thread_time
    times = {theirs: [], ours: []}
    order = random.Random(0)
    for turn in range(count + 20):
        for call in order.sample([theirs, ours], 2):
            start = clock()
            results = call()
            if wait:
                jax.block_until_ready(results)
            elapsed = clock() - start
            jax.block_until_ready(results)
            if turn >= 20:
                times[call].append(elapsed)
    return tuple(statistics.quantiles(times[call], n=4)[0] for call in (theirs, ours))


def hundred(count):
    """Rows for functions of 100 arguments on eight devices, in several trees."""
    sharding = NamedSharding(Mesh(np.array(jax.devices()[:8]), ("data",)), PLACED)
    arrays = [jax.device_put(np.ones((8, 8), np.float32), sharding) for _ in range(100)]
    layers = {f"layer_{layer}": {f"w{at}": arrays[layer * 10 + at] for at in range(10)} for layer in range(10)}
    forms = {
        "positional": (arrays, {}),
        "a list": ([arrays], {}),
        "nested dicts": ([layers], {}),
        "nested dicts, shardings given": ([layers], {"in_shardings": sharding}),
    }

    def first(*args):
        return jax.tree.leaves(args)[0] + 1

    for name, (args, given) in forms.items():
        calls = [
            functools.partial(made, *args)
            for made in (jax.jit(first, keep_unused=True, **given), partition(first, **given))
        ]
        jit, own = turns(*calls, count, wait=False)
        yield f"100 arguments, {name}", jit, own, own - jit < 30e-6


def step(count):
    """A row for a step of some 10 ms on eight devices."""
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))
    sizes = 512, 1024

    def train(params, x):
        def loss(params):
            h = x
            for up, down in params:
                h = h + jnp.tanh(h @ up) @ down
            return (h**2).mean()

        value, gradient = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), value

    shardings = [NamedSharding(mesh, PartitionSpec(*spec)) for spec in ((None, "model"), ("model", None))]
    generator = np.random.default_rng(0)
    weights = [
        tuple(generator.normal(size=size).astype(np.float32) / 32 for size in (sizes, sizes[::-1])) for _ in range(2)
    ]
    params = [tuple(map(jax.device_put, layer, shardings)) for layer in weights]
    x = jax.device_put(generator.normal(size=(64, 512)).astype(np.float32), NamedSharding(mesh, PLACED))
    theirs = jax.jit(train, out_shardings=([tuple(shardings)] * 2, None))
    ours = partition(train, out_shardings=([tuple(shardings)] * 2, None))
    same_program = ours.lower(params, x).compile()
    jit, own = turns(lambda: theirs(params, x), lambda: ours(params, x), count, wait=True)
    yield "a step, against XLA's own program of it", jit, own, own < 1.1 * jit
    jit, own = turns(lambda: same_program.jax(params, x), lambda: ours(params, x), count, wait=True)
    yield "the same program, compiled ahead and called through JAX", jit, own, own < 1.1 * jit


def imported(count):
    """Median seconds of `import shardonnay` beyond Python's own start."""

    def run(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    empty, own = ([run(code) for _ in range(count)] for code in ("import numpy", "import numpy, shardonnay"))
    bare = [run("import sys, shardonnay; assert 'jax' not in sys.modules") for _ in range(2)]
    return statistics.median(own) - statistics.median(empty), min(bare)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    scale = 10 if parser.parse_args().quick else 1
    print(measured.machine())
    failed = False
    rows = [*hundred(2000 // scale), *step(200 // scale)]
    for name, jit, own, passed in rows:
        failed |= not passed
        times = f"jax.jit {jit * 1e6:9.1f} us  ours {own * 1e6:9.1f} us  {(own - jit) * 1e6:+8.1f} us"
        print(f"{name:58} {times}{'' if passed else '  ABOVE THE BAR'}")
    beyond, whole = imported(20 // scale + 3)
    failed |= beyond > 0.1
    print(f"import shardonnay: {beyond * 1e3:.0f} ms beyond numpy, {whole * 1e3:.0f} ms with Python and all")
    sys.exit(failed)


if __name__ == "__main__":
    main()
