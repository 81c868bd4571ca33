"""Convolutions: torch's own where it has one, else products of windows."""

from __future__ import annotations

from typing import Any

import torch

from .contractions import _summand
from .elements import TensorType, is_float
from .lowering import Lowering, Value, rule
from .program import Op
from .shapes import known, padded
from .windows import Window, windows_of

Lower = Lowering


@rule("stablehlo.convolution", "stablehlo.dynamic_conv")
def convolution(lower: Lower, op: Op, x: Value, kernel: Value, *pads: Value) -> Value:
    """In torch's order, [batch, feature, spatial...], with edges and holes of the input written out."""
    roles = op.attributes["dimension_numbers"]
    batch, feature = roles["input_batch_dimension"], roles["input_feature_dimension"]
    spatial = roles.get("input_spatial_dimensions", [])
    count = len(spatial)
    padding = known(op, pads[0], "pads") if pads else op.attributes.get("padding", torch.zeros(count, 2)).tolist()
    holes = op.attributes.get("lhs_dilation", [1] * count)
    target = op.tensor()
    x = _summand(op.operand(0).element, target, x)
    kernel = _summand(op.operand(1).element, target, kernel)
    x = x.permute([batch, feature, *spatial])
    kernel = kernel.permute(
        [
            roles["kernel_output_feature_dimension"],
            roles["kernel_input_feature_dimension"],
            *roles.get("kernel_spatial_dimensions", []),
        ]
    )
    reversal = [at + 2 for at, flag in enumerate(op.attributes.get("window_reversal", [False] * count)) if flag]
    if reversal:
        kernel = torch.flip(kernel, reversal)
    shape = TensorType(tuple(op.operand(0).shape[dim] for dim in (batch, feature, *spatial)), target.element)
    kernel_shape = [op.operand(1).shape[roles["kernel_output_feature_dimension"]]]
    kernel_shape.append(op.operand(1).shape[roles["kernel_input_feature_dimension"]])
    kernel_shape += [op.operand(1).shape[dim] for dim in roles.get("kernel_spatial_dimensions", [])]
    low, high, interior = ([0, 0, *values] for values in ([p[0] for p in padding], [p[1] for p in padding],
                                                          [h - 1 for h in holes]))  # fmt: skip
    x = padded(lower, x, shape, torch.zeros((), dtype=target.dtype, device=lower.device), low, high, interior)
    extents = [
        0 if extent + a + b + max(extent - 1, 0) * i < 0 else extent + a + b + max(extent - 1, 0) * i
        for extent, a, b, i in zip(shape.shape, low, high, interior, strict=True)
    ]
    found = _grouped(op, x, extents, kernel, kernel_shape)
    order = [0] * (count + 2)
    places = [roles["output_batch_dimension"], roles["output_feature_dimension"],
              *roles.get("output_spatial_dimensions", [])]  # fmt: skip
    for at, place in enumerate(places):
        order[place] = at
    return found.permute(order).to(target.dtype)


def _grouped(op: Op, x: Value, extents: list[int], kernel: Value, kernel_shape: list[int]) -> Value:
    """With groups of batches as groups of features: [g * n, c] is [n, g * c]."""
    batches, groups = op.attributes.get("batch_group_count", 1), op.attributes.get("feature_group_count", 1)
    if batches > 1:
        inner = extents[0] // batches
        x = x.reshape([batches, inner, *extents[1:]]).transpose(0, 1).flatten(1, 2)
        extents, groups = [inner, batches * extents[1], *extents[2:]], batches
    count = len(extents) - 2
    strides = op.attributes.get("window_strides", [1] * count)
    dilation = op.attributes.get("rhs_dilation", [1] * count)
    return _convolved(op, x, extents, kernel, kernel_shape, strides, dilation, groups)


def _convolved(
    op: Op, x: Value, extents: list[int], kernel: Value, sizes: list[int], strides: list[int], dilation: list[int],
    groups: int
) -> Value:
    count = len(strides)
    empty = 0 in extents or 0 in sizes or 0 in op.tensor().shape
    functions: dict[int, Any] = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
    if is_float(op.tensor().element) and count in functions and not empty:
        return functions[count](x, kernel, None, strides, 0, dilation, groups)
    # [n, c, outputs..., window...] by groups of features, with [o, c, window...].
    window = Window(sizes[2:], strides, dilation)
    if empty:
        outputs = [max(0, window.outputs(extent, at)) for at, extent in enumerate(extents[2:])]
        return torch.zeros([extents[0], sizes[0], *outputs], dtype=op.tensor().dtype,
                           device=x.device if isinstance(x, torch.Tensor) else None)  # fmt: skip
    patches = windows_of(x, extents, [1, 1, *sizes[2:]], [1, 1, *strides], [1, 1, *dilation])
    outputs = [window.outputs(extent, at) for at, extent in enumerate(extents[2:])]
    inner = TensorType(tuple(sizes[1:]), "f32").size
    rows = patches.reshape([extents[0], groups, sizes[1], *outputs, *sizes[2:]])
    order = [1, 0, *range(3, 3 + count), 2, *range(3 + count, 3 + 2 * count)]
    rows = rows.permute(order).reshape([groups, -1, inner])
    columns = kernel.reshape([groups, sizes[0] // groups, inner]).transpose(1, 2)
    found = torch.matmul(rows, columns).reshape([groups, extents[0], *outputs, sizes[0] // groups])
    return found.permute([1, 0, 2 + count, *range(2, 2 + count)]).flatten(1, 2)
