"""Matrix products. Half types are multiplied as they are, and summed as the device does."""

from __future__ import annotations

import torch

from ..builder import Builder, Number, Value
from .table import Result, lowers, wide

aten = torch.ops.aten


def product(b: Builder, x: Value, y: Value, contract: tuple[list[int], list[int]], batch: tuple[list[int], list[int]] = ([], [])) -> Value:
    """A contraction; integers and booleans too, which torch multiplies as it does other numbers."""
    if x.dtype == torch.bool:
        wide_ = b.dot(b.cast(x, torch.int32), b.cast(y, torch.int32), contract, batch)
        return b.cast(wide_, torch.bool)
    return b.dot(x, y, contract, batch)


@lowers(aten.mm)
def mm(b: Builder, out: Result, x: Value, y: Value, **_: object) -> Value:
    return b.cast(product(b, x, y, ([1], [0])), out.dtype)


@lowers(aten.bmm)
def bmm(b: Builder, out: Result, x: Value, y: Value, **_: object) -> Value:
    return b.cast(product(b, x, y, ([2], [1]), ([0], [0])), out.dtype)


@lowers(aten.mv)
def mv(b: Builder, out: Result, x: Value, y: Value) -> Value:
    return product(b, x, y, ([1], [0]))


@lowers(aten.dot)
def dot(b: Builder, out: Result, x: Value, y: Value) -> Value:
    return product(b, x, y, ([0], [0]))


def _added(b: Builder, out: Result, bias: Value, result: Value, beta: Number, alpha: Number) -> Value:
    compute = wide(out.dtype)
    result = b.cast(result, compute)
    if alpha != 1:
        result = b.mul(result, b.like(alpha, result))
    if beta == 0:
        return b.cast(result, out.dtype)
    bias = b.broadcast(b.cast(bias, compute), out.shape)
    if beta != 1:
        bias = b.mul(bias, b.like(beta, bias))
    return b.cast(b.add(bias, result), out.dtype)


@lowers(aten.addmm)
def addmm(b: Builder, out: Result, bias: Value, x: Value, y: Value, *, beta: Number = 1, alpha: Number = 1) -> Value:
    return _added(b, out, bias, product(b, x, y, ([1], [0])), beta, alpha)


@lowers(aten.baddbmm)
def baddbmm(b: Builder, out: Result, bias: Value, x: Value, y: Value, *, beta: Number = 1, alpha: Number = 1) -> Value:
    return _added(b, out, bias, product(b, x, y, ([2], [1]), ([0], [0])), beta, alpha)
