"""Pooling and resizing, and their gradients.

A pooling that is linear and works on each dim by itself is a matrix for each dim, and so is its gradient
(`separable.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..builder import Builder, Value, is_inexact
from .indexing import scattered
from .reductions import reduce_window
from .separable import separable
from .table import Result, lowers, lowest, wide

aten = torch.ops.aten


def _spread(values: Sequence[int] | int, space: int, default: Sequence[int] | None = None) -> list[int]:
    values = [values] if isinstance(values, int) else list(values)
    values = values or list(default or [])
    return values * space if len(values) == 1 else values


# Maxima.


def _max_pool(space: int) -> Callable[..., list[Value]]:
    def body(
        b: Builder, out: list[Result], x: Value, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> list[Value]:  # fmt: skip
        kernel = _spread(kernel, space)
        stride, padding, dilation = _spread(stride, space, kernel), _spread(padding, space), _spread(dilation, space)
        return max_pool(b, out[0], x, kernel, stride, padding, dilation)

    return body


def max_pool(
    b: Builder, out: Result, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int]
) -> list[Value]:
    """[maxima, their places in the flattened space], one comparison for each element of the window."""
    space = len(kernel)
    front = x.rank - space
    extents, results = x.shape[front:], out.shape[front:]
    high = [
        max(0, (count - 1) * step + (size - 1) * gap + 1 - extent - by)
        for count, step, size, gap, extent, by in zip(results, stride, kernel, dilation, extents, padding)
    ]
    low = [0] * front + list(padding)
    padded = b.pad(x, low, [0] * front + high, lowest(x.dtype))
    place = b.full(0, x.shape, torch.int64)
    for dim, extent in enumerate(extents):
        at = b.iota(x.shape, front + dim, torch.int64)
        place = b.add(b.mul(place, b.like(extent, place)), at)
    place = b.pad(place, low, [0] * front + high, -1)
    best = where = None
    for offset in itertools.product(*map(range, kernel)):
        starts = [0] * front + [at * gap for at, gap in zip(offset, dilation)]
        limits = list(x.shape[:front]) + [
            start + (count - 1) * step + 1 for start, count, step in zip(starts[front:], results, stride)
        ]
        steps = [1] * front + list(stride)
        value, at = b.slice(padded, starts, limits, steps), b.slice(place, starts, limits, steps)
        if best is None or where is None:
            best, where = value, at
            continue
        # The first of equals, a NaN before numbers, and no padding where there is an element.
        better = b.compare("GT", value, best)
        if is_inexact(x.dtype):
            better = b.binary("or", better, b.is_nan(value))
        none_yet = b.compare("LT", where, b.like(0, where))
        inside = b.compare("GE", at, b.like(0, at))
        better = b.binary("and", inside, b.binary("or", better, none_yet))
        best, where = b.select(better, value, best), b.select(better, at, where)
    assert best is not None and where is not None
    return [best, where]


lowers(aten.max_pool2d_with_indices)(_max_pool(2))
lowers(aten.max_pool3d_with_indices)(_max_pool(3))


def _max_pool_backward(space: int) -> Callable[..., Value]:
    def body(b: Builder, out: Result, gradient: Value, x: Value, *rest: Any) -> Value:
        indices: Value = rest[-1]
        front = x.rank - space
        lead = list(x.shape[:front])

        def flat(value: Value) -> Value:
            return b.reshape(value, [*lead, math.prod(value.shape[front:])])

        zeros = b.full(0, [*lead, math.prod(x.shape[front:])], x.dtype)
        return b.reshape(scattered(b, zeros, front, flat(indices), flat(gradient), "add"), x.shape)

    return body


for _op in (aten.adaptive_max_pool2d_backward, aten.adaptive_max_pool3d_backward):
    lowers(_op.default)(_max_pool_backward(2 if _op is aten.adaptive_max_pool2d_backward else 3))
lowers(aten.max_pool2d_with_indices_backward)(_max_pool_backward(2))
lowers(aten.max_pool3d_with_indices_backward)(_max_pool_backward(3))


# Averages over windows.


def _counts(
    extents: Sequence[int], results: Sequence[int], kernel: Sequence[int], stride: Sequence[int],
    padding: Sequence[int], with_padding: bool
) -> torch.Tensor:
    """How many elements each window's average is over."""
    count = torch.ones((), dtype=torch.float64)
    for extent, number, size, step, by in zip(extents, results, kernel, stride, padding):
        start = torch.arange(number) * step - by
        end = torch.minimum(start + size, torch.tensor(extent + by))
        if not with_padding:
            start, end = start.clamp(min=0), end.clamp(max=extent)
        count = count[..., None] * (end - start)
    return count


