"""`shardonnay doctor`: what of the environment works."""

import importlib.util
import platform
import sys

from ..compiler import compile
from ..errors import ShardonnayError
from .console import err, out
from .shared import DONE, NO, add_command, add_json, write_json

# The versions that the engine, which uses parts of JAX that are not public, was tested with.
TESTED_JAX = ("0.10.2", "0.11.2", "0.12.0.1")
_STYLES = {"ok": "green", "absent": "yellow", "failed": "bold red"}
_PROGRAM = """sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""


# Every command loads this file: what takes long to load is imported where it is used.
def _version(package):
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _python():
    return "ok", f"{platform.python_version()} at {sys.executable}"


def _package():
    return "ok", f"shardonnay {_version('shardonnay') or 'from a source tree'}"


def _compiles():
    try:
        program = compile(_PROGRAM)
    except ShardonnayError as error:
        return "failed", str(error)
    collectives = sum(entry["count"] for entry in program.report["collectives"])
    return "ok", f"a matmul on two devices, {collectives} collective{'s' * (collectives != 1)}"


def _jax():
    version = _version("jax")
    if version is None or importlib.util.find_spec("jaxlib") is None:
        return "absent", "needed by `shardonnay run` and to read artefacts of jax.export: pip install 'shardonnay[jax]'"
    if version not in TESTED_JAX:
        tested = ", ".join(TESTED_JAX)
        return "absent", f"jax {version}; `shardonnay run` is tested with {tested}: pip install 'shardonnay[jax]'"
    return "ok", f"jax {version}, jaxlib {_version('jaxlib')}"


def _runs():
    """In a process of its own: JAX counts its devices once."""
    import subprocess

    if _version("jax") is None:
        return "absent", "there is no jax"
    command = [sys.executable, "-m", "shardonnay", "run", "-", "--check"]
    done = subprocess.run(command, input=_PROGRAM, capture_output=True, text=True, check=False)
    if done.returncode:
        return "failed", (done.stdout + done.stderr).strip().splitlines()[-1]
    return "ok", "the matmul agrees with the unpartitioned one"


def _optional(package, what):
    def look():
        version = _version(package)
        return ("ok", f"{package} {version}") if version else ("absent", f"{what}: pip install {package}")

    return look


CHECKS = {
    "python": _python,
    "package": _package,
    "compiler": _compiles,
    "jax": _jax,
    "cpu devices": _runs,
    "colours": _optional("rich", "output is plain without it"),
    "flax": _optional("flax", "models of flax need it"),
}


def add(commands):
    parser = add_command(commands, "doctor", examine, "Says what of the environment works, and what to install.")
    add_json(parser, "print the findings as JSON")


def examine(arguments):
    found = []
    with err.progress() as progress:
        for name, check in CHECKS.items():
            progress(name)
            state, detail = check()
            found.append({"check": name, "state": state, "detail": detail})
    works = all(entry["state"] != "failed" for entry in found)
    if arguments.json:
        write_json({"ok": works, "checks": found})
        return DONE if works else NO
    for entry in found:
        out.line(f"{entry['state']:<7} {entry['check']:<12} {entry['detail']}", _STYLES[entry["state"]])
    return DONE if works else NO
