"""Reductions over windows, and the scatter of what they select."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .elements import TensorType
from .lowering import Lowering, Value, rule
from .program import Op
from .reductions import fold, kind_of, reduced
from .shapes import padded

Lower = Lowering


@dataclass
class Window:
    """Sizes, strides and dilations of a window, a number for each dim."""

    sizes: list[int]
    strides: list[int]
    dilations: list[int]

    def outputs(self, extent: int, dim: int) -> int:
        """How many windows a dim of this extent has."""
        reach = (self.sizes[dim] - 1) * self.dilations[dim] + 1
        return max(0, (extent - reach) // self.strides[dim] + 1) if extent >= reach else 0


def windows_of(x: Value, extents: list[int], sizes: list[int], strides: list[int], dilations: list[int]) -> Value:
    """[outputs..., window...] of x: views of it."""
    count, window = len(sizes), Window(sizes, strides, dilations)
    for dim in range(count):
        reach = (sizes[dim] - 1) * dilations[dim] + 1
        outputs = window.outputs(extents[dim], dim)
        if sizes[dim] == 1:
            x = x[(slice(None),) * dim + (slice(0, None, strides[dim]),)].unsqueeze(-1)
            continue
        x = torch.narrow(x, dim, 0, (outputs - 1) * strides[dim] + reach)
        x = x.unfold(dim, reach, strides[dim])
        if dilations[dim] != 1:
            x = x[..., :: dilations[dim]]
    return x


@dataclass
class _Windowed:
    """The operands of an op with a window, each padded, and its window."""

    values: list[Value]
    shape: list[int]
    window: Window
    outputs: list[int]


def _windowed(lower: Lower, op: Op, operands: tuple[Value, ...], fills: tuple[Value, ...]) -> _Windowed:
    rank = len(op.operand().shape)
    sizes = list(op.attributes.get("window_dimensions", [1] * rank))
    strides, dilations, holes = (
        list(op.attributes.get(name, [1] * rank)) for name in ("window_strides", "window_dilations", "base_dilations")
    )
    padding = op.attributes["padding"].tolist() if "padding" in op.attributes else [[0, 0]] * rank
    low, high = [row[0] for row in padding], [row[1] for row in padding]
    values = []
    shape: list[int] = []
    for at, (operand, fill) in enumerate(zip(operands, fills, strict=True)):
        type = op.operand(at)
        values.append(padded(lower, operand, type, fill, low, high, [hole - 1 for hole in holes]))
        shape = [
            extent + max(extent - 1, 0) * (hole - 1) + a + b
            for extent, hole, a, b in zip(type.shape, holes, low, high, strict=True)
        ]
    window = Window(sizes, strides, dilations)
    return _Windowed(values, shape, window, [window.outputs(extent, dim) for dim, extent in enumerate(shape)])


@rule("stablehlo.reduce_window")
def reduce_window(lower: Lower, op: Op, *operands: Value) -> Value:
    count = len(operands) // 2
    inits = operands[count:]
    found = _windowed(lower, op, operands[:count], inits)
    rank = len(found.shape)
    if 0 in found.outputs:
        types = zip(inits, op.result_types, strict=True)
        return tuple(init.expand(type.shape) for init, type in types)  # type: ignore[union-attr]
    window = found.window
    patches = [
        windows_of(value, found.shape, window.sizes, window.strides, window.dilations) for value in found.values
    ]
    dims = [rank + dim for dim in range(rank) if window.sizes[dim] != 1]
    shape = TensorType((*found.outputs, *window.sizes), op.operand().element)
    results = reduced(lower, op, patches, inits, shape, dims)
    # Dims of the window of extent 1 are still there.
    return tuple(value.reshape(found.outputs) for value in results)


@rule("stablehlo.select_and_scatter")
def select_and_scatter(lower: Lower, op: Op, operand: Value, source: Value, init: Value) -> Value:
    """In each window the place that `select` prefers gets the source's element; what meets is combined by `scatter`."""
    select, scatter = op.regions
    # Padding is never selected: a flag goes with each element.
    found = _windowed(lower, op, (operand,), (torch.zeros((), dtype=op.operand().dtype, device=lower.device),))
    type = op.operand()
    place = lower.arange(type.size).reshape(type.shape)
    places = _windowed(lower, op, (place,), (lower.constant(-1, torch.int64),)).values[0]
    window = found.window
    patches = [
        windows_of(value, found.shape, window.sizes, window.strides, window.dilations)
        for value in (found.values[0], places)
    ]
    values, where = (patch.reshape([*found.outputs, -1]) for patch in patches)
    best, at = values[..., 0], where[..., 0]
    for index in range(1, TensorType(tuple(window.sizes), "f32").size):
        other, there = values[..., index], where[..., index]
        keeps = (at >= 0) & (lower.each(select, best, other)[0] | (there < 0))
        best, at = torch.where(keeps, best, other), torch.where(keeps, at, there)
    target = init.expand([type.size + 1])
    places_flat = torch.where(at < 0, type.size, at).reshape(-1)
    updates = source.reshape(-1)
    kind = kind_of(scatter)
    if kind == "add":
        written = torch.index_put(target, (places_flat,), updates, True)
    else:
        written = fold(lower, op, scatter, target, places_flat, updates, op.operand(1).size)
    return written[: type.size].reshape(type.shape)