def _avg_pool(space: int) -> Callable[..., Value]:
    def body(
        b: Builder, out: Result, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor: int | None = None,
    ) -> Value:  # fmt: skip
        kernel = _spread(kernel, space)
        stride, padding = _spread(stride, space, kernel), _spread(padding, space)
        front = x.rank - space
        extents, results = x.shape[front:], out.shape[front:]
        pairs = [[0, 0]] * front + [
            [by, (count - 1) * step + size - extent - by]
            for by, count, step, size, extent in zip(padding, results, stride, kernel, extents)
        ]
        x = b.cast(x, wide(out.dtype))
        total = _windows(b, x, kernel, stride, pairs)
        return b.cast(
            b.div(total, _divisor(b, total, extents, results, kernel, stride, padding, count_include_pad, divisor)),
            out.dtype,
        )

    return body


def _windows(
    b: Builder, x: Value, kernel: Sequence[int], stride: Sequence[int], pairs: Sequence[Sequence[int]]
) -> Value:
    """Sums over windows; what a negative padding takes away is sliced off first."""
    front = x.rank - len(kernel)
    x = b.slice(x, [0] * x.rank, [extent + min(0, high) for extent, (_, high) in zip(x.shape, pairs)])
    pairs = [[low, max(0, high)] for low, high in pairs]
    return reduce_window(b, x, "add", 0, [1] * front + list(kernel), [1] * front + list(stride), pairs)


def _divisor(b: Builder, like: Value, extents: Any, results: Any, kernel: Any, stride: Any, padding: Any,
             with_padding: bool, divisor: int | None) -> Value:
    if divisor is not None:
        return b.like(divisor, like)
    count = b.tensor(_counts(extents, results, kernel, stride, padding, with_padding).to(like.dtype))
    return b.broadcast(count, like.shape)


def _avg_pool_backward(space: int) -> Callable[..., Value]:
    def body(
        b: Builder, out: Result, gradient: Value, x: Value, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
        count_include_pad: bool, divisor: int | None,
    ) -> Value:  # fmt: skip
        kernel = _spread(kernel, space)
        stride, padding = _spread(stride, space, kernel), _spread(padding, space)
        front = x.rank - space
        extents, results = x.shape[front:], gradient.shape[front:]
        gradient = b.cast(gradient, wide(out.dtype))
        shares = b.div(
            gradient, _divisor(b, gradient, extents, results, kernel, stride, padding, count_include_pad, divisor)
        )
        low = [0] * front + [size - 1 for size in kernel]
        reach = [(count - 1) * step + size for count, step, size in zip(results, stride, kernel)]
        high = [0] * front + [
            max(size - 1, size - 1 + by + extent - end)
            for size, by, extent, end in zip(kernel, padding, extents, reach)
        ]
        spread = b.pad(shares, low, high, 0, [0] * front + [step - 1 for step in stride])
        sums = reduce_window(b, spread, "add", 0, [1] * front + kernel, [1] * x.rank, [[0, 0]] * x.rank)
        starts = [0] * front + padding
        return b.cast(b.slice(sums, starts, [start + extent for start, extent in zip(starts, x.shape)]), out.dtype)

    return body


for _space, _forward, _backward in (
    (1, "avg_pool1d", ""),
    (2, "avg_pool2d", "avg_pool2d_backward"),
    (3, "avg_pool3d", "avg_pool3d_backward"),
):
    lowers(getattr(aten, _forward))(_avg_pool(_space))
    if _backward:
        lowers(getattr(aten, _backward))(_avg_pool_backward(_space))


# Products with a matrix for each dim.


def _adaptive_matrix(extent: int, count: int) -> torch.Tensor:
    matrix = torch.zeros(count, extent, dtype=torch.float64)
    for row in range(count):
        start, end = row * extent // count, -(-(row + 1) * extent // count)
        matrix[row, start:end] = 1 / (end - start)
    return matrix


def _matrices(
    make: Callable[[int, int], torch.Tensor], extents: Sequence[int], counts: Sequence[int]
) -> list[torch.Tensor]:
    return [make(extent, count) for extent, count in zip(extents, counts)]


def _adaptive(space: int) -> Callable[..., Value]:
    return lambda b, out, x, _: separable(
        b, x, _matrices(_adaptive_matrix, x.shape[-space:], out.shape[-space:]), out.dtype
    )


def _adaptive_backward(space: int) -> Callable[..., Value]:
    def body(b: Builder, out: Result, gradient: Value, x: Value) -> Value:
        matrices = _matrices(_adaptive_matrix, x.shape[-space:], gradient.shape[-space:])
        return separable(b, gradient, [matrix.T for matrix in matrices], out.dtype)

    return body


lowers(aten._adaptive_avg_pool2d)(_adaptive(2))
lowers(aten._adaptive_avg_pool3d)(_adaptive(3))
lowers(aten._adaptive_avg_pool2d_backward)(_adaptive_backward(2))
lowers(aten._adaptive_avg_pool3d_backward)(_adaptive_backward(3))


