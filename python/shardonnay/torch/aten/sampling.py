"""Sampling of images at the positions of a grid, and its gradients.

Along each dim a sample is a sum over a few elements, its taps, each with a weight; over all dims it is the sum over all
combinations, whose weight is the product. Only the grid's positions are looked up: batch and channels pass through.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..builder import Builder, Value
from .indexing import gather, scatter, vectors
from .table import Result, lowers, wide

aten = torch.ops.aten
BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, EDGE, REFLECTION = range(3)
# Of the cubic that torch interpolates with.
_SHARPNESS = -0.75


@dataclass(frozen=True)
class Tap:
    """The elements along one dim that samples take: their positions, whether they are inside of the image, their
    weights, and how these change with the grid.
    """

    position: Value
    inside: Value
    weight: Value
    slope: Value


def _scaled(b: Builder, x: Value, factor: float, offset: float = 0.0) -> Value:
    product = b.mul(x, b.like(factor, x))
    return b.add(product, b.like(offset, x)) if offset else product


def _reflected(b: Builder, at: Value, low: float, high: float) -> tuple[Value, Value]:
    """(a position reflected at both bounds until it is between them, 1 or -1: how it changes with the position)."""
    zero, one = b.like(0, at), b.like(1, at)
    if low == high:
        return zero, zero
    span = b.like(high - low, at)
    apart = _scaled(b, at, 1, -low)
    sign = b.select(b.compare("LT", apart, zero), b.like(-1, at), one)
    apart = b.unary("abs", apart)
    rest = b.binary("remainder", apart, span)
    turns = b.unary("floor", b.div(apart, span))
    even = b.compare("EQ", b.binary("remainder", turns, b.like(2, at)), zero)
    return _scaled(b, b.select(even, rest, b.sub(span, rest)), 1, low), b.select(even, sign, b.unary("negate", sign))


def _padded(b: Builder, at: Value, extent: int, padding: int, corners: bool) -> tuple[Value, Value]:
    """(the position that is taken for a position, how it changes with it)."""
    slope = b.like(1, at)
    if padding == ZEROS:
        return at, slope
    if padding == REFLECTION:
        at, slope = _reflected(b, at, *((0, extent - 1) if corners else (-0.5, extent - 0.5)))
    zero, last = b.like(0, at), b.like(extent - 1, at)
    between = b.binary("and", b.compare("GT", at, zero), b.compare("LT", at, last))
    held = b.binary("minimum", b.binary("maximum", at, zero), last)
    return held, b.select(between, slope, zero)


def _polynomial(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """By Horner's rule, the highest power's coefficient first."""
    result = b.like(coefficients[0], x)
    for coefficient in coefficients[1:]:
        result = b.add(b.mul(result, x), b.like(coefficient, x))
    return result


def _cubic_weights(b: Builder, part: Value) -> list[tuple[int, Value, Value]]:
    """[(offset, weight, slope)] of the four elements around, `part` behind the second."""
    a = _SHARPNESS
    near, far = (a + 2, -(a + 3), 0.0, 1.0), (a, -5 * a, 8 * a, -4 * a)
    found = []
    for offset, curve in ((-1, far), (0, near), (1, near), (2, far)):
        sign = 1 if offset <= 0 else -1
        distance = _scaled(b, part, sign, -sign * offset)
        slope = _polynomial(b, distance, (3 * curve[0], 2 * curve[1], curve[2]))
        found.append((offset, _polynomial(b, distance, curve), _scaled(b, slope, sign)))
    return found


def _taps(b: Builder, grid: Value, extent: int, mode: int, padding: int, corners: bool) -> list[Tap]:
    """Of positions from -1 to 1 along a dim of this extent."""
    scale = (extent - 1) / 2 if corners else extent / 2
    at = _scaled(b, _scaled(b, grid, 1, 1), scale, 0 if corners else -0.5)

    def tap(position: Value, weight: Value, slope: Value) -> Tap:
        inside = b.binary(
            "and", b.compare("GE", position, b.like(0, at)), b.compare("LT", position, b.like(extent, at))
        )
        place = b.cast(b.select(inside, position, b.like(0, at)), torch.int64)
        return Tap(place, inside, weight, _scaled(b, slope, scale))

    if mode == BICUBIC:
        floor = b.unary("floor", at)
        return [
            tap(_padded(b, _scaled(b, floor, 1, offset), extent, padding, corners)[0], weight, slope)
            for offset, weight, slope in _cubic_weights(b, b.sub(at, floor))
        ]
    at, change = _padded(b, at, extent, padding, corners)
    if mode == NEAREST:
        return [tap(b.unary("round_nearest_even", at), b.like(1, at), b.like(0, at))]
    floor = b.unary("floor", at)
    part = b.sub(at, floor)
    return [
        tap(floor, b.sub(b.like(1, at), part), b.unary("negate", change)),
        tap(_scaled(b, floor, 1, 1), part, change),
    ]


def _combinations(
    b: Builder, grid: Value, extents: Sequence[int], mode: int, padding: int, corners: bool
) -> list[tuple[Tap, ...]]:
    """A tap for each dim; the grid's last dim has the positions from the last dim to the first."""
    space = len(extents)
    along = []
    for dim, extent in enumerate(extents):
        each = b.slice_dim(grid, grid.rank - 1, space - 1 - dim, space - dim)
        along.append(_taps(b, b.reshape(each, grid.shape[:-1]), extent, mode, padding, corners))
    return list(itertools.product(*along))


