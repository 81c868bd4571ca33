"""Ops that read or write at places which a tensor says: gathers, scatters, embeddings.

An index that torch would refuse at run time reads the nearest element and writes nothing: a compiled program has no way
to stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from ..builder import Builder, Number, Value, dims_text, ints, is_inexact
from .reductions import running
from .table import Operand, Result, dim_of, given, highest, lowers, lowest, wide

aten = torch.ops.aten


def gather(
    b: Builder, x: Value, index: Value, dims: Sequence[int], batch: tuple[Sequence[int], Sequence[int]] = ((), ())
) -> Value:
    """Slices of x at the vectors in the last dim of `index`, which say positions along `dims`.

    batch: dims of x and of index that go together. The result has the dims of index but the last, then x's others.
    """
    sizes = [1 if dim in dims or dim in batch[0] else extent for dim, extent in enumerate(x.shape)]
    windows = [dim for dim in range(x.rank) if dim not in dims and dim not in batch[0]]
    outer = index.rank - 1
    fields = [
        f"offset_dims = {dims_text(range(outer, outer + len(windows)))}",
        f"collapsed_slice_dims = {dims_text(sorted(dims))}",
    ]
    if batch[0]:
        fields += [
            f"operand_batching_dims = {dims_text(batch[0])}",
            f"start_indices_batching_dims = {dims_text(batch[1])}",
        ]
    fields += [f"start_index_map = {dims_text(dims)}", f"index_vector_dim = {outer}"]
    attributes = f"dimension_numbers = #stablehlo.gather<{', '.join(fields)}>, slice_sizes = {ints(sizes)}"
    shape = [*index.shape[:-1], *(x.shape[dim] for dim in windows)]
    return b.op("gather", [x, index], shape, x.dtype, attributes)


def scatter(
    b: Builder,
    x: Value,
    index: Value,
    updates: Value,
    dims: Sequence[int],
    op: str | None,
    batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Value:
    """x with `updates` combined by `op` (None: written) at the vectors in the last dim of `index`, laid out as
    `gather`'s result."""
    windows = x.rank - len(dims) - len(batch[0])
    outer = index.rank - 1
    fields = [
        f"update_window_dims = {dims_text(range(outer, outer + windows))}",
        f"inserted_window_dims = {dims_text(sorted(dims))}",
    ]
    if batch[0]:
        fields += [
            f"input_batching_dims = {dims_text(batch[0])}",
            f"scatter_indices_batching_dims = {dims_text(batch[1])}",
        ]
    fields += [f"scatter_dims_to_operand_dims = {dims_text(dims)}", f"index_vector_dim = {outer}"]
    attributes = f"scatter_dimension_numbers = #stablehlo.scatter<{', '.join(fields)}>"
    body = b.region_of([x.dtype] * 2, lambda pair: pair[1] if op is None else b.binary(op, *pair))
    return b.op("scatter", [x, index, updates], x.shape, x.dtype, attributes, body)


def wrapped(b: Builder, index: Value, extent: int) -> Value:
    """An index that may count from the end, counted from the front."""
    if index.dtype == torch.uint8:
        index = b.cast(index, torch.int64)
    negative = b.compare("LT", index, b.like(0, index))
    return b.select(negative, b.add(index, b.like(extent, index)), index)


def vectors(b: Builder, parts: Sequence[Value]) -> Value:
    """Index vectors of the positions along several dims."""
    return b.concatenate([b.reshape(part, [*part.shape, 1]) for part in parts], parts[0].rank)


# By whole rows.


@lowers(aten.embedding)
def embedding(b: Builder, out: Result, weight: Value, index: Value, *_: object, **__: object) -> Value:
    return gather(b, weight, b.reshape(index, [*index.shape, 1]), [0])


@lowers(aten.embedding_dense_backward)
def embedding_dense_backward(
    b: Builder, out: Result, gradient: Value, index: Value, rows: int, padding: int, by_frequency: bool
) -> Value:
    dtype = wide(out.dtype)
    gradient = b.cast(gradient, dtype)
    if padding >= 0:  # a row beyond the end, which is not written
        index = b.select(b.compare("EQ", index, b.like(padding, index)), b.like(rows, index), index)
    at = b.reshape(index, [*index.shape, 1])
    if by_frequency:
        ones = b.full(1, index.shape, dtype)
        count = scatter(b, b.full(0, [rows], dtype), at, ones, [0], "add")
        each = gather(b, count, at, [0])
        gradient = b.div(gradient, b.broadcast_dims(each, gradient.shape, range(each.rank)))
    return b.cast(scatter(b, b.full(0, out.shape, dtype), at, gradient, [0], "add"), out.dtype)


