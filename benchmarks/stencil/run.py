#!/usr/bin/env python3
"""A five-point sum in processes of MPI, against the program that a person would write in C (stencil.c).

    benchmarks/stencil/run.py [--size 4096] [--steps 20] [--ranks 2 8] [--turns 7] [--mpi mpich] [--quick]

Rows are shared out; both programs do the same steps on the same numbers, compiled with -O3 (theirs) and -O2 (ours) for
this processor. The seconds are those of the steps alone, between two barriers, as each program says them; the ratio is
of neighbours in time. Bytes are those that MPI is asked to send (test/mesh/counting.c). Numbers have to be equal.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "test/mesh")]

import measured
import shardonnay
from programs import X, sharded, stencil
from running import COUNTING
from shardonnay import mpi as package


def looped(size, steps, ranks):
    """The stencil on rows, in a loop."""
    step = stencil(size, 1, (X, "")).split("\n", 3)[3].rsplit("\n  return", 1)[0].replace("%x", "%v")
    kind = f"tensor<{size}x{size}xf32>"
    return f"""sdy.mesh @mesh = <["x"={ranks}]>
func.func @main(%x: {kind} {sharded(X, "")}) -> ({kind} {sharded(X, "")}) {{
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant {steps} : index
  %0 = scf.for %n = %first to %steps step %one iter_args(%v = %x) -> ({kind}) {{{step}
    scf.yield %s0 : {kind}
  }}
  return %0 : {kind}
}}"""


class Side:
    """A program to start, and how it tells its seconds."""

    def __init__(self, mpi, ranks, command, seconds):
        self.command = mpi.launch(ranks, list(map(str, command)))
        self.environment, self.seconds = mpi.environment(), seconds

    def _said(self, pattern):
        done = subprocess.run(self.command, check=True, capture_output=True, text=True, env=self.environment)
        return re.search(pattern, done.stdout)[1]

    def run(self):
        """Seconds of the steps."""
        return float(self._said(self.seconds))

    def sent(self):
        """Bytes of all messages of the rank that sends most."""
        return int(self._said(r"counted messages \d+ (\d+)"))


def sides(mpi, ranks, size, steps, folder, counting=False):
    """(by hand, ours): two Sides on the same numbers. counting: they tell their bytes, and no time."""
    counts = [str(COUNTING)] if counting else []
    # It tells seconds if it runs more than once, then their mean.
    repeat = [] if counting else ["--repeat", 2]
    hand, ours = folder / "hand", folder / "ours"
    # MPICH's "no statuses" is the address 1, of which gcc warns.
    flags = ["-O3", "-march=native", "-Wno-stringop-overflow"]
    subprocess.run([mpi.compiler, *flags, HERE / "stencil.c", *counts, "-o", hand], check=True)
    program = shardonnay.compile(looped(size, steps, ranks), target="mpi")
    package.build(program, ours, mpi, flags=["-march=native"], libraries=counts)
    grid = np.random.default_rng(0).integers(-3, 4, (size, size)).astype(np.float32)
    grid.tofile(folder / "in")
    np.save(folder / "in.npy", grid)
    return (
        Side(mpi, ranks, [hand, size, steps, folder / "in", folder / "out"], r"seconds (\S+)"),
        Side(mpi, ranks, [ours, *repeat, folder / "in.npy", "-o", folder / "out.%r.npy"], r"seconds per run: (\S+)"),
    )


def agree(ranks, size, folder):
    shape = (size // ranks, size)
    return all(
        np.array_equal(
            np.fromfile(folder / f"out.{rank}", np.float32).reshape(shape), np.load(folder / f"out.{rank}.npy")
        )
        for rank in range(ranks)
    )


def measure(mpi, ranks, options):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sent = [side.sent() for side in sides(mpi, ranks, options.size, 2, folder, counting=True)]
        assert agree(ranks, options.size, folder), "the numbers differ"
        hand, ours = sides(mpi, ranks, options.size, options.steps, folder)
        pairs = [(hand.run(), ours.run()) for _ in range(options.turns)]
    steps = options.steps / 1e3  # milliseconds per step
    times = [measured.Spread(tuple(pair[at] / steps for pair in pairs)) for at in (0, 1)]
    ratio = measured.Spread(tuple(mine / theirs for theirs, mine in pairs))
    least = min(times[1].values) / min(times[0].values)
    print(f"{mpi.kind:8} {ranks:5}  {str(times[0]):24} {str(times[1]):24} {str(ratio):22} {least:<9.3g} "
          f"{sent[0]:,} {sent[1]:,}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--mpi", choices=("mpich", "openmpi"))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.size, options.steps, options.ranks, options.turns = 512, 10, [2], 2
    print(f"{options.size} x {options.size} f32, {options.steps} steps; milliseconds of a step; load {measured.load()}")
    print(
        f"{'MPI':8} {'ranks':5}  {'by hand':24} {'ours':24} {'ratio':22} {'of least':9} bytes of 2 steps: by hand, ours"
    )
    for mpi in [package.find(options.mpi)] if options.mpi else package.installed():
        for ranks in options.ranks:
            measure(mpi, ranks, options)


if __name__ == "__main__":
    main()
