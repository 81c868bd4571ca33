#!/usr/bin/env python3
"""MaxText's twins on 8 CPU devices: twins.py [--maxtext FOLDER] [--against whole|jit] [PART OF A NAME...]

A twin is a program of MaxText's at a size that runs. Its outputs are compared with those of the unpartitioned program
on one device; where there is none, as with a manual computation (pipelines, ragged experts), with those of the same
module as XLA partitions it, which is what jax.jit runs. Exits with 1 if an output disagrees, or a twin does not run.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import files

DEVICES = 8


def partitioned_by_xla(text, shapes):
    """The module as jax.jit runs it: a function of global values; `shapes` are those of its results."""
    import jax
    import numpy as np
    from jax._src.lib import _jax, xla_client
    from jax._src.sharding_impls import GSPMDSharding
    from jaxlib.mlir import ir
    from shardonnay import engine

    options = _jax.CompileOptions()
    options.num_replicas, options.num_partitions = 1, DEVICES
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, DEVICES
    build.use_shardy_partitioner = build.use_spmd_partitioning = True
    build.device_assignment = _jax.DeviceAssignment.create(np.arange(DEVICES).reshape(1, DEVICES))
    devices = tuple(jax.devices("cpu")[:DEVICES])
    with engine.context(), ir.Location.unknown():
        executable = devices[0].client.compile_and_load(ir.Module.parse(text), _jax.DeviceList(devices), options)

    def shardings(protos):
        return [GSPMDSharding(devices, xla_client.HloSharding.from_proto(proto)) for proto in protos]

    takes, returns = shardings(executable.get_parameter_shardings()), shardings(executable.get_output_shardings())

    def run(values):
        with jax.enable_x64(True):
            placed = [jax.device_put(value, sharding) for value, sharding in zip(values, takes, strict=True)]
            pieces = executable.execute_sharded(placed).disassemble_into_single_device_arrays()
            arrays = map(jax.make_array_from_single_device_arrays, shapes, returns, pieces)
            return [np.asarray(array) for array in arrays]

    return run


def check(path, against):
    """The child: prints what disagrees; true if nothing does."""
    import shardonnay
    from shardonnay import compare, engine, run

    text = Path(path).read_text()
    engine.prepare(DEVICES)
    compiled = shardonnay.compile(text)
    program = run.LoadedProgram(compiled)
    inputs = run.random_inputs(program)
    manual = "sdy.manual_computation" in text
    if against == "jit" or manual:
        shapes = [tuple(entry["global_shape"]) for entry in compiled.manifest["outputs"]]
        expected = compare.expected(text, partitioned_by_xla(text, shapes), inputs, {})
    else:
        expected = compare.reference(text, inputs)
    agreements = run.check(program, inputs, expected)
    wrong = [agreement for agreement in agreements if not agreement.ok]
    peer = "jax.jit" if against == "jit" or manual else "the whole program"
    print(f"{len(agreements) - len(wrong)} of {len(agreements)} outputs agree with {peer}'s", *wrong[:10], sep="\n  ")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", choices=("whole", "jit"), default="whole")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    files.add_option(parser)
    options = parser.parse_args()
    if options.child:
        return not check(options.child, options.against)
    failed = []
    for name in files.names(options.maxtext, twins=True):
        if options.names and not any(part in name for part in options.names):
            continue
        path = files.written(options.maxtext, name, Path("/tmp"))
        command = [sys.executable, __file__, "--child", str(path), "--against", options.against]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        print(f"{name}: {done.stdout.strip() or done.stderr.strip()[-500:]}", flush=True)
        failed += [name] if done.returncode else []
    print(f"disagree or do not run: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
