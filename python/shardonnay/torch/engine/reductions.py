"""Reductions by a computation on two elements: torch's own for the kinds it knows, else by halves."""

from __future__ import annotations

import math

import torch

from .elements import TensorType, is_complex, is_float
from .elementwise import larger, smaller
from .integers import flipped
from .lowering import Lowering, Value, rule
from .program import Block, Op

Lower = Lowering
_KINDS = {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}


def kind_of(block: Block) -> str | None:
    """What a computation on (x, y) is if it is one op: "add", "maximum", ...; "first", "second" for one of them."""
    if block.returned == block.arguments[1:] and len(block.arguments) == 2:
        return "second"
    if block.returned == block.arguments[:1] and len(block.arguments) == 2:
        return "first"
    if len(block.ops) != 2 or len(block.arguments) != 2 or len(block.returned) != 1:
        return None
    op = block.ops[0]
    name = op.name.removeprefix("stablehlo.")
    uses = sorted(op.operands) == sorted(block.arguments) and op.results == block.returned
    return name if uses and name in _KINDS else None


def _over(x: Value, dims: list[int], function: str) -> Value:
    """One dim after the other, the last first."""
    for dim in sorted(dims, reverse=True):
        x = getattr(torch, function)(x, dim)
    return x


def _reduce_known(kind: str, type: TensorType, x: Value, dims: list[int]) -> Value | None:
    """The reduction as torch's own; None if it has none."""
    element, boolean = type.element, type.element == "i1"
    if kind == "add" and not boolean:
        return torch.sum(x, dims, dtype=type.dtype)
    if kind in ("maximum", "minimum") and not is_complex(element):
        name = "amax" if kind == "maximum" else "amin"
        return flipped(element, getattr(torch, name)(flipped(element, x), dims))
    if kind == "multiply" and not boolean:
        for dim in sorted(dims, reverse=True):
            x = torch.prod(x, dim, dtype=type.dtype)
        return x
    if boolean and kind in ("or", "add"):
        return _over(x, dims, "any")
    if boolean and kind in ("and", "multiply"):
        return _over(x, dims, "all")
    return None


def _is_neutral(kind: str, element: str, init: Value) -> bool:
    if not isinstance(init, torch.Tensor):
        return False
    if kind in ("add", "multiply"):
        return bool(init == (0 if kind == "add" else 1))
    return (
        is_float(element)
        and kind in ("maximum", "minimum")
        and bool(init == (-math.inf if kind == "maximum" else math.inf))
    )


def combined(lower: Lower, kind: str, element: str, x: Value, y: Value) -> Value:
    """Two tensors by a kind of reduction."""
    if kind in ("maximum", "minimum"):
        return (larger if kind == "maximum" else smaller)(element, x, y)
    names = {"add": torch.add, "multiply": torch.mul, "and": torch.bitwise_and, "or": torch.bitwise_or,
             "xor": torch.bitwise_xor}
    return names[kind](x, y)


def reduced(
    lower: Lower, op: Op, values: list[Value], inits: tuple[Value, ...], type: TensorType, dims: list[int]
) -> list[Value]:
    """The tensors of this shape over these dims by the op's computation, with its initial values."""
    block, shape = op.regions[0], type.shape
    rest = [extent for dim, extent in enumerate(shape) if dim not in dims]
    if any(shape[dim] == 0 for dim in dims):
        return [init.expand(rest) for init in inits]
    kind = kind_of(block) if len(values) == 1 else None
    if not dims:
        return values  # as XLA has it: nothing is reduced
    if kind is not None:
        found = _reduce_known(kind, type, values[0], dims)
        if found is not None and _is_neutral(kind, type.element, inits[0]):
            return [found]
        if found is not None:
            return [combined(lower, kind, type.element, found, inits[0])]
    return _by_halves(lower, block, values, inits, type, dims, rest)


def _by_halves(
    lower: Lower, block: Block, values: list[Value], inits: tuple[Value, ...], type: TensorType, dims: list[int],
    rest: list[int]
) -> list[Value]:
    """Neighbours in the order of the elements, so that the computation need only be associative."""
    kept = [dim for dim in range(len(type.shape)) if dim not in dims]
    count = TensorType(tuple(type.shape[dim] for dim in dims), "f32").size
    rows = [value.permute([*dims, *kept]).reshape([count, *rest]) for value in values]
    while count > 1:
        half = count // 2
        evens = [row[0 : 2 * half : 2] for row in rows]
        odds = [row[1 : 2 * half : 2] for row in rows]
        joined = lower.each(block, *evens, *odds)
        if count % 2:
            joined = [torch.cat([new, row[count - 1 :]]) for new, row in zip(joined, rows, strict=True)]
        rows, count = joined, half + count % 2
    return lower.each(block, *(init.expand(rest) for init in inits), *(row[0] for row in rows))


@rule("stablehlo.reduce")
def reduce(lower: Lower, op: Op, *operands: Value) -> Value:
    count = len(operands) // 2
    return tuple(
        reduced(lower, op, list(operands[:count]), operands[count:], op.operand(), list(op.attributes["dimensions"]))
    )


@rule("stablehlo.map")
def map_(lower: Lower, op: Op, *operands: Value) -> Value:
    return tuple(value.expand(op.tensor().shape) for value in lower.each(op.regions[0], *operands))


def fold(lower: Lower, op: Op, block: Block, target: Value, places: Value, updates: Value, count: int) -> Value:
    """Rows of `updates`, one after the other, combined with the rows of `target` at `places` by any computation."""
    for at in range(count):
        place = places[at].reshape(1)
        row = target.index_select(0, place)
        new = lower.each(block, row, updates[at].unsqueeze(0))[0]
        target = torch.index_put(target, (place,), new)
    return target
