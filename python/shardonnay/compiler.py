"""The compiler as a Python function: StableHLO and `sdy` text in, the program of one device out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Unpack

from . import _core, inputs
from .errors import CompileError, Diagnostic
from .options import OptionKeywords, Options, options_of

Json = dict[str, Any]


class Program:
    """A compiled program.

    text: the module after the last stage that ran.
    diagnostics: warnings and remarks.
    options: what it was compiled with.
    """

    def __init__(
        self,
        text: str,
        manifest: Json | None | Callable[[], Json | None],
        report: Json | None | Callable[[], Json | None],
        diagnostics: tuple[Diagnostic, ...] = (),
        options: Options | None = None,
    ) -> None:
        """`manifest` and `report` are what they are called, or functions that make it when it is asked for."""
        self.text = text
        self.diagnostics = diagnostics
        self.options = options
        self._manifest = manifest
        self._report = report

    @cached_property
    def manifest(self) -> Json | None:
        """What to feed each device and what comes back (None before the stage that decides it)."""
        return self._manifest() if callable(self._manifest) else self._manifest

    @cached_property
    def report(self) -> Json | None:
        """Collectives with their causes, memory and FLOPs of a device (None before `partition`).

        A program that was compiled without `report=True` is compiled once more for it.
        """
        return self._report() if callable(self._report) else self._report

    def __getstate__(self) -> Json:
        """What a copy in another process has: manifest and report as they are."""
        return {
            "text": self.text,
            "diagnostics": self.diagnostics,
            "options": self.options,
            "_manifest": self.manifest,
            "_report": self.report,
        }

    def __repr__(self) -> str:
        devices = f"{self.manifest['devices']} devices, " if self.manifest else ""
        return f"<shardonnay.Program: {devices}{len(self.text.splitlines())} lines>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the collectives with their causes."""
        from html import escape

        from . import notebook

        return notebook.report(repr(self).strip("<>"), self.report) if self.report else escape(repr(self))


def diagnostics_of(result: _core.Result) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(*diagnostic) for diagnostic in result.diagnostics)


def compile(
    module: inputs.Module,
    *,
    options: Options | None = None,
    name: str | None = None,
    progress: Callable[[str], None] | None = None,
    **keywords: Unpack[OptionKeywords],
) -> Program:
    """Splits a program over the devices of its mesh.

    module: MLIR text as JAX writes it, bytecode, a portable artefact or serialised `Exported` as jax.export writes
        them, the path of a file with one of these, a `jax.export.Exported`, or a `jax.stages.Lowered`.
    options: an Options; keywords change single ones of it. shardonnay.Options says what there are.
    name: what stands for the program in locations.
    progress: called with the name of each stage before it runs. Other Python threads run while the compiler does.

    Raises CompileError, whose diagnostics say where and why the program is refused (InputError if it is none),
    OptionError for an option's value, TypeError, or OSError for a file that cannot be read.
    """
    selected = options_of(options, keywords)
    source = inputs.load(module, name)

    def run(report: bool, progress: Callable[[str], None] | None = None) -> _core.Result:
        return _core.compile(source.text, {**vars(selected), "report": report}, source.name, progress)

    result = run(selected.report, progress)
    diagnostics = diagnostics_of(result)
    if not result.ok:
        raise CompileError(diagnostics)
    return Program(
        result.text,
        result.manifest,
        result.report if selected.report else lambda: run(True).report(),
        diagnostics,
        selected,
    )
