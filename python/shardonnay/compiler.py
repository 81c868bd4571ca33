"""The compiler as a Python function: StableHLO and `sdy` text in, the program of one device out."""

from dataclasses import dataclass
from functools import cached_property

from . import _core, artifact

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


class Compiled:
    """A compiled program.

    text: the module after the last stage that ran.
    diagnostics: warnings and remarks.
    """

    def __init__(self, text, manifest, report, diagnostics):
        """`manifest` and `report` are what they are called, or functions that make it when it is asked for."""
        self.text = text
        self.diagnostics = diagnostics
        self._manifest = manifest
        self._report = report

    @cached_property
    def manifest(self):
        """What to feed each device and what comes back (None before the stage that decides it)."""
        return self._manifest() if callable(self._manifest) else self._manifest

    @cached_property
    def report(self):
        """Collectives with their causes, memory and FLOPs of a device (None before `partition`).

        A program that was compiled without `report=True` is compiled once more for it.
        """
        return self._report() if callable(self._report) else self._report

    def __getstate__(self):
        """What a copy in another process has: manifest and report as they are."""
        return {"text": self.text, "diagnostics": self.diagnostics, "_manifest": self.manifest, "_report": self.report}


BOUNDARY_MODES = ("split", "whole")


def compile(
    text,
    *,
    to="emit",
    no_implicit_replication=False,
    strict=False,
    debug_info=False,
    device_model="cpu",
    arguments="split",
    results="split",
    no_bucketing=False,
    keep_functions_of=0,
    time_limit=0,
    host_memory_limit=0,
    memory_limit=0,
    search_mode="greedy",
    keep_propagated=False,
    report=False,
    name="<input>",
):
    """Compiles MLIR text as JAX writes it, a portable artefact as `jax.export` does, or bytecode that Shardonnay wrote; raises
    CompileError.

    to: the last stage to run, one of STAGES.
    no_implicit_replication: an op that cannot be computed on shards is an error, not a warning with its bytes.
    strict: what the documents ask for beyond the verifiers (docs/reference/constraints.md) is an error, not a warning.
    debug_info: print the result with locations.
    device_model: what plans are priced by: bytes, cpu, gpu-node, gpu-cluster, tpu-torus, or the path of a JSON file.
    arguments: "split": a device is given its piece of an argument; "whole": all of it, and takes its piece by its index.
    results: "split": a device returns its piece of a result; "whole": all of it. The manifest says which.
    no_bucketing: small tensors are not reduced or gathered together, even where the device model says that this is faster.
    keep_functions_of: a private function of so many operations that several calls have in common stays a function, one for each
        way that its calls are sharded (0: all are inlined). Smaller text and a faster engine; a boundary forces its shardings.
    time_limit: seconds that the compilation may take (0: any), looked at after each pass; the error names the pass.
    host_memory_limit: likewise MiB that this process may hold.
    search_mode: "graph": the cuts of neighbouring ops are chosen together; "greedy": each op's alone.
    keep_propagated: no value lies otherwise than propagation decided to save communication.
    memory_limit: bytes that a device may hold at once, 0 for as many as the device model says. What waits for a later use is
        computed or gathered again, and plans are chosen that hold less; a program that needs more all the same is refused
        (if it is the model's limit, a warning).
    report: make the report and the causes of collectives in the same run; else they are made when they are asked for.
    name: what stands for the text in locations.
    """
    for option, mode in (("arguments", arguments), ("results", results)):
        if mode not in BOUNDARY_MODES:
            raise ValueError(f"{option}: expected one of {BOUNDARY_MODES}, got {mode!r}")
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"text: expected MLIR text as str or bytes, or bytecode, got {type(text).__name__}")
    try:
        text = artifact.as_text(text)
    except ValueError as error:
        raise CompileError((Diagnostic("error", name, str(error)),)) from None
    numbers = {
        "keep_functions_of": keep_functions_of,
        "time_limit": time_limit,
        "host_memory_limit": host_memory_limit,
        "memory_limit": memory_limit,
    }
    for option, number in numbers.items():
        if not 0 <= number < 2**63:
            raise ValueError(f"{option}: expected 0 (none) or more, got {number!r}")

    def run(report):
        return _core.compile(
            text,
            to,
            no_implicit_replication,
            strict,
            debug_info,
            str(device_model),
            arguments == "whole",
            results == "whole",
            not no_bucketing,
            int(keep_functions_of),
            float(time_limit),
            int(host_memory_limit),
            int(memory_limit),
            search_mode,
            keep_propagated,
            report,
            name,
        )

    result = run(report)
    diagnostics = tuple(Diagnostic(*diagnostic) for diagnostic in result.diagnostics)
    if not result.ok:
        raise CompileError(diagnostics)
    return Compiled(result.text, result.manifest, result.report if report else lambda: run(True).report(), diagnostics)
