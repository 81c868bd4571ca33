"""Gathers and scatters, and what else is addressed by computed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .elements import TensorType, is_complex
from .integers import flipped, to_index
from .lowering import Lowering, Value, rule
from .program import Op
from .reductions import fold, kind_of
from .shapes import known
from .views import permuted, reshaped

Lower = Lowering
# Updates that are combined one after the other, for want of a faster way.
_MOST_FOLDED = 1024


@dataclass
class _Places:
    """Where a gather or a scatter reaches: of each operand dim that is addressed, its places, [batch..., window...].

    Other dims are taken whole: they are `plain`.
    """

    addressed: dict[int, Value]
    plain: list[int]
    batch: list[int]
    window: list[int]  # extents of the windows' addressed dims that are there in the result
    inside: Value | None  # which places are within bounds; None if all are put there


def _places(
    lower: Lower, op: Op, operand: TensorType, indices: TensorType, index: Value, numbers: dict[str, Any],
    names: tuple[str, str, str, str], sizes: list[int], clamps: bool,
) -> _Places:  # fmt: skip
    """`names`: of the dims of the operand that are addressed, dropped from windows, batched, and those of the indices.
    """
    mapped, dropped, batched, index_batched = (numbers.get(name, []) for name in names)
    vector = numbers.get("index_vector_dim", 0)
    index = to_index(indices.element, index)
    if vector == len(indices.shape):
        index, shape = index.unsqueeze(-1), [*indices.shape, 1]
    else:
        index, shape = index.movedim(vector, -1), [*indices.shape]
        shape.append(shape.pop(vector))
    batch = shape[:-1]
    windows = [dim for dim in range(len(operand.shape)) if dim not in dropped and dim not in batched]
    # A dim that is taken whole needs no places, if its start is put where it fits.
    plain = [
        dim
        for dim in windows
        if sizes[dim] == operand.shape[dim] and (dim not in mapped or (clamps and sizes[dim] > 0))
    ]
    windowed = [dim for dim in windows if dim not in plain]
    addressed: dict[int, Value] = {}
    inside: Value | None = None
    total = len(batch) + len(windowed)
    for dim in range(len(operand.shape)):
        if dim in plain:
            continue
        limit = operand.shape[dim] - sizes[dim]
        if dim in batched:
            at = index_batched[batched.index(dim)]
            at -= vector < at
            place = lower.arange(operand.shape[dim]).reshape([-1 if k == at else 1 for k in range(len(batch))])
        elif dim in mapped:
            place = index[..., mapped.index(dim)]
            if clamps:
                place = place.clamp(0, limit)
            else:
                fits = (place >= 0) & (place <= limit)
                inside = fits if inside is None else inside & fits
        else:
            place = lower.constant(0, torch.int64).reshape([1] * len(batch))
        place = place.reshape([*_shape_of(place, batch, dim in batched, dim in mapped), *[1] * len(windowed)])
        if dim in windowed:
            own = len(batch) + windowed.index(dim)
            place = place + lower.arange(sizes[dim]).reshape([-1 if k == own else 1 for k in range(total)])
        addressed[dim] = place
    if inside is not None:
        inside = inside.reshape([*batch, *[1] * len(windowed)])
    return _Places(addressed, plain, batch, [sizes[dim] for dim in windowed], inside)


def _shape_of(place: Value, batch: list[int], batched: bool, mapped: bool) -> list[int]:
    if mapped:
        return batch
    if not batched:
        return [1] * len(batch)
    return [int(extent) for extent in place.shape]


@rule("stablehlo.gather", "stablehlo.dynamic_gather")
def gather(lower: Lower, op: Op, operand: Value, index: Value, *sizes: Value) -> Value:
    """Starts out of bounds are put to the nearest place where the slice fits in."""
    numbers = op.attributes["dimension_numbers"]
    window = known(op, sizes[0], "slice sizes") if sizes else op.attributes["slice_sizes"]
    type, target = op.operand(0), op.tensor()
    if not target.size:
        return torch.zeros(target.shape, dtype=target.dtype, device=lower.device)
    names = ("start_index_map", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims")
    places = _places(lower, op, type, op.operand(1), index, numbers, names, window, clamps=True)
    order = [*places.addressed, *places.plain]
    moved = permuted(operand, order)
    found = (
        moved[tuple(places.addressed.values())]
        if places.addressed
        else moved.expand([*places.batch, *_extents(type, places.plain)])
    )
    if not places.addressed and places.batch:
        found = moved.reshape([1] * len(places.batch) + _extents(type, places.plain)).expand(
            [*places.batch, *_extents(type, places.plain)]
        )
    elif not any(_is_whole(place, places) for place in places.addressed.values()):
        found = found.expand([*places.batch, *places.window, *_extents(type, places.plain)])
    # Behind the batch dims stand the window's: addressed ones, then plain ones, each in the operand's order.
    dropped = {*numbers.get("collapsed_slice_dims", []), *numbers.get("operand_batching_dims", [])}
    windowed = [dim for dim in places.addressed if dim not in dropped]
    behind = [*windowed, *places.plain]
    offsets = numbers.get("offset_dims", [])
    permutation = [0] * len(target.shape)
    batch_dims = iter(range(len(places.batch)))
    windows = sorted(behind)
    for dim in range(len(target.shape)):
        if dim in offsets:
            permutation[dim] = len(places.batch) + behind.index(windows[offsets.index(dim)])
        else:
            permutation[dim] = next(batch_dims)
    return permuted(found, permutation)


def _is_whole(place: Value, places: _Places) -> bool:
    """Of every batch and window position there is a place: what depends on the indices, outside of windows."""
    return not isinstance(place, torch.Tensor) and not places.window


def _extents(type: TensorType, dims: list[int]) -> list[int]:
    return [type.shape[dim] for dim in dims]


@rule("stablehlo.scatter")
def scatter(lower: Lower, op: Op, *operands: Value) -> Value:
    """Windows that do not fit in are left out; of updates at one place the later is combined after the earlier."""
    count = len(operands) // 2
    inputs, index, updates = operands[:count], operands[count], operands[count + 1 :]
    type, update_type = op.operand(0), op.operand(count + 1)
    if not update_type.size or not type.size:
        return inputs
    numbers = op.attributes["scatter_dimension_numbers"]
    window_dims = numbers.get("update_window_dims", [])
    dropped = {*numbers.get("inserted_window_dims", []), *numbers.get("input_batching_dims", [])}
    windows = [dim for dim in range(len(type.shape)) if dim not in dropped]
    sizes = [1] * len(type.shape)
    for dim, at in zip(windows, window_dims, strict=True):
        sizes[dim] = update_type.shape[at]
    names = (
        "scatter_dims_to_operand_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
    )
    places = _places(lower, op, type, op.operand(count), index, numbers, names, sizes, clamps=False)
    # [addressed..., plain...] in rows of plain elements; the last row takes what is out of bounds.
    order = [*places.addressed, *places.plain]
    addressed, plain = _extents(type, list(places.addressed)), _extents(type, places.plain)
    rows = TensorType(tuple(addressed), "f32").size
    linear: Value = lower.constant(0, torch.int64)
    for dim, place in places.addressed.items():
        linear = linear * type.shape[dim] + place
    if places.inside is not None:
        linear = torch.where(places.inside, linear, rows)
    linear = linear.expand([*places.batch, *places.window]).reshape(-1)
    batch_dims = [dim for dim in range(len(update_type.shape)) if dim not in window_dims]
    behind = [
        window_dims[windows.index(dim)] for dim in (*[d for d in places.addressed if d not in dropped], *places.plain)
    ]
    flat = [permuted(update, [*batch_dims, *behind]).reshape([-1, *plain]) for update in updates]
    targets = [
        torch.cat([permuted(value, order).reshape([rows, *plain]), _row(lower, op, at, plain)])
        for at, value in enumerate(inputs)
    ]
    amount = TensorType((*places.batch, *places.window), "f32").size
    written = _combined(lower, op, targets, linear, flat, rows, amount, len(plain))
    back = [order.index(dim) for dim in range(len(order))]
    return tuple(permuted(reshaped(value[:rows], [rows, *plain], [*addressed, *plain]), back) for value in written)


def _row(lower: Lower, op: Op, at: int, plain: list[int]) -> Value:
    return torch.zeros([1, *plain], dtype=op.operand(at).dtype, device=lower.device)


def _combined(
    lower: Lower, op: Op, targets: list[Value], linear: Value, updates: list[Value], rows: int, amount: int, plain: int
) -> list[Value]:
    """Rows of the updates into rows of the targets by the op's computation."""
    block, element = op.regions[0], op.operand(0).element
    kind = kind_of(block) if len(targets) == 1 else None
    target, update = targets[0], updates[0]
    if kind == "add" and element != "i1":
        return [torch.index_put(target, (linear,), update, True)]
    if kind == "second":
        if op.attributes.get("unique_indices", False):
            return [torch.index_put(target, (linear,), update)]
        return [_replaced(lower, target, linear, update, rows, amount, plain)]
    if kind in ("maximum", "minimum") and not is_complex(element) and element != "i1":
        expanded = linear.reshape([-1] + [1] * plain).expand_as(update)
        name = "amax" if kind == "maximum" else "amin"
        found = torch.scatter_reduce(flipped(element, target), 0, expanded, flipped(element, update), name)
        return [flipped(element, found)]
    if kind == "multiply" and not is_complex(element) and element != "i1":
        expanded = linear.reshape([-1] + [1] * plain).expand_as(update)
        return [torch.scatter_reduce(target, 0, expanded, update, "prod")]
    if amount > _MOST_FOLDED:
        raise op.refuse(f"combines {amount} updates by a computation of several ops, expected at most {_MOST_FOLDED}")
    if len(targets) == 1:
        return [fold(lower, op, block, target, linear, update, amount)]
    return _folded(lower, op, targets, linear, updates, amount)


