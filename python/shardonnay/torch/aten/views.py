"""Ops that rearrange: shapes, slices, joins, paddings, and tensors made of nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from ..builder import Builder, Number, Value, is_inexact
from .indexing import gather, scatter
from .table import Result, dim_of, given, lowers, wide

aten, prims = torch.ops.aten, torch.ops.prims


@lowers(
    aten.view, aten._unsafe_view, aten.reshape, aten.squeeze, aten.unsqueeze, prims.collapse_view, aten._reshape_alias
)
def reshape(b: Builder, out: Result, x: Value, *_: Any) -> Value:
    return b.reshape(x, out.shape)


@lowers(aten.view.dtype)
def view_of_type(b: Builder, out: Result, x: Value, _: torch.dtype) -> Value:
    """The same bits; what is wider takes elements of the last dim together, a bool is a byte."""
    if x.dtype == out.dtype:
        return x
    if x.dtype.is_complex or out.dtype.is_complex:
        raise b.refuse(f"a view of {x.dtype} as {out.dtype}; expected torch.view_as_real or torch.view_as_complex")
    source, target = (torch.uint8 if dtype == torch.bool else dtype for dtype in (x.dtype, out.dtype))
    x = b.cast(x, source)
    shape, ratio = list(out.shape), target.itemsize // source.itemsize
    if ratio > 1:
        x = b.reshape(x, [*shape, ratio])
    elif target.itemsize < source.itemsize:
        shape = [*x.shape, source.itemsize // target.itemsize]
    return b.reshape(b.cast(b.op("bitcast_convert", [x], shape, target), out.dtype), out.shape)


@lowers(aten.permute, prims.transpose)
def permute(b: Builder, out: Result, x: Value, order: Sequence[int]) -> Value:
    return b.transpose(x, [dim_of(dim, x.rank) for dim in order])


@lowers(aten.transpose)
def transpose(b: Builder, out: Result, x: Value, first: int, second: int) -> Value:
    order = list(range(x.rank))
    if order:
        first, second = dim_of(first, x.rank), dim_of(second, x.rank)
        order[first], order[second] = second, first
    return b.transpose(x, order)


@lowers(aten.t)
def t(b: Builder, out: Result, x: Value) -> Value:
    return b.transpose(x, list(reversed(range(x.rank))))


@lowers(aten.expand)
def expand(b: Builder, out: Result, x: Value, *_: Any, **__: Any) -> Value:
    dims = range(len(out.shape) - x.rank, len(out.shape))
    return b.broadcast_dims(x, out.shape, dims)


@lowers(prims.broadcast_in_dim)
def broadcast_in_dim(b: Builder, out: Result, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
    return b.broadcast_dims(x, shape, dims)


@lowers(aten.repeat)
def repeat(b: Builder, out: Result, x: Value, repeats: Sequence[int]) -> Value:
    x = b.reshape(x, [1] * (len(repeats) - x.rank) + list(x.shape))
    between = [extent for pair in zip(repeats, x.shape) for extent in pair]
    return b.reshape(b.broadcast_dims(x, between, [2 * dim + 1 for dim in range(x.rank)]), out.shape)


def bounds(extent: int, start: int | None, end: int | None) -> tuple[int, int]:
    """A slice's bounds, counted from the front and within the dim."""
    first = 0 if start is None else start + extent if start < 0 else start
    last = extent if end is None else end + extent if end < 0 else end
    first = min(max(first, 0), extent)
    return first, min(max(last, first), extent)


