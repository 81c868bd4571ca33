"""Collectives as torch's functional ones, begun where they stand and waited for at the first use of what they bring.

Gloo knows few types and kinds: there, other reductions go in a wider type, or by a gather and a local reduction, and
what is only moved goes as bytes. Other back ends get the types as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from .elements import SMALL_FLOATS, TensorType
from .groups import partition_of
from .integers import flipped, to_index
from .lowering import Lowering, Pending, Value, rule
from .program import Op
from .reductions import _by_halves, combined, kind_of

Lower = Lowering
_C10D = torch.ops._c10d_functional
_NAMES = {
    "add": "sum",
    "multiply": "product",
    "maximum": "max",
    "minimum": "min",
    "and": "band",
    "or": "bor",
    "xor": "bxor",
}
# Types that gloo adds, multiplies and compares, and that it moves.
_GLOO = {torch.float32, torch.float64, torch.int8, torch.uint8, torch.int32, torch.int64}


class _Group:
    """The process group of this device in a collective, and the order in which the program lists it."""

    def __init__(self, lower: Lower, rows: list[list[int]]) -> None:
        self.devices = next((row for row in rows if lower.rank in row), [lower.rank])
        self.size = len(self.devices)
        self.alone = self.size == 1
        if self.alone:
            return
        group = lower.groups.group(self.devices)
        self.name = group.group_name
        self.is_gloo = dist.get_backend(group) == "gloo"
        self.order = lower.groups.order(self.devices)

    def to_program(self) -> list[int] | None:
        """For each place of the program's list the rank in the group; None if they are the same."""
        found = [self.order.index(device) for device in self.devices]
        return None if found == list(range(self.size)) else found

    def to_ranks(self) -> list[int] | None:
        """For each rank in the group its place in the program's list; None if they are the same."""
        found = [self.devices.index(device) for device in self.order]
        return None if found == list(range(self.size)) else found


def _pending(lower: Lower, started: Value, finish: Callable[[Value], Value]) -> Pending:
    return Pending(lambda: finish(lower.call(_C10D.wait_tensor.default, started)))


def _start(lower: Lower, name: str, value: Value, *arguments: Any) -> Value:
    return lower.call(getattr(_C10D, name).default, lower.symbolic(value).contiguous(), *arguments)


# What is only moved.


def _packed(type: TensorType, x: Value, is_gloo: bool) -> tuple[Value, Callable[[Value], Value]]:
    """(what goes over the wire, what makes of what has come the elements): rows stay rows."""
    if type.element in SMALL_FLOATS:
        small = SMALL_FLOATS[type.element]
        return x.to(small).view(torch.uint8), lambda y: y.view(small).to(torch.float32)
    if not is_gloo or type.dtype in _GLOO:
        return x, lambda y: y
    if type.dtype is torch.bool:
        return x.to(torch.uint8), lambda y: y.to(torch.bool)
    if len(type.shape) == 1:  # rows of one element each
        x = x.unsqueeze(1)
    # A dim of one element may have any stride and be contiguous, which a view of bytes does not take.
    rows = x.clone(memory_format=torch.contiguous_format) if type.shape[-1:] == (1,) else x.contiguous()
    return rows.view(torch.uint8), lambda y: y.view(type.dtype)


@rule("stablehlo.all_gather")
def all_gather(lower: Lower, op: Op, *operands: Value) -> Value:
    group, dim = _Group(lower, op.attributes["groups"]), op.attributes["all_gather_dim"]
    return _each(op, lambda at: _gathered(lower, op, operands[at], op.operand(at), group, dim))


def _each(op: Op, one: Callable[[int], Value]) -> Value:
    values = [one(at) for at in range(len(op.results))]
    return tuple(values) if len(values) != 1 else values[0]


def _gathered(lower: Lower, op: Op, x: Value, type: TensorType, group: _Group, dim: int) -> Value:
    if group.alone:
        return x
    shape = [*type.shape]
    x, unpack = _packed(TensorType((1, *type.shape), type.element), x.unsqueeze(0), group.is_gloo)
    started = _start(lower, "all_gather_into_tensor", x, group.size, group.name)
    order = group.to_program()

    def finish(rows: Value) -> Value:
        rows = unpack(rows)
        if order:
            rows = rows.index_select(0, lower.constant(order, torch.int64))
        rows = rows.movedim(0, dim) if dim else rows
        return rows.reshape([*shape[:dim], shape[dim] * group.size, *shape[dim + 1 :]])

    return _pending(lower, started, finish)


