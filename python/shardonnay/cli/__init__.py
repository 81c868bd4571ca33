"""The `shardonnay` command: one file per command, each with `add(commands)`, which declares it, and what it does."""

import argparse
import io
import os
import sys

from ..errors import CompileError, ShardonnayError
from . import build, compile, diff, doctor, explain, report, run
from .console import err
from .shared import DONE, FAILED, INTERRUPTED, NO, USAGE, Parser, UsageError, write_json

EXIT_CODES = f"""exit codes:
  {DONE}    done
  {FAILED}    the program is refused, does not go with the other arguments, or a file cannot be read or written; stderr
       says why
  {USAGE}    the command line is wrong
  {NO}    done, and the answer is no: run --check disagrees, a --fail-on holds, diff --exit-code found a difference,
       doctor found what does not work
  {INTERRUPTED}  interrupted

`shardonnay COMMAND --help` lists a command's options; docs/reference/options.md says what each is for.
"""


class _Version(argparse.Action):
    def __call__(self, parser, *_):
        from importlib import metadata

        print(f"shardonnay {metadata.version('shardonnay')}")
        parser.exit()


def _parser():
    parser = Parser(
        prog="shardonnay",
        description="Splits a tensor program over many devices.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (compile, build, run, explain, report, diff, doctor):
        command.add(commands)
    return parser


def _failed(error, arguments):
    """Says what went wrong, with --json as JSON too."""
    if isinstance(error, CompileError):
        diagnostics = error.diagnostics
        for diagnostic in diagnostics:
            err.diagnostic(diagnostic)
    else:
        diagnostics = ()
        if isinstance(error, OSError) and error.filename is not None:
            error = f"{error.filename}: {error.strerror}"
        err.line(f"shardonnay: error: {error}", "bold red")
    if getattr(arguments, "json", False):
        told = [vars(diagnostic) for diagnostic in diagnostics]
        write_json({"ok": False, "error": str(error), "diagnostics": told})
    return FAILED


class _Closed(io.TextIOBase):
    """In the place of a standard stream that the process was started without."""

    def __init__(self, name):
        self.name, self.buffer = name, self

    def _refuse(self, *_):
        raise OSError(f"{self.name} is closed, expected a file or a pipe")

    read = write = _refuse


def _open_streams():
    sys.stdin = sys.stdin or _Closed("stdin")
    sys.stdout = sys.stdout or _Closed("stdout")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # Names may have letters that a terminal has not.


def main(arguments=None):
    _open_streams()
    arguments = _parser().parse_args(arguments)
    try:
        status = arguments.action(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # The reader, such as `head`, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        err.line("shardonnay: interrupted")
        return INTERRUPTED
    except (UsageError, ShardonnayError, OSError) as error:
        return _failed(error, arguments)
