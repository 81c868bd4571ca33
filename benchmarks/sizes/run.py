"""Bytes on the wire of training, decoding and science steps at the sizes that people train, against XLA's partitioner.

    python benchmarks/sizes/run.py [--device-model MODEL]... [--no-xla] [STEP or PROGRAM...]

26 steps (language.py, vision.py, science.py) under four strategies (strategies.py) on a mesh of 2 x 4; their arguments
are abstract, and nothing is run. A row is a program, and in it

  XLA MiB     bytes that a device sends in rings, loops as often as they run, as XLA's SPMD pass leaves the program

and for each device model

  its name    MiB of our program, counted likewise
  FLOPs       of the matmuls of all devices, over those of the whole program: more than 1 is work done twice
  /XLA        our bytes over XLA's

At the end the geometric mean over XLA, of the programs that communicate in both, and those that send more than XLA's.
Exits with 1 if under `bytes` any program does; other models price compute, and what takes less of it may send more.
"""

import argparse
import math
import statistics
import sys

import language  # noqa: F401 -- registers its steps, as do the next two
import science  # noqa: F401
import shardonnay
import vision  # noqa: F401
from registry import STEPS
from shardonnay import engine, xla
from strategies import STRATEGIES, lower

DEVICES = 8
MIB = 2**20
MODELS = ("bytes", "cpu", "gpu-cluster")


class Peer:
    """What a device model's programs send over XLA's."""

    def __init__(self):
        self.ratios, self.worse = [], []

    def add(self, program, ours, theirs):
        """Our bytes; XLA's as counted, of which a byte a collective is rounding where a group does not divide it."""
        total = sum(theirs.bytes.values())
        if ours > total + sum(theirs.count.values()):
            self.worse.append(program)
        if ours and total:
            self.ratios.append(ours / total)
        return f"{ours / total:5.2f}" if total else f"{'inf' if ours else '-':>5}"

    def __str__(self):
        mean = statistics.geometric_mean(self.ratios) if self.ratios else math.nan
        return f"geometric mean {mean:.3f} of {len(self.ratios)} programs; send more than XLA's: " + (
            ", ".join(self.worse) or "none"
        )


def row(program, lowered, peers, with_xla):
    text = lowered.as_text()
    theirs = xla.partition(lowered).executed if with_xla else None
    cells = [f"{sum(theirs.bytes.values()) / MIB:10,.1f}" if theirs else f"{'-':>10}"]
    for model, peer in peers.items():
        report = shardonnay.compile(text, device_model=model, report=True).report
        ours, flops = report["executed_bytes"], report["contraction_flops"]
        work = flops["per_device"] * DEVICES / max(1, flops["global"])
        ratio = peer.add(program, ours, theirs) if theirs else f"{'-':>5}"
        cells.append(f"{ours / MIB:12,.1f} {work:6.2f} {ratio}")
    return f"{program:18} " + " ".join(cells)


def main():
    programs = {f"{step}-{strategy}": (step, strategy) for step in STEPS for strategy in STRATEGIES}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device-model", action="append", help=f"default: {', '.join(MODELS)}")
    parser.add_argument("--no-xla", action="store_true")
    parser.add_argument("names", nargs="*", choices=[[], *STEPS, *programs], metavar="NAME", help="of steps, programs")
    options = parser.parse_args()
    engine.prepare(DEVICES)
    peers = {model: Peer() for model in options.device_model or MODELS}
    columns = [f"{model:>12}  FLOPs  /XLA" for model in peers]
    print(f"{'program':18} {'XLA MiB':>10}", *columns, flush=True)
    for program, (step, strategy) in programs.items():
        if not options.names or {step, program} & set(options.names):
            print(row(program, lower(STEPS[step], strategy), peers, not options.no_xla), flush=True)
    if options.no_xla:
        return 0
    for model, peer in peers.items():
        print(f"{model}: {peer}")
    return bool("bytes" in peers and peers["bytes"].worse)


if __name__ == "__main__":
    sys.exit(main())
