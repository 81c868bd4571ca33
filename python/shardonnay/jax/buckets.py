"""The sum of a bucket as sums of the tensors in it, for XLA.

The compiler packs small tensors by a concatenate, reduces them at once and slices the result: PJRT's CPU client takes
no all_reduce of several operands. XLA makes one out of neighbouring all_reduces itself, and copies nothing for it.
Slices cost it time: a kernel that reads a gradient out of one is another for each offset, while those that differ in
nothing are compiled once. In a small transformer's step of AdamW a quarter of XLA's time goes there.
"""

from jax.extend.mlir import ir

from ..operations import operations


def reduce_apart(module):
    """Replaces an all_reduce of a concatenate by one of each operand, where nothing but those is sliced out again."""
    for reduction in [op for op in operations(module) if op.name == "stablehlo.all_reduce"]:
        bucket = reduction.operands[0].owner
        if isinstance(bucket, ir.Block) or bucket.name != "stablehlo.concatenate" or len(reduction.operands) > 1:
            continue
        slices = [use.owner.operation for use in reduction.results[0].uses]
        parts = _parts(bucket.operands)
        if len(list(bucket.results[0].uses)) == 1 and all(_range(slice_) in parts for slice_ in slices):
            for slice_ in slices:
                _replace(slice_, parts[_range(slice_)], reduction)
            reduction.erase()
            bucket.operation.erase()


def _parts(operands):
    """Each of the flat operands of a concatenate by its range; nothing if they are not flat."""
    parts, start = {}, 0
    for operand in operands:
        if len(operand.type.shape) != 1:
            return {}
        limit = start + operand.type.shape[0]
        parts[start, limit] = operand
        start = limit
    return parts


def _range(operation):
    """What a slice reads of a flat tensor, without gaps; None of another operation."""
    if operation.name != "stablehlo.slice":
        return None
    bounds = (operation.attributes[name] for name in ("start_indices", "limit_indices", "strides"))
    starts, limits, strides = (list(ir.DenseI64ArrayAttr(bound)) for bound in bounds)
    return (starts[0], limits[0]) if strides == [1] else None


def _replace(slice_, operand, reduction):
    """Puts `reduction`'s sum of `operand` in the place of a slice; it is of the shape from before that was flat."""
    flat, reshape = operand, operand.owner
    if not isinstance(reshape, ir.Block) and reshape.name == "stablehlo.reshape":
        operand = reshape.operands[0]
    with ir.InsertionPoint(reduction), reduction.location:
        attributes = dict(reduction.attributes)
        apart = ir.Operation.create("stablehlo.all_reduce", [operand.type], [operand], attributes, regions=1)
        _copy_body(reduction.regions[0].blocks[0], apart.regions[0])
        result = ir.Operation.create("stablehlo.reshape", [flat.type], [apart.result]).result
    slice_.results[0].replace_all_uses_with(result)
    slice_.erase()


def _copy_body(body, region):
    copied = region.blocks.append(*(argument.type for argument in body.arguments))
    values = dict(zip(body.arguments, copied.arguments, strict=True))
    for operation in body.operations:
        made = operation.operation.clone(ir.InsertionPoint(copied))
        for at, operand in enumerate(made.operands):
            made.operands[at] = values[operand]
        values.update(zip(operation.results, made.results, strict=True))
