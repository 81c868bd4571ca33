"""`shardonnay report`: what is communicated and why, memory and FLOPs of a device; gates for CI."""

import argparse

from .. import gate
from .. import report as reports
from .console import err, out
from .shared import READS, DONE, NO, add_command, add_json, add_options, options_from, compiled, read, told, write_json


def add(commands):
    parser = add_command(
        commands, "report", report_file, "Says what is communicated and why, and what memory and FLOPs a device takes."
    )
    parser.add_argument("input", metavar="IN", help=READS)
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        type=_gate,
        metavar="CONDITION",
        help=f"{gate.HELP}; exit code {NO} if it holds; may be given several times",
    )
    parser.add_argument("--no-causes", action="store_true", help="leave out why each collective is there")
    add_json(parser, "print the report as JSON")
    add_options(parser)


def _gate(text):
    try:
        return gate.Gate.parse(text)
    except gate.GateError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def held(gates, report):
    """Says which conditions hold; their texts."""
    found = [(condition, value) for condition in gates if (value := condition.value(report)) is not None]
    for condition, value in found:
        err.line(f"shardonnay: --fail-on {condition.text}: {condition.tell(value)}", "bold red")
    return [condition.text for condition, _ in found]


def _check_axes(gates, program):
    gates = [condition for condition in gates if condition.axis]
    if gates:
        from ..boundary import mesh_axes  # NumPy is slow to load.

        names = [name for name, _ in mesh_axes(program.manifest["mesh"])]
        for condition in gates:
            condition.check(names)


def report_file(arguments):
    program = compiled(read(arguments.input), **options_from(arguments, report=True))
    _check_axes(arguments.fail_on, program)
    if arguments.json:
        failing = held(arguments.fail_on, program.report)
        write_json({"ok": not failing, "report": program.report, "failing": failing, "diagnostics": told(program)})
        return NO if failing else DONE
    for line in reports.lines(program.report, causes=not arguments.no_causes):
        out.line(line, _style(line))
    return NO if held(arguments.fail_on, program.report) else DONE


def _style(line):
    if line.startswith("      "):
        return "dim"
    return "bold" if line.startswith("  total") or line and not line.startswith(" ") else None
