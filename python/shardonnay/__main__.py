"""The `shardonnay` command: compile and run partitioned programs."""

import argparse
import json
import sys
from pathlib import Path

from . import artifact, report
from .compiler import BOUNDARY_MODES, STAGES, CompileError, compile


class UsageError(Exception):
    """The command cannot do what it was asked; the message says why and what to do."""


def _zero_or_more(kind):
    """Reads a number of `kind` that is no less than 0 (and is one: nan is less than nothing)."""

    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not 0 <= value < 2**63:
            raise argparse.ArgumentTypeError(f"expected 0 (none) or more, got {text}")
        return value

    return read


def _parser():
    parser = argparse.ArgumentParser(prog="shardonnay", description="Splits a tensor program over many devices.")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, action, text):
        added = commands.add_parser(name, help=text, description=text)
        added.add_argument("input", metavar="IN", help="StableHLO and sdy text as JAX writes it, a portable artefact as jax.export does, or bytecode that Shardonnay wrote; - is stdin")
        added.add_argument(
            "--no-implicit-replication",
            action="store_true",
            help="an op that cannot be computed on shards is an error, not a warning with its bytes",
        )
        added.add_argument(
            "--strict",
            action="store_true",
            help="what the documents ask for beyond the verifiers (C80 .. in docs/reference/constraints.md) is an error, "
            "not a warning",
        )
        added.add_argument(
            "--device-model",
            default="cpu",
            metavar="MODEL",
            help="what plans are priced by: bytes, cpu, gpu-node, gpu-cluster, tpu-torus, or a JSON file (default: %(default)s)",
        )
        added.add_argument(
            "--no-bucketing",
            action="store_true",
            help="do not reduce small tensors together, even where the device model says that this is faster",
        )
        for what in ("arguments", "results"):
            added.add_argument(
                f"--{what}",
                choices=BOUNDARY_MODES,
                default="split",
                help=f"every device has its piece of {what}, or the whole (default: %(default)s)",
            )
        added.add_argument(
            "--keep-functions-of",
            type=_zero_or_more(int),
            default=0,
            metavar="OPS",
            help="a private function of so many operations that several calls share stays a function (default: all are inlined)",
        )
        added.add_argument(
            "--time-limit", type=_zero_or_more(float), default=0, metavar="SECONDS", help="that the compilation may take; the error names the pass"
        )
        added.add_argument(
            "--host-memory-limit", type=_zero_or_more(int), default=0, metavar="MIB", help="that the compiler may hold; the error names the pass"
        )
        added.add_argument(
            "--search-mode",
            choices=("graph", "greedy"),
            default="greedy",
            help="choose the cuts of neighbouring ops together, or each op's alone (default: %(default)s)",
        )
        added.add_argument(
            "--keep-propagated",
            action="store_true",
            help="no value lies otherwise than propagation decided to save communication",
        )
        added.add_argument(
            "--memory-limit",
            type=_zero_or_more(int),
            default=0,
            metavar="BYTES",
            help="choose plans of which a device holds no more at once, and refuse a program that has none"
            " (default: what the device model says, with a warning)",
        )
        added.set_defaults(action=action)
        return added

    to_text = command("compile", _compile, "Writes the program that each device runs.")
    to_text.add_argument("--to", metavar="STAGE", choices=STAGES, default=STAGES[-1], help=", ".join(STAGES))
    to_text.add_argument("-o", dest="output", metavar="OUT", default="-", help="default: stdout")
    to_text.add_argument("--manifest", metavar="M.json", help="write what to feed each device and what comes back")
    to_text.add_argument(
        "--report",
        metavar="R",
        help="write every collective with its bytes and why it is there, memory and FLOPs; as JSON if R ends in .json",
    )

    to_run = command("run", _run, "Runs the per-device program on CPU devices.")
    to_run.add_argument("--devices", type=int, metavar="N", help="must be the size of the mesh (the default)")
    to_run.add_argument(
        "--inputs",
        metavar="X.npz",
        help="arrays by the manifest's names or arr_0, arr_1, ...; default: deterministic random values, floats "
        "uniform in [-1, 1) or, where that yields NaN, in [0, 1), integers in 0..7",
    )
    to_run.add_argument(
        "--check", action="store_true", help="compare with the unpartitioned program; exit code 1 if they disagree"
    )

    to_explain = commands.add_parser(
        "explain", help="Says why values have their shardings.", description="Says why values have their shardings."
    )
    to_explain.add_argument("input", metavar="IN", help="StableHLO and sdy text as JAX writes it; - is stdin")
    to_explain.add_argument(
        "--value",
        metavar="V",
        help="%%5, arg0, 'result 0', or a part of a source location; default: all values",
    )
    to_explain.add_argument("--json", action="store_true", help="print what is known as JSON")
    to_explain.set_defaults(action=_explain)
    return parser