@lowers(aten.index_select)
def index_select(b: Builder, out: Result, x: Value, dim: int, index: Value) -> Value:
    if not x.rank:
        return b.broadcast(x, out.shape)
    dim = dim_of(dim, x.rank)
    index = b.reshape(index, [math.prod(index.shape)])
    taken = gather(b, x, b.reshape(index, [*index.shape, 1]), [dim])
    return b.transpose(taken, [*range(1, dim + 1), 0, *range(dim + 1, x.rank)])


# By lists of indices, as x[i, :, j].


def _indexed(b: Builder, x: Value, indices: Sequence[Value | None]) -> tuple[list[int], Value, int]:
    """(indexed dims, index vectors, where their dims stand in the result)."""
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    given_ = [index for index in indices if index is not None]
    if any(index.dtype == torch.bool for index in given_):
        raise b.refuse("an index that is a mask, whose result's size depends on numbers; expected torch.where")
    shape = torch.broadcast_shapes(*(index.shape for index in given_))
    parts = [
        wrapped(b, b.broadcast(b.cast(index, torch.int64), shape), x.shape[dim]) for dim, index in zip(dims, given_)
    ]
    together = dims == list(range(dims[0], dims[0] + len(dims)))
    return dims, vectors(b, parts), dims[0] if together else 0


@lowers(aten.index, aten._unsafe_index)
def index(b: Builder, out: Result, x: Value, indices: Sequence[Value | None]) -> Value:
    if not any(part is not None for part in indices):
        return x
    if not math.prod(out.shape):
        return b.full(0, out.shape, out.dtype)
    dims, at, front = _indexed(b, x, indices)
    taken = gather(b, x, at, dims)
    outer = at.rank - 1
    return b.transpose(taken, [*range(outer, outer + front), *range(outer), *range(outer + front, taken.rank)])


@lowers(aten.index_put, aten._unsafe_index_put)
def index_put(
    b: Builder, out: Result, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False
) -> Value:
    masks = [part for part in indices if part is not None]
    if len(masks) == 1 and masks[0].dtype == torch.bool:
        return _masked(b, x, indices, values, accumulate)
    if not math.prod(out.shape):
        return x
    dims, at, front = _indexed(b, x, indices)
    outer, windows = at.rank - 1, [extent for dim, extent in enumerate(x.shape) if dim not in dims]
    shape = [*windows[:front], *at.shape[:-1], *windows[front:]]
    values = b.broadcast(b.cast(values, x.dtype), shape)
    order = [*range(front, front + outer), *range(front), *range(front + outer, len(shape))]
    op = None if not accumulate else "or" if x.dtype == torch.bool else "add"
    return scatter(b, x, at, b.transpose(values, order), dims, op)


def _masked(b: Builder, x: Value, indices: Sequence[Value | None], value: Value, accumulate: bool) -> Value:
    """What is the same for all places of a mask, written where it holds."""
    dim = next(at for at, part in enumerate(indices) if part is not None)
    mask = indices[dim]
    assert mask is not None
    behind = max(0, value.rank - (x.rank - dim - mask.rank))
    before = max(0, behind - 1)
    outer, places, rows = value.shape[:before], value.shape[before:behind], value.shape[behind:]
    if places not in ((), (1,)):
        raise b.refuse("as many values as a mask has places, which depends on numbers; expected torch.where")
    spread = b.broadcast_dims(mask, x.shape, range(dim, dim + mask.rank))
    filled = b.reshape(b.cast(value, x.dtype), [*outer, *[1] * (mask.rank * len(places)), *rows])
    filled = b.broadcast(filled, x.shape)
    return b.select(spread, b.add(x, filled) if accumulate else filled, x)


# Along one dim, each element by its own index.


