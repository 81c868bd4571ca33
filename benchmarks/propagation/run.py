#!/usr/bin/env python3
"""Times the passes of our propagation and of jaxlib's on the same modules: run.py [--ops 1000 10000] [--models
transformer ...] [--quick].

Each measurement is a process of its own that parses the module, then runs the passes once: one thread, verifier off,
CPU time, the least of --repeat runs. Memory is the peak over what was resident after parsing. Before, the process has
run the passes on one train step: pages of code are resident then, on both sides. Two pipelines are measured:
`propagate` is sdy-user-priority-propagate on the imported module, `pipeline` the whole sdy-propagation-pipeline. Exits
with 1 if --quick finds ours slower than jaxlib's.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import programs

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

import measured

BIN = HERE.parent.parent / "build" / "bin"
PIPELINES = {"propagate": "sdy-user-priority-propagate", "pipeline": "sdy-propagation-pipeline"}
OURS = [str(BIN / "time-passes")]
THEIRS = [sys.executable, str(HERE / "jaxlib_passes.py")]


def opt(source, target, *passes):
    subprocess.run([BIN / "sdy-opt", "--verify-each=0", *passes, source, "-o", target], check=True)


def write_programs(model, ops, devices, folder):
    """The flat module of about `ops` ops, and the same imported: {pipeline: path}. At 1 op, one step."""
    raw, flat, imported = (folder / f"{model}-{ops}-{part}.mlir" for part in ("raw", "pipeline", "propagate"))
    if model == "priorities":
        raw.write_text(programs.priorities(max(ops, 1000), 32, devices))
    else:
        step = programs.train_step(model, devices)
        raw.write_text(programs.unrolled(step, max(1, round(ops / step.count(" = ")))))
    opt(raw, flat, "--sdy-lift-inlined-meshes", "--sdy-inline-private-functions")
    opt(flat, imported, "--sdy-import-pipeline")
    return {"pipeline": flat, "propagate": imported}


def least(runs):
    runs = list(runs)
    return {key: min(run[key] for run in runs) for key in runs[0]}


def measure(repeat, command, *arguments):
    """{"ops", "seconds", "bytes"}, the least of each."""
    command = [*command, *map(str, arguments)]
    runs = (subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(repeat))
    return least(json.loads(run.stdout) for run in runs)


def row(model, pipeline, devices, ours, theirs):
    cells = [f"{model:<12} {pipeline:<10} {ours['ops']:>8} {math.prod(devices):>6}"]
    cells.append(
        f"{ours['seconds'] * 1e3:>9.2f} {ours['seconds'] / ours['ops'] * 1e6:>7.2f} {ours['bytes'] / 2**20:>8.1f}"
    )
    if theirs:
        cells.append(f"{theirs['seconds'] * 1e3:>10.2f} {theirs['bytes'] / 2**20:>8.1f}")
        cells.append(f"{theirs['seconds'] / ours['seconds']:>7.1f} {ours['bytes'] / max(theirs['bytes'], 1):>7.2f}")
    print(" ".join(cells), flush=True)


def parse_options(document, models):
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, nargs="+", default=[1000, 10000, 100000])
    parser.add_argument("--models", nargs="+", choices=[*programs.MODELS, "priorities"], default=models)
    parser.add_argument("--mesh", type=int, nargs=2, metavar=("DATA", "MODEL"), default=(4, 2))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peer-ops", type=int, default=100000, help="the others run up to that many ops")
    parser.add_argument("--ours-only", action="store_true")
    parser.add_argument(
        "--quick", action="store_true", help="under a minute: one size, one run, fails if ours is slower"
    )
    options = parser.parse_args()
    if options.quick:
        options.ops, options.repeat = [10000], 1
    return options


def main():
    options = parse_options(__doc__, [*programs.MODELS, "priorities"])
    slower = False
    print("model        measured        ops devices  ours ms   us/op      MiB  jaxlib ms      MiB  faster  memory")
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            points = {pipeline: [] for pipeline in PIPELINES}
            warm_up = write_programs(model, 1, tuple(options.mesh), Path(folder))
            for ops in options.ops:
                try:
                    paths = write_programs(model, ops, tuple(options.mesh), Path(folder))
                except subprocess.CalledProcessError:
                    print(f"{model}: not read or not imported, see above; left out")
                    break
                for pipeline, path in paths.items():
                    arguments = [path, PIPELINES[pipeline], warm_up[pipeline]]
                    ours = measure(options.repeat, OURS, *arguments)
                    peers = not options.ours_only and ops <= options.peer_ops
                    theirs = measure(options.repeat, THEIRS, *arguments) if peers else None
                    slower |= bool(theirs and theirs["seconds"] < ours["seconds"])
                    row(model, pipeline, tuple(options.mesh), ours, theirs)
                    points[pipeline].append(ours)
            for pipeline, sizes in points.items():
                if len(sizes) > 1:
                    print(f"{model:<12} {pipeline:<10} slope {measured.slope(sizes, 'ops'):.3f}")
    return options.quick and slower


if __name__ == "__main__":
    sys.exit(main())
