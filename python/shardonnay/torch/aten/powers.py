"""Powers. Those of integers are written out: of their exponents, XLA reads six bits."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..builder import Builder, Value, is_inexact
from .elementwise import computed
from .table import Operand, Result, given, lowers

aten = torch.ops.aten
_DIGIT = 6  # bits


@lowers(aten.pow)
def power(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    if isinstance(y, (int, float)) and not isinstance(y, bool):
        short = _short_power(b, y)
        if short is not None and (is_inexact(out.dtype) or y >= 0):
            return computed(b, out, [x], short)
    if is_inexact(out.dtype):
        return computed(b, out, [x, y], lambda x, y: b.binary("power", x, y))
    base = given(b, x, out.shape, out.dtype)
    if isinstance(y, int) and y >= 0:
        return _power_of_number(b, base, y % 2 ** torch.iinfo(out.dtype).bits)
    return _integer_power(b, base, given(b, y, out.shape, out.dtype))


def _short_power(b: Builder, exponent: float) -> Callable[[Value], Value] | None:
    """The powers that torch computes by other means."""
    return {
        0: lambda x: b.like(1, x),
        1: lambda x: x,
        2: lambda x: b.mul(x, x),
        3: lambda x: b.mul(b.mul(x, x), x),
        0.5: lambda x: b.unary("sqrt", x),
        -0.5: lambda x: b.unary("rsqrt", x),
        -1: lambda x: b.div(b.like(1, x), x),
        -2: lambda x: b.div(b.like(1, x), b.mul(x, x)),
    }.get(exponent)


def _power_of_number(b: Builder, x: Value, exponent: int) -> Value:
    """By squaring, from the first bit of the exponent on."""
    found = b.like(1, x)
    for bit in f"{exponent:b}":
        found = b.mul(found, found)
        found = b.mul(found, x) if bit == "1" else found
    return found


def _integer_power(b: Builder, x: Value, y: Value) -> Value:
    """The product of the powers of each digit of the exponent; with a negative one 0, but of 1 and -1."""
    bits = torch.iinfo(x.dtype).bits - x.dtype.is_signed
    found, base = None, x
    for first in range(0, bits, _DIGIT):
        shifted = b.binary("shift_right_logical", y, b.like(first, y)) if first else y
        digit = b.binary("and", shifted, b.like(2**_DIGIT - 1, y))
        part = b.binary("power", base, digit)
        found = part if found is None else b.mul(found, part)
        for _ in range(_DIGIT if first + _DIGIT < bits else 0):
            base = b.mul(base, base)
    assert found is not None
    if not x.dtype.is_signed:
        return found
    one, minus, zero = (b.like(number, x) for number in (1, -1, 0))
    is_odd = b.compare("NE", b.binary("and", y, one), zero)
    is_unit = b.binary("or", b.compare("EQ", x, one), b.compare("EQ", x, minus))
    inverse = b.select(is_unit, b.select(is_odd, x, one), zero)
    return b.select(b.compare("LT", y, zero), inverse, found)
