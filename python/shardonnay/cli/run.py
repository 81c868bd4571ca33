"""`shardonnay run`: the program of each device, on CPU devices or in processes, and whether its numbers are right."""

import os
import re

from .. import options
from .console import out
from .shared import (
    OF_COMPILE_ALONE, READS, DONE, NO, UsageError, add_command, add_json, add_options, compiled, options_from, read,
    value_of, write_json,
)

# An operation that only the other engine runs, where a line of a program begins.
_OF_MPI = re.compile(r'^ *(?:%[\w:]+ = )?"?((?:linalg|tosa|tensor|arith|math|scf)\.\w+)', re.MULTILINE)


def add(commands):
    parser = add_command(
        commands, "run", run_file, "Runs the per-device program on CPU devices, or in processes of MPI."
    )
    parser.add_argument("input", metavar="IN", help=READS)
    parser.add_argument(
        "--engine",
        choices=("pjrt", "mpi"),
        default="pjrt",
        help="what runs the program. pjrt: CPU devices of JAX, for StableHLO; mpi: one process for each device, for "
        "linalg, TOSA, tensor, arith, math and scf (default: %(default)s)",
    )
    parser.add_argument(
        "--mpi", choices=("mpich", "openmpi"), help="the MPI of --engine mpi (default: MPICH if it is installed)"
    )
    devices = next(option for option in options.OPTIONS if option.name == "devices")
    parser.add_argument(
        "--devices", "--ranks", type=value_of(devices), default=0, metavar="N", help=f"{devices.help} (the default)"
    )
    parser.add_argument(
        "--inputs",
        metavar="X.npz",
        help="the arguments: global arrays by the manifest's names or arr_0, arr_1, ... (default: the same random "
        "values in each run, floats uniform in [-1, 1) or, where that yields NaN, in [0, 1), integers in 0..7)",
    )
    parser.add_argument(
        "--outputs", metavar="Y.npz", help="write the global results, by the manifest's names, or result0, result1, ..."
    )
    parser.add_argument(
        "--check", action="store_true", help=f"compare with the unpartitioned program; exit code {NO} if they disagree"
    )
    add_json(parser, "print a JSON object per output")
    add_options(parser, without=(*OF_COMPILE_ALONE, "devices"))


def run_file(arguments):
    on_mpi = arguments.engine == "mpi"
    if arguments.mpi and not on_mpi:
        raise UsageError(f"--mpi {arguments.mpi}: the engine is pjrt; add --engine mpi")
    source = read(arguments.input)
    program = compiled(source, **options_from(arguments, target="mpi" if on_mpi else "pjrt"))
    return (_run_on_mpi if on_mpi else _run_on_pjrt)(source, program, arguments)


def _run_on_mpi(source, program, arguments):
    from .. import mpi

    found = mpi.find(arguments.mpi)
    return _run(mpi.LoadedProgram(program, found), lambda values: mpi.reference(source, found, values), arguments)


def _run_on_pjrt(source, program, arguments):
    other = _OF_MPI.search(program.text)
    if other:
        raise UsageError(f"--engine pjrt runs StableHLO, got {other[1]!r}; add --engine mpi")
    # XLA's own remarks, a line a device, are for who asks for them; it reads this when it is loaded.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    try:
        from jaxlib.mlir.ir import MLIRError

        from .. import compare, engine, run
    except ImportError as error:
        raise UsageError(f"running needs JAX ({error}); install shardonnay[jax]") from None
    try:
        engine.prepare(program.manifest["devices"])
        return _run(run.LoadedProgram(program), lambda values: compare.reference(source.text, values), arguments)
    except (RuntimeError, ValueError, MemoryError, MLIRError) as error:  # XLA's own errors are RuntimeErrors
        raise UsageError(str(error)) from None


def _run(loaded, reference, arguments):
    from .. import run

    if arguments.inputs:
        values = run.load_inputs(arguments.inputs, loaded.manifest["inputs"])
    else:
        values = run.random_inputs(loaded)
    outputs, spreads = loaded(values)
    if arguments.outputs:
        run.save_outputs(arguments.outputs, loaded.manifest["outputs"], outputs)
    if arguments.check:
        return _check(loaded, outputs, spreads, reference(values), arguments)
    return _show(loaded, outputs, spreads, arguments)


def _show(loaded, outputs, spreads, arguments):
    results = [
        {"name": entry["name"], "dtype": output.dtype.name, "shape": list(output.shape), "spread": float(spread)}
        for entry, output, spread in zip(loaded.manifest["outputs"], outputs, spreads, strict=True)
    ]
    if arguments.json:
        write_json({"ok": True, "outputs": results})
        return DONE
    for result in results:
        copies = f", copies on several devices differ by {result['spread']:.3g}" if result["spread"] else ""
        out.line(f"{result['name']}: {result['dtype']}{result['shape']}{copies}")
    return DONE


def _check(loaded, outputs, spreads, expected, arguments):
    from .. import agreement

    agreements = agreement.agreements(loaded.manifest["outputs"], outputs, spreads, expected)
    agrees = all(each.ok for each in agreements)
    if arguments.json:
        told = [
            {"output": str(each).split(":")[0], "ok": each.ok, "told": str(each)}
            for each in agreements
        ]
        write_json({"ok": agrees, "outputs": told})
        return DONE if agrees else NO
    for each in agreements:
        out.line(str(each), None if each.ok else "bold red")
    return DONE if agrees else NO
