"""`shardonnay run`: the program of each device on CPU devices, and whether its numbers are right."""

from .console import out
from .shared import READS, DONE, NO, UsageError, add_command, add_json, add_options, chosen, compiled, read, write_json


def add(commands):
    parser = add_command(commands, "run", run_file, "Runs the per-device program on CPU devices.")
    parser.add_argument("input", metavar="IN", help=READS)
    parser.add_argument("--devices", type=int, metavar="N", help="must be the size of the mesh (the default)")
    parser.add_argument(
        "--inputs",
        metavar="X.npz",
        help="arrays by the manifest's names or arr_0, arr_1, ...; default: deterministic random values, floats "
        "uniform in [-1, 1) or, where that yields NaN, in [0, 1), integers in 0..7",
    )
    parser.add_argument(
        "--check", action="store_true", help=f"compare with the unpartitioned program; exit code {NO} if they disagree"
    )
    add_json(parser, "print a JSON object per output")
    add_options(parser)


def run_file(arguments):
    source = read(arguments.input)
    program = compiled(source, **chosen(arguments))
    devices = program.manifest["devices"]
    if arguments.devices not in (None, devices):
        raise UsageError(f"--devices {arguments.devices}: the program's mesh has {devices} devices")
    try:
        from .. import engine, run
    except ImportError as error:
        raise UsageError(f"running needs JAX ({error}); install shardonnay[jax]") from None
    try:
        engine.prepare(devices)
        loaded = run.LoadedProgram(program)
        if arguments.inputs:
            values = run.load_inputs(arguments.inputs, program.manifest["inputs"])
        else:
            values = run.random_inputs(loaded)
        return _check(source, loaded, values, arguments) if arguments.check else _show(loaded, values, arguments)
    except (RuntimeError, ValueError) as error:  # XLA's and MLIR's own errors are RuntimeErrors
        raise UsageError(str(error)) from None


def _show(loaded, values, arguments):
    outputs, spreads = loaded(values)
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


def _check(source, loaded, values, arguments):
    from .. import compare, run

    agreements = run.check(loaded, values, compare.reference(source.text, values))
    agrees = all(agreement.ok for agreement in agreements)
    if arguments.json:
        told = [
            {"output": str(agreement).split(":")[0], "ok": agreement.ok, "told": str(agreement)}
            for agreement in agreements
        ]
        write_json({"ok": agrees, "outputs": told})
        return DONE if agrees else NO
    for agreement in agreements:
        out.line(str(agreement), None if agreement.ok else "bold red")
    return DONE if agrees else NO
