"""Random bits: threefry-2x32 at each element's index, element by element, so that it is sharded like any other op."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from ..builder import Builder, Value
from ..randomness import random_bits, threefry
from .table import Result, lowers


class _InStablehlo:
    """Words as ui32 values of one shape."""

    def __init__(self, b: Builder, shape: Sequence[int]) -> None:
        self.b, self.shape = b, shape

    def word(self, value: int) -> Value:
        return self.b.full(value, self.shape, torch.uint32)

    def add(self, x: Value, y: Value) -> Value:
        return self.b.add(x, y)

    def xor(self, x: Value, y: Value) -> Value:
        return self.b.binary("xor", x, y)

    def rotate(self, x: Value, by: int) -> Value:
        left = self.b.binary("shift_left", x, self.word(by))
        return self.b.binary("or", left, self.b.binary("shift_right_logical", x, self.word(32 - by)))


@lowers(random_bits._opoverload)
def bits(b: Builder, out: Result, seed: Value, stream: int, size: Sequence[int]) -> Value:
    one = _InStablehlo(b, ())
    halves = [b.cast(seed, torch.uint32), b.cast(b.binary("shift_right_logical", seed, b.like(32, seed)), torch.uint32)]
    key = threefry((halves[0], halves[1]), (one.word(stream), one.word(0)), one)
    if math.prod(size) > 2**32:
        raise b.refuse(f"random numbers for {math.prod(size)} elements; expected at most 2**32 in one tensor")
    index, stride = b.full(0, size, torch.uint32), math.prod(size)
    for dim, extent in enumerate(size):
        stride //= max(extent, 1)
        count = b.iota(size, dim, torch.uint32)
        index = b.add(index, b.mul(count, b.like(stride, count)))
    each = _InStablehlo(b, size)
    spread = [b.broadcast(part, size) for part in key]
    return b.cast(threefry((spread[0], spread[1]), (each.word(0), index), each)[0], torch.int64)