@rule("stablehlo.all_to_all")
def all_to_all(lower: Lower, op: Op, *operands: Value) -> Value:
    group = _Group(lower, op.attributes["groups"])
    split, concat = op.attributes["split_dimension"], op.attributes["concat_dimension"]
    return _each(op, lambda at: _exchanged(lower, operands[at], op.operand(at), group, split, concat))


def _exchanged(lower: Lower, x: Value, type: TensorType, group: _Group, split: int, concat: int) -> Value:
    if group.alone:
        return x
    count = group.size
    inner = type.shape[split] // count
    shape = [*type.shape[:split], count, inner, *type.shape[split + 1 :]]
    rows = x.reshape(shape).movedim(split, 0)
    own = [*type.shape[:split], inner, *type.shape[split + 1 :]]
    to_ranks, to_program = group.to_ranks(), group.to_program()
    if to_ranks:
        rows = rows.index_select(0, lower.constant(to_ranks, torch.int64))
    rows, unpack = _packed(TensorType((count, *own), type.element), rows, group.is_gloo)
    started = _start(lower, "all_to_all_single", rows, [1] * count, [1] * count, group.name)

    def finish(found: Value) -> Value:
        found = unpack(found)
        if to_program:
            found = found.index_select(0, lower.constant(to_program, torch.int64))
        own[concat] *= count
        return found.movedim(0, concat).reshape(own)

    return _pending(lower, started, finish)


@rule("stablehlo.collective_permute")
def collective_permute(lower: Lower, op: Op, *operands: Value) -> Value:
    """By an all_to_all of whole rows among those that the pairs join; who gets nothing has zeros."""
    pairs = op.attributes["pairs"]
    group = _Group(lower, partition_of(pairs, lower.program.devices))
    sends = [target for source, target in pairs if source == lower.rank]
    gets = [source for source, target in pairs if target == lower.rank]
    return _each(op, lambda at: _permuted(lower, operands[at], op.operand(at), group, sends, gets))


def _permuted(lower: Lower, x: Value, type: TensorType, group: _Group, sends: list[int], gets: list[int]) -> Value:
    if group.alone:
        return x if gets else torch.zeros(type.shape, dtype=type.dtype, device=lower.device)
    row, unpack = _packed(TensorType((1, *type.shape), type.element), x.unsqueeze(0), group.is_gloo)
    if not sends:
        row = torch.narrow(row, 0, 0, 0)
    receives, gives = ([int(device in devices) for device in group.order] for devices in (gets, sends))
    started = _start(lower, "all_to_all_single", row, receives, gives, group.name)
    if gets:
        return _pending(lower, started, lambda found: unpack(found).reshape(type.shape))
    zeros = torch.zeros(type.shape, dtype=type.dtype, device=lower.device)
    # Waited for all the same: what has come is empty, and added to nothing.
    return _pending(
        lower, started, lambda found: torch.cat([unpack(found).reshape([0, *type.shape]), zeros.unsqueeze(0)])[0]
    )


@rule("stablehlo.collective_broadcast")
def collective_broadcast(lower: Lower, op: Op, *operands: Value) -> Value:
    """From the first device of each group; devices of none have zeros."""
    rows = op.attributes["groups"]
    group = _Group(lower, rows)

    def one(at: int) -> Value:
        type = op.operand(at)
        if not any(lower.rank in row for row in rows):
            return torch.zeros(type.shape, dtype=type.dtype, device=lower.device)
        if group.alone:
            return operands[at]
        x, unpack = _packed(TensorType((1, *type.shape), type.element), operands[at].unsqueeze(0), group.is_gloo)
        started = _start(lower, "broadcast", x, group.order.index(group.devices[0]), group.name)
        return _pending(lower, started, lambda found: unpack(found).reshape(type.shape))

    return _each(op, one)


# What is reduced.


