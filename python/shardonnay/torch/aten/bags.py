"""Bags of embeddings: sums, means and maxima of the rows that belong together."""

from __future__ import annotations

from typing import Any

import torch

from ..builder import Builder, Value
from .composed import composes
from .indexing import gather, scatter
from .table import Result, lowers, wide

aten = torch.ops.aten
SUM, MEAN, MAX = range(3)


def _bag_of(b: Builder, offsets: Value, count: int, bags: int) -> Value:
    """Of each index the bag that it is in: how many bags begin at or before it, less one."""
    shape = [count, offsets.shape[0]]
    begun = b.compare("GE", b.iota(shape, 0, offsets.dtype), b.broadcast_dims(offsets, shape, [1]))
    total = b.sum(b.cast(begun, torch.int64), [1])
    return b.binary("minimum", b.sub(total, b.like(1, total)), b.like(bags - 1, total))


@lowers(aten._embedding_bag, aten._embedding_bag_forward_only)
def embedding_bag(
    b: Builder,
    out: list[Result],
    weight: Value,
    indices: Value,
    offsets: Value,
    by_frequency: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    each: Value | None = None,
    last_offset: bool = False,
    padding: int = -1,
) -> list[Value]:
    """[bags, the bag of each index, how many are in each, the rows of maxima]."""
    bags, dtype = out[0].shape[0], weight.dtype
    bag = _bag_of(b, offsets, indices.shape[0], bags)
    counted = b.full(1, indices.shape, torch.int64)
    rows = gather(b, weight, b.reshape(indices, [*indices.shape, 1]), [0])
    if each is not None:
        rows = b.mul(rows, b.broadcast_dims(each, rows.shape, [0]))
    if padding >= 0:
        used = b.compare("NE", indices, b.like(padding, indices))
        counted = b.cast(used, torch.int64)
        rows = b.select(b.broadcast_dims(used, rows.shape, [0]), rows, b.like(0, rows))
    at = b.reshape(bag, [*bag.shape, 1])
    total = scatter(b, b.full(0, out[0].shape, dtype), at, rows, [0], "add")
    size = scatter(b, b.full(0, [bags], torch.int64), at, counted, [0], "add")
    if mode == MEAN:
        divisor = b.cast(b.binary("maximum", size, b.like(1, size)), dtype)
        total = b.div(total, b.broadcast_dims(divisor, total.shape, [0]))
    made = [total, _fitting(b, bag, out[1]), _fitting(b, size, out[2]), b.full(0, out[3].shape, out[3].dtype)]
    return made


@composes(aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
def _bags_of_maxima(
    weight: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, by_frequency: bool = False, mode: int = SUM,
    sparse: bool = False, each: torch.Tensor | None = None, last_offset: bool = False, padding: int = -1,
) -> Any:  # fmt: skip
    """The last result says of which row of the weight a maximum is, one more than there are if a bag is empty."""
    if mode != MAX:
        return NotImplemented
    bags, count = offsets.shape[0] - last_offset, indices.shape[0]
    bag = (torch.arange(count)[:, None] >= offsets[:bags]).sum(1) - 1
    used = (indices != padding)[:, None] if padding >= 0 else torch.ones(count, 1, dtype=torch.bool)
    rows = weight.index_select(0, indices)
    at = bag[:, None].expand(rows.shape)
    least = torch.full((), -torch.inf, dtype=weight.dtype)
    top = least.expand(bags, rows.shape[1]).scatter_reduce(0, at, torch.where(used, rows, least), "amax")
    places = torch.where(used & (rows == top[bag]), torch.arange(count)[:, None], count)
    first = torch.full_like(top, count, dtype=torch.int64).scatter_reduce(0, at, places, "amin")
    is_some = first < count
    maxima = torch.where(is_some, indices[first.clamp(max=count - 1)], weight.shape[0])
    sizes = torch.zeros(bags, dtype=torch.int64).index_add(0, bag, used[:, 0].long())
    return torch.where(is_some, top, 0), bag.to(indices.dtype), sizes.to(indices.dtype), maxima


@composes(aten._embedding_bag_dense_backward.default)
def _bags_of_maxima_backward(
    gradient: torch.Tensor, indices: torch.Tensor, bag: torch.Tensor, size: torch.Tensor, maxima: torch.Tensor,
    rows: int, by_frequency: bool, mode: int, *_: Any,
) -> Any:  # fmt: skip
    if mode != MAX or by_frequency:
        return NotImplemented
    found = torch.zeros(rows + 1, gradient.shape[1], dtype=gradient.dtype)
    return found.scatter_add(0, maxima.long(), gradient)[:rows]


@composes(aten._embedding_bag_backward.default)
def _bags_of_maxima_any_backward(
    gradient: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, *others: Any
) -> Any:
    return _bags_of_maxima_backward(gradient, indices, *others)


def _fitting(b: Builder, x: Value, result: Result) -> Value:
    """The value, or zeros where torch leaves a result empty."""
    return b.cast(x, result.dtype) if x.shape == result.shape else b.full(0, result.shape, result.dtype)


@lowers(aten._embedding_bag_dense_backward)
def embedding_bag_backward(
    b: Builder,
    out: Result,
    gradient: Value,
    indices: Value,
    bag: Value,
    size: Value,
    _: Value,
    rows: int,
    by_frequency: bool,
    mode: int,
    each: Value | None,
    padding: int = -1,
) -> Value:
    if by_frequency:
        raise b.refuse("the gradient of bags of embeddings scaled by frequency; expected scale_grad_by_freq=False")
    if mode == MEAN:
        divisor = b.cast(b.binary("maximum", size, b.like(1, size)), gradient.dtype)
        gradient = b.div(gradient, b.broadcast_dims(divisor, gradient.shape, [0]))
    updates = gather(b, gradient, b.reshape(bag, [*bag.shape, 1]), [0])
    if each is not None:
        updates = b.mul(updates, b.broadcast_dims(each, updates.shape, [0]))
    if padding >= 0:
        indices = b.select(b.compare("EQ", indices, b.like(padding, indices)), b.like(rows, indices), indices)
    at = b.reshape(indices, [*indices.shape, 1])
    return scatter(b, b.full(0, out.shape, out.dtype), at, updates, [0], "add")


@lowers(aten._embedding_bag_backward)
def embedding_bag_any_backward(
    b: Builder, out: Result, gradient: Value, indices: Value, offsets: Value, bag: Value, size: Value, maxima: Value,
    rows: int, by_frequency: bool, mode: int, sparse: bool, each: Value | None, padding: int = -1,
) -> Value:  # fmt: skip
    bag = _bag_of(b, offsets, indices.shape[0], gradient.shape[0])
    return embedding_bag_backward(b, out, gradient, indices, bag, size, maxima, rows, by_frequency, mode, each, padding)


@lowers(aten._embedding_bag_per_sample_weights_backward)
def embedding_bag_weights_backward(
    b: Builder, out: Result, gradient: Value, weight: Value, indices: Value, offsets: Value, bag: Value, mode: int,
    padding: int = -1
) -> Value:
    bag = _bag_of(b, offsets, indices.shape[0], gradient.shape[0])
    rows = gather(b, weight, b.reshape(indices, [*indices.shape, 1]), [0])
    updates = gather(b, gradient, b.reshape(bag, [*bag.shape, 1]), [0])
    products = b.cast(b.sum(b.cast(b.mul(rows, updates), wide(out.dtype)), [1]), out.dtype)
    if padding < 0:
        return products
    return b.select(b.compare("EQ", indices, b.like(padding, indices)), b.like(0, products), products)
