"""Integers as StableHLO has them: unsigned ones in signed tensors, divisions and shifts defined for every operand."""

from __future__ import annotations

from typing import Any

import torch

from .elements import UNSIGNED, carrier, is_integer, is_unsigned, width
from .lowering import Lowering, Value, rule
from .program import Op

Lower = Lowering


def flipped(element: str, x: Value) -> Value:
    """An unsigned integer's bits such that they compare right as a signed one's; others as they are. Its own inverse.
    """
    return torch.bitwise_xor(x, _lowest(element)) if element in UNSIGNED else x


def _lowest(element: str) -> int:
    return -(2 ** (width(element) - 1))


def to_float(element: str, x: Value, dtype: torch.dtype) -> Value:
    """The number as a float or a complex number."""
    if element in ("ui16", "ui32"):
        return torch.bitwise_and(x.to(torch.int64), 2 ** width(element) - 1).to(dtype)
    if element != "ui64":
        return x.to(dtype)
    # Half of it, with the last bit kept for the rounding, fits into the sign.
    half = torch.bitwise_or(torch.bitwise_and(x >> 1, 2**63 - 1), torch.bitwise_and(x, 1))
    return torch.where(x < 0, half.to(dtype) * 2, x.to(dtype))


def to_index(element: str, x: Value) -> Value:
    """The number as an int64; of ui64 what is beyond it becomes its largest."""
    if element in ("ui16", "ui32"):
        return torch.bitwise_and(x.to(torch.int64), 2 ** width(element) - 1)
    if element == "ui64":
        return torch.where(x < 0, 2**63 - 1, x)
    return x.to(torch.int64)


def signed_divide(x: Value, y: Value) -> tuple[Value, Value]:
    """(quotient towards zero, remainder): -1 and x for y = 0; the lowest number divided by -1 is itself."""
    zero, minus = y == 0, y == -1
    safe = torch.where(zero | minus, 1, y)
    quotient = torch.div(x, safe, rounding_mode="trunc")
    rest = x - quotient * safe
    return (
        torch.where(zero, -1, torch.where(minus, -x, quotient)),
        torch.where(zero, x, torch.where(minus, 0, rest)),
    )


def unsigned_divide(element: str, x: Value, y: Value) -> tuple[Value, Value]:
    """(quotient, remainder): the largest number and x for y = 0."""
    if element != "ui64":
        wide_x, wide_y = to_index(element, x), to_index(element, y)
        quotient, rest = signed_divide(wide_x, wide_y)
        return quotient.to(carrier(element)), rest.to(carrier(element))
    zero = y == 0
    safe = torch.where(zero, 1, y)
    # y of 2^63 and more goes once or not at all; else half of x is divided, and the rest is put right.
    half = torch.bitwise_and(x >> 1, 2**63 - 1)
    once = torch.where(flipped(element, x) >= flipped(element, safe), 1, 0)
    guess = torch.div(half, torch.where(safe < 0, 1, safe), rounding_mode="trunc") << 1
    rest = x - guess * safe
    guess = guess + torch.where(flipped(element, rest) >= flipped(element, safe), 1, 0)
    quotient = torch.where(safe < 0, once, guess)
    return torch.where(zero, -1, quotient), torch.where(zero, x, x - quotient * safe)


def power(element: str, x: Value, y: Value) -> Value:
    """By squaring; with a negative exponent 0, but for bases 1, -1 and 0 (of which it is the largest or -1)."""
    found = torch.ones_like(x)
    base, exponent = x, y
    for _ in range(width(element)):
        found = torch.where(torch.bitwise_and(exponent, 1) != 0, found * base, found)
        base = base * base
        exponent = exponent >> 1 if not element.startswith("ui") else shifted_right(element, exponent, 1)
    if is_unsigned(element):
        return found
    odd = torch.where(torch.bitwise_and(y, 1) != 0, -1, 1)
    inverse = torch.where(x == 1, 1, torch.where(x == -1, odd, 0)).to(carrier(element))
    return torch.where(y < 0, inverse, found)