@lowers(aten.slice)
def slice_(
    b: Builder, out: Result, x: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    dim = dim_of(dim, x.rank)
    return b.slice_dim(x, dim, *bounds(x.shape[dim], start, end), step)


@lowers(aten.select)
def select(b: Builder, out: Result, x: Value, dim: int, index: int) -> Value:
    dim = dim_of(dim, x.rank)
    index %= x.shape[dim]
    return b.reshape(b.slice_dim(x, dim, index, index + 1), out.shape)


@lowers(aten.narrow)
def narrow(b: Builder, out: Result, x: Value, dim: int, start: int, length: int) -> Value:
    dim = dim_of(dim, x.rank)
    start %= max(x.shape[dim], 1)
    return b.slice_dim(x, dim, start, start + length)


def _split(b: Builder, x: Value, sizes: Sequence[int], dim: int) -> list[Value]:
    parts, start = [], 0
    for size in sizes:
        parts.append(b.slice_dim(x, dim, start, start + size))
        start += size
    return parts


@lowers(aten.split, aten.split_with_sizes, aten.unsafe_split, aten.chunk)
def split(b: Builder, out: list[Result], x: Value, _: Any, dim: int = 0) -> list[Value]:
    dim = dim_of(dim, x.rank)
    return _split(b, x, [part.shape[dim] for part in out], dim)


@lowers(aten.unbind)
def unbind(b: Builder, out: list[Result], x: Value, dim: int = 0) -> list[Value]:
    dim = dim_of(dim, x.rank)
    return [b.reshape(part, r.shape) for part, r in zip(_split(b, x, [1] * x.shape[dim], dim), out)]


@lowers(aten.cat, prims.cat)
def cat(b: Builder, out: Result, parts: Sequence[Value], dim: int = 0) -> Value:
    parts = [part for part in parts if part.shape != (0,) or len(out.shape) == 1]
    return b.concatenate([b.cast(part, out.dtype) for part in parts], dim_of(dim, len(out.shape)))


@lowers(aten.stack)
def stack(b: Builder, out: Result, parts: Sequence[Value], dim: int = 0) -> Value:
    dim = dim_of(dim, len(out.shape))
    shape = [*out.shape[:dim], 1, *out.shape[dim + 1 :]]
    return b.concatenate([b.reshape(b.cast(part, out.dtype), shape) for part in parts], dim)


@lowers(aten.flip, prims.rev)
def flip(b: Builder, out: Result, x: Value, dims: Sequence[int]) -> Value:
    return b.reverse(x, [dim_of(dim, x.rank) for dim in dims] if x.rank else [])


@lowers(aten.roll)
def roll(b: Builder, out: Result, x: Value, shifts: Sequence[int], dims: Sequence[int] = ()) -> Value:
    shifts = [shifts] if isinstance(shifts, int) else shifts
    dims = [dims] if isinstance(dims, int) else dims
    if not dims:
        flat = b.reshape(x, [math.prod(x.shape)])
        return b.reshape(roll(b, out, flat, shifts, [0]), x.shape) if x.rank else x
    for shift, dim in zip(shifts, dims):
        extent = x.shape[dim]
        if extent and shift % extent:
            at = extent - shift % extent
            parts = [b.slice_dim(x, dim_of(dim, x.rank), at, extent), b.slice_dim(x, dim_of(dim, x.rank), 0, at)]
            x = b.concatenate(parts, dim_of(dim, x.rank))
    return x


@lowers(aten.constant_pad_nd)
def constant_pad_nd(b: Builder, out: Result, x: Value, pad: Sequence[int], value: Number = 0) -> Value:
    low, high = [0] * x.rank, [0] * x.rank
    for at in range(len(pad) // 2):
        low[x.rank - 1 - at], high[x.rank - 1 - at] = pad[2 * at], pad[2 * at + 1]
    return b.pad(x, low, high, value)


@lowers(aten.diagonal)
def diagonal(b: Builder, out: Result, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    first, second = dim_of(dim1, x.rank), dim_of(dim2, x.rank)
    order = [dim for dim in range(x.rank) if dim not in (first, second)] + [first, second]
    x = b.transpose(x, order)
    rows, columns, size = x.shape[-2], x.shape[-1], out.shape[-1]
    if not size:
        return b.full(0, out.shape, x.dtype)
    x = b.slice_dim(x, x.rank - 2, max(-offset, 0), min(max(-offset, 0) + size, rows))
    x = b.slice_dim(x, x.rank - 1, max(offset, 0), min(max(offset, 0) + size, columns))
    on = b.compare("EQ", b.iota(x.shape, x.rank - 2, torch.int32), b.iota(x.shape, x.rank - 1, torch.int32))
    # One element of each row is on: the sum is that one, the sign of a zero too.
    if not is_inexact(x.dtype):
        return b.sum(b.select(on, x, b.like(0, x)), [x.rank - 1])
    return b.reduce("add", b.select(on, x, b.like(-0.0, x)), [x.rank - 1], -0.0)


def triangular(lower: bool) -> Any:
    def body(b: Builder, out: Result, x: Value, diagonal: int = 0) -> Value:
        rows = b.iota(x.shape, x.rank - 2, torch.int64)
        columns = b.iota(x.shape, x.rank - 1, torch.int64)
        kept = b.compare("LE" if lower else "GE", columns, b.add(rows, b.like(diagonal, rows)))
        return b.select(kept, x, b.like(0, x))

    return body


lowers(aten.tril)(triangular(True))
lowers(aten.triu)(triangular(False))


@lowers(aten.slice_scatter)
def slice_scatter(
    b: Builder,
    out: Result,
    x: Value,
    source: Value,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    dim = dim_of(dim, x.rank)
    first, last = bounds(x.shape[dim], start, end)
    source = b.broadcast(b.cast(source, x.dtype), [*x.shape[:dim], -(-(last - first) // step), *x.shape[dim + 1 :]])
    if step == 1:
        parts = [b.slice_dim(x, dim, 0, first), source, b.slice_dim(x, dim, last, x.shape[dim])]
        return b.concatenate([part for part in parts if part.shape[dim]] or parts[:1], dim)
    if not source.shape[dim]:
        return x
    low, gaps = [0] * x.rank, [0] * x.rank
    low[dim], gaps[dim] = first, step - 1
    high = [0] * x.rank
    high[dim] = x.shape[dim] - first - (source.shape[dim] - 1) * step - 1
    spread = b.pad(source, low, high, 0, gaps)
    at = b.iota(x.shape, dim, torch.int64)
    within = b.binary("and", b.compare("GE", at, b.like(first, at)), b.compare("LT", at, b.like(last, at)))
    rest = b.binary("remainder", b.sub(at, b.like(first, at)), b.like(step, at))
    return b.select(b.binary("and", within, b.compare("EQ", rest, b.like(0, at))), spread, x)


@lowers(aten.select_scatter)
def select_scatter(b: Builder, out: Result, x: Value, source: Value, dim: int, index: int) -> Value:
    dim = dim_of(dim, x.rank)
    index %= x.shape[dim]
    source = b.reshape(
        b.broadcast(b.cast(source, x.dtype), [*x.shape[:dim], *x.shape[dim + 1 :]]),
        [*x.shape[:dim], 1, *x.shape[dim + 1 :]],
    )
    return slice_scatter(b, out, x, source, dim, index, index + 1)


@lowers(aten.diagonal_scatter)
def diagonal_scatter(
    b: Builder, out: Result, x: Value, source: Value, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    first, second = dim_of(dim1, x.rank), dim_of(dim2, x.rank)
    rows, columns = b.iota(x.shape, first, torch.int64), b.iota(x.shape, second, torch.int64)
    on = b.compare("EQ", b.add(rows, b.like(offset, rows)), columns)
    start = (max(-offset, 0), max(offset, 0))
    low, high = [0] * source.rank, [0] * source.rank
    low[-1], high[-1] = start[0], x.shape[first] - start[0] - source.shape[-1]
    padded = b.pad(b.cast(source, x.dtype), low, high)
    others = [dim for dim in range(x.rank) if dim not in (first, second)]
    return b.select(on, _placed(b, padded, x.shape, [*others, first]), x)


def _placed(b: Builder, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
    """`broadcast_in_dim` whose dims need not be in order."""
    order = sorted(range(len(dims)), key=lambda at: dims[at])
    return b.broadcast_dims(b.transpose(x, order), shape, sorted(dims))


@lowers(aten.as_strided)
def as_strided(
    b: Builder, out: Result, x: Value, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> Value:
    """Elements by their places in the memory of x, whose dims it must fill in some order."""
    flat = b.reshape(b.transpose(x, _memory_order(b)), [math.prod(x.shape)])
    index = strided_index(size, stride, offset or 0)
    if _is_all(index, x):
        return b.reshape(flat, out.shape)
    return gather(b, flat, b.reshape(b.tensor(index), [*index.shape, 1]), [0])


@lowers(aten.as_strided_scatter, prims.as_strided_scatter)
def as_strided_scatter(
    b: Builder, out: Result, x: Value, source: Value, size: Sequence[int], stride: Sequence[int],
    offset: int | None = None
) -> Value:
    """x with other elements at places in its memory, which its dims must fill in some order."""
    order = _memory_order(b)
    index = strided_index(size, stride, offset or 0)
    if _is_all(index, x):
        flat = source
    else:
        flat = b.reshape(b.transpose(x, order), [math.prod(x.shape)])
        flat = scatter(b, flat, b.reshape(b.tensor(index), [*index.shape, 1]), source, [0], None)
    memory = b.reshape(flat, [x.shape[dim] for dim in order])
    return b.transpose(memory, [order.index(dim) for dim in range(x.rank)])


def _memory_order(b: Builder) -> list[int]:
    if b.memory_order is None:
        raise b.refuse("as_strided of a view that shows a part of a tensor's memory; expected slices and permutations")
    return b.memory_order


def _is_all(index: torch.Tensor, x: Value) -> bool:
    """Whether these places are all of x's memory, in order."""
    count = math.prod(x.shape)
    return index.numel() == count and torch.equal(index.reshape(-1), torch.arange(count))


@lowers(aten.triu_indices)
def triu_indices(b: Builder, out: Result, rows: int, columns: int, offset: int = 0, **_: Any) -> Value:
    return b.tensor(torch.triu_indices(rows, columns, offset, dtype=out.dtype))


@lowers(aten.tril_indices)
def tril_indices(b: Builder, out: Result, rows: int, columns: int, offset: int = 0, **_: Any) -> Value:
    return b.tensor(torch.tril_indices(rows, columns, offset, dtype=out.dtype))


def strided_index(size: Sequence[int], stride: Sequence[int], offset: int) -> torch.Tensor:
    """For each element of a strided tensor its place in the memory."""
    index = torch.full(tuple(size), offset, dtype=torch.int64)
    for dim, (extent, step) in enumerate(zip(size, stride)):
        index += (torch.arange(extent) * step).reshape([-1 if at == dim else 1 for at in range(len(size))])
    return index


@lowers(aten.unfold)
def unfold(b: Builder, out: Result, x: Value, dim: int, size: int, step: int) -> Value:
    dim = dim_of(dim, x.rank)
    if not x.rank:
        return b.broadcast(x, out.shape)
    count = out.shape[dim]
    shape = [*x.shape[:dim], count, *x.shape[dim + 1 :], 1]
    parts = [b.reshape(b.slice_dim(x, dim, at, at + (count - 1) * step + 1, step), shape) for at in range(size)]
    return b.concatenate(parts, x.rank) if parts else b.full(0, out.shape, x.dtype)


# Tensors made of nothing.


lowers(aten.full, aten.full_like)(lambda b, out, _, value, **__: b.full(value, out.shape, out.dtype))
lowers(aten.new_full)(lambda b, out, _, __, value, **___: b.full(value, out.shape, out.dtype))
lowers(aten.scalar_tensor, prims.scalar_tensor)(lambda b, out, value, **_: b.full(value, out.shape, out.dtype))
for _op in (aten.ones, aten.ones_like, aten.new_ones):
    lowers(_op)(lambda b, out, *_, **__: b.full(1, out.shape, out.dtype))
# What is empty has zeros: a program's numbers don't depend on what was in memory.
for _op in (
    aten.zeros, aten.zeros_like, aten.new_zeros, aten.empty, aten.empty_like, aten.new_empty, aten.empty_strided,
    aten.new_empty_strided, aten.empty_permuted, prims.empty_strided, aten._efficientzerotensor,
):  # fmt: skip
    lowers(_op)(lambda b, out, *_, **__: b.full(0, out.shape, out.dtype))


def _counted(b: Builder, out: Result, start: Number, step: Number) -> Value:
    """start + i * step, computed in the type that torch computes in."""
    if not is_inexact(out.dtype):
        start, step = int(start), int(step)  # type: ignore[arg-type]
        compute = torch.int64
    else:
        compute = torch.float64 if out.dtype == torch.float64 else wide(out.dtype)
    count = b.iota(out.shape, 0, compute)
    if step != 1:
        count = b.mul(count, b.like(step, count))
    if start != 0:
        count = b.add(b.like(start, count), count)
    return b.cast(count, out.dtype)


@lowers(aten.arange.start_step)
def arange_step(b: Builder, out: Result, start: Number, end: Number, step: Number = 1, **_: Any) -> Value:
    return _counted(b, out, start, step)


@lowers(aten.arange.start)
def arange_start(b: Builder, out: Result, start: Number, end: Number, **_: Any) -> Value:
    return _counted(b, out, start, 1)


@lowers(aten.arange.default)
def arange(b: Builder, out: Result, end: Number, **_: Any) -> Value:
    return _counted(b, out, 0, 1)


@lowers(prims.iota)
def iota(b: Builder, out: Result, length: int, *, start: int, step: int, **_: Any) -> Value:
    return _counted(b, out, start, step)


@lowers(aten.linspace.default)
def linspace(b: Builder, out: Result, start: Number, end: Number, steps: int, **_: Any) -> Value:
    return b.tensor(torch.linspace(start, end, steps, dtype=out.dtype))


@lowers(aten.eye)
def eye(b: Builder, out: Result, *_: Any, **__: Any) -> Value:
    return b.cast(b.compare("EQ", b.iota(out.shape, 0, torch.int64), b.iota(out.shape, 1, torch.int64)), out.dtype)


@lowers(aten.fill)
def fill(b: Builder, out: Result, x: Value, value: Value | Number) -> Value:
    return given(b, value, out.shape, out.dtype)
