#!/usr/bin/env python3
"""Times the passes of the whole compile, ours against XLA's partitioner and jaxlib's `sdy` passes: run.py [--ops 1000
10000] [--models ...] [--quick].

Passes only: what a user waits for is in benchmarks/text. The same flat modules as benchmarks/propagation, parse and
print excluded, one thread, the default search mode, each measurement a process of its own, the least of --repeat runs.
Rows:

  compile  ours: sdy-partition-pipeline, import to emit, CPU time. XLA: shardy-xla + spmd-partitioning, in the seconds
           that its log gives them (wall). jaxlib: sdy-propagation-pipeline, sdy-insert-explicit-reshards,
           sdy-reshard-to-collectives: what chains; it has no further stage, so ours does more there.
  reshard  stages reshard and collectives alone, on a propagated module of the wanted size to a tenth (inlining and
           propagation change the number of ops): ours against jaxlib's two passes.

Memory is the peak over what was resident after parsing. Exits with 1 if --quick finds ours slower than XLA or jaxlib's
chain.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "propagation")]

import measured
import programs
import run as propagation
import xla_passes

OUR_RESHARD = (
    "func.func(sdy-insert-explicit-reshards{enable-full-version=true},sdy-defer-reductions,sdy-explain-reshards,"
    "sdy-reshard-to-collectives)"
)
THEIR_RESHARD = "func.func(sdy-insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives)"
MEASURED = {
    "compile": {
        "ours": "sdy-partition-pipeline",
        "jaxlib": f"sdy-propagation-pipeline,{THEIR_RESHARD}",
    },
    "reshard": {"ours": OUR_RESHARD, "jaxlib": THEIR_RESHARD},
}


def passes(command, path, pipeline, repeat):
    """None if jaxlib refuses the module."""
    try:
        return propagation.measure(repeat, command, path, pipeline)
    except subprocess.CalledProcessError:
        return None


def cells(found, ours):
    if not found:
        return f"{'-':>9} {'-':>7} {'-':>6} {'-':>6}"
    return (
        f"{found['seconds'] * 1e3:9.1f} {found['bytes'] / 2**20:7.1f}"
        f" {found['seconds'] / ours['seconds']:6.1f} {ours['bytes'] / max(found['bytes'], 1):6.2f}"
    )


def write_propagated(model, ops, mesh, folder):
    """What stage reshard starts from, of `ops` ops to a tenth if a step is not larger than that."""
    path = folder / f"{model}-{ops}-propagated.mlir"
    wanted = ops
    for _ in range(3):
        propagation.opt(
            propagation.write_programs(model, wanted, mesh, folder)["pipeline"], path, "--sdy-propagation-pipeline"
        )
        found = passes(propagation.OURS, path, OUR_RESHARD, 1)["ops"]
        if abs(found - ops) <= ops / 10:
            break
        wanted = round(wanted * ops / found)
    return path


def measure(model, ops, options, folder):
    """{row: (ours, XLA's, jaxlib's)} of one module; prints them."""
    flat = propagation.write_programs(model, ops, tuple(options.mesh), folder)["pipeline"]
    propagated = write_propagated(model, ops, tuple(options.mesh), folder)
    found = {}
    for row, path in {"compile": flat, "reshard": propagated}.items():
        ours = passes(propagation.OURS, path, MEASURED[row]["ours"], options.repeat)
        peers = not options.ours_only and ops <= options.peer_ops
        theirs = passes(propagation.THEIRS, path, MEASURED[row]["jaxlib"], options.repeat) if peers else None
        xla = None
        if peers and row == "compile":
            devices = options.mesh[0] * options.mesh[1]
            xla = propagation.least(xla_passes.measure(path, devices) for _ in range(options.repeat))
        print(
            f"{model:<12} {row:<8} {ours['ops']:>8} {ours['seconds'] * 1e3:>9.1f} "
            f"{ours['seconds'] / ours['ops'] * 1e6:>6.1f}"
            f" {ours['bytes'] / 2**20:>7.1f} {cells(xla, ours)} {cells(theirs, ours)}",
            flush=True,
        )
        found[row] = (ours, xla, theirs)
    return found


def main():
    options = propagation.parse_options(__doc__, list(programs.MODELS))
    if options.quick:
        options.models = ["transformer", "moe"]
    measured.first_in_line()
    print("model        measured      ops   ours ms  us/op     MiB    XLA ms     MiB faster memory jaxlib ms     MiB "
          "faster memory")
    slower = False
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            points = {row: [] for row in MEASURED}
            for ops in options.ops:
                for row, (ours, *theirs) in measure(model, ops, options, Path(folder)).items():
                    points[row].append(ours)
                    slower |= row == "compile" and any(
                        peer and peer["seconds"] < ours["seconds"] for peer in theirs[:1]
                    )
            for row, sizes in points.items():
                if len(sizes) > 1:
                    print(f"{model:<12} {row:<8} slope {measured.slope(sizes, 'ops'):.3f}")
    return options.quick and slower


if __name__ == "__main__":
    sys.exit(main())