def _wire(
    kind: str, type: TensorType, is_gloo: bool
) -> tuple[str, Callable[[Value], Value], Callable[[Value], Value]] | None:
    """(torch's name of the reduction, what goes over the wire, what makes of it the result); None if there is no such.
    """
    name, dtype, element = _NAMES[kind], type.dtype, type.element
    integer = kind in ("and", "or", "xor")
    if element == "i1":
        names = {"add": "max", "or": "max", "maximum": "max", "multiply": "min", "and": "min", "minimum": "min"}
        return (names[kind], lambda x: x.to(torch.uint8), lambda y: y.to(torch.bool)) if kind in names else None
    if dtype.is_complex:
        return (name, torch.view_as_real, torch.view_as_complex) if kind == "add" else None
    if integer and dtype not in (torch.int32, torch.int64, torch.int8, torch.uint8):
        return name, lambda x: x.to(torch.int32), lambda y: y.to(dtype)
    if kind in ("maximum", "minimum") and element in ("ui16", "ui32"):
        return name, lambda x: to_index(element, x), lambda y: y.to(dtype)
    if kind in ("maximum", "minimum") and element == "ui64":
        return name, lambda x: flipped(element, x), lambda y: flipped(element, y)
    if is_gloo and dtype not in _GLOO:
        wide = torch.float32 if dtype.is_floating_point else torch.int32
        return name, lambda x: x.to(wide), lambda y: y.to(dtype)
    return name, lambda x: x, lambda y: y


def _kind(op: Op) -> str | None:
    found = kind_of(op.regions[0])
    return found if found in _NAMES else None


@rule("stablehlo.all_reduce")
def all_reduce(lower: Lower, op: Op, *operands: Value) -> Value:
    group, kind = _Group(lower, op.attributes["groups"]), _kind(op)
    return _each(op, lambda at: _all_reduced(lower, op, operands[at], op.operand(at), group, kind))


def _all_reduced(lower: Lower, op: Op, x: Value, type: TensorType, group: _Group, kind: str | None) -> Value:
    if group.alone:
        return x
    wire = _wire(kind, type, group.is_gloo) if kind else None
    if wire is None:
        return _gathered_and_reduced(lower, op, x, type, group, lambda found: found)
    name, pack, unpack = wire
    return _pending(lower, _start(lower, "all_reduce", pack(x), name, group.name), unpack)


def _gathered_and_reduced(
    lower: Lower, op: Op, x: Value, type: TensorType, group: _Group, then: Callable[[Value], Value]
) -> Value:
    """For reductions that the back end lacks: every device's row, in the order of the group."""
    rows = _gathered(lower, op, x.unsqueeze(0), TensorType((1, *type.shape), type.element), group, 0)
    shape = TensorType((group.size, *type.shape), type.element)
    return Pending(lambda: then(_reduced_rows(lower, op, rows.get(), shape)))


def _reduced_rows(lower: Lower, op: Op, rows: Value, shape: TensorType) -> Value:
    kind = kind_of(op.regions[0])
    if kind in _NAMES:
        found = rows[0]
        for at in range(1, shape.shape[0]):
            found = combined(lower, kind, shape.element, found, rows[at])
        return found
    # No initial value: the first row is one.
    rest = TensorType((shape.shape[0] - 1, *shape.shape[1:]), shape.element)
    return _by_halves(lower, op.regions[0], [rows[1:]], (rows[0],), rest, [0], list(shape.shape[1:]))[0]


@rule("stablehlo.reduce_scatter")
def reduce_scatter(lower: Lower, op: Op, x: Value) -> Value:
    group, kind, dim = _Group(lower, op.attributes["groups"]), _kind(op), op.attributes["scatter_dimension"]
    type, size = op.operand(), op.tensor().shape[dim]
    if group.alone:
        return x
    wire = _wire(kind, type, group.is_gloo) if kind else None
    if wire is None or (group.is_gloo and wire[0] not in ("sum", "product", "max", "min")):
        own = group.devices.index(lower.rank)
        return _gathered_and_reduced(
            lower, op, x, type, group, lambda found: torch.narrow(found, dim, own * size, size)
        )
    name, pack, unpack = wire
    shape = [*type.shape[:dim], group.size, size, *type.shape[dim + 1 :]]
    rows = x.reshape(shape).movedim(dim, 0)
    order = group.to_ranks()
    if order:
        rows = rows.index_select(0, lower.constant(order, torch.int64))
    started = _start(lower, "reduce_scatter_tensor", pack(rows), name, group.size, group.name)
    return _pending(lower, started, lambda found: unpack(found).reshape(op.tensor().shape))
