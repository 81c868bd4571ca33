"""`shardonnay explain`: why values have their shardings."""

from .. import explain
from .console import out
from .shared import (
    READS, DONE, UsageError, add_command, add_json, add_options, interruptible, options_from, read, write_json,
)


def add(commands):
    parser = add_command(commands, "explain", explain_file, "Says why values have their shardings.")
    parser.add_argument("input", metavar="IN", help=READS)
    parser.add_argument(
        "--value",
        metavar="V",
        help="what to explain: %%5, arg0, 'result 0', or a part of a source location (default: all values)",
    )
    add_json(parser, "print what is known as a JSON list")
    add_options(parser)


def explain_file(arguments):
    source = read(arguments.input)
    values = interruptible(explain.explain, source.text, name=source.name, **options_from(arguments))
    if arguments.value:
        values = explain.select(values, arguments.value)
        if not values:
            raise UsageError(
                f"--value {arguments.value}: no value of this name or place has a sharding, or was offered one; "
                "expected a name such as %5, arg0 or 'result 0', or a part of a source location"
            )
    if arguments.json:
        write_json(values)
        return DONE
    for value in values:
        first, *rest = explain.lines(value)
        out.line(first, "bold")
        for line in rest:
            out.line(line, "yellow" if line.startswith("  not ") else None)
    return DONE
