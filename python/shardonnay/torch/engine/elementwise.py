"""Ops on elements: arithmetic, comparisons, conversions. StableHLO's and CHLO's results for every value, also where
torch's own op differs (division by zero, shifts too far, conversions out of range, NaN)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .elements import (
    SMALL_FLOATS,
    TensorType,
    carrier,
    is_complex,
    is_float,
    is_integer,
    is_unsigned,
    to_small,
    width,
)
from .integers import flipped, power, signed_divide, to_float, unsigned_divide
from .lowering import Lowering, Value, rule
from .program import Op

Lower = Lowering


def _simple(names: dict[str, Callable[..., Any]]) -> None:
    for name, function in names.items():
        rule(name, elementwise=True)(lambda lower, op, *operands, function=function: function(*operands))


_simple(
    {
        "stablehlo.add": torch.add,
        "stablehlo.subtract": torch.sub,
        "stablehlo.multiply": torch.mul,
        "stablehlo.atan2": torch.atan2,
        "stablehlo.negate": torch.neg,
        "stablehlo.abs": torch.abs,
        "stablehlo.log_plus_one": torch.log1p,
        "stablehlo.xor": torch.bitwise_xor,
        "stablehlo.and": torch.bitwise_and,
        "stablehlo.or": torch.bitwise_or,
        "stablehlo.not": torch.bitwise_not,
        "stablehlo.ceil": torch.ceil,
        "stablehlo.floor": torch.floor,
        "stablehlo.round_nearest_even": torch.round,
        "stablehlo.cosine": torch.cos,
        "stablehlo.sine": torch.sin,
        "stablehlo.tan": torch.tan,
        "stablehlo.tanh": torch.tanh,
        "stablehlo.exponential": torch.exp,
        "stablehlo.log": torch.log,
        "stablehlo.logistic": torch.sigmoid,
        "stablehlo.rsqrt": torch.rsqrt,
        "stablehlo.sqrt": torch.sqrt,
        "stablehlo.is_finite": torch.isfinite,
        "stablehlo.complex": torch.complex,
        "stablehlo.optimization_barrier": lambda *operands: operands if len(operands) != 1 else operands[0],
        "chlo.acos": torch.acos,
        "chlo.acosh": torch.acosh,
        "chlo.asin": torch.asin,
        "chlo.asinh": torch.asinh,
        "chlo.atan": torch.atan,
        "chlo.atanh": torch.atanh,
        "chlo.cosh": torch.cosh,
        "chlo.sinh": torch.sinh,
        "chlo.tan": torch.tan,
        "chlo.square": torch.square,
        "chlo.is_inf": torch.isinf,
        "chlo.is_neg_inf": torch.isneginf,
        "chlo.is_pos_inf": torch.isposinf,
    }
)


def _wide(names: dict[str, Callable[..., Any]]) -> None:
    """Computed in float32 where the type is narrower."""

    def compute(lower: Lower, op: Op, *operands: Value, function: Callable[..., Any]) -> Value:
        dtype = op.tensor().dtype
        if dtype in (torch.float16, torch.bfloat16):
            return function(*(operand.to(torch.float32) for operand in operands)).to(dtype)
        return function(*operands)

    for name, function in names.items():
        rule(name, elementwise=True)(
            lambda lower, op, *operands, function=function: compute(lower, op, *operands, function=function)
        )


_wide(
    {
        "chlo.erf": torch.erf,
        "chlo.erfc": torch.erfc,
        "chlo.erf_inv": torch.erfinv,
        "chlo.lgamma": torch.lgamma,
        "chlo.bessel_i1e": torch.special.i1e,
        "chlo.zeta": torch.special.zeta,
    }
)


@rule("chlo.digamma", elementwise=True)
def digamma(lower: Lower, op: Op, x: Value) -> Value:
    """NaN at the poles, zero among them, where torch has an infinity at zero."""
    pole = (x <= 0) & (x == torch.floor(x))
    return torch.where(pole, math.nan, torch.digamma(x.to(_at_least_f32(op)))).to(op.tensor().dtype)


@rule("chlo.polygamma", elementwise=True)
def polygamma(lower: Lower, op: Op, n: Value, x: Value) -> Value:
    """(-1)^(n+1) n! zeta(n+1, x), digamma for n = 0; torch's own takes one n for all elements."""
    dtype = _at_least_f32(op)
    n, x = n.to(dtype), x.to(dtype)
    sign = torch.where(torch.fmod(n, 2) == 0, -1.0, 1.0)
    found = sign * torch.exp(torch.lgamma(n + 1)) * torch.special.zeta(n + 1, x)
    found = torch.where(n == 0, torch.digamma(x), found)
    return torch.where((n < 0) | (n != torch.floor(n)), math.nan, found).to(op.tensor().dtype)


