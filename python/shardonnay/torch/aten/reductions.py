"""Ops that combine along dims: sums, extrema, their positions, variances, running sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..builder import Builder, Number, Value, ints, is_inexact
from .table import Result, dim_of, dims_of, highest, lowers, lowest, real_of, wide

aten, prims = torch.ops.aten, torch.ops.prims


def kept(b: Builder, x: Value, out: Result) -> Value:
    """A reduced value with the dims of size 1 that torch was asked to keep."""
    return b.reshape(b.cast(x, out.dtype), out.shape)


def summed(b: Builder, x: Value, dims: Sequence[int], dtype: torch.dtype) -> Value:
    """A sum that is computed in the wide type of `dtype`."""
    return b.reduce("add", b.cast(x, wide(dtype)), dims, 0)


@lowers(aten.sum, prims.sum)
def sum_(b: Builder, out: Result, x: Value, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    if out.dtype == torch.bool:
        return kept(b, b.sum(b.cast(x, torch.bool), dims_of(dims, x.rank)), out)
    return kept(b, summed(b, x, dims_of(dims, x.rank), out.dtype), out)


@lowers(aten.mean)
def mean(b: Builder, out: Result, x: Value, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    along = dims_of(dims, x.rank)
    total = summed(b, x, along, out.dtype)
    return kept(b, b.div(total, b.like(math.prod(x.shape[dim] for dim in along), total)), out)


@lowers(aten.prod)
def prod(b: Builder, out: Result, x: Value, dim: int | None = None, keepdim: bool = False, **_: Any) -> Value:
    x = b.cast(x, wide(out.dtype))
    return kept(b, b.reduce("and" if x.dtype == torch.bool else "multiply", x, dims_of(dim, x.rank), 1), out)


def _counted(b: Builder, x: Value, dims: Sequence[int]) -> int:
    return math.prod(x.shape[dim] for dim in dims)


def variance(b: Builder, x: Value, dims: Sequence[int], correction: float) -> tuple[Value, Value]:
    """(variance, mean), reduced; the variance of a complex tensor is real."""
    count = _counted(b, x, dims)
    total = b.reduce("add", x, dims, 0)
    mean = b.div(total, b.like(count, total))
    others = [dim for dim in range(x.rank) if dim not in dims]
    apart = b.sub(x, b.broadcast_dims(mean, x.shape, others))
    if x.dtype.is_complex:
        size = b.unary("abs", apart, real_of(x.dtype))
        square = b.mul(size, size)
    else:
        square = b.mul(apart, apart)
    squares = b.reduce("add", square, dims, 0)
    divisor = max(0.0, count - correction)
    return b.div(squares, b.like(divisor, squares)), mean


@lowers(prims.var)
def prim_var(b: Builder, out: Result, x: Value, dims: Any, correction: float = 1, **_: Any) -> Value:
    x = b.cast(x, wide(x.dtype))
    return kept(b, variance(b, x, dims_of(dims, x.rank), 1 if correction is None else correction)[0], out)


@lowers(aten.var.correction)
def var(
    b: Builder, out: Result, x: Value, dims: Any = None, *, correction: float | None = None, keepdim: bool = False
) -> Value:
    return prim_var(b, out, x, dims, 1 if correction is None else correction)


@lowers(aten.var.default)
def var_all(b: Builder, out: Result, x: Value, unbiased: bool = True) -> Value:
    return prim_var(b, out, x, None, int(unbiased))


@lowers(aten.var.dim)
def var_dim(b: Builder, out: Result, x: Value, dims: Any, unbiased: bool = True, keepdim: bool = False) -> Value:
    return prim_var(b, out, x, dims, int(unbiased))


@lowers(aten.any)
def any_(b: Builder, out: Result, x: Value, dims: Any = None, keepdim: bool = False) -> Value:
    return kept(b, b.reduce("or", b.cast(x, torch.bool), dims_of(dims, x.rank), False), out)


@lowers(aten.all)
def all_(b: Builder, out: Result, x: Value, dims: Any = None, keepdim: bool = False) -> Value:
    return kept(b, b.reduce("and", b.cast(x, torch.bool), dims_of(dims, x.rank), True), out)


def extreme(b: Builder, x: Value, dims: Sequence[int], largest: bool) -> Value:
    if x.dtype == torch.bool:
        return b.reduce("or" if largest else "and", x, dims, not largest)
    return b.reduce(
        "maximum" if largest else "minimum", x, dims, lowest(x.dtype) if largest else highest(x.dtype)
    )


def _extreme(largest: bool) -> Callable[..., Value]:
    return lambda b, out, x, dims=None, keepdim=False: kept(b, extreme(b, x, dims_of(dims, x.rank), largest), out)


lowers(aten.amax, aten.max.default)(_extreme(True))
lowers(aten.amin, aten.min.default)(_extreme(False))


def position(b: Builder, x: Value, dim: int, largest: bool) -> tuple[Value, Value]:
    """(extreme, its position): the first of equals; a NaN is more extreme than any number."""
    found = extreme(b, x, [dim], largest)
    others = [at for at in range(x.rank) if at != dim]
    spread = b.broadcast_dims(found, x.shape, others)
    here = b.compare("EQ", x, spread)
    if is_inexact(x.dtype):
        here = b.binary("or", here, b.is_nan(x))
    at = b.iota(x.shape, dim, torch.int64)
    # The largest NaN-free position is the dim's end, which no position is.
    first = b.reduce("minimum", b.select(here, at, b.like(x.shape[dim], at)), [dim], torch.iinfo(torch.int64).max)
    return found, first


def _with_position(largest: bool) -> Callable[..., list[Value]]:
    def body(b: Builder, out: list[Result], x: Value, dim: int, keepdim: bool = False) -> list[Value]:
        if not x.rank:
            return [x, b.full(0, (), torch.int64)]
        found = position(b, x, dim_of(dim, x.rank), largest)
        return [kept(b, value, result) for value, result in zip(found, out)]

    return body


lowers(aten.max.dim)(_with_position(True))
lowers(aten.min.dim)(_with_position(False))


def _only_position(largest: bool) -> Callable[..., Value]:
    def body(b: Builder, out: Result, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
        if not x.rank:
            return b.full(0, out.shape, torch.int64)
        if dim is None:
            x, dim = b.reshape(x, [math.prod(x.shape)]), 0
        return kept(b, position(b, x, dim_of(dim, x.rank), largest)[1], out)

    return body


lowers(aten.argmax)(_only_position(True))
lowers(aten.argmin)(_only_position(False))


@lowers(aten.histc)
def histc(b: Builder, out: Result, x: Value, bins: int = 100, low: float = 0, high: float = 0) -> Value:
    """How many elements are in each of equal parts of [low, high]; of all elements, if the two are equal. Each step is
    rounded as half types are, which decides for a part.
    """
    x = b.reshape(x, [math.prod(x.shape)])
    if low == high:
        bounds = [b.broadcast(extreme(b, x, [0], largest), x.shape) for largest in (False, True)]
        same = b.compare("EQ", *bounds)
        one = b.like(1, x)
        bounds = [b.select(same, b.sub(bounds[0], one), bounds[0]), b.select(same, b.add(bounds[1], one), bounds[1])]
    else:
        bounds = [b.like(low, x), b.like(high, x)]

    def step(op: Callable[[Value, Value], Value], *operands: Value) -> Value:
        return b.cast(op(*(b.cast(operand, wide(x.dtype)) for operand in operands)), x.dtype)

    from_low, extent = step(b.sub, x, bounds[0]), step(b.sub, bounds[1], bounds[0])
    place = b.cast(step(b.div, step(b.mul, from_low, b.like(bins, x)), extent), torch.float64)
    place = b.binary("minimum", b.unary("floor", place), b.like(bins - 1, place))
    inside = b.binary("and", b.compare("GE", x, bounds[0]), b.compare("LE", x, bounds[1]))
    at = b.broadcast_dims(b.cast(place, torch.int64), [x.shape[0], bins], [0])
    here = b.compare("EQ", at, b.iota(at.shape, 1, torch.int64))
    here = b.binary("and", here, b.broadcast_dims(inside, at.shape, [0]))
    return b.cast(b.sum(b.cast(here, torch.int32), [0]), out.dtype)


@lowers(aten.linalg_vector_norm)
def vector_norm(
    b: Builder, out: Result, x: Value, order: float = 2, dims: Any = None, keepdim: bool = False, **_: Any
) -> Value:
    dims = dims_of(dims, x.rank)
    compute = wide(out.dtype)
    size = b.unary("abs", b.cast(x, compute) if not x.dtype.is_complex else x, compute)
    if order == math.inf or order == -math.inf:
        return kept(b, b.reduce("maximum" if order > 0 else "minimum", size, dims, 0 if order > 0 else math.inf), out)
    if order == 0:
        return kept(b, b.sum(b.cast(b.compare("NE", size, b.like(0, size)), compute), dims), out)
    if order == 1:
        return kept(b, b.sum(size, dims), out)
    if order == 2:
        return kept(b, b.unary("sqrt", b.sum(b.mul(size, size), dims)), out)
    total = b.sum(b.binary("power", size, b.like(order, size)), dims)
    return kept(b, b.binary("power", total, b.like(1 / order, total)), out)


def running(b: Builder, x: Value, dim: int, op: str, initial: Number) -> Value:
    """Of each element the combination of those up to it."""
    if not x.rank or not math.prod(x.shape):
        return x
    window, padding = [1] * x.rank, [[0, 0] for _ in x.shape]
    window[dim], padding[dim] = x.shape[dim], [x.shape[dim] - 1, 0]
    return reduce_window(b, x, op, initial, window, [1] * x.rank, padding)


def reduce_window(
    b: Builder,
    x: Value,
    op: str,
    initial: Number,
    window: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[Sequence[int]],
    dilations: Sequence[int] | None = None,
) -> Value:
    steps = list(dilations or [1] * x.rank)
    shape = [
        (extent + low + high - (size - 1) * step - 1) // stride + 1
        for extent, (low, high), size, step, stride in zip(x.shape, padding, window, steps, strides)
    ]
    attributes = (
        f"window_dimensions = {ints(window)}, window_strides = {ints(strides)}, window_dilations = {ints(steps)}"
    )
    attributes += (
        f", padding = dense<[{', '.join(f'[{low}, {high}]' for low, high in padding)}]> : tensor<{x.rank}x2xi64>"
    )
    body = b.region_of([x.dtype] * 2, lambda pair: b.binary(op, *pair))
    return b.op("reduce_window", [x, b.full(initial, (), x.dtype)], shape, x.dtype, attributes, body)


@lowers(aten._cdist_forward)
def cdist(b: Builder, out: Result, x: Value, y: Value, p: float, _: int | None = None) -> Value:
    """Distances of the rows of x to those of y."""
    shape = [*out.shape, x.shape[-1]]
    rank = len(shape)
    left = b.broadcast_dims(x, shape, [*range(rank - 1 - x.rank + 0, rank - 3), rank - 3, rank - 1][-x.rank :])
    right = b.broadcast_dims(y, shape, [*range(rank - 1 - y.rank + 0, rank - 3), rank - 2, rank - 1][-y.rank :])
    return vector_norm(b, out, b.sub(left, right), p, [rank - 1])


@lowers(aten.cumsum)
def cumsum(b: Builder, out: Result, x: Value, dim: int, **_: Any) -> Value:
    x = b.cast(x, wide(out.dtype))
    return b.cast(running(b, x, dim_of(dim, x.rank), "add", 0), out.dtype)


@lowers(aten.cumprod)
def cumprod(b: Builder, out: Result, x: Value, dim: int, **_: Any) -> Value:
    x = b.cast(x, wide(out.dtype))
    return b.cast(running(b, x, dim_of(dim, x.rank), "multiply", 1), out.dtype)


def _running_extreme(largest: bool) -> Callable[..., list[Value]]:
    def body(b: Builder, out: list[Result], x: Value, dim: int) -> list[Value]:
        if not x.rank or not math.prod(x.shape):
            return [x, b.full(0, x.shape, torch.int64)]
        dim = dim_of(dim, x.rank)
        op, initial = ("maximum", lowest(x.dtype)) if largest else ("minimum", highest(x.dtype))
        if x.dtype == torch.bool:
            op = "or" if largest else "and"
        found = running(b, x, dim, op, initial)
        here = b.compare("EQ", x, found)
        if is_inexact(x.dtype):
            here = b.binary("or", here, b.is_nan(x))
        at = b.iota(x.shape, dim, torch.int64)
        return [found, running(b, b.select(here, at, b.like(0, at)), dim, "maximum", 0)]

    return body


lowers(aten.cummax)(_running_extreme(True))
lowers(aten.cummin)(_running_extreme(False))


@lowers(aten.logcumsumexp)
def logcumsumexp(b: Builder, out: Result, x: Value, dim: int) -> Value:
    if x.dtype.is_complex:
        raise b.refuse("logcumsumexp of complex numbers; expected torch.log(torch.cumsum(torch.exp(x), dim))")
    if not x.rank or not math.prod(x.shape):
        return x
    dim = dim_of(dim, x.rank)
    total, steps = b.cast(x, wide(x.dtype)), [0] * x.rank
    steps[dim] = 1
    while steps[dim] < x.shape[dim]:  # each is the sum of twice as many as before
        kept = b.slice_dim(total, dim, 0, x.shape[dim] - steps[dim])
        total = _log_of_sum(b, total, b.pad(kept, steps, [0] * x.rank, -math.inf))
        steps[dim] *= 2
    return b.cast(total, out.dtype)


def _log_of_sum(b: Builder, x: Value, y: Value) -> Value:
    """log(exp(x) + exp(y)), of whatever size these are."""
    top, rest = b.binary("maximum", x, y), b.unary("negate", b.unary("abs", b.sub(x, y)))
    rest = b.select(b.compare("EQ", x, y), b.like(0, x), rest)  # of infinities
    return b.add(top, b.unary("log_plus_one", b.unary("exponential", rest)))