def _batched(b: Builder, x: Value, dim: int, shape: Sequence[int]) -> Value:
    """The part of x that an index of this shape can reach."""
    limits = [extent if at == dim else reach for at, (extent, reach) in enumerate(zip(x.shape, shape))]
    return b.slice(x, [0] * x.rank, limits)


def _others(rank: int, dim: int) -> tuple[list[int], list[int]]:
    others = [at for at in range(rank) if at != dim]
    return others, others


@lowers(aten.gather)
def gather_(b: Builder, out: Result, x: Value, dim: int, index: Value, *, sparse_grad: bool = False) -> Value:
    if not x.rank:
        return b.broadcast(x, out.shape)
    if not index.rank:
        return b.reshape(gather(b, x, b.reshape(index, [1, 1]), [0]), ())
    if not math.prod(out.shape):
        return b.full(0, out.shape, out.dtype)
    dim = dim_of(dim, x.rank)
    reached = _batched(b, x, dim, index.shape)
    return gather(b, reached, b.reshape(index, [*index.shape, 1]), [dim], _others(x.rank, dim))


def _put_back(b: Builder, x: Value, part: Value) -> Value:
    """x with its first corner replaced."""
    if part.shape == x.shape:
        return part
    inside = None
    for dim, (extent, whole) in enumerate(zip(part.shape, x.shape)):
        if extent != whole:
            at = b.iota(x.shape, dim, torch.int64)
            within = b.compare("LT", at, b.like(extent, at))
            inside = within if inside is None else b.binary("and", inside, within)
    padded = b.pad(part, [0] * x.rank, [whole - extent for extent, whole in zip(part.shape, x.shape)])
    assert inside is not None
    return b.select(inside, padded, x)


def scattered(b: Builder, x: Value, dim: int, index: Value, source: Value, op: str | None) -> Value:
    """torch.scatter: x with each element of source combined at its index along dim."""
    if not math.prod(index.shape) or not math.prod(x.shape):
        return x
    if not x.rank:
        whole = scattered(b, b.reshape(x, [1]), 0, b.reshape(index, [1]), b.reshape(source, [1]), op)
        return b.reshape(whole, ())
    if not index.rank:
        index, source = b.reshape(index, [1]), b.reshape(source, [1])
    dim = dim_of(dim, x.rank)
    source = b.slice(source, [0] * source.rank, index.shape)
    reached = _batched(b, x, dim, index.shape)
    at = b.reshape(index, [*index.shape, 1])
    return _put_back(b, x, scatter(b, reached, at, source, [dim], op, _others(x.rank, dim)))


def _source(b: Builder, x: Value, index: Value, source: Operand) -> Value:
    return b.cast(source, x.dtype) if isinstance(source, Value) else b.full(source, index.shape, x.dtype)


@lowers(aten.scatter)
def scatter_(
    b: Builder, out: Result, x: Value, dim: int, index: Value, source: Operand, *, reduce: str | None = None
) -> Value:
    op = {None: None, "add": "add", "multiply": "multiply"}[reduce]
    return scattered(b, x, dim, index, _source(b, x, index, source), op)


@lowers(aten.scatter_add)
def scatter_add(b: Builder, out: Result, x: Value, dim: int, index: Value, source: Value) -> Value:
    return scattered(b, x, dim, index, source, "or" if x.dtype == torch.bool else "add")


_COMBINERS: dict[str, tuple[str, Callable[[torch.dtype], Number]]] = {
    "sum": ("add", lambda dtype: 0),
    "mean": ("add", lambda dtype: 0),
    "prod": ("multiply", lambda dtype: 1),
    "amax": ("maximum", lowest),
    "amin": ("minimum", highest),
}


