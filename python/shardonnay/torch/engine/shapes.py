"""Ops that move elements: constants, broadcasts, slices, pads, and those of dynamic shapes whose sizes are known after
all.
"""

from __future__ import annotations

from typing import Any

import torch

from .elements import UNSIGNED, TensorType
from .integers import to_index
from .lowering import Lowering, Value, rule
from .program import Op
from .views import expanded, permuted, reshaped

Lower = Lowering


@rule("stablehlo.constant", "chlo.constant", elementwise=True)
def constant(lower: Lower, op: Op) -> Value:
    return op.attributes["value"].to(lower.device)


@rule("stablehlo.iota", "stablehlo.dynamic_iota")
def iota(lower: Lower, op: Op, *sizes: Value) -> Value:
    type, dim = op.tensor(), op.attributes["iota_dimension"]
    return along(lower.arange(type.shape[dim], type.dtype), dim, type.shape)


def along(row: Value, dim: int, shape: tuple[int, ...]) -> Value:
    """A vector as a tensor of this shape that differs along one dim."""
    return row.reshape([-1 if at == dim else 1 for at in range(len(shape))]).expand(shape)


@rule("stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim", elementwise=True)
def broadcast_in_dim(lower: Lower, op: Op, x: Value, *sizes: Value) -> Value:
    type = op.tensor()
    if not type.shape:
        return x
    unit = [1] * len(type.shape)
    for extent, dim in zip(op.operand().shape, op.attributes["broadcast_dimensions"], strict=True):
        unit[dim] = extent
    dims = op.attributes["broadcast_dimensions"]
    order = sorted(range(len(dims)), key=dims.__getitem__)
    own = [op.operand().shape[at] for at in order]
    return expanded(reshaped(permuted(x, order), own, unit), unit, type.shape)


@rule("stablehlo.broadcast")
def broadcast(lower: Lower, op: Op, x: Value) -> Value:
    return x.expand(op.tensor().shape)


@rule("stablehlo.reshape", "stablehlo.dynamic_reshape", elementwise=True)
def reshape(lower: Lower, op: Op, x: Value, *sizes: Value) -> Value:
    return reshaped(x, op.operand().shape, op.tensor().shape)


@rule("stablehlo.transpose")
def transpose(lower: Lower, op: Op, x: Value) -> Value:
    return permuted(x, op.attributes["permutation"])


@rule("stablehlo.reverse")
def reverse(lower: Lower, op: Op, x: Value) -> Value:
    return torch.flip(x, op.attributes["dimensions"])


@rule("stablehlo.concatenate")
def concatenate(lower: Lower, op: Op, *operands: Value) -> Value:
    return torch.cat(operands, op.attributes["dimension"]) if len(operands) > 1 else operands[0]


@rule("stablehlo.slice")
def slice_(lower: Lower, op: Op, x: Value) -> Value:
    starts, limits, strides = (op.attributes[name] for name in ("start_indices", "limit_indices", "strides"))
    return sliced(x, op.operand(), starts, limits, strides)


def sliced(x: Value, type: TensorType, starts: list[int], limits: list[int], strides: list[int]) -> Value:
    whole = [(0, extent, 1) for extent in type.shape]
    for dim, bounds in enumerate(zip(starts, limits, strides, strict=True)):
        if bounds != whole[dim]:
            start, limit, stride = bounds
            x = torch.narrow(x, dim, start, limit - start)
            if stride != 1:
                x = x[(slice(None),) * dim + (slice(None, None, stride),)]
    return x


@rule("stablehlo.real_dynamic_slice")
def real_dynamic_slice(lower: Lower, op: Op, x: Value, starts: Value, limits: Value, strides: Value) -> Value:
    return sliced(x, op.operand(), *(known(op, value, "bounds") for value in (starts, limits, strides)))


def known(op: Op, value: Value, what: str) -> Any:
    """The numbers of a small operand that must not depend on the program's inputs."""
    if not isinstance(value, torch.Tensor):
        raise op.refuse(f"{what} that are computed are not supported, expected constants")
    return value.tolist()


@rule("stablehlo.pad", "stablehlo.dynamic_pad")
def pad(lower: Lower, op: Op, x: Value, fill: Value, *bounds: Value) -> Value:
    if bounds:
        low, high, interior = (known(op, value, "pads") for value in bounds)
    else:
        low, high, interior = (op.attributes[f"{name}"]
                               for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))  # fmt: skip
    return padded(lower, x, op.operand(), fill, low, high, interior)


def padded(
    lower: Lower, x: Value, type: TensorType, fill: Value, low: list[int], high: list[int], interior: list[int]
) -> Value:
    """`x` with `fill` around and between its elements; negative edges take away."""
    for dim in range(len(type.shape)):
        if low[dim] or high[dim] or interior[dim]:
            x, type = _padded_dim(x, type, dim, fill, low[dim], high[dim], interior[dim])
    return x


