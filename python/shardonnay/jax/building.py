"""From a lowered function to a program that runs: partitioned by our compiler, or propagated by it and partitioned by XLA."""

import re
from dataclasses import dataclass

import jax

import shardonnay

from . import artefacts
from .execution import Program, physical_type
from .meshes import context_mesh, meshes
from .placements import Placements

_CALLBACK = re.compile(r"xla_(ffi_)?(partitioned_)?python_(cpu|gpu)_callback")
_PLACE = re.compile(r'"([^"]+)":(\d+):(\d+)')


@dataclass(frozen=True)
class Source:
    """What a compilation starts from: a function that JAX traced and lowered, and the meshes that its user named."""

    traced: jax.stages.Traced
    lowered: jax.stages.Lowered
    meshes: tuple

    @classmethod
    def of(cls, traced, placed, named):
        """`placed`: what has a mesh of the user's, such as shardings, after the meshes `named`."""
        shardings = [getattr(item, "sharding", item) for item in placed]
        found = meshes(traced.jaxpr, *named, context_mesh(), *shardings)
        return cls(traced, traced.lower(), tuple(found))

    def text(self):
        """The global program with the user's lines."""
        return self.lowered.as_text(debug_info=True)

    def platform(self):
        """Where it is to run, as JAX names it for export."""
        for mesh in self.meshes:
            if isinstance(mesh, jax.sharding.Mesh):
                return mesh.devices.flat[0].platform
        return jax.default_backend()

    def results(self):
        """The types of the flat results."""
        return [
            jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in self.traced.jaxpr.out_avals
        ]


@dataclass(frozen=True)
class Built:
    """A program that runs, and the `shardonnay.Compiled` that it comes from."""

    program: Program
    compiled: shardonnay.Compiled
    text: str


def _refuse(location, message):
    place = _PLACE.search(location)
    where = ":".join(place.groups()) if place else ""
    raise shardonnay.CompileError((shardonnay.Diagnostic("error", where, message),))


def check_supported(lowered):
    """Refuses, where it is written, what the public route cannot carry: calls back into Python."""

    def visit(operation):
        if operation.name == "stablehlo.custom_call":
            target = operation.attributes["call_target_name"].value
            if _CALLBACK.match(target):
                _refuse(
                    str(operation.location),
                    "a call back into Python (jax.pure_callback, io_callback, debug.callback or debug.print), which a program "
                    "that is compiled apart cannot reach; expected none: call it outside the partitioned function",
                )
        return artefacts.ir.WalkResult.ADVANCE

    lowered.compiler_ir("stablehlo").operation.walk(visit)


def partitioned(source, options):
    """The program of one device, by our compiler."""
    check_supported(source.lowered)
    text = source.text()
    compiled = shardonnay.compile(text, **options)
    placements = Placements(compiled.manifest, source.meshes)
    artefact = artefacts.serialize(compiled.text)
    program = Program(
        source.traced.fun_name, artefact, compiled.manifest, placements, source.results(), source.platform()
    )
    return Built(program, compiled, text)
