"""From a lowered function to a program that runs: partitioned by us, or propagated by us and partitioned by XLA."""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jax

import shardonnay

from ..options import Options
from . import artefacts, callbacks, custom_partitioning, handover
from .annotations import Notes, annotated
from .arguments import check_no_refs
from .execution import Program, PropagatedProgram
from .meshes import MeshError, context_mesh, meshes
from .signature import Signature

_LINE = re.compile(r"(.+):(\d+):\d+")
_FUNCTION = re.compile(r".* at (.+):(\d+)")


@dataclass(frozen=True)
class Source:
    """What a compilation starts from: a function that JAX traced and lowered, and the meshes that its user named.

    has_devices: JAX knew for which devices to lower it.
    """

    traced: jax.stages.Traced
    lowered: jax.stages.Lowered
    meshes: tuple
    notes: Notes
    signature: Signature
    has_devices: bool

    @classmethod
    def of(cls, traced, placed, named, notes):
        """`placed`: what has a mesh of the user's, such as shardings, after the meshes `named`."""
        if len(traced.jaxpr.in_avals) != len(jax.tree.leaves(traced.in_avals)):
            raise jax.errors.UnexpectedTracerError(
                f"{traced.fun_name} closes over a value that JAX traces outside it, or that leaked from an earlier "
                "trace; expected values of its own: pass it as an argument"
            )
        check_no_refs(traced.fun_name, traced.jaxpr.consts)
        shardings = [getattr(item, "sharding", item) for item in placed]
        found = meshes(traced.jaxpr, *named, context_mesh(), *shardings)
        lowered, has_devices = _lowered(traced, found)
        return cls(traced, lowered, tuple(found), notes, Signature.of(traced, lowered), has_devices)

    @property
    def function(self):
        """The name and the place of the function, as JAX says them."""
        return self.traced.jaxpr.jaxpr.debug_info.func_src_info

    def devices(self):
        """How many devices the program is for."""
        module = self.lowered.compiler_ir("stablehlo")
        return artefacts.ir.IntegerAttr(module.operation.attributes["mhlo.num_partitions"]).value

    def text(self):
        """The global program with the user's lines."""
        return artefacts.with_known_shapes(annotated(self.lowered, self.notes))

    def platform(self):
        """Where it is to run, as JAX names it for export."""
        for mesh in self.meshes:
            if isinstance(mesh, jax.sharding.Mesh):
                return mesh.devices.flat[0].platform
        return jax.default_backend()

    def check_devices(self):
        """Refuses to make a program that runs for meshes without devices."""
        if not self.has_devices:
            axes = ", ".join(str(dict(mesh.shape)) for mesh in self.meshes)
            raise MeshError(
                f"{self.traced.fun_name}: only abstract meshes are named ({axes}), which have no devices; give mesh= a "
                "jax.sharding.Mesh, or call it under jax.set_mesh; lower(...).plan() needs none"
            )


def _lowered(traced, named):
    """The lowered function, and whether that is for devices."""
    try:
        return traced.lower(), True
    except ValueError:
        if not named or any(isinstance(mesh, jax.sharding.Mesh) for mesh in named):
            raise
        # Abstract meshes have no devices, which could say what they are.
        return traced.lower(lowering_platforms=(jax.default_backend(),)), False


@dataclass(frozen=True)
class Built:
    """A program that runs (None: one that is only planned), with what the compiler says of it.

    text: the compiled program; source: what it was compiled from, with which options (None: not known). report: makes
    the report, None where there is none.
    """

    program: Program | None
    text: str
    source: str
    manifest: dict
    diagnostics: tuple
    report: Callable
    options: Options | None = None

    @classmethod
    def of(cls, program, compiled, source):
        """`compiled`: what `shardonnay.compile` returned."""
        return cls(
            program,
            compiled.text,
            source,
            compiled.manifest,
            compiled.diagnostics,
            lambda: compiled.report,
            compiled.options,
        )


def _compiled(text, options, **keywords):
    """`options`: a mapping, or an options object."""
    given = dict(options) if isinstance(options, Mapping) else {"options": options}
    return shardonnay.compile(text, **given, **keywords)


def _warn(diagnostics, function):
    """The compiler's warnings with their notes, as Python's at the user's lines, else at the function's."""
    found = []
    for diagnostic in diagnostics:
        if diagnostic.severity == "warning":
            found.append((diagnostic.location, [diagnostic.message]))
        elif diagnostic.severity == "note" and found:
            found[-1][1].append(str(diagnostic))
    for location, lines in found:
        place = _LINE.fullmatch(location) or _FUNCTION.fullmatch(function)
        path, line = (place[1], int(place[2])) if place else ("<program>", 0)
        warnings.warn_explicit("\n".join(lines), UserWarning, path, line)


def _planned(source, options):
    """What our compiler makes of a source, the text that it was given, and the callbacks in it: functions, numbers."""
    text = source.text()
    if custom_partitioning.TARGET in text:
        # It is traced once more, and what that trace calls is not on the list of this one.
        callbacks.check_none(source, text, "beside a custom_partitioning", "call it outside the function")
        text = custom_partitioning.expanded(source, lambda text: _compiled(text, options, to="reshard").text)
    taken = callbacks.taken(source, text)
    compiled = _compiled(text, options)
    _warn(compiled.diagnostics, source.function)
    return compiled, text, *taken


def planned(source, options):
    """The program of one device, by our compiler, for devices that need not be there."""
    compiled, text, *_ = _planned(source, options)
    return Built.of(None, compiled, text)


def partitioned(source, options):
    """The program of one device, by our compiler."""
    source.check_devices()
    compiled, text, functions, numbered = _planned(source, options)
    artefact = artefacts.runnable(compiled.text, numbered)
    program = Program(source.signature, artefact, compiled.manifest, source.meshes, source.platform(), functions)
    return Built.of(program, compiled, text)


def propagated(source, options):
    """The global program with our propagation's shardings, to be partitioned by XLA."""
    source.check_devices()
    text = source.text()
    callbacks.check_none(source, text, "where XLA partitions", "use shardonnay.jax.partition")
    compiled = _compiled(text, options, to="export")
    _warn(compiled.diagnostics, source.function)
    artefact, boundary = handover.handed_over(compiled.text)
    return Built.of(
        PropagatedProgram(source.signature, artefact, boundary, source.meshes, source.platform()), compiled, text
    )