@lowers(aten.scatter_reduce)
def scatter_reduce(
    b: Builder, out: Result, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    return _reduced(
        b, out, x, index.shape, source, reduce, include_self,
        lambda x, source, op: scattered(b, x, dim, index, source, op),
    )  # fmt: skip


def _reduced(
    b: Builder, out: Result, x: Value, shape: Sequence[int], source: Value, reduce: str, include_self: bool,
    put: Callable[[Value, Value, str | None], Value],
) -> Value:  # fmt: skip
    """x with the source's elements, of this shape, combined by `put(x, source, op)`."""
    op, neutral = _COMBINERS[reduce]
    start = x if include_self else put(x, b.full(neutral(x.dtype), shape, x.dtype), None)
    result = put(start, source, op)
    if reduce != "mean":
        return result
    ones, own = b.full(1, shape, x.dtype), b.like(1 if include_self else 0, x)
    count = put(own, ones, "add")
    count = b.select(b.compare("EQ", count, b.like(0, count)), b.like(1, count), count)
    if is_inexact(x.dtype):
        return b.div(result, count)
    from .elementwise import div

    return div(b, out, result, count, "floor")


# Whole slices along one dim.


def _slices(b: Builder, x: Value, dim: int, index: Value, source: Value, op: str | None) -> Value:
    if not x.rank:
        return b.reshape(_slices(b, b.reshape(x, [1]), 0, b.reshape(index, [1]), b.reshape(source, [1]), op), ())
    dim = dim_of(dim, x.rank)
    index = b.reshape(index, [math.prod(index.shape)])
    source = b.transpose(source, [dim, *(at for at in range(x.rank) if at != dim)])
    return scatter(b, x, b.reshape(index, [*index.shape, 1]), source, [dim], op)


@lowers(aten.index_add)
def index_add(b: Builder, out: Result, x: Value, dim: int, index: Value, source: Value, *, alpha: Number = 1) -> Value:
    if alpha != 1:
        source = b.mul(source, b.like(alpha, source))
    return _slices(b, x, dim, index, source, "or" if x.dtype == torch.bool else "add")


@lowers(aten.index_reduce)
def index_reduce(
    b: Builder, out: Result, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    return _reduced(
        b, out, x, source.shape, source, reduce, include_self,
        lambda x, source, op: _slices(b, x, dim, index, source, op),
    )  # fmt: skip


@lowers(aten.index_copy)
def index_copy(b: Builder, out: Result, x: Value, dim: int, index: Value, source: Value) -> Value:
    return _slices(b, x, dim, index, source, None)


@lowers(aten.index_fill)
def index_fill(b: Builder, out: Result, x: Value, dim: int, index: Value, value: Operand) -> Value:
    shape = list(x.shape)
    if shape:
        shape[dim_of(dim, x.rank)] = math.prod(index.shape)
    return _slices(b, x, dim, index, given(b, value, shape, x.dtype), None)


def _order(b: Builder, mask: Value) -> Value:
    """Of each element, flattened, which one it is of those where the mask holds."""
    count = b.cast(b.reshape(mask, [math.prod(mask.shape)]), torch.int64)
    return b.sub(running(b, count, 0, "add", 0), b.like(1, count))


@lowers(aten.masked_scatter)
def masked_scatter(b: Builder, out: Result, x: Value, mask: Value, source: Value) -> Value:
    """Where the mask holds, the elements of source in their order."""
    x, mask = b.broadcast(x, out.shape), b.broadcast(mask, out.shape)
    if not math.prod(x.shape) or not math.prod(source.shape):
        return x
    place = _order(b, mask)
    flat = b.reshape(source, [math.prod(source.shape)])
    taken = gather(b, flat, b.reshape(place, [*place.shape, 1]), [0])
    return b.select(mask, b.reshape(taken, x.shape), x)


@lowers(aten.masked_scatter_backward)
def masked_scatter_backward(b: Builder, out: Result, gradient: Value, mask: Value, _: object) -> Value:
    count = math.prod(out.shape)
    if not count or not math.prod(gradient.shape):
        return b.full(0, out.shape, out.dtype)
    mask = b.broadcast(mask, gradient.shape)
    place = _order(b, mask)
    taken = b.reshape(mask, place.shape)
    index = b.select(taken, place, b.like(count, place))  # beyond the end, which is not written
    flat = b.reshape(gradient, place.shape)
    found = scatter(b, b.full(0, [count], out.dtype), b.reshape(index, [*index.shape, 1]), flat, [0], None)
    return b.reshape(found, out.shape)


@lowers(aten.masked_fill)
def masked_fill(b: Builder, out: Result, x: Value, mask: Value, value: Operand) -> Value:
    return b.select(b.broadcast(mask, out.shape), given(b, value, out.shape, out.dtype), b.broadcast(x, out.shape))
