"""Convolutions: torch's own where it has one, else products of windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from .contractions import _summand
from .elements import TensorType, is_float
from .lowering import Lowering, Value, rule
from .program import Op
from .shapes import known, padded
from .windows import windows_of

Lower = Lowering

_FORWARD: dict[int, Any] = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
_TRANSPOSED: dict[int, Any] = {1: torch.conv_transpose1d, 2: torch.conv_transpose2d, 3: torch.conv_transpose3d}


@dataclass(frozen=True)
class _Sizes:
    """Extents of the spatial dims, and what a convolution does along each.

    low, high: what is added at the edges of the input; holes: its elements are that far apart; spread: the kernel's.
    """

    extents: list[int]
    kernel: list[int]
    outputs: list[int]
    strides: list[int]
    low: list[int]
    high: list[int]
    holes: list[int]
    spread: list[int]

    @staticmethod
    def of(op: Op, pads: tuple[Value, ...], spatial: list[int], kernel_spatial: list[int]) -> _Sizes:
        count = len(spatial)
        edges = known(op, pads[0], "pads") if pads else op.attributes.get("padding", torch.zeros(count, 2)).tolist()
        strides, holes, spread = (
            list(op.attributes.get(name, [1] * count)) for name in ("window_strides", "lhs_dilation", "rhs_dilation")
        )
        outputs = [op.tensor().shape[dim] for dim in
                   op.attributes["dimension_numbers"].get("output_spatial_dimensions", [])]  # fmt: skip
        return _Sizes([op.operand(0).shape[dim] for dim in spatial],
                      [op.operand(1).shape[dim] for dim in kernel_spatial], outputs, strides,
                      [low for low, _ in edges], [high for _, high in edges], holes, spread)  # fmt: skip

    def reach(self) -> list[int]:
        """How far a window goes behind its first element."""
        return [by * (size - 1) for by, size in zip(self.spread, self.kernel, strict=True)]


@rule("stablehlo.convolution", "stablehlo.dynamic_conv")
def convolution(lower: Lower, op: Op, x: Value, kernel: Value, *pads: Value) -> Value:
    """In torch's order: [batch, feature, spatial...] and [output, input, spatial...]."""
    roles = op.attributes["dimension_numbers"]
    spatial, kernel_spatial = roles.get("input_spatial_dimensions", []), roles.get("kernel_spatial_dimensions", [])
    sizes = _Sizes.of(op, pads, spatial, kernel_spatial)
    target = op.tensor()
    if any(0 in type.shape for type in (op.operand(0), op.operand(1), target)):
        return torch.zeros(target.shape, dtype=target.dtype, device=lower.device)
    x = _summand(op.operand(0).element, target, x)
    kernel = _summand(op.operand(1).element, target, kernel)
    x = x.permute([roles["input_batch_dimension"], roles["input_feature_dimension"], *spatial])
    kernel_order = [roles["kernel_output_feature_dimension"], roles["kernel_input_feature_dimension"], *kernel_spatial]
    kernel = kernel.permute(kernel_order)
    reversal = [at + 2 for at, flag in enumerate(op.attributes.get("window_reversal", [])) if flag]
    if reversal:
        kernel = torch.flip(kernel, reversal)
    if is_float(target.element) and len(spatial) in _FORWARD:
        found = _by_torch(lower, op, x, kernel, sizes)
    else:
        found = _by_windows(lower, op, x, kernel, sizes)
    places = [roles["output_batch_dimension"], roles["output_feature_dimension"],
              *roles.get("output_spatial_dimensions", [])]  # fmt: skip
    return found.permute([places.index(dim) for dim in range(len(places))]).to(target.dtype)


def _by_torch(lower: Lower, op: Op, x: Value, kernel: Value, sizes: _Sizes) -> Value:
    """By the function that torch has for it: gradients are convolutions with holes, or with kernels as large as the
    input, which torch computes much more slowly as such."""
    count = len(sizes.extents)
    groups, batches = op.attributes.get("feature_group_count", 1), op.attributes.get("batch_group_count", 1)
    if batches == 1 and max(sizes.holes) > 1 and max(sizes.strides) == 1:
        found = _transposed(x, kernel, sizes, groups)
        if found is not None:
            return found
    roles = op.attributes["dimension_numbers"]
    # A layer of the model has such a kernel too where its windows are large, but its batch comes first.
    is_turned = roles["input_batch_dimension"] > roles["input_feature_dimension"]
    if is_turned and groups == max(sizes.holes) == 1 and math.prod(sizes.kernel) > math.prod(sizes.outputs):
        return _weight_gradient(op, x, kernel, sizes, batches)
    padding = sizes.low
    if sizes.low != sizes.high or min(sizes.low) < 0 or max(sizes.holes) > 1:
        shape = [op.operand(0).shape[roles[f"input_{name}_dimension"]] for name in ("batch", "feature")]
        x, _ = _with_holes_and_edges(lower, x, TensorType((*shape, *sizes.extents), op.tensor().element), sizes)
        padding = [0] * count
    if batches > 1:
        x = _batches_as_features(x, batches)
    return _FORWARD[count](x, kernel, None, sizes.strides, padding, sizes.spread, groups * batches)


