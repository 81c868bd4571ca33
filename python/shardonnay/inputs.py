"""What a program may be given as, and what people give instead.

Read are MLIR text, bytecode, the portable artefacts of `jax.export` (by jaxlib, whose form they have), a serialised
`Exported`, which has one inside, and JAX's own objects, which are looked at but never imported.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from .errors import Diagnostic, InputError

HOW = "expected StableHLO with shardings: jax.jit(f, in_shardings=...).lower(...).as_text(debug_info=True)"


class ExportedLike(Protocol):
    """What `jax.export.export(f)(...)` returns."""

    fun_name: str
    mlir_module_serialized: bytes


class LoweredLike(Protocol):
    """What `jax.jit(f).lower(...)` returns."""

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str: ...

    def compiler_ir(self, dialect: str | None = None) -> Any: ...


Module = str | bytes | bytearray | os.PathLike[str] | ExportedLike | LoweredLike


class Source(NamedTuple):
    """A program as the compiler reads it, and what stands for it in locations."""

    text: str | bytes
    name: str


def refuse(name: str, message: str) -> InputError:
    return InputError((Diagnostic("error", name, message),))


# What a text begins with, blank lines and comments aside -> what it is, and what to do.
_TEXTS = {
    r"HloModule\b": "HLO text, which XLA makes of a program; " + HOW + ", not .compile().as_text() or as_text('hlo')",
    r"(?i)<(!doctype\s+)?html\b": "an HTML page; " + HOW + "; from a web site, fetch the raw file",
    r"\{\s*lambda\b": "a jaxpr, which has no shardings; " + HOW,
    r"let\s+\w+\s*=\s*\{\s*lambda\b": "a jaxpr, which has no shardings; " + HOW,
    r"(import|from)\s+[\w.]+|def\s+\w+\(|@\w+[\w.]*(\(|\n)|#!.*python|\"\"\"": "a Python program; run it, and let it "
    "write what jax.jit(f, in_shardings=...).lower(...).as_text(debug_info=True) returns",
    r"(; ModuleID|source_filename|target (datalayout|triple))\b": "LLVM IR; " + HOW,
    r"[{\[]\s*[\"\]}]": "JSON; " + HOW,
    r"version https://git-lfs": "a pointer of Git LFS, not the file itself; run git lfs pull",
    r"Traceback \(most recent call last\)": "the output of a Python program that failed; " + HOW,
}
_BYTES = {
    b"\x1f\x8b": "compressed by gzip; decompress it first",
    b"PK\x03\x04": "a zip archive, as .npz files, wheels and PyTorch's checkpoints are; " + HOW,
    b"\x93NUMPY": "a NumPy array; " + HOW + ", and give arrays to `shardonnay run --inputs`",
    b"\x7fELF": "an executable; " + HOW,
    b"BC\xc0\xde": "LLVM bitcode; " + HOW,
}
_BYTECODE = b"ML\xefR"
_ARTEFACT = re.compile(_BYTECODE + rb".StableHLO_v", re.DOTALL)
_PICKLE = re.compile(rb"\x80[\x02-\x05].*\.\Z", re.DOTALL)
# A protobuf whose first field is a name or a message: an HloModuleProto, or an HloProto that holds one.
_PROTO = re.compile(rb"\n(.|[\x80-\xff]+.)(\n(.|[\x80-\xff]+.))?[\w.$-]+\x12", re.DOTALL)


def other_kind(program: str | bytes) -> str | None:
    """What the program is instead of MLIR, and what to do; None if it may be MLIR."""
    if isinstance(program, bytes):
        for magic, kind in _BYTES.items():
            if program.startswith(magic):
                return kind
        if _PICKLE.match(program):
            return "a pickle, which is never loaded; " + HOW
        if b"\x00" in program and _PROTO.match(program):
            return "a protobuf, as XLA's HLO is stored; " + HOW
        if program.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "UTF-16, as PowerShell's > writes it, expected UTF-8; write it with Set-Content -Encoding utf8"
        if b"\x00" in program and not program.startswith(_BYTECODE):
            return "neither text nor MLIR's bytecode; " + HOW
        head = program[:4096].decode(errors="replace")
    else:
        head = program[:4096]
    head = re.sub(r"\A(\s|//[^\n]*\n|#(?!!)[^\n]*\n(?=\s*(import|from|def)\b))+", "", head)
    if not head:
        return "empty; " + HOW
    return next((kind for start, kind in _TEXTS.items() if re.match(start, head)), None)


def is_artefact(program: object) -> bool:
    """True for bytecode whose producer is StableHLO's serialisation: magic, version, then the producer's name."""
    return isinstance(program, bytes) and bool(_ARTEFACT.match(program))


def _inside(program: bytes) -> bytes:
    """The artefact in a serialised `jax.export.Exported`, behind its size; any other program as it is."""
    found = None if program.startswith(_BYTECODE) else _ARTEFACT.search(program)
    if not found or found.start() < 4:
        return program
    size = int.from_bytes(program[found.start() - 4 : found.start()], "little")
    return program[found.start() : found.start() + size]


def as_text(program: str | bytes, name: str) -> str | bytes:
    """An artefact as text with its locations, any other program as it is."""
    if isinstance(program, bytes):
        program = _inside(program.removeprefix(codecs.BOM_UTF8))
    if not is_artefact(program):
        kind = other_kind(program)
        if kind:
            raise refuse(name, f"this is {kind}")
        return program
    try:
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    except ImportError as error:
        message = (
            f"a portable artefact is read by jaxlib ({error}); install shardonnay[jax], or write the program as text"
        )
        raise refuse(name, message) from None
    with ir.Context() as context:
        for dialect in (chlo, sdy, stablehlo):
            dialect.register_dialect(context)
        try:
            module = stablehlo.deserialize_portable_artifact(context, program)
        except (ir.MLIRError, ValueError) as error:
            raise refuse(name, f"jaxlib cannot read this artefact: {error}") from None
        return str(module.operation.get_asm(enable_debug_info=True))


def read_file(path: str | os.PathLike[str]) -> Source:
    """The program in a file; "-" is stdin."""
    if path == "-":
        return Source(as_text(sys.stdin.buffer.read(), "<stdin>"), "<stdin>")
    name = os.fsencode(path).decode(errors="replace")  # as a location, which is UTF-8
    if os.path.isdir(path):
        raise refuse(name, "this is a directory, expected a file with a program")
    return Source(as_text(Path(path).read_bytes(), name), name)


def _is_path(text: str) -> bool:
    """A string of one line that names a file, or looks as if it did: MLIR text has no suffix, and no slash but in
    quotes and comments.
    """
    if "\n" in text or len(text) > 4096:
        return False
    return bool(re.fullmatch(r"[^\s{}()<>=]+\.[A-Za-z]\w{0,9}|[\w.~-]*(/[\w.~-]+)+", text)) or os.path.isfile(text)


def _of_jax(module: Any, name: str | None) -> Source | None:
    """The program in an object of JAX's; None if it holds none."""
    if isinstance(getattr(module, "mlir_module_serialized", None), bytes):
        of_function = name or str(getattr(module, "fun_name", "<exported>"))
        return Source(as_text(module.mlir_module_serialized, of_function), of_function)
    if hasattr(module, "compiler_ir") and hasattr(module, "as_text"):
        return Source(module.as_text(debug_info=True), name or "<lowered>")
    return None