def _at_least_f32(op: Op) -> torch.dtype:
    return torch.float64 if op.tensor().element == "f64" else torch.float32


@rule("stablehlo.exponential_minus_one", elementwise=True)
def exponential_minus_one(lower: Lower, op: Op, x: Value) -> Value:
    if not is_complex(op.tensor().element):
        return torch.expm1(x)
    a, b = torch.real(x), torch.imag(x)
    half = torch.sin(b / 2)
    return torch.complex(torch.expm1(a) * torch.cos(b) - 2 * half * half, torch.exp(a) * torch.sin(b))


@rule("stablehlo.cbrt", elementwise=True)
def cbrt(lower: Lower, op: Op, x: Value) -> Value:
    """The root of the double, which is exact enough for float32; for float64 with a step of Newton's."""
    wide = x.to(torch.float64)
    root = torch.sign(wide) * torch.pow(torch.abs(wide), 1 / 3)
    regular = torch.isfinite(wide) & (wide != 0)
    better = root - (root * root * root - wide) / (3 * root * root)
    return torch.where(regular, better, wide).to(op.tensor().dtype)


@rule("stablehlo.sign", elementwise=True)
def sign(lower: Lower, op: Op, x: Value) -> Value:
    element = op.tensor().element
    if is_complex(element):
        return torch.where(x == 0, torch.zeros_like(x), x / torch.abs(x))
    if is_integer(element):
        return (x != 0).to(op.tensor().dtype) if is_unsigned(element) else torch.sign(x)
    # NaN and the sign of zero stay.
    return torch.where(torch.isnan(x) | (x == 0), x, torch.sign(x))


@rule("stablehlo.round_nearest_afz", elementwise=True)
def round_nearest_afz(lower: Lower, op: Op, x: Value) -> Value:
    whole = torch.trunc(x)
    return torch.where(torch.abs(x - whole) >= 0.5, whole + torch.sign(x), whole)


@rule("stablehlo.real", elementwise=True)
def real(lower: Lower, op: Op, x: Value) -> Value:
    return torch.real(x) if is_complex(op.operand().element) else x


@rule("stablehlo.imag", elementwise=True)
def imag(lower: Lower, op: Op, x: Value) -> Value:
    return torch.imag(x).clone() if is_complex(op.operand().element) else torch.zeros_like(x)


@rule("chlo.conj", elementwise=True)
def conj(lower: Lower, op: Op, x: Value) -> Value:
    return torch.resolve_conj(torch.conj(x)) if is_complex(op.operand().element) else x


