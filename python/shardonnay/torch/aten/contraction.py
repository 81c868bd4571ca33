"""Matrix products. Half types are multiplied as they are, and summed as the device does."""

from __future__ import annotations

import torch

from ..builder import Builder, Number, Value, dims_text
from .table import Result, lowers, wide

aten = torch.ops.aten
Pairs = tuple[list[int], list[int]]


def _dot(b: Builder, x: Value, y: Value, contract: Pairs, batch: Pairs, dtype: torch.dtype | None) -> Value:
    """The product, with dims of the operands apart that a view has made one of, which eager does for products of more
    than two dims.

    A merged dim can be sharded by the axes of its first part only. Dims that both operands have are taken apart where
    both were merged alike. Operands are what they were before a transpose, too: a weight that is gathered is gathered
    for both directions.
    """
    of_x, of_y = b.merged_dims(x), b.merged_dims(y)
    common = list(zip((*contract[0], *batch[0]), (*contract[1], *batch[1]), strict=True))
    unlike = [pair for pair in common if of_x[pair[0]] != of_y[pair[1]]]
    x, groups = b.unmerge(x, _apart(of_x, [dim for dim, _ in unlike]))
    y, others = b.unmerge(y, _apart(of_y, [dim for _, dim in unlike]))

    def spread(dims: Pairs) -> Pairs:
        return [at for dim in dims[0] for at in groups[dim]], [at for dim in dims[1] for at in others[dim]]

    result = b.dot(x, y, spread(contract), spread(batch), dtype)
    kept = [_free(groups, contract[0], batch[0]), _free(others, contract[1], batch[1])]
    order = list(range(len(spread(batch)[0])))
    for dims in kept:  # the product has them in the order of its operand, which may be another before a transpose
        order += [len(order) + sorted(dims).index(dim) for dim in dims]
    return b.transpose(result, order)


def _free(groups: list[list[int]], contract: list[int], batch: list[int]) -> list[int]:
    """The dims of an operand that its product has, in the order in which the product is to have them."""
    return [at for dim, group in enumerate(groups) if dim not in contract and dim not in batch for at in group]


def _apart(merged: list[list[int]], whole: list[int]) -> list[int]:
    """The dims that are taken apart: of several sizes, and not to stay whole."""
    return [dim for dim, sizes in enumerate(merged) if len(sizes) > 1 and dim not in whole]


def product(
    b: Builder, x: Value, y: Value, contract: Pairs, batch: Pairs = ([], []), dtype: torch.dtype | None = None
) -> Value:
    """A contraction, in the shape of `_dot`; integers and booleans too, which torch multiplies as it does other
    numbers. dtype: of the result, if it is not that of x.
    """
    if x.dtype == torch.bool:
        wide_ = b.dot(b.cast(x, torch.int32), b.cast(y, torch.int32), contract, batch)
        return b.cast(wide_, torch.bool)
    return _dot(b, x, y, contract, batch, dtype)


@lowers(aten.mm)
def mm(b: Builder, out: Result, x: Value, y: Value, **_: object) -> Value:
    return b.reshape(b.cast(product(b, x, y, ([1], [0])), out.dtype), out.shape)


@lowers(aten.bmm)
def bmm(b: Builder, out: Result, x: Value, y: Value, **_: object) -> Value:
    return b.reshape(b.cast(product(b, x, y, ([2], [1]), ([0], [0])), out.dtype), out.shape)


@lowers(aten.mv)
def mv(b: Builder, out: Result, x: Value, y: Value) -> Value:
    return b.reshape(product(b, x, y, ([1], [0])), out.shape)


@lowers(aten.dot)
def dot(b: Builder, out: Result, x: Value, y: Value) -> Value:
    return product(b, x, y, ([0], [0]))


def _unrounded(dtype: torch.dtype, beta: Number, alpha: Number) -> torch.dtype | None:
    """The type of a product that is scaled before it is rounded: polynomials of matrices in half types, as Muon's,
    magnify what a second rounding loses. A bias alone is worth no sum over devices in a wider type.
    """
    return None if alpha == 1 and beta in (0, 1) else wide(dtype)


