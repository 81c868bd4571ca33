"""What several commands have in common: exit codes, the input, the options of a compilation."""

import argparse
import concurrent.futures
import difflib
import json
import os
import sys
import threading
from pathlib import Path

from .. import inputs, options
from ..compiler import compile
from ..errors import Diagnostic
from ..report import bytes_of
from .console import err

DONE, FAILED, USAGE, NO, INTERRUPTED = 0, 1, 2, 3, 130
READS = (
    "StableHLO and sdy text as JAX writes it, bytecode, a portable artefact or a serialised Exported as jax.export "
    "writes them; - is stdin"
)


# Not of commands that want the whole way and its report.
OF_COMPILE_ALONE = ("to", "target", "report", "debug_info")

NO_SHARDINGS = (
    "the program has no shardings, so every device computes all of it; give some on a Mesh, as in "
    "jax.jit(f, in_shardings=NamedSharding(mesh, PartitionSpec('data')))"
)


def near(word, words):
    """What may have been meant by a word that is none of these, to stand behind it in a message."""
    found = difflib.get_close_matches(word, words, 1)
    return f" (did you mean {found[0]!r}?)" if found else ""


class UsageError(Exception):
    """The command cannot do what it was asked; the message says why and what to do."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage of all options before it, and what may have been meant."""

    def parse_known_args(self, args=None, namespace=None):
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown:
            flag = unknown[0].partition("=")[0]
            self.error(f"unexpected argument {unknown[0]!r}{near(flag, self._option_string_actions)}")
        return namespace, unknown

    def error(self, message):
        self.exit(USAGE, f"{self.prog}: error: {message}; see {self.prog} --help\n")


def value_of(option):
    """A reader of the option's values from the command line, for argparse."""

    def read(text):
        try:
            value = bytes_of(text) if option.value == "BYTES" else option.kind(text)
            options.check(option.name, value)
        except (ValueError, TypeError) as error:
            said = str(error).removeprefix(f"{option.name}: ")
            if "expected" not in said:
                kind = "bytes, such as 1GiB" if option.value == "BYTES" else "a number"
                said = f"expected {kind}, 0 (none) or more, got {text}"
            raise argparse.ArgumentTypeError(said) from None
        return value

    return read


def _add_option(parser, option):
    text = option.help.replace("%", "%%")
    if option.kind is bool:
        parser.add_argument(option.flag, action="store_true", help=text)
        return
    choices = {"choices": option.choices} if option.choices else {"metavar": option.value}
    parser.add_argument(
        option.flag, type=value_of(option), default=option.default, help=f"{text} (default: %(default)s)", **choices
    )


def add_command(commands, name, action, text, **more):
    parser = commands.add_parser(name, help=text, description=text, **more)
    parser.set_defaults(action=action)
    return parser


def add_options(parser, without=OF_COMPILE_ALONE):
    """The options of a compilation (Options.def) as flags."""
    group = parser.add_argument_group("options of a compilation")
    for option in options.OPTIONS:
        if option.name not in without:
            _add_option(group, option)


def add_json(parser, text):
    parser.add_argument("--json", action="store_true", help=text)


def options_from(arguments, **more):
    """The options that the command line has, as keywords of compile()."""
    given = vars(arguments)
    return {option.name: given[option.name] for option in options.OPTIONS if option.name in given} | more


def interruptible(function, *arguments, **keywords):
    """What `function` returns. It runs on a thread of its own, so that Ctrl-C ends the process at once and not when the
    compiler comes back.
    """
    done = concurrent.futures.Future()

    def work():
        try:
            done.set_result(function(*arguments, **keywords))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return done.result()
    except KeyboardInterrupt:
        err.line("\nshardonnay: interrupted")  # behind the line of the progress
        os._exit(INTERRUPTED)


def compiled(source, **keywords):
    """Compiles, with progress, and prints warnings."""
    with err.progress() as progress:
        program = interruptible(compile, source.text, name=source.name, progress=progress, **keywords)
    for diagnostic in program.diagnostics:
        err.diagnostic(diagnostic)
    if (b"sharding" if isinstance(source.text, bytes) else "sharding") not in source.text:
        err.diagnostic(Diagnostic("note", source.name, NO_SHARDINGS))
    return program


def read(path):
    return inputs.read_file(path)


def write(path, text):
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        error.filename = error.filename or path  # A full disk is told without it.
        raise


def _json(value, margin="\n"):
    """JSON, a line an entry; numbers and lists of them, such as a device's slice, share one."""
    inner, deepest, depth = margin + " ", value, 0
    while deepest and isinstance(deepest, list):
        deepest, depth = deepest[0], depth + 1
    if isinstance(value, dict) and value:
        entries, ends = [f"{json.dumps(key)}: {_json(entry, inner)}" for key, entry in value.items()], "{}"
    elif depth > 2 or depth and isinstance(deepest, dict):
        entries, ends = [_json(entry, inner) for entry in value], "[]"
    else:
        return json.dumps(value)
    return f"{ends[0]}{inner}{f',{inner}'.join(entries)}{margin}{ends[1]}"


def write_json(value, path="-"):
    write(path, _json(value) + "\n")


def told(program):
    """A program's diagnostics for JSON."""
    return [vars(diagnostic) for diagnostic in program.diagnostics]
