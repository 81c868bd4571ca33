"""Shardonnay: splits a tensor program over many devices.

    import shardonnay

    program = shardonnay.compile(jax.jit(f, in_shardings=...).lower(...))
    print(program.text, program.manifest, program.report)

Options says what may be chosen; what goes wrong is a ShardonnayError.
"""

from .compiler import Program, compile
from .errors import CompileError, Diagnostic, InputError, OptionError, ShardonnayError
from .options import STAGES, Options

__all__ = [
    "STAGES",
    "CompileError",
    "Diagnostic",
    "InputError",
    "OptionError",
    "Options",
    "Program",
    "ShardonnayError",
    "compile",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib import metadata

        return metadata.version("shardonnay")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