def _transposed(x: Value, kernel: Value, sizes: _Sizes, groups: int) -> Value | None:
    """None where torch's has no such edges."""
    count = len(sizes.extents)
    edges = [reach - low for reach, low in zip(sizes.reach(), sizes.low, strict=True)]
    left = [
        output - ((extent - 1) * hole + 1 + reach - 2 * edge)
        for output, extent, hole, reach, edge in zip(
            sizes.outputs, sizes.extents, sizes.holes, sizes.reach(), edges, strict=True
        )
    ]
    if min(edges) < 0 or not all(0 <= more < hole for more, hole in zip(left, sizes.holes, strict=True)):
        return None
    kernel = torch.flip(kernel, list(range(2, 2 + count))).unflatten(0, [groups, -1])
    kernel = kernel.transpose(1, 2).flatten(0, 1)
    return _TRANSPOSED[count](x, kernel, None, sizes.holes, edges, left, groups, sizes.spread)


def _weight_gradient(op: Op, x: Value, gradient: Value, sizes: _Sizes, groups: int) -> Value:
    """A kernel of the input's extents is the gradient of a convolution's result, whose batch is the feature here."""
    count = len(sizes.extents)
    needed = [
        (output - 1) * stride + reach + 1
        for output, stride, reach in zip(sizes.outputs, sizes.strides, sizes.reach(), strict=True)
    ]
    edges = [
        (low, need - low - extent) for low, need, extent in zip(sizes.low, needed, sizes.extents, strict=True)
    ]
    x = torch.constant_pad_nd(x, [by for pair in reversed(edges) for by in pair], 0.0).transpose(0, 1)
    shape = [op.operand(1).shape[op.attributes["dimension_numbers"]["kernel_output_feature_dimension"]]]
    shape.append(op.tensor().shape[op.attributes["dimension_numbers"]["output_batch_dimension"]])
    weights = x.new_zeros([]).expand([*shape, *sizes.outputs])  # torch asks for its shape alone
    found = torch.ops.aten.convolution_backward(
        gradient.transpose(0, 1), x, weights, None, sizes.spread, [0] * count, sizes.strides, False, [0] * count,
        groups, [False, True, False]
    )[1]  # fmt: skip
    return found.transpose(0, 1)


def _batches_as_features(x: Value, groups: int) -> Value:
    """Groups of batches as groups of features: [g * n, c] is [n, g * c]."""
    return x.unflatten(0, [groups, -1]).transpose(0, 1).flatten(1, 2)


def _with_holes_and_edges(lower: Lower, x: Value, type: TensorType, sizes: _Sizes) -> tuple[Value, list[int]]:
    """The input as the windows see it, and its spatial extents."""
    interior = [hole - 1 for hole in sizes.holes]
    zero = torch.zeros((), dtype=type.dtype, device=lower.device)
    x = padded(lower, x, type, zero, [0, 0, *sizes.low], [0, 0, *sizes.high], [0, 0, *interior])
    reach = [
        low + extent + max(extent - 1, 0) * more + high
        for low, extent, more, high in zip(sizes.low, sizes.extents, interior, sizes.high, strict=True)
    ]
    return x, [max(0, extent) for extent in reach]


def _by_windows(lower: Lower, op: Op, x: Value, kernel: Value, sizes: _Sizes) -> Value:
    """As products: [n, c, outputs..., window...] by groups of features, with [o, c, window...]."""
    roles, target, count = op.attributes["dimension_numbers"], op.tensor(), len(sizes.extents)
    batch, features = (op.operand(0).shape[roles[f"input_{name}_dimension"]] for name in ("batch", "feature"))
    kernel_shape = [op.operand(1).shape[roles[f"kernel_{name}_feature_dimension"]] for name in ("output", "input")]
    x, spatial = _with_holes_and_edges(lower, x, TensorType((batch, features, *sizes.extents), target.element), sizes)
    batches, groups = op.attributes.get("batch_group_count", 1), op.attributes.get("feature_group_count", 1)
    if batches > 1:
        x, batch, groups = _batches_as_features(x, batches), batch // batches, batches
    extents = [batch, groups * kernel_shape[1], *spatial]
    patches = windows_of(x, extents, [1, 1, *sizes.kernel], [1, 1, *sizes.strides], [1, 1, *sizes.spread])
    rows = patches.reshape([batch, groups, kernel_shape[1], *sizes.outputs, *sizes.kernel])
    order = [1, 0, *range(3, 3 + count), 2, *range(3 + count, 3 + 2 * count)]
    inner = math.prod([kernel_shape[1], *sizes.kernel])
    rows = rows.permute(order).reshape([groups, -1, inner])
    columns = kernel.reshape([groups, kernel_shape[0] // groups, inner]).transpose(1, 2)
    found = torch.matmul(rows, columns).reshape([groups, batch, *sizes.outputs, kernel_shape[0] // groups])
    return found.permute([1, 0, 2 + count, *range(2, 2 + count)]).flatten(1, 2)