def _padded_dim(
    x: Value, type: TensorType, dim: int, fill: Value, low: int, high: int, interior: int
) -> tuple[Value, TensorType]:
    shape = list(type.shape)

    def full(extent: int, *more: int) -> Value:
        return fill.expand([*shape[:dim], extent, *shape[dim + 1 :], *more])

    extent = shape[dim]
    if interior and extent > 1:
        apart = torch.cat(
            [x.unsqueeze(dim + 1), fill.expand([*shape[: dim + 1], interior, *shape[dim + 1 :]])], dim + 1
        )
        x = apart.flatten(dim, dim + 1)
        extent = extent + (extent - 1) * interior
        x = torch.narrow(x, dim, 0, extent)
    # What is taken away at one edge may reach into what is added at the other.
    parts = [full(low)] if low > 0 else []
    parts.append(x)
    parts += [full(high)] if high > 0 else []
    if len(parts) > 1:
        x = torch.cat(parts, dim)
    total = extent + max(low, 0) + max(high, 0)
    if low < 0 or high < 0:
        x = torch.narrow(x, dim, max(-low, 0), total + min(low, 0) + min(high, 0))
    shape[dim] = extent + low + high
    return x, TensorType(tuple(shape), type.element)


def starts_of(op: Op, operands: tuple[Value, ...], first: int) -> list[Value]:
    """Starts as int64, known or not, from the operands at `first` and behind."""
    return [to_index(op.operand(first + at).element, value) for at, value in enumerate(operands)]


@rule("stablehlo.dynamic_slice")
def dynamic_slice(lower: Lower, op: Op, x: Value, *starts: Value) -> Value:
    """Out of bounds it starts at the last place where the slice fits in."""
    for dim, start in enumerate(starts_of(op, starts, 1)):
        extent, size = op.operand().shape[dim], op.tensor().shape[dim]
        if size == extent:
            continue
        if isinstance(start, torch.Tensor):
            x = torch.narrow(x, dim, min(max(int(start), 0), extent - size), size)
        else:
            x = x.index_select(dim, start.clamp(0, extent - size) + lower.arange(size))
    return x


@rule("stablehlo.dynamic_update_slice")
def dynamic_update_slice(lower: Lower, op: Op, x: Value, update: Value, *starts: Value) -> Value:
    target, source = op.operand(0), op.operand(1)
    if not source.size:
        return x
    places = starts_of(op, starts, 2)
    if all(isinstance(start, torch.Tensor) for start in places):
        return _update_known(x, update, target, source, [int(start) for start in places])
    indices = []
    for dim, start in enumerate(places):
        place = start.clamp(0, target.shape[dim] - source.shape[dim]) + lower.arange(source.shape[dim])
        indices.append(place.reshape([-1 if at == dim else 1 for at in range(len(places))]))
    return torch.index_put(x, tuple(indices), update) if indices else update


def _update_known(x: Value, update: Value, target: TensorType, source: TensorType, starts: list[int]) -> Value:
    """From the inside out: the update as a slice along one dim of what it is in along the dims before."""
    starts = [min(max(s, 0), n - m) for s, n, m in zip(starts, target.shape, source.shape, strict=True)]
    dims = [dim for dim in range(len(starts)) if target.shape[dim] != source.shape[dim]]
    outer = [x]
    for dim in dims[:-1]:
        outer.append(torch.narrow(outer[-1], dim, starts[dim], source.shape[dim]))
    for dim, around in zip(reversed(dims), reversed(outer), strict=True) if dims else ():
        update = torch.slice_scatter(around, update, dim, starts[dim], starts[dim] + source.shape[dim])
    return update


@rule("stablehlo.tuple")
def tuple_(lower: Lower, op: Op, *operands: Value) -> Value:
    return (operands,)


@rule("stablehlo.get_tuple_element")
def get_tuple_element(lower: Lower, op: Op, operand: Value) -> Value:
    return operand[op.attributes["index"]]


@rule("stablehlo.get_dimension_size")
def get_dimension_size(lower: Lower, op: Op, x: Value) -> Value:
    return lower.constant(op.operand().shape[op.attributes["dimension"]], torch.int32)


@rule("stablehlo.after_all", "stablehlo.create_token")
def token(lower: Lower, op: Op, *tokens: Value) -> Value:
    return None


@rule("stablehlo.partition_id")
def partition_id(lower: Lower, op: Op) -> Value:
    return lower.constant(lower.rank % lower.program.partitions, UNSIGNED["ui32"])


@rule("stablehlo.replica_id")
def replica_id(lower: Lower, op: Op) -> Value:
    return lower.constant(lower.rank // lower.program.partitions, UNSIGNED["ui32"])


@rule("chlo.constant_like")
def constant_like(lower: Lower, op: Op, x: Value) -> Value:
    return torch.full(op.tensor().shape, op.attributes["value"], dtype=op.tensor().dtype, device=lower.device)