@rule("stablehlo.divide", elementwise=True)
def divide(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    element = op.tensor().element
    if not is_integer(element):
        return torch.div(x, y)
    return unsigned_divide(element, x, y)[0] if is_unsigned(element) else signed_divide(x, y)[0]


@rule("stablehlo.remainder", elementwise=True)
def remainder(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    element = op.tensor().element
    if not is_integer(element):
        return torch.fmod(x, y)
    return unsigned_divide(element, x, y)[1] if is_unsigned(element) else signed_divide(x, y)[1]


@rule("stablehlo.power", elementwise=True)
def power_(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    return power(op.tensor().element, x, y) if is_integer(op.tensor().element) else torch.pow(x, y)


@rule("stablehlo.maximum", elementwise=True)
def maximum(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    return larger(op.tensor().element, x, y)


@rule("stablehlo.minimum", elementwise=True)
def minimum(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    return smaller(op.tensor().element, x, y)


def larger(element: str, x: Value, y: Value) -> Value:
    if is_complex(element):
        return torch.where(_complex_less(x, y), y, x)
    return flipped(element, torch.maximum(flipped(element, x), flipped(element, y)))


def smaller(element: str, x: Value, y: Value) -> Value:
    if is_complex(element):
        return torch.where(_complex_less(y, x), y, x)
    return flipped(element, torch.minimum(flipped(element, x), flipped(element, y)))


def _complex_less(x: Value, y: Value) -> Value:
    """By the real part, then by the imaginary."""
    a, b = torch.real(x), torch.real(y)
    return (a < b) | ((a == b) & (torch.imag(x) < torch.imag(y)))


_DIRECTIONS = {"EQ": torch.eq, "NE": torch.ne, "LT": torch.lt, "LE": torch.le, "GT": torch.gt, "GE": torch.ge}


@rule("stablehlo.compare", "chlo.broadcast_compare", elementwise=True)
def compare(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    element, direction = op.operand().element, op.attributes["comparison_direction"]
    if op.attributes.get("compare_type") == "TOTALORDER" and is_float(element):
        x, y = total_order(element, x), total_order(element, y)
    elif direction not in ("EQ", "NE"):
        x, y = flipped(element, x), flipped(element, y)
    return _DIRECTIONS[direction](x, y)


def total_order(element: str, x: Value) -> Value:
    """Integers in the order of IEEE 754's totalOrder: -NaN, -infinity, ..., -0, 0, ..., infinity, NaN."""
    if carrier(element) is torch.float32:
        integer, last = torch.int32, 2**31 - 1
    elif carrier(element) is torch.float64:
        integer, last = torch.int64, 2**63 - 1
    else:
        integer, last = torch.int16, 2**15 - 1
    bits = x.contiguous().view(integer)
    return torch.where(bits < 0, torch.bitwise_xor(bits, last), bits)


@rule("stablehlo.select", "chlo.broadcast_select", elementwise=True)
def select(lower: Lower, op: Op, which: Value, x: Value, y: Value) -> Value:
    return torch.where(which, x, y)


@rule("stablehlo.clamp", elementwise=True)
def clamp(lower: Lower, op: Op, low: Value, x: Value, high: Value) -> Value:
    element = op.tensor().element
    return smaller(element, larger(element, x, low), high)


@rule("stablehlo.convert", elementwise=True)
def convert(lower: Lower, op: Op, x: Value) -> Value:
    return converted(op.operand().element, op.tensor().element, x)


def converted(source: str, target: str, x: Value) -> Value:
    """Floats out of range become the nearest integer, NaN becomes 0; complex numbers lose their imaginary part."""
    if source == target:
        return x
    if is_complex(source) and not is_complex(target):
        return converted("f64" if "64" in source else "f32", target, torch.real(x))
    if target == "i1":
        return x != 0
    if is_integer(source):
        return to_float(source, x, carrier(target)) if not is_integer(target) else _resized(source, target, x)
    if not is_integer(target):
        return x.to(carrier(target))
    return _saturated(target, x)


def _resized(source: str, target: str, x: Value) -> Value:
    """An integer of another width, extended by its own sign."""
    found = x.to(carrier(target))
    if source in ("ui16", "ui32") and width(target) > width(source):
        return torch.bitwise_and(found, 2 ** width(source) - 1)
    return found


def _saturated(target: str, x: Value) -> Value:
    bits = width(target)
    low = 0 if is_unsigned(target) else -(2 ** (bits - 1))
    high = 2**bits - 1 if is_unsigned(target) else 2 ** (bits - 1) - 1
    wide = torch.nan_to_num(torch.trunc(x.to(torch.float64)), nan=0.0, posinf=float(2.0**64), neginf=-float(2.0**64))
    # What float64 rounds up to 2^63 or 2^64 is written out, for the conversion has no result for it.
    inside = torch.clamp(wide, float(low), float(high))
    if target == "ui64":
        upper = inside >= 2.0**63
        bits64 = torch.where(upper, inside - 2.0**63, inside).clamp(max=2.0**63 - 1024).to(torch.int64)
        found = torch.where(upper, torch.bitwise_xor(bits64, -(2**63)), bits64)
        return torch.where(wide >= 2.0**64, -1, found)
    found = inside.clamp(max=2.0**63 - 1024).to(torch.int64)
    if target == "i64":
        found = torch.where(wide >= 2.0**63, 2**63 - 1, found)
    return found.to(carrier(target))


@rule("stablehlo.bitcast_convert")
def bitcast_convert(lower: Lower, op: Op, x: Value) -> Value:
    """The same bits; a ratio of widths is a dim, the last."""
    source, target = op.operand(), op.tensor()
    if source.element in SMALL_FLOATS:
        x = to_small(source.element, x).view(torch.uint8)
    stored = torch.uint8 if target.element in SMALL_FLOATS else target.dtype
    found = x.reshape(source.shape or (1,)).contiguous().view(stored).reshape(target.shape)
    return found.view(SMALL_FLOATS[target.element]).to(torch.float32) if target.element in SMALL_FLOATS else found


@rule("stablehlo.reduce_precision", elementwise=True)
def reduce_precision(lower: Lower, op: Op, x: Value) -> Value:
    """Rounded to the nearest even with these bits of exponent and mantissa; what is too small becomes zero."""
    exponent, mantissa = op.attributes["exponent_bits"], op.attributes["mantissa_bits"]
    element = op.tensor().element
    bits, own = {"f64": (torch.int64, 52), "f32": (torch.int32, 23)}.get(element, (torch.int32, 23))
    dtype = torch.float64 if element == "f64" else torch.float32
    wide = x.to(dtype)
    found = wide
    if mantissa < own:
        raw = wide.contiguous().view(bits)
        shift = own - mantissa
        half = (torch.bitwise_and(raw >> shift, 1)) + ((1 << (shift - 1)) - 1)
        found = torch.bitwise_and(raw + half, -(1 << shift)).view(dtype)
        found = torch.where(torch.isfinite(wide), found, wide)
    bias = 2 ** (exponent - 1) - 1
    if bias < (1023 if element == "f64" else 127):
        most = (2.0 - 2.0**-mantissa) * 2.0**bias
        least = 2.0 ** (1 - bias)
        found = torch.where(torch.abs(found) > most, torch.copysign(torch.full_like(found, math.inf), found), found)
        found = torch.where(torch.abs(found) < least, torch.copysign(torch.zeros_like(found), found), found)
    return torch.where(torch.isnan(wide), wide, found).to(op.tensor().dtype)


@rule("chlo.next_after", elementwise=True)
def next_after(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    return torch.nextafter(x, y) if op.tensor().dtype is not torch.float16 else _next_half(x, y)


def _next_half(x: Value, y: Value) -> Value:
    bits = x.contiguous().view(torch.int16)
    away = torch.where((x > 0) == (y > x), 1, -1).to(torch.int16)
    stepped = torch.where(x == 0, torch.where(y > 0, 1, -32767).to(torch.int16), bits + away).view(torch.float16)
    return torch.where(torch.isnan(x) | torch.isnan(y), math.nan, torch.where(x == y, y, stepped))


def _broadcast(name: str) -> None:
    """CHLO's ops with broadcasting of operands, whose ranks are alike or whose smaller one is a suffix."""
    from .lowering import _RULES

    found = _RULES[f"stablehlo.{name}"].rule
    rule(f"chlo.broadcast_{name}", elementwise=True)(found)


for _name in ("add", "and", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder", "subtract", "xor"):
    _broadcast(_name)

__all__ = ["TensorType", "compare", "converted", "larger", "smaller", "total_order"]