def _read(path):
    """(the program, its name), a portable artefact as text."""
    program, name = (sys.stdin.buffer.read(), "<stdin>") if path == "-" else (Path(path).read_bytes(), path)
    try:
        return artifact.as_text(program), name
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def _write(path, text):
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text)


def _compiled(text, name, options, to=STAGES[-1], report=False):
    compiled = compile(
        text,
        to=to,
        report=report,
        no_implicit_replication=options.no_implicit_replication,
        strict=options.strict,
        device_model=options.device_model,
        arguments=options.arguments,
        results=options.results,
        no_bucketing=options.no_bucketing,
        keep_functions_of=options.keep_functions_of,
        time_limit=options.time_limit,
        host_memory_limit=options.host_memory_limit,
        memory_limit=options.memory_limit,
        search_mode=options.search_mode,
        keep_propagated=options.keep_propagated,
        name=name,
    )
    for diagnostic in compiled.diagnostics:
        print(diagnostic, file=sys.stderr)
    return compiled


def _compile(options):
    compiled = _compiled(*_read(options.input), options, options.to, report=bool(options.report))
    if options.manifest:
        if compiled.manifest is None:
            raise UsageError(f"--manifest: there is none after stage {options.to}; use a later stage")
        _write(options.manifest, json.dumps(compiled.manifest, indent=1) + "\n")
    if options.report:
        if compiled.report is None:
            raise UsageError(f"--report: there is none after stage {options.to}; use a later stage")
        as_json = options.report.endswith(".json")
        text = json.dumps(compiled.report, indent=1) if as_json else "\n".join(report.lines(compiled.report))
        _write(options.report, text + "\n")
    _write(options.output, compiled.text)
    return 0


def _explain(options):
    from . import explain

    text, name = _read(options.input)
    values = explain.explain(text, name=name)
    if options.value:
        values = explain.select(values, options.value)
        if not values:
            raise UsageError(
                f"--value {options.value}: no value of this name or place has a sharding, or was offered one; expected "
                "a name such as %5, arg0 or 'result 0', or a part of a source location"
            )
    if options.json:
        print(json.dumps(values, indent=1))
        return 0
    for value in values:
        print("\n".join(explain.lines(value)))
    return 0


def _run(options):
    text, name = _read(options.input)
    compiled = _compiled(text, name, options)
    devices = compiled.manifest["devices"]
    if options.devices not in (None, devices):
        raise UsageError(f"--devices {options.devices}: the program's mesh has {devices} devices")
    from . import engine, run

    try:
        engine.prepare(devices)
        program = run.Program(compiled)
        if options.inputs:
            inputs = run.load_inputs(options.inputs, compiled.manifest["inputs"])
        else:
            inputs = run.random_inputs(program)
        return _check(text, program, inputs) if options.check else _show(program, inputs)
    except (RuntimeError, ValueError) as error:  # XLA's and MLIR's own errors are RuntimeErrors
        raise UsageError(str(error)) from None


def _show(program, inputs):
    outputs, spreads = program(inputs)
    for entry, output, spread in zip(program.manifest["outputs"], outputs, spreads):
        copies = f", copies on several devices differ by {spread:.3g}" if spread else ""
        print(f"{entry['name']}: {output.dtype.name}{list(output.shape)}{copies}")
    return 0


def _check(text, program, inputs):
    from . import compare, run

    agreements = run.check(program, inputs, compare.reference(text, inputs))
    for agreement in agreements:
        print(agreement)
    return 0 if all(agreement.ok for agreement in agreements) else 1


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        return options.action(options)
    except CompileError as error:
        print(error, file=sys.stderr)
    except (UsageError, OSError) as error:
        print(f"shardonnay: error: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
