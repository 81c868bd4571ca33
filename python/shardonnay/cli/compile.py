"""`shardonnay compile`: the program that each device runs."""

from pathlib import Path

from .. import report as reports
from .shared import (
    READS,
    DONE,
    UsageError,
    add_command,
    add_json,
    add_options,
    options_from,
    compiled,
    read,
    told,
    write,
    write_json,
)


def add(commands):
    parser = add_command(commands, "compile", compile_file, "Writes the program that each device runs.")
    parser.add_argument("input", metavar="IN", help=READS)
    parser.add_argument(
        "-o", dest="output", metavar="OUT", default="-", help="the file to write the program to (default: -, stdout)"
    )
    parser.add_argument("--manifest", metavar="M.json", help="write what to feed each device and what comes back")
    parser.add_argument(
        "--report",
        dest="report_file",
        metavar="R",
        help="write what `shardonnay report` prints; as JSON if R ends in .json",
    )
    add_json(
        parser, "print one JSON object: the program (if there is no -o), manifest, report (if asked for), diagnostics"
    )
    add_options(parser, without=("report",))


def compile_file(arguments):
    _check_outputs(arguments)
    wants_report = bool(arguments.report_file)
    program = compiled(read(arguments.input), **options_from(arguments, report=wants_report))
    for flag, path, kind in (("--manifest", arguments.manifest, "manifest"), ("--report", wants_report, "report")):
        if path and getattr(program, kind) is None:
            raise UsageError(f"{flag}: there is none after stage {arguments.to}; use a later stage")
    if arguments.manifest:
        write_json(program.manifest, arguments.manifest)
    if wants_report:
        _write_report(program.report, arguments.report_file)
    if arguments.json:
        whole = {"ok": True, "manifest": program.manifest, "diagnostics": told(program)}
        whole |= {"report": program.report} if wants_report else {}
        whole |= {"program": program.text} if arguments.output == "-" else {}
        write_json(whole)
    if not arguments.json or arguments.output != "-":
        write(arguments.output, program.text)
    return DONE


def _check_outputs(arguments):
    """No file is written over by another, and stdout is of one kind."""
    flags = {}
    in_json = arguments.json and arguments.output == "-"
    for flag, path in (
        ("--json", "-" if arguments.json else None),
        ("-o", None if in_json else arguments.output),
        ("--manifest", arguments.manifest),
        ("--report", arguments.report_file),
    ):
        if path:
            other = flags.setdefault(path if path == "-" else Path(path).resolve(), flag)
            if other != flag:
                raise UsageError(f"{flag}: expected another file than that of {other}, got {path}")


def _write_report(report, path):
    if path.endswith(".json"):
        write_json(report, path)
    else:
        write(path, "\n".join(reports.lines(report)) + "\n")