_NEAREST = (aten.upsample_nearest1d, aten._upsample_nearest_exact1d)
_RESIZES = {
    "upsample_nearest1d": (1, aten.upsample_nearest1d),
    "upsample_nearest2d": (2, aten.upsample_nearest1d),
    "upsample_nearest3d": (3, aten.upsample_nearest1d),
    "_upsample_nearest_exact1d": (1, aten._upsample_nearest_exact1d),
    "_upsample_nearest_exact2d": (2, aten._upsample_nearest_exact1d),
    "_upsample_nearest_exact3d": (3, aten._upsample_nearest_exact1d),
    "upsample_linear1d": (1, aten.upsample_linear1d),
    "upsample_bilinear2d": (2, aten.upsample_linear1d),
    "upsample_trilinear3d": (3, aten.upsample_linear1d),
    "upsample_bicubic2d": (2, aten.upsample_bicubic2d),
    "_upsample_bilinear2d_aa": (2, aten._upsample_bilinear2d_aa),
    "_upsample_bicubic2d_aa": (2, aten._upsample_bicubic2d_aa),
    "_upsample_lanczos2d_aa": (2, aten._upsample_lanczos2d_aa),
}


def _resized(
    op: Any, extent: int, count: int, corners: Sequence[bool], scale: float | None, dtype: torch.dtype
) -> torch.Tensor:
    """The matrix of a resize along one dim: what torch makes of the unit vectors."""
    units = torch.eye(extent, dtype=torch.float64 if dtype == torch.float64 else torch.float32)[:, None]
    if op not in (*_NEAREST, aten.upsample_linear1d):
        return op(units[:, :, None], [1, count], *corners, None, scale)[:, 0, 0].T
    return op(units, [count], *corners, scale)[:, 0].T


def _resize_matrices(
    op: Any, extents: Sequence[int], counts: Sequence[int], rest: Sequence[Any], dtype: torch.dtype
) -> list[torch.Tensor]:
    """rest: whether corners are aligned, where the op asks it, and a scale for each dim."""
    corners = [rest[0]] if op not in _NEAREST else []
    scales = [*rest[len(corners) :], *[None] * len(extents)]
    return [_resized(op, extent, count, corners, scale, dtype) for extent, count, scale in zip(extents, counts, scales)]


def _resize(space: int, op: Any) -> Callable[..., Value]:
    def body(b: Builder, out: Result, x: Value, size: Any, *rest: Any) -> Value:
        return separable(b, x, _resize_matrices(op, x.shape[-space:], out.shape[-space:], rest, x.dtype), out.dtype)

    return body


def _resize_backward(space: int, op: Any) -> Callable[..., Value]:
    def body(b: Builder, out: Result, gradient: Value, size: Any, input_size: Sequence[int], *rest: Any) -> Value:
        matrices = _resize_matrices(op, input_size[-space:], gradient.shape[-space:], rest, gradient.dtype)
        return separable(b, gradient, [matrix.T for matrix in matrices], out.dtype)

    return body


for _name, (_space, _op) in _RESIZES.items():
    lowers(getattr(aten, _name).default)(_resize(_space, _op))
    lowers(getattr(aten, _name + "_backward").default)(_resize_backward(_space, _op))


# Gradients of paddings that repeat the edge or reflect; forward they are decomposed.


def _repeated_edge(extent: int, low: int, high: int) -> torch.Tensor:
    places = (torch.arange(extent + low + high) - low).clamp(0, extent - 1)
    return torch.nn.functional.one_hot(places, extent).to(torch.float64)


def _replication_backward(b: Builder, out: Result, gradient: Value, x: Value, padding: Sequence[int]) -> Value:
    space = len(padding) // 2
    pairs = [padding[2 * at : 2 * at + 2] for at in reversed(range(space))]
    extents = x.shape[-space:]
    matrices = [_repeated_edge(extent, *pair).T for extent, pair in zip(extents, pairs)]
    return separable(b, gradient, matrices, out.dtype)


for _name in ("replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward"):
    lowers(getattr(aten, _name).default)(_replication_backward)


def _folded(b: Builder, x: Value, dim: int, low: int, high: int) -> Value:
    """What a reflection along `dim` made longer by `low` and `high`: the reflected parts added where they are from."""
    extent = x.shape[dim] - low - high
    first, last = max(0, -low), min(extent, extent + high)  # what a negative padding left

    def placed(part: Value, start: int) -> Value:
        before, after = [0] * x.rank, [0] * x.rank
        before[dim], after[dim] = start, extent - start - part.shape[dim]
        return b.pad(part, before, after)

    result = placed(b.slice_dim(x, dim, first + low, last + low), first)
    if low > 0:
        result = b.add(result, placed(b.reverse(b.slice_dim(x, dim, 0, low), [dim]), 1))
    if high > 0:
        part = b.slice_dim(x, dim, low + extent, low + extent + high)
        result = b.add(result, placed(b.reverse(part, [dim]), extent - 1 - high))
    return result


def _reflection_backward(b: Builder, out: Result, gradient: Value, x: Value, padding: Sequence[int]) -> Value:
    result = b.cast(gradient, wide(out.dtype))
    for at in range(len(padding) // 2):
        result = _folded(b, result, x.rank - 1 - at, *padding[2 * at : 2 * at + 2])
    return b.cast(result, out.dtype)


for _name in ("reflection_pad1d_backward", "reflection_pad2d_backward", "reflection_pad3d_backward"):
    lowers(getattr(aten, _name).default)(_reflection_backward)
