"""What goes wrong, as exceptions: all of them are a ShardonnayError."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One line to the user: severity ("error", "warning", "remark", "note"), location ("" if unknown), message."""

    severity: str
    location: str
    message: str

    def __str__(self) -> str:
        location = f"{self.location}: " if self.location else ""
        return f"{location}{self.severity}: {self.message}"


class ShardonnayError(Exception):
    """Anything that Shardonnay refuses."""


class CompileError(ShardonnayError):
    """The program is refused; `diagnostics` say where and why."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class InputError(CompileError):
    """What was given is no program that Shardonnay reads; the message says what it is, and how to get one."""


class OptionError(ShardonnayError, ValueError):
    """An option has a value that it cannot have."""
