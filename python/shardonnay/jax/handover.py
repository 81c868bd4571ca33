"""A program with the shardings of all its values, as XLA takes it in to partition it."""

import math
import re

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import sdy
from jax.interpreters.mlir import make_ir_context

from .. import boundary
from ..operations import operations
from . import artefacts
from .placements import parse

_WINDOWED = ["stablehlo." + name for name in ("convolution", "pad", "reduce_window", "select_and_scatter", "slice")]


def handed_over(text):
    """(artefact, boundary) of a program after our propagation; the boundary is a manifest without local shards."""
    # XLA takes in a user's constraint, not what its own partitioner writes for one.
    text = text.replace("= sdy.reshard ", "= sdy.sharding_constraint ")
    with make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        found = _boundary(module)
        _constrain_results(module)
        _constrain_branches(module)
        _constrain_scatters(module)
        _separate_windows(module)
        return artefacts.serialize(module, with_sdy=True), found


def _boundary(module):
    """The shardings of arguments and results."""
    meshes = {op.sym_name.value: str(op.mesh) for op in module.body.operations if op.operation.name == "sdy.mesh"}
    main = artefacts.main_of(module)
    function = ir.FunctionType(main.function_type.value)
    entries = {}
    for kind, types in (("arg_attrs", function.inputs), ("res_attrs", function.results)):
        attributes = main.attributes[kind] if kind in main.attributes else [{}] * len(types)
        entries[kind] = [_entry(type_, dict_, meshes) for type_, dict_ in zip(types, attributes)]
    named = [mesh for mesh in meshes.values() if boundary.mesh_axes(mesh)]
    return {
        "devices": ir.IntegerAttr(module.operation.attributes["mhlo.num_partitions"]).value,
        "mesh": named[0] if named else None,
        "inputs": entries["arg_attrs"],
        "outputs": entries["res_attrs"],
    }


def _entry(type_, attributes, meshes):
    sharding = str(attributes["sdy.sharding"]) if "sdy.sharding" in attributes else None
    entry = {"dtype": str(type_.element_type), "global_shape": list(type_.shape), "sharding": sharding}
    name = re.search(r"@(\w+)", sharding) if sharding else None
    if name and boundary.mesh_axes(meshes[name[1]]):
        entry["mesh"] = meshes[name[1]]
    return entry


def _constrain_results(module):
    """Says the shardings of some ops' results by constraints instead.

    XLA counts wrongly those of a loop that captures values, and takes in no ApproxTopK that has any.
    """
    found = [
        operation
        for operation in operations(module)
        if "sdy.sharding" in operation.attributes
        and (
            operation.name == "stablehlo.while"
            or (operation.name == "stablehlo.custom_call" and operation.opview.call_target_name.value == "ApproxTopK")
        )
    ]
    for op in found:
        shardings = sdy.TensorShardingPerValueAttr(op.attributes["sdy.sharding"]).shardings
        del op.attributes["sdy.sharding"]
        with ir.InsertionPoint.after(op):
            for result, sharding in zip(list(op.results), shardings):
                constraint = sdy.ShardingConstraintOp(result, sharding)
                result.replace_all_uses_except(constraint.result, constraint.operation)


def _constrain_branches(module):
    """All branches return values that are sharded as the results are: XLA refuses those that differ."""
    mesh = _named_mesh(module)
    for op in operations(module) if mesh else ():
        if op.name not in ("stablehlo.case", "stablehlo.if"):
            continue
        if "sdy.sharding" in op.attributes:
            shardings = sdy.TensorShardingPerValueAttr(op.attributes["sdy.sharding"]).shardings
        else:
            shardings = [_unsharded(mesh, result, "{}") for result in op.results]
        for region in op.regions:
            end = list(region.blocks[0].operations)[-1].operation
            with ir.InsertionPoint(end):
                for at, sharding in enumerate(shardings):
                    end.operands[at] = sdy.ShardingConstraintOp(end.operands[at], sharding).result


def _named_mesh(module):
    """The name of a mesh with axes; None if there is none."""
    meshes = [op for op in module.body.operations if op.operation.name == "sdy.mesh"]
    return next((op.sym_name.value for op in meshes if boundary.mesh_axes(str(op.mesh))), None)


def _unsharded(mesh, value, dim):
    """A sharding of `value` by no axes of the mesh of that name, each dim written as `dim`."""
    dims = ", ".join([dim] * len(ir.ShapedType(value.type).shape))
    return ir.Attribute.parse(f"#sdy.sharding<@{mesh}, [{dims}]>")


def _constrain_scatters(module):
    """What scatters read is in equal shards: XLA scatters what fills up the last one too."""
    meshes = {op.sym_name.value: op.mesh for op in module.body.operations if op.operation.name == "sdy.mesh"}
    for op in operations(module):
        for at, operand in enumerate(op.operands if op.name == "stablehlo.scatter" else ()):
            sharding = _sharding_of(operand)
            text = _in_equal_shards(str(sharding), ir.ShapedType(operand.type).shape, meshes) if sharding else ""
            if text and text != str(sharding):
                with ir.InsertionPoint(op):
                    op.operands[at] = sdy.ShardingConstraintOp(operand, ir.Attribute.parse(text)).result


def _separate_windows(module):
    """Slices, and ops with windows of what several ops read, read copies of their own.

    XLA keeps what it made of a shard before: what windows see of other shards is filled up with the initial value of
    the first op, and the first rows of a value, whose shards are those of all of its rows, are gathered as all of them.
    """
    mesh = _named_mesh(module)
    for op in operations(module) if mesh else ():
        for at, operand in enumerate(op.operands if op.name in _WINDOWED else ()):
            if ir.ShapedType(operand.type).shape and (op.name == "stablehlo.slice" or len(list(operand.uses)) > 1):
                with ir.InsertionPoint(op):
                    op.operands[at] = sdy.ShardingConstraintOp(operand, _unsharded(mesh, operand, "{?}")).result


def _sharding_of(value):
    """What the op that makes `value` says of its sharding, if anything."""
    attributes = {} if isinstance(value.owner, ir.Block) else value.owner.attributes
    if "sharding" in attributes:
        return attributes["sharding"]
    if "sdy.sharding" not in attributes:
        return None
    return sdy.TensorShardingPerValueAttr(attributes["sdy.sharding"]).shardings[ir.OpResult(value).result_number]


def _in_equal_shards(text, shape, meshes):
    """The sharding without the dims that it divides into unequal shards."""
    name = re.search(r"@(\w+)", text)
    if name is None:
        return text
    sizes = dict(boundary.mesh_axes(str(meshes[name[1]])))
    dims, *_ = parse(text, len(shape))
    counts = [math.prod(axis.size or sizes[axis.name] for axis in dim) for dim in dims]
    uneven = iter([size % count != 0 for size, count in zip(shape, counts)])
    head, tail = text.index("["), text.index("]")
    kept = re.sub(r"\{[^}]*\}", lambda dim: "{}" if next(uneven) else dim[0], text[head:tail])
    return text[:head] + kept + text[tail:]
