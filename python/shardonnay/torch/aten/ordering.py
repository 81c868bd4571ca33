"""Ops that order elements. A NaN is larger than any number, equals keep their order."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..builder import Builder, Number, Value, is_inexact
from .reductions import kept, position
from .table import Result, dim_of, lowers, promoted

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


def _median(b: Builder, x: Value, dim: int) -> list[Value]:
    """[the lower of the two in the middle, its position], or a NaN if there is one."""
    middle = (x.shape[dim] - 1) // 2
    parts = [b.slice_dim(part, dim, middle, middle + 1) for part in ordered(b, x, dim, False)]
    parts = [b.reshape(part, [extent for at, extent in enumerate(x.shape) if at != dim]) for part in parts]
    if not is_inexact(x.dtype):
        return parts
    top, place = position(b, x, dim, True)  # a NaN, if there is one
    return [b.select(b.is_nan(top), other, part) for other, part in zip((top, place), parts)]


@lowers(aten.median.dim)
def median(b: Builder, out: list[Result], x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    if not x.rank:
        return [x, b.full(0, (), torch.int64)]
    return [kept(b, part, result) for part, result in zip(_median(b, x, dim_of(dim, x.rank)), out)]


@lowers(aten.median.default)
def median_all(b: Builder, out: Result, x: Value) -> Value:
    return _median(b, b.reshape(x, [math.prod(x.shape)]), 0)[0]


def _median_of_numbers(b: Builder, x: Value, dim: int) -> list[Value]:
    """The same of what is no NaN; they are in order before the NaNs."""
    from .indexing import gather_

    others = [extent for at, extent in enumerate(x.shape) if at != dim]
    numbers = b.sum(b.cast(b.invert(b.is_nan(x)), torch.int64), [dim])
    middle = b.div(b.sub(b.binary("maximum", numbers, b.like(1, numbers)), b.like(1, numbers)), b.like(2, numbers))
    index = b.reshape(middle, [1 if at == dim else extent for at, extent in enumerate(x.shape)])
    parts = ordered(b, x, dim, False)
    return [b.reshape(gather_(b, Result(index.shape, part.dtype), part, dim, index), others) for part in parts]


@lowers(aten.nanmedian.dim)
def nanmedian(b: Builder, out: list[Result], x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    if not x.rank or not is_inexact(x.dtype):
        return median(b, out, x, dim, keepdim)
    return [kept(b, part, result) for part, result in zip(_median_of_numbers(b, x, dim_of(dim, x.rank)), out)]


@lowers(aten.nanmedian.default)
def nanmedian_all(b: Builder, out: Result, x: Value) -> Value:
    if not is_inexact(x.dtype):
        return median_all(b, out, x)
    return _median_of_numbers(b, b.reshape(x, [math.prod(x.shape)]), 0)[0]


@lowers(aten.searchsorted.Tensor)
def searchsorted(
    b: Builder, out: Result, bounds: Value, x: Value, *, out_int32: bool = False, right: bool = False,
    side: str | None = None,
) -> Value:  # fmt: skip
    """How many bounds are before each element."""
    shape = [*x.shape, bounds.shape[-1]]
    dtype = promoted([bounds, x])
    each = b.broadcast_dims(b.cast(x, dtype), shape, range(x.rank))
    lead = [] if bounds.rank == 1 else list(range(bounds.rank - 1))
    all_ = b.broadcast_dims(b.cast(bounds, dtype), shape, [*lead, len(shape) - 1])
    before = b.compare("LE" if right or side == "right" else "LT", all_, each)
    return kept(b, b.sum(b.cast(before, torch.int64), [len(shape) - 1]), out)


@lowers(aten.searchsorted.Scalar)
def searchsorted_number(b: Builder, out: Result, bounds: Value, x: Number, **keywords: Any) -> Value:
    dtype = promoted([bounds, x])
    return searchsorted(b, out, bounds, b.full(x, (), dtype), **keywords)


@lowers(aten.kthvalue)
def kthvalue(b: Builder, out: list[Result], x: Value, k: int, dim: int = -1, keepdim: bool = False) -> list[Value]:
    if not x.rank:
        return [x, b.full(0, (), torch.int64)]
    dim = dim_of(dim, x.rank)
    parts = [b.slice_dim(part, dim, k - 1, k) for part in ordered(b, x, dim, False)]
    return [kept(b, part, result) for part, result in zip(parts, out)]
