"""StableHLO programs as `jax.export.Exported`: how text that JAX did not write runs, by public API only.

A stub with the program's signature is exported, and its module replaced by the program.
"""

import dataclasses
import io
import re

import jax
from jax import export
from jax.extend import mlir
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters.mlir import make_ir_context

import shardonnay

from .buckets import reduce_apart

_PLACE = re.compile(r'"([^"]+)":(\d+):(\d+)')
_SOURCE = re.compile(r"at (.+):(\d+)")
# What an argument of a program may say that has no meaning once the program is called by another.
_OUTER_ATTRIBUTES = ("tf.aliasing_output", "jax.buffer_donor", "mhlo.layout_mode", "sdy.sharding")

# Types that jax.export cannot write, and what stands for them in a stub.
_WRITTEN_AS = {"int2": "int4", "uint2": "uint4"}


def main_of(module):
    """The function `main` of a module."""
    return next(op for op in module.body.operations if op.operation.name == "func.func" and op.sym_name.value == "main")


def refuse(location, message, function=""):
    """Raises a CompileError at the user's line that an MLIR location has first, else that of `function`'s source."""
    place = _PLACE.search(str(location)) or _SOURCE.search(function)
    where = ":".join(place.groups()) if place else ""
    raise shardonnay.CompileError((shardonnay.Diagnostic("error", where, message),))


def _without(attributes):
    """An array of dictionaries without the attributes of the outermost program."""
    kept = [{item.name: item.attr for item in entry if item.name not in _OUTER_ATTRIBUTES} for entry in attributes]
    return ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in kept])


def _as_called(module):
    """Leaves out of a program what has a meaning in the outermost one only."""
    main = main_of(module)
    for kind in ("arg_attrs", "res_attrs"):
        if kind in main.attributes:
            main.attributes[kind] = _without(main.attributes[kind])


def serialize(module, with_sdy=False):
    """The portable artefact of a program. `with_sdy`: it has shardings, for XLA to partition by."""
    _as_called(module)
    version = stablehlo.get_version_from_compatibility_requirement(stablehlo.StablehloCompatibilityRequirement.NONE)
    return mlir.serialize_portable_artifact(module, version, with_sdy)


def with_known_shapes(text):
    """The text of a program that may call what was exported for symbolic shapes, which follow from its arguments'."""
    if "<?x" not in text and "x?x" not in text:
        return text
    with make_ir_context(), ir.Location.unknown():
        bytecode = io.BytesIO()
        ir.Module.parse(text).operation.write_bytecode(bytecode)
        refined = mlir.refine_polymorphic_shapes(bytecode.getvalue(), enable_shardy=True)
        return ir.Module.parse(refined).operation.get_asm(enable_debug_info=True)


def runnable(text, change=None):
    """The text of a device's program as what this process runs: MLIR's bytecode of StableHLO.

    JAX reads it as it reads a portable artefact, whose own dialect takes as long to write as the program to partition.
    change: edits the module before.
    """
    with make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        reduce_apart(module)
        _as_called(module)
        if change:
            change(module)
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        return bytecode.getvalue()


def portable(artefact):
    """The portable artefact of what is `runnable`, for another version of JAX to read."""
    with make_ir_context(), ir.Location.unknown():
        return serialize(mlir.deserialize_portable_artifact(artefact))


def _written(kind):
    """What stands for a type while an Exported is written."""
    dtype = _WRITTEN_AS.get(kind.dtype.name, kind.dtype)
    return jax.ShapeDtypeStruct(kind.shape, dtype, weak_type=kind.weak_type, sharding=kind.sharding)


def _zeros(result):
    if result.weak_type:
        return jax.lax.full(result.shape, result.dtype.type(0).item())
    return jax.lax.full(result.shape, 0, result.dtype)


def exported(name, artefact, arguments, results, platform, shardings=None):
    """`artefact` as an Exported that takes `arguments` and gives `results`, lists of ShapeDtypeStruct.

    shardings: (of the arguments, of the results), for a program that XLA is to partition.
    """

    def call(*_):
        return tuple(_zeros(_written(result)) for result in results)

    options = {} if shardings is None else {"in_shardings": shardings[0], "out_shardings": shardings[1]}
    call.__name__ = name
    jitted = jax.jit(call, keep_unused=True, **options)
    # The caller's mesh is none of its types', and shardings that are not constrained there cannot be written.
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ())):
        made = export.export(jitted, platforms=[platform])(*map(_written, arguments))
    # Written and read, it holds nothing of the stub: neither its derivative, which is zero, nor its lowered module,
    # which JAX's caches would keep. Weak types are not written.
    read = export.deserialize(made.serialize())
    typed = [
        tuple(aval.update(dtype=kind.dtype) for aval, kind in zip(avals, kinds, strict=True))
        for avals, kinds in ((read.in_avals, arguments), (made.out_avals, results))
    ]
    return dataclasses.replace(read, in_avals=typed[0], out_avals=typed[1], mlir_module_serialized=artefact)
