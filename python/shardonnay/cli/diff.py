"""`shardonnay diff`: what changed between two programs, or between two sets of options of one."""

import argparse

from .. import difference, explain, options
from .console import out
from .shared import (
    OF_COMPILE_ALONE, READS, DONE, NO, add_command, add_json, add_options, compiled, interruptible, options_from, read,
    value_of, write_json,
)

_STYLES = {"-": "red", "+": "green"}


def _setting(text):
    """(name, value) of NAME=VALUE; a flag needs no value."""
    name, _, value = text.partition("=")
    name = name.strip().lstrip("-").replace("-", "_")
    known = [option for option in options.OPTIONS if option.name not in OF_COMPILE_ALONE]
    option = next((option for option in known if option.name == name), None)
    if option is None:
        names = ", ".join(option.flag[2:] for option in known)
        raise argparse.ArgumentTypeError(f"there is no option {text.partition('=')[0]!r}; expected one of {names}")
    if option.kind is bool:
        if value not in ("", "true", "false"):
            raise argparse.ArgumentTypeError(f"{option.flag[2:]}: expected true or false, got {value!r}")
        return name, value != "false"
    return name, value_of(option)(value)


def add(commands):
    parser = add_command(
        commands,
        "diff",
        diff_files,
        "Says what changed in shardings, collectives, bytes and memory between two programs, or two sets of options.",
    )
    parser.add_argument("before", metavar="A", help=READS)
    parser.add_argument(
        "after", metavar="B", nargs="?", help="what to compare with (default: A, with the options of --b)"
    )
    for side, which in (("--a", "A"), ("--b", "B")):
        parser.add_argument(
            side,
            action="append",
            default=[],
            type=_setting,
            metavar="NAME=VALUE",
            help=f"an option for {which} only, such as search-mode=graph; may be given several times",
        )
    parser.add_argument("--exit-code", action="store_true", help=f"exit code {NO} if there is a difference")
    add_json(parser, "print the differences as JSON")
    add_options(parser)


def diff_files(arguments):
    before = read(arguments.before)
    after = before if arguments.after in (None, arguments.before) else read(arguments.after)
    shared = options_from(arguments, report=True)
    sides = [(before, shared | dict(arguments.a)), (after, shared | dict(arguments.b))]
    programs = [compiled(source, **options) for source, options in sides]
    explained = [] if after is before else sides
    values = [interruptible(explain.explain, source.text, name=source.name, **options) for source, options in explained]
    found = difference.differences(*programs, *values)
    differs = difference.differ(found)
    if arguments.json:
        write_json({"ok": True, "differs": differs, **found})
    else:
        for line in difference.lines(found):
            out.line(line, _STYLES.get(line[:1]))
    return NO if differs and arguments.exit_code else DONE
