"""Convolutions and their gradients. Dims are torch's: batch, features, space; weights: out, in, space."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..builder import Builder, Value, ints
from .table import Result, lowers, wide

aten = torch.ops.aten


def convolve(
    b: Builder,
    x: Value,
    w: Value,
    layout: str,
    shape: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    x_dilation: Sequence[int],
    w_dilation: Sequence[int],
    groups: int = 1,
    batch_groups: int = 1,
) -> Value:
    """`layout`: dimension numbers, with `*` for the spatial dims."""
    space = len(strides)
    numbers = layout.replace("*", ", ".join(map(str, range(space))))
    low_high = ", ".join(f"[{low}, {high}]" for low, high in padding)
    attributes = (
        f"dimension_numbers = #stablehlo.conv<{numbers}>, window_strides = {ints(strides)}, "
        f"padding = dense<[{low_high}]> : tensor<{space}x2xi64>, lhs_dilation = {ints(x_dilation)}, "
        f"rhs_dilation = {ints(w_dilation)}, feature_group_count = {groups} : i64, batch_group_count = "
        f"{batch_groups} : i64"
    )
    return b.op("convolution", [x, w], shape, x.dtype, attributes)


FORWARD = "[b, f, *]x[o, i, *]->[b, f, *]"


def forward(
    b: Builder, x: Value, w: Value, shape: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int
) -> Value:
    pairs = []
    for at, (step, by, spread) in enumerate(zip(stride, padding, dilation)):
        reach = spread * (w.shape[2 + at] - 1) + 1
        fits = (x.shape[2 + at] + 2 * by - reach) // step + 1 == shape[2 + at]
        # The gradient of a transposed convolution leaves out what its output padding added.
        pairs.append((by, by if fits else (shape[2 + at] - 1) * step + reach - x.shape[2 + at] - by))
    return convolve(b, x, w, FORWARD, shape, stride, pairs, [1] * len(stride), dilation, groups)


def transposed(
    b: Builder, x: Value, w: Value, shape: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int
) -> Value:
    """The gradient of `forward` for its input, whose shape is `shape`; weights are those of the forward one."""
    space = range(2, w.rank)
    w = b.reverse(w, list(space))
    if groups > 1:  # out and in change places within each group
        split = b.reshape(w, [groups, w.shape[0] // groups, *w.shape[1:]])
        split = b.transpose(split, [0, 2, 1, *range(3, split.rank)])
        w = b.reshape(split, [groups * split.shape[1], *split.shape[2:]])
    else:
        w = b.transpose(w, [1, 0, *space])
    pairs = []
    for at, (step, by, spread) in enumerate(zip(stride, padding, dilation)):
        low = spread * (w.shape[2 + at] - 1) - by
        reach = (x.shape[2 + at] - 1) * step + 1
        pairs.append((low, shape[2 + at] + spread * (w.shape[2 + at] - 1) - reach - low))
    return convolve(b, x, w, FORWARD, shape, [1] * len(stride), pairs, stride, dilation, groups)


def weight_gradient(
    b: Builder,
    x: Value,
    gradient: Value,
    shape: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Value:
    """The gradient of `forward` for its weights, whose shape is `shape`: x convolved with the result's gradient."""
    pairs = []
    for at, (step, by, spread) in enumerate(zip(stride, padding, dilation)):
        needed = (shape[2 + at] - 1) * spread + (gradient.shape[2 + at] - 1) * step + 1
        pairs.append((by, needed - x.shape[2 + at] - by))
    layout = "[f, b, *]x[i, o, *]->[f, b, *]"
    return convolve(b, x, gradient, layout, shape, dilation, pairs, [1] * len(stride), stride, 1, groups)


def _spread(values: Sequence[int], space: int) -> list[int]:
    return list(values) * space if len(values) == 1 else list(values)


@lowers(aten.convolution, aten._convolution)
def convolution(
    b: Builder,
    out: Result,
    x: Value,
    w: Value,
    bias: Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    is_transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    *_: object,
) -> Value:
    space = w.rank - 2
    stride, padding, dilation = (_spread(values, space) for values in (stride, padding, dilation))
    if 0 in out.shape:
        return b.full(0, out.shape, out.dtype)
    if 0 in x.shape or 0 in w.shape:
        result = b.full(0, out.shape, out.dtype)
    else:
        result = (transposed if is_transposed else forward)(b, x, w, out.shape, stride, padding, dilation, groups)
    return result if bias is None else b.add(result, b.broadcast_dims(bias, out.shape, [1]))


@lowers(aten.convolution_backward)
def convolution_backward(
    b: Builder,
    out: list[Result | None],
    gradient: Value,
    x: Value,
    w: Value,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    is_transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    mask: Sequence[bool],
) -> list[Value | None]:
    space = w.rank - 2
    stride, padding, dilation = (_spread(values, space) for values in (stride, padding, dilation))
    results: list[Value | None] = [None, None, None]
    empty = any(0 in value.shape for value in (gradient, x, w))
    if mask[0]:
        back = forward if is_transposed else transposed
        results[0] = (
            b.full(0, x.shape, x.dtype) if empty else back(b, gradient, w, x.shape, stride, padding, dilation, groups)
        )
    if mask[1]:
        pair = (gradient, x) if is_transposed else (x, gradient)
        results[1] = b.full(0, w.shape, w.dtype) if empty else weight_gradient(b, *pair, w.shape, stride, padding,
            dilation, groups)
    if mask[2]:
        total = b.sum(b.cast(gradient, wide(gradient.dtype)), [0, *range(2, gradient.rank)])
        results[2] = b.cast(total, gradient.dtype)
    return results