def _replaced(lower: Lower, target: Value, linear: Value, update: Value, rows: int, amount: int, plain: int) -> Value:
    """The last update of each row wins."""
    if amount == 1:
        return torch.index_put(target, (linear,), update)
    last = torch.full([rows + 1], -1, dtype=torch.int64, device=lower.device)
    last = torch.scatter_reduce(lower.symbolic(last), 0, linear, lower.arange(amount), "amax")
    found = update.index_select(0, last.clamp(min=0))
    touched = (last >= 0).reshape([-1] + [1] * plain)
    return torch.where(touched, found, target)


def _folded(
    lower: Lower, op: Op, targets: list[Value], linear: Value, updates: list[Value], amount: int
) -> list[Value]:
    for at in range(amount):
        place = linear[at].reshape(1)
        rows = [target.index_select(0, place) for target in targets]
        new = lower.each(op.regions[0], *rows, *(update[at].unsqueeze(0) for update in updates))
        targets = [torch.index_put(target, (place,), value) for target, value in zip(targets, new, strict=True)]
    return targets


@rule("stablehlo.torch_index_select")
def torch_index_select(lower: Lower, op: Op, operand: Value, index: Value) -> Value:
    dim, batches = op.attributes["dim"], op.attributes["batch_dims"]
    if batches:
        raise op.refuse(f"batch_dims = {batches} is not supported, expected 0")
    found = operand.index_select(dim, to_index(op.operand(1).element, index).reshape(-1))
    shape = op.operand(0).shape
    return found.reshape([*shape[:dim], *op.operand(1).shape, *shape[dim + 1 :]])
