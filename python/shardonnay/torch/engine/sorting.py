"""Sorts by any comparison, and the largest elements of rows."""

from __future__ import annotations

from typing import Any

import torch

from .elements import TensorType, is_float, is_integer
from .elementwise import total_order
from .integers import flipped
from .lowering import Lowering, Value, rule
from .program import Block, Op

Lower = Lowering


@rule("stablehlo.sort")
def sort(lower: Lower, op: Op, *operands: Value) -> Value:
    type, dim = op.operand(), op.attributes.get("dimension", -1)
    dim %= max(len(type.shape), 1)
    if not type.shape or type.shape[dim] < 2:
        return operands
    keys = _keys(op.regions[0])
    if keys is None:
        return _by_network(lower, op, list(operands), dim)
    order: Value = None
    for value, descending in reversed([_key(lower, op, key, operands) for key in keys]):
        if order is not None:
            value = torch.gather(value, dim, order)
        found = torch.sort(value, stable=True, dim=dim, descending=descending)[1]
        order = found if order is None else torch.gather(order, dim, found)
    return tuple(torch.gather(operand, dim, order) for operand in operands)


class _Key:
    """A comparison of the same function of both sides: the op, and the blocks' values that it compares."""

    def __init__(self, op: Op, left: int) -> None:
        self.op, self.left = op, left


def _keys(block: Block) -> list[_Key] | None:
    """The comparisons of `k0(a) < k0(b) or k0(a) == k0(b) and (k1(a) < k1(b) or ...)`; None if it is no such."""
    made = {result: op for op in block.ops for result in op.results}
    lefts, rights = block.arguments[::2], block.arguments[1::2]

    def alike(a: int, b: int) -> bool:
        if a in lefts or b in rights:
            return a in lefts and b in rights and lefts.index(a) == rights.index(b)
        if a not in made or b not in made:
            return False
        first, second = made[a], made[b]
        if first is second:
            return not first.operands
        if first.name != second.name or first.regions or str(first.attributes) != str(second.attributes):
            return False
        pairs = list(zip(first.operands, second.operands, strict=True))
        return bool(pairs or first.name.endswith("constant")) and all(alike(x, y) for x, y in pairs)

    def comparison(number: int, directions: tuple[str, ...]) -> Op | None:
        op = made.get(number)
        if op is None or op.name != "stablehlo.compare" or op.attributes["comparison_direction"] not in directions:
            return None
        return op if alike(*op.operands) else None

    def parse(number: int) -> list[_Key] | None:
        found = comparison(number, ("LT", "GT"))
        if found:
            return [_Key(found, found.operands[0])]
        op = made.get(number)
        if op is None or op.name != "stablehlo.or":
            return None
        for less, rest in (op.operands, op.operands[::-1]):
            first, both = comparison(less, ("LT", "GT")), made.get(rest)
            if first is None or both is None or both.name != "stablehlo.and":
                continue
            for equal, other in (both.operands, both.operands[::-1]):
                same, more = comparison(equal, ("EQ",)), parse(other)
                if same is not None and more is not None and same.operands == first.operands:
                    return [_Key(first, first.operands[0]), *more]
        return None

    return parse(block.returned[0])


def _key(lower: Lower, op: Op, key: _Key, operands: tuple[Value, ...]) -> tuple[Value, bool]:
    """(what is sorted by, from the largest): integers, or floats whose order is torch's."""
    block = op.regions[0]
    pairs = [operand for operand in operands for _ in range(2)]
    partial = Block(
        block.arguments, block.types, [*block.ops[:-1], Op("stablehlo.return", [key.left], [], [], [], {}, [])]
    )
    value = lower.each(partial, *pairs)[0]
    element = key.op.operand().element
    if is_float(element):
        # Without a total order the zeros are alike, and NaN is nowhere.
        if key.op.attributes.get("compare_type") != "TOTALORDER":
            value = torch.where(value == 0, 0, value).to(key.op.operand().dtype)
        value = total_order(element, value)
    elif element == "i1":
        value = value.to(torch.int8)
    return flipped(element, value), key.op.attributes["comparison_direction"] == "GT"


def _by_network(lower: Lower, op: Op, operands: list[Value], dim: int) -> tuple[Value, ...]:
    """Batcher's odd-even merges, for comparisons that no key stands for; equal elements stay in order by their
    numbers.
    """
    count = op.operand().shape[dim]
    rows = [operand.movedim(dim, 0) for operand in operands]
    shape = [extent for at, extent in enumerate(op.operand().shape) if at != dim]
    number: Value = lower.arange(count).reshape([-1] + [1] * len(shape)).expand([count, *shape])
    for low, high in _exchanges(count):
        lows, highs = lower.constant(low, torch.int64), lower.constant(high, torch.int64)
        first = [row.index_select(0, lows) for row in rows]
        second = [row.index_select(0, highs) for row in rows]
        one, two = number.index_select(0, lows), number.index_select(0, highs)
        before = lower.each(op.regions[0], *(v for pair in zip(first, second, strict=True) for v in pair))[0]
        after = lower.each(op.regions[0], *(v for pair in zip(second, first, strict=True) for v in pair))[0]
        stays = before | (torch.bitwise_not(after) & (one < two))
        rows = [_exchanged(row, lows, highs, stays, a, b) for row, a, b in zip(rows, first, second, strict=True)]
        number = _exchanged(number, lows, highs, stays, one, two)
    return tuple(row.movedim(0, dim) for row in rows)


def _exchanged(row: Value, lows: Value, highs: Value, stays: Value, a: Value, b: Value) -> Value:
    row = torch.index_copy(row, 0, lows, torch.where(stays, a, b))
    return torch.index_copy(row, 0, highs, torch.where(stays, b, a))


def _exchanges(count: int) -> list[tuple[list[int], list[int]]]:
    """The steps of a sort of `count` rows: pairs of rows that are put in order, of which a step has each row once."""
    steps = []
    p = 1
    while p < count:
        k = p
        while k >= 1:
            pairs = [
                (i + j, i + j + k)
                for j in range(k % p, count - k, 2 * k)
                for i in range(min(k, count - j - k))
                if (i + j) // (2 * p) == (i + j + k) // (2 * p)
            ]
            if pairs:
                steps.append(([a for a, _ in pairs], [b for _, b in pairs]))
            k //= 2
        p *= 2
    return steps


@rule("chlo.top_k")
def top_k(lower: Lower, op: Op, operand: Value) -> Value:
    """Of each row the largest elements, of equal ones the first, and where they are."""
    element, type = op.operand().element, op.operand()
    largest = op.attributes.get("largest", True)
    key = total_order(element, operand) if is_float(element) else flipped(element, operand)
    if element == "i1":
        key = operand.to(torch.int8)
    assert is_float(element) or is_integer(element)
    order = torch.sort(key, stable=True, dim=-1, descending=bool(largest))[1]
    order = torch.narrow(order, len(type.shape) - 1, 0, op.attributes["k"])
    index_type: Any = op.result_types[1]
    assert isinstance(index_type, TensorType)
    return torch.gather(operand, -1, order), order.to(index_type.dtype)