def _added(b: Builder, out: Result, bias: Value, result: Value, beta: Number, alpha: Number) -> Value:
    compute = wide(out.dtype)
    result = b.cast(result, compute)
    if alpha != 1:
        result = b.mul(result, b.like(alpha, result))
    if beta == 0:
        return b.reshape(b.cast(result, out.dtype), out.shape)
    bias = b.cast(bias, compute)
    bias = b.broadcast(bias, result.shape if bias.rank < 2 else out.shape)
    bias = b.reshape(bias, result.shape)
    if beta != 1:
        bias = b.mul(bias, b.like(beta, bias))
    return b.reshape(b.cast(b.add(bias, result), out.dtype), out.shape)


@lowers(aten.addmm)
def addmm(b: Builder, out: Result, bias: Value, x: Value, y: Value, *, beta: Number = 1, alpha: Number = 1) -> Value:
    found = product(b, x, y, ([1], [0]), dtype=_unrounded(out.dtype, beta, alpha))
    return _added(b, out, bias, found, beta, alpha)


@lowers(aten.baddbmm)
def baddbmm(b: Builder, out: Result, bias: Value, x: Value, y: Value, *, beta: Number = 1, alpha: Number = 1) -> Value:
    found = product(b, x, y, ([2], [1]), ([0], [0]), _unrounded(out.dtype, beta, alpha))
    return _added(b, out, bias, found, beta, alpha)


def _ragged_dot(b: Builder, out: Result, x: Value, y: Value, ends: Value, contracted: bool) -> Value:
    """Products by groups of rows of x, each with a matrix of y, or of what is contracted; groups end at `ends`."""
    before = b.pad(b.slice_dim(ends, 0, 0, ends.shape[0] - 1), [1], [0])
    # Operands are what they were before a transpose, as in `_dot`.
    (x, of_x), (y, of_y) = b.unmerge(x, []), b.unmerge(y, [])
    (rows,), (of_contracted,), of_groups = of_x[0], of_x[1], [] if contracted else of_y[0]
    fields = {
        "lhs_contracting_dimensions": [of_contracted],
        "rhs_contracting_dimensions": of_y[-2],
        "lhs_ragged_dimensions": [of_contracted if contracted else rows],
        "rhs_group_dimensions": of_groups,
    }
    numbers = ", ".join(f"{name} = {dims_text(dims)}" for name, dims in fields.items() if dims)
    attributes = f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>"
    return b.op("chlo.ragged_dot", [x, y, b.sub(ends, before)], out.shape, out.dtype, attributes)


@lowers(aten._grouped_mm.default)
def grouped_mm(
    b: Builder, out: Result, x: Value, y: Value, ends: Value | None = None, bias: Value | None = None,
    out_dtype: torch.dtype | None = None,
) -> Value:  # fmt: skip
    """What is behind the last group is zero; eager leaves it as the memory was."""
    if bias is not None:
        raise b.refuse("a bias of 'aten._grouped_mm', which eager PyTorch has not either")
    if ends is None:
        return bmm(b, out, x, y)
    if x.rank == 3 and y.rank == 2:
        flipped = Result(out.shape[::-1], out.dtype)
        found = _ragged_dot(b, flipped, b.transpose(y, [1, 0]), b.transpose(x, [0, 2, 1]), ends, False)
        return b.transpose(found, [1, 0])
    return _ragged_dot(b, out, x, y, ends, contracted=y.rank == 2)


# What transformers' layers of experts call instead while a program is captured, for strides and types that
# `aten._grouped_mm` refuses.
@lowers("transformers.grouped_mm_fallback.default")
def grouped_mm_fallback(b: Builder, out: Result, x: Value, y: Value, ends: Value) -> Value:
    return _ragged_dot(b, out, x, y, ends, contracted=False)


@lowers("transformers.grouped_mm_fallback_backward.default")
def grouped_mm_fallback_backward(
    b: Builder, out: list[Result], x: Value, y: Value, ends: Value, gradient: Value
) -> list[Value]:
    return [
        _ragged_dot(b, out[0], gradient, b.transpose(y, [0, 2, 1]), ends, contracted=False),
        _ragged_dot(b, out[1], b.transpose(x, [1, 0]), gradient, ends, contracted=True),
    ]