def shifted_right(element: str, x: Value, count: int) -> Value:
    """By a known number of bits from 1 to the width - 1, zeros coming in."""
    return torch.bitwise_and(x >> count, 2 ** (width(element) - count) - 1)


def _too_far(element: str, y: Value) -> Value:
    """Where a shift has no bits left: its count is unsigned."""
    return y >= width(element) if element == "ui8" else (y < 0) | (y >= width(element))


@rule("stablehlo.shift_left", "chlo.broadcast_shift_left", elementwise=True)
def shift_left(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    far = _too_far(op.tensor().element, y)
    return torch.where(far, 0, x << torch.where(far, 0, y))


@rule("stablehlo.shift_right_arithmetic", "chlo.broadcast_shift_right_arithmetic", elementwise=True)
def shift_right_arithmetic(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    """The sign comes in, also in unsigned integers, whose first bit it is."""
    element = op.tensor().element
    last = width(element) - 1
    far = _too_far(element, y)
    if element in ("ui8", "ui4", "ui2"):
        up = 8 - width(element)
        signed = (x << up).view(torch.int8) >> up
        return (signed >> torch.where(far, last, y).to(torch.int8)).view(torch.uint8)
    return x >> torch.where(far, last, y)


@rule("stablehlo.shift_right_logical", "chlo.broadcast_shift_right_logical", elementwise=True)
def shift_right_logical(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    element = op.tensor().element
    far = _too_far(element, y)
    count = torch.where(far, 0, y)
    if carrier(element) is torch.uint8:
        return torch.where(far, 0, x >> count)
    if element in ("i2", "i4"):
        x = torch.bitwise_and(x, 2 ** width(element) - 1)
        return torch.where(far, 0, x >> count)
    # The bits that came in with the sign are taken away: all but the lowest width - count, for a count of 0 none.
    ones = torch.bitwise_not((_lowest(element) >> torch.clamp(count - 1, min=0)))
    mask = torch.where(count == 0, -1, ones)
    return torch.where(far, 0, torch.bitwise_and(x >> count, mask))


def _bits(lower: Lower, op: Op, x: Value) -> tuple[Value, int]:
    """The bits as a number that is not negative, where there is a wider type, and how many they are."""
    element = op.tensor().element
    bits = width(element)
    return (torch.bitwise_and(x.to(torch.int64), 2**bits - 1) if bits < 64 else x), bits


@rule("stablehlo.popcnt", elementwise=True)
def popcnt(lower: Lower, op: Op, x: Value) -> Value:
    found, _ = _bits(lower, op, x)
    ones: Any = torch.bitwise_and(found, 1)
    for at in range(1, width(op.tensor().element)):
        ones = ones + torch.bitwise_and(found >> at, 1)
    return ones.to(op.tensor().dtype)


@rule("stablehlo.count_leading_zeros", elementwise=True)
def count_leading_zeros(lower: Lower, op: Op, x: Value) -> Value:
    found, bits = _bits(lower, op, x)
    zeros: Any = torch.where(found < 0, 0, bits)
    for at in range(min(bits, 63)):
        zeros = torch.where((found >> at) > 0, bits - 1 - at, zeros)
    return torch.where(found < 0, 0, zeros).to(op.tensor().dtype)


@rule("chlo.mulhi", elementwise=True)
def mulhi(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    """The upper half of the product."""
    element = op.tensor().element
    bits = width(element)
    if bits < 64:
        a, b = (to_index(element, value) for value in (x, y))
        product = a * b
        return (product >> bits if bits < 32 or not is_unsigned(element) else shifted_right("ui64", product, bits)).to(
            op.tensor().dtype
        )
    assert is_integer(element)
    low, last = 2**32 - 1, shifted_right
    ah, al = last("ui64", x, 32), torch.bitwise_and(x, low)
    bh, bl = last("ui64", y, 32), torch.bitwise_and(y, low)
    cross = ah * bl + last("ui64", al * bl, 32)
    other = al * bh + torch.bitwise_and(cross, low)
    found = ah * bh + last("ui64", cross, 32) + last("ui64", other, 32)
    if is_unsigned(element):
        return found
    return found - torch.where(x < 0, y, 0) - torch.where(y < 0, x, 0)