def _product(b: Builder, taps: Sequence[Tap], changing: int | None = None) -> Value:
    """The weight of a combination, or how it changes along a dim; none outside of the image."""
    factors = [tap.slope if dim == changing else tap.weight for dim, tap in enumerate(taps)]
    weight, inside = factors[0], taps[0].inside
    for factor, tap in zip(factors[1:], taps[1:]):
        weight, inside = b.mul(weight, factor), b.binary("and", inside, tap.inside)
    return b.select(inside, weight, b.like(0, weight))


def _sum(b: Builder, parts: Sequence[Value]) -> Value:
    total = parts[0]
    for part in parts[1:]:
        total = b.add(total, part)
    return total


def _taken(b: Builder, x: Value, taps: Sequence[Tap]) -> Value:
    """The elements of x at a combination's positions: [batch, positions..., channels]."""
    index = vectors(b, [tap.position for tap in taps])
    return gather(b, x, index, range(2, x.rank), ([0], [0]))


def _spread(b: Builder, x: Value, channels: int) -> Value:
    return b.broadcast_dims(x, [*x.shape, channels], range(x.rank))


@lowers(aten.grid_sampler_2d, aten.grid_sampler_3d)
def grid_sampler(
    b: Builder, out: Result, x: Value, grid: Value, mode: int, padding: int, corners: bool
) -> Value:
    x, grid = b.cast(x, wide(x.dtype)), b.cast(grid, wide(grid.dtype))
    if not math.prod(out.shape):
        return b.full(0, out.shape, out.dtype)
    parts = [
        b.mul(_taken(b, x, taps), _spread(b, _product(b, taps), x.shape[1]))
        for taps in _combinations(b, grid, x.shape[2:], mode, padding, corners)
    ]
    total = b.cast(_sum(b, parts), out.dtype)
    return b.transpose(total, [0, total.rank - 1, *range(1, total.rank - 1)])


@lowers(aten.grid_sampler_2d_backward, aten.grid_sampler_3d_backward)
def grid_sampler_backward(
    b: Builder, out: list[Result], gradient: Value, x: Value, grid: Value, mode: int, padding: int, corners: bool,
    wanted: Sequence[bool],
) -> list[Value | None]:  # fmt: skip
    x, grid, gradient = (b.cast(value, wide(value.dtype)) for value in (x, grid, gradient))
    gradient = b.transpose(gradient, [0, *range(2, gradient.rank), 1])
    combinations = _combinations(b, grid, x.shape[2:], mode, padding, corners)
    return [
        b.cast(_to_image(b, gradient, x, combinations), out[0].dtype) if wanted[0] else None,
        b.cast(_to_grid(b, gradient, x, grid, combinations, mode), out[1].dtype) if wanted[1] else None,
    ]


def _to_image(b: Builder, gradient: Value, x: Value, combinations: Sequence[Sequence[Tap]]) -> Value:
    """Each sample's gradient added to the elements that it took, all combinations in one scatter."""

    def beside(value: Value) -> Value:
        return b.reshape(value, [value.shape[0], 1, *value.shape[1:]])

    places = [beside(vectors(b, [tap.position for tap in taps])) for taps in combinations]
    updates = [beside(b.mul(gradient, _spread(b, _product(b, taps), x.shape[1]))) for taps in combinations]
    index, update = b.concatenate(places, 1), b.concatenate(updates, 1)
    return scatter(b, b.like(0, x), index, update, range(2, x.rank), "add", ([0], [0]))


def _to_grid(
    b: Builder, gradient: Value, x: Value, grid: Value, combinations: Sequence[Sequence[Tap]], mode: int
) -> Value:
    if mode == NEAREST:
        return b.like(0, grid)
    # How much more the sum of channels would be for each element taken.
    worth = [b.sum(b.mul(_taken(b, x, taps), gradient), [gradient.rank - 1]) for taps in combinations]
    space = len(combinations[0])
    changes = [
        _sum(b, [b.mul(part, _product(b, taps, dim)) for part, taps in zip(worth, combinations)])
        for dim in reversed(range(space))
    ]
    return vectors(b, changes)
