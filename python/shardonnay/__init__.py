"""Shardonnay: splits a tensor program over many devices.

    import shardonnay

    program = shardonnay.compile(jax.jit(f, in_shardings=...).lower(...))
    print(program.text, program.manifest, program.report)

Options says what may be chosen; what goes wrong is a ShardonnayError.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Loaded when they are asked for: what only runs a saved program (shardonnay.torch.engine) has no use for the compiler.
_HOMES = {
    "compiler": ("Program", "compile"),
    "errors": ("CompileError", "Diagnostic", "InputError", "OptionError", "ShardonnayError"),
    "options": ("STAGES", "Options"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib import metadata  # takes longer than the rest of the command

        return metadata.version("shardonnay")
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
