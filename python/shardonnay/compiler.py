"""The compiler as a Python function: StableHLO and `sdy` text in, the program of one device out."""

import json
from dataclasses import dataclass

from . import _core

STAGES = tuple(_core.stages())


@dataclass(frozen=True)
class Diagnostic:
    """One line to the user: severity ("error", "warning", "remark", "note"), location ("" if unknown), message."""

    severity: str
    location: str
    message: str

    def __str__(self):
        location = f"{self.location}: " if self.location else ""
        return f"{location}{self.severity}: {self.message}"


class CompileError(Exception):
    """The program is refused; `diagnostics` say where and why."""

    def __init__(self, diagnostics):
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class Compiled:
    """A compiled program.

    text: the module after the last stage that ran.
    manifest: what to feed each device and what comes back (None before the stage that decides it).
    report: collectives, memory and FLOPs of a device (None before `partition`).
    diagnostics: warnings and remarks.
    """

    text: str
    manifest: dict | None
    report: dict | None
    diagnostics: tuple


def compile(
    text, *, to="emit", no_implicit_replication=False, strict=False, debug_info=False, device_model="cpu", name="<input>"
):
    """Compiles MLIR text as JAX writes it, or bytecode that Shardonnay wrote; raises CompileError.

    to: the last stage to run, one of STAGES.
    no_implicit_replication: an op that cannot be computed on shards is an error, not a warning with its bytes.
    strict: what the documents ask for beyond the verifiers (docs/reference/constraints.md) is an error, not a warning.
    debug_info: print the result with locations.
    device_model: what plans are priced by: bytes, cpu, gpu-node, gpu-cluster, tpu-torus, or the path of a JSON file.
    name: what stands for the text in locations.
    """
    ok, result, manifest, report, diagnostics = _core.compile(
        text, to, no_implicit_replication, strict, debug_info, str(device_model), name
    )
    diagnostics = tuple(Diagnostic(*diagnostic) for diagnostic in diagnostics)
    if not ok:
        raise CompileError(diagnostics)
    return Compiled(result, json.loads(manifest), json.loads(report), diagnostics)
