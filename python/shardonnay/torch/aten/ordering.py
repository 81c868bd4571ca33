"""Ops that order elements. A NaN is larger than any number, equals keep their order."""

from __future__ import annotations

import torch

from ..builder import Builder, Value, is_inexact
from .reductions import kept
from .table import Result, dim_of, lowers

aten, prims = torch.ops.aten, torch.ops.prims


def ordered(b: Builder, x: Value, dim: int, descending: bool) -> list[Value]:
    """[sorted values, their positions before]."""
    at = b.iota(x.shape, dim, torch.int64)

    def before(values: list[Value]) -> Value:
        first, second = (values[1], values[0]) if descending else (values[0], values[1])
        less = b.compare("LT", first, second)
        if not is_inexact(x.dtype):
            return less
        return b.binary("or", less, b.binary("and", b.is_nan(second), b.invert(b.is_nan(first))))

    region = b.region_of([x.dtype, x.dtype, torch.int64, torch.int64], before)
    attributes = f"dimension = {dim} : i64, is_stable = true"
    return b.multi("sort", [x, at], [(x.shape, x.dtype), (x.shape, torch.int64)], attributes, region)


@lowers(aten.sort.default)
def sort(b: Builder, out: list[Result], x: Value, dim: int = -1, descending: bool = False) -> list[Value]:
    if not x.rank:
        return [x, b.full(0, (), torch.int64)]
    return ordered(b, x, dim_of(dim, x.rank), descending)


@lowers(aten.sort.stable)
def sort_stable(
    b: Builder, out: list[Result], x: Value, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> list[Value]:
    return sort(b, out, x, dim, descending)


@lowers(aten.argsort.default)
def argsort(b: Builder, out: Result, x: Value, dim: int = -1, descending: bool = False) -> Value:
    return sort(b, [out, out], x, dim, descending)[1]


@lowers(aten.argsort.stable)
def argsort_stable(
    b: Builder, out: Result, x: Value, *, stable: bool, dim: int = -1, descending: bool = False
) -> Value:
    return sort(b, [out, out], x, dim, descending)[1]


@lowers(aten.topk)
def topk(
    b: Builder, out: list[Result], x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> list[Value]:
    if not x.rank:
        return [b.reshape(x, out[0].shape), b.full(0, out[1].shape, torch.int64)]
    dim = dim_of(dim, x.rank)
    return [b.slice_dim(part, dim, 0, k) for part in ordered(b, x, dim, largest)]


@lowers(aten.kthvalue)
def kthvalue(b: Builder, out: list[Result], x: Value, k: int, dim: int = -1, keepdim: bool = False) -> list[Value]:
    if not x.rank:
        return [x, b.full(0, (), torch.int64)]
    dim = dim_of(dim, x.rank)
    parts = [b.slice_dim(part, dim, k - 1, k) for part in ordered(b, x, dim, False)]
    return [kept(b, part, result) for part, result in zip(parts, out)]