def _wrong_type(module: object) -> TypeError:
    kind = type(module).__name__
    advice = "expected MLIR text, bytecode, a path, a jax.export.Exported or a jax.stages.Lowered"
    if hasattr(module, "runtime_executable"):
        advice = "which XLA has compiled already; expected what .lower(...) returned before"
    elif hasattr(module, "jaxpr") and hasattr(module, "lower"):
        advice = "expected what its .lower() returns"
    elif hasattr(module, "lower") and callable(module):
        advice = "a function without arguments to trace it with; expected what its .lower(*arguments) returns"
    elif callable(module):
        advice = "a function; expected what jax.jit(f, in_shardings=...).lower(*arguments) returns"
    elif hasattr(module, "jaxpr"):
        advice = "a jaxpr, which has no shardings; expected what jax.jit(f, in_shardings=...).lower(*arguments) returns"
    elif hasattr(module, "operation"):
        advice = "a module of another MLIR; expected its text: module.operation.get_asm(enable_debug_info=True)"
    return TypeError(f"module: got {kind}, {advice}")


def load(module: Module, name: str | None = None) -> Source:
    """Any kind of program as text or bytecode. `name` stands for it in locations; a file has its own."""
    if not isinstance(name, str | None):
        raise TypeError(f"name: expected a str, got {name!r}")
    if isinstance(module, os.PathLike) or (isinstance(module, str) and _is_path(module)):
        source = read_file(module)
        return source if name is None else source._replace(name=name)
    if isinstance(module, (str, bytes, bytearray)):
        name = name or "<input>"
        return Source(as_text(module if isinstance(module, str) else bytes(module), name), name)
    source_of_jax = _of_jax(module, name)
    if source_of_jax is None:
        raise _wrong_type(module)
    return source_of_jax
