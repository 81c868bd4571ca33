"""Ops that treat each element by itself: arithmetic, functions, comparisons, logic, selection."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..builder import Builder, Number, Value, is_inexact
from .table import Operand, Result, given, lowers, promoted, real_of, rounded, wide

aten, prims = torch.ops.aten, torch.ops.prims


def computed(b: Builder, out: Result, operands: Sequence[Operand], body: Callable[..., Value]) -> Value:
    """`body` of the operands in one shape and type, half types as float32, rounded to the result's type.

    A number has been rounded to a half type before: so do most of torch's kernels.
    """
    compute = wide(out.dtype)
    return b.cast(
        body(*(given(b, rounded(b, operand, out.dtype), out.shape, compute) for operand in operands)), out.dtype
    )


# Arithmetic.


def _plain(b: Builder, out: Result, name: str, x: Operand, y: Operand) -> Value:
    """A sum, difference, product or quotient; torch does not round a number that it multiplies or divides by."""
    numbers = not (isinstance(x, Value) and isinstance(y, Value) and x.dtype == y.dtype)
    # XLA may divide by a product with a reciprocal, which in a half type is another number.
    compute = wide(out.dtype) if numbers or name == "divide" else out.dtype
    x = rounded(b, x, out.dtype)
    y = y if name in ("multiply", "divide") else rounded(b, y, out.dtype)
    pair = [given(b, operand, out.shape, compute) for operand in (x, y)]
    if compute == torch.bool:
        name = {"add": "or", "multiply": "and"}[name]
    return b.cast(b.binary(name, *pair), out.dtype)


def _scaled_sum(b: Builder, out: Result, name: str, x: Operand, y: Operand, alpha: Number) -> Value:
    """`x` and `alpha` times `y`, added or subtracted."""
    if alpha == 1:
        return _plain(b, out, name, x, y)

    def body(x: Value, y: Value, alpha: Value) -> Value:
        if x.dtype == torch.bool:
            return b.binary("or", x, b.binary("and", y, alpha))
        return b.binary(name, x, b.mul(y, alpha))

    return computed(b, out, [x, y, alpha], body)


@lowers(aten.add, prims.add)
def add(b: Builder, out: Result, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    return _scaled_sum(b, out, "add", x, y, alpha)


@lowers(aten.sub, prims.sub)
def sub(b: Builder, out: Result, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    return _scaled_sum(b, out, "subtract", x, y, alpha)


@lowers(aten.rsub)
def rsub(b: Builder, out: Result, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    return _scaled_sum(b, out, "subtract", y, x, alpha)


@lowers(aten.mul, prims.mul)
def mul(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    for one, other in ((x, y), (y, x)):
        # What addcmul and addcdiv multiply by if nobody says otherwise. Infinite complex numbers change.
        if not isinstance(one, Value) and one == 1 and isinstance(other, Value) and not out.dtype.is_complex:
            if other.dtype == out.dtype and list(other.shape) == list(out.shape):
                return other
    return _plain(b, out, "multiply", x, y)


def _rounding_step(b: Builder, name: str, x: Value, y: Value) -> Value:
    """The sum, difference or quotient, rounded to their type, which XLA does not leave out if it is written."""
    compute = wide(x.dtype)
    return b.cast(b.binary(name, b.cast(x, compute), b.cast(y, compute)), x.dtype)


def _floor_quotient(b: Builder, x: Value, y: Value) -> Value:
    """The quotient rounded down, as torch computes it: from the remainder, so that it fits to it."""
    remainder = b.binary("remainder", x, y)
    zero, one = b.like(0, x), b.like(1, x)
    if not is_inexact(x.dtype):
        quotient = b.div(x, y)
        if not x.dtype.is_signed:
            return quotient
        unlike = b.binary("and", b.compare("NE", remainder, zero), _signs_differ(b, remainder, y))
        return b.select(unlike, b.sub(quotient, one), quotient)
    unlike = b.binary("and", b.compare("NE", remainder, zero), _signs_differ(b, remainder, y))
    quotient = _rounding_step(b, "divide", _rounding_step(b, "subtract", x, remainder), y)
    quotient = b.select(unlike, _rounding_step(b, "subtract", quotient, one), quotient)
    floor = b.unary("floor", quotient)
    floor = b.select(b.compare("GT", b.sub(quotient, floor), b.like(0.5, x)), b.add(floor, one), floor)
    exact = _rounding_step(b, "divide", x, y)
    signed_zero = b.mul(zero, b.unary("sign", exact))
    return b.select(
        b.compare("EQ", y, zero), exact, b.select(b.compare("EQ", quotient, zero), signed_zero, floor)
    )


def _signs_differ(b: Builder, x: Value, y: Value) -> Value:
    zero = b.like(0, x)
    return b.compare("NE", b.compare("LT", x, zero), b.compare("LT", y, zero))


def _is_single(x: Operand) -> bool:
    """Whether torch divides by it as by a number."""
    return not isinstance(x, Value) or math.prod(x.shape) == 1


@lowers(aten.div, prims.div)
def div(b: Builder, out: Result, x: Operand, y: Operand, rounding_mode: str | None = None) -> Value:
    if rounding_mode is None or not is_inexact(out.dtype) and rounding_mode == "trunc":
        return _plain(b, out, "divide", x, y)
    # By a number in float32, as it is; by a tensor every step is rounded to a half type.
    compute = wide(out.dtype) if _is_single(y) else out.dtype
    x, y = given(b, rounded(b, x, out.dtype), out.shape, compute), given(b, y, out.shape, compute)
    return b.cast(
        _floor_quotient(b, x, y) if rounding_mode == "floor" else _trunc(b, _rounding_step(b, "divide", x, y)),
        out.dtype,
    )


@lowers(aten.floor_divide)
def floor_divide(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    return div(b, out, x, y, "floor")


@lowers(aten.fmod)
def fmod(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    return computed(b, out, [x, y], lambda x, y: b.binary("remainder", x, y))


@lowers(aten.remainder)
def remainder(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    def body(x: Value, y: Value) -> Value:
        rest = b.binary("remainder", x, y)
        if not x.dtype.is_signed:
            return rest
        unlike = b.binary("and", b.compare("NE", rest, b.like(0, x)), _signs_differ(b, rest, y))
        return b.select(unlike, b.add(rest, y), rest)

    return computed(b, out, [x, y], body)


@lowers(aten.reciprocal)
def reciprocal(b: Builder, out: Result, x: Operand) -> Value:
    return computed(b, out, [x], lambda x: b.div(b.like(1, x), x))


@lowers(aten.neg, aten._neg_view)
def neg(b: Builder, out: Result, x: Value) -> Value:
    return b.unary("negate", x)


@lowers(aten.abs)
def absolute(b: Builder, out: Result, x: Value) -> Value:
    if not x.dtype.is_signed and not x.dtype.is_complex:
        return x
    return b.unary("abs", x, real_of(x.dtype))


def _extremum(name: str) -> Callable[..., Value]:
    def body(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
        pair = [given(b, operand, out.shape, out.dtype) for operand in (x, y)]
        return b.binary({"maximum": "or", "minimum": "and"}[name] if out.dtype == torch.bool else name, *pair)

    return body


lowers(aten.maximum)(_extremum("maximum"))
lowers(aten.minimum)(_extremum("minimum"))


def _extremum_of_numbers(name: str) -> Callable[..., Value]:
    """A maximum or minimum in which a NaN loses to a number."""

    def body(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
        x, y = (given(b, operand, out.shape, out.dtype) for operand in (x, y))
        if out.dtype == torch.bool:
            return b.binary({"maximum": "or", "minimum": "and"}[name], x, y)
        if not is_inexact(out.dtype):
            return b.binary(name, x, y)
        return b.select(b.is_nan(x), y, b.select(b.is_nan(y), x, b.binary(name, x, y)))

    return body


lowers(aten.fmax)(_extremum_of_numbers("maximum"))
lowers(aten.fmin)(_extremum_of_numbers("minimum"))


@lowers(aten.clamp)
def clamp(b: Builder, out: Result, x: Value, low: Operand | None = None, high: Operand | None = None) -> Value:
    result = given(b, x, out.shape, wide(out.dtype))
    if not is_inexact(out.dtype) and out.dtype != torch.bool:  # a bound beyond the type is none
        limits = torch.iinfo(out.dtype)
        low = None if isinstance(low, (int, float)) and low <= limits.min else low
        high = None if isinstance(high, (int, float)) and high >= limits.max else high
    if low is not None:
        result = b.binary("maximum", result, given(b, low, out.shape, result.dtype))
    if high is not None:
        result = b.binary("minimum", result, given(b, high, out.shape, result.dtype))
    return b.cast(result, out.dtype)


@lowers(aten.clamp_min)
def clamp_min(b: Builder, out: Result, x: Value, low: Operand) -> Value:
    return clamp(b, out, x, low)


@lowers(aten.clamp_max)
def clamp_max(b: Builder, out: Result, x: Value, high: Operand) -> Value:
    return clamp(b, out, x, None, high)


@lowers(aten.relu)
def relu(b: Builder, out: Result, x: Value) -> Value:
    return b.binary("maximum", x, b.like(0, x))


@lowers(aten.softshrink_backward, aten.hardshrink_backward)
def shrink_backward(b: Builder, out: Result, gradient: Value, x: Value, bound: Number) -> Value:
    outside = b.compare("GT", b.unary("abs", x), b.like(bound, x))
    outside = b.binary("or", outside, b.is_nan(x))
    return b.select(outside, gradient, b.like(0, gradient))


@lowers(aten.threshold_backward)
def threshold_backward(b: Builder, out: Result, gradient: Value, x: Value, bound: Number) -> Value:
    x = b.cast(x, wide(x.dtype))  # torch does not round the bound
    return b.select(b.compare("LE", x, b.like(bound, x)), b.like(0, gradient), gradient)


def _bounds_of_logit(b: Builder, x: Value, eps: float) -> tuple[Value, Value]:
    """Where torch holds `x` between: each rounded to a half type."""
    low = b.like(eps, x)
    return low, b.sub(b.like(1, x), low)


@lowers(aten.logit)
def logit(b: Builder, out: Result, x: Value, eps: float | None = None) -> Value:
    x = b.cast(x, out.dtype)
    if eps is not None:
        low, high = _bounds_of_logit(b, x, eps)
        x = b.select(b.compare("LT", x, low), low, b.select(b.compare("GT", x, high), high, x))
    odds = b.div(x, b.sub(b.like(1, x), x))
    return computed(b, out, [odds], lambda odds: b.unary("log", odds))


@lowers(aten.logit_backward)
def logit_backward(b: Builder, out: Result, gradient: Value, x: Value, eps: float | None = None) -> Value:
    low, high = _bounds_of_logit(b, x, eps or 0)
    within = b.binary("and", b.compare("GE", x, low), b.compare("LE", x, high))
    slope = b.div(gradient, b.mul(x, b.sub(b.like(1, x), x)))
    return b.select(within, slope, b.like(math.nan if eps is None else 0, slope))


# Functions of one number.

_DIRECT = {
    aten.exp: "exponential",
    aten.expm1: "exponential_minus_one",
    aten.log: "log",
    aten.log1p: "log_plus_one",
    aten.sin: "sine",
    aten.cos: "cosine",
    aten.tan: "tan",
    aten.tanh: "tanh",
    aten.sqrt: "sqrt",
    aten.rsqrt: "rsqrt",
    aten.sigmoid: "logistic",
    aten.erf: "chlo.erf",
    aten.erfc: "chlo.erfc",
    aten.asin: "chlo.asin",
    aten.acos: "chlo.acos",
    aten.atan: "chlo.atan",
    aten.sinh: "chlo.sinh",
    aten.cosh: "chlo.cosh",
    aten.asinh: "chlo.asinh",
    aten.acosh: "chlo.acosh",
    aten.atanh: "chlo.atanh",
    aten.lgamma: "chlo.lgamma",
    aten.erfinv: "chlo.erf_inv",
}


def _direct(name: str) -> Callable[..., Value]:
    return lambda b, out, x: computed(b, out, [x], lambda x: b.unary(name, x))


for _op, _name in _DIRECT.items():
    lowers(_op)(_direct(_name))


def _logarithm(base: float) -> Callable[..., Value]:
    return lambda b, out, x: computed(
        b, out, [x], lambda x: b.mul(b.unary("log", x), b.like(1 / math.log(base), x))
    )


lowers(aten.log2)(_logarithm(2))
lowers(aten.log10)(_logarithm(10))


@lowers(aten.exp2)
def exp2(b: Builder, out: Result, x: Value) -> Value:
    return computed(b, out, [x], lambda x: b.binary("power", b.like(2, x), x))


@lowers(aten.atan2)
def atan2(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    return computed(b, out, [x, y], lambda x, y: b.binary("atan2", x, y))


@lowers(aten.angle.default)
def angle(b: Builder, out: Result, x: Value) -> Value:
    if x.dtype.is_complex:
        return b.binary("atan2", b.unary("imag", x, out.dtype), b.unary("real", x, out.dtype))
    x = b.cast(x, out.dtype)
    turned = b.select(b.compare("LT", x, b.like(0, x)), b.like(math.pi, x), b.like(0, x))
    return b.select(b.is_nan(x), x, turned)


@lowers(aten.xlogy)
def xlogy(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    def body(x: Value, y: Value) -> Value:
        logarithm = b.cast(b.cast(b.unary("log", y), out.dtype), y.dtype)
        product = b.select(b.compare("EQ", x, b.like(0, x)), b.like(0, x), b.mul(x, logarithm))
        return b.select(b.is_nan(y), y, product)

    return computed(b, out, [x, y], body)


def _rounding(name: str) -> Callable[..., Value]:
    return lambda b, out, x: x if not is_inexact(x.dtype) else b.unary(name, x)


lowers(aten.floor)(_rounding("floor"))
lowers(aten.ceil)(_rounding("ceil"))


@lowers(aten.round)
def round_(b: Builder, out: Result, x: Value, decimals: int = 0) -> Value:
    if not is_inexact(x.dtype):
        return x
    if not decimals:
        return b.unary("round_nearest_even", x)
    scale = 10.0 ** abs(decimals)

    def body(x: Value) -> Value:
        up, down = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
        return b.binary(down, b.unary("round_nearest_even", b.binary(up, x, b.like(scale, x))), b.like(scale, x))

    return computed(b, out, [x], body)


def _trunc(b: Builder, x: Value) -> Value:
    return b.select(b.compare("LT", x, b.like(0, x)), b.unary("ceil", x), b.unary("floor", x))


@lowers(aten.trunc)
def trunc(b: Builder, out: Result, x: Value) -> Value:
    return _trunc(b, x) if is_inexact(x.dtype) else x


@lowers(aten.sign, aten.sgn)
def sign(b: Builder, out: Result, x: Value) -> Value:
    if x.dtype == torch.bool:
        return x
    if not x.dtype.is_signed:
        return b.cast(b.compare("NE", x, b.like(0, x)), x.dtype)
    if x.dtype.is_floating_point:  # of a NaN torch says zero
        return b.select(b.is_nan(x), b.like(0, x), b.unary("sign", x))
    return b.unary("sign", x)


# Bits.


def _bitwise(name: str) -> Callable[..., Value]:
    return lambda b, out, x, y: b.binary(name, given(b, x, out.shape, out.dtype), given(b, y, out.shape, out.dtype))


for _op, _name in {
    aten.bitwise_and: "and",
    aten.bitwise_or: "or",
    aten.bitwise_xor: "xor",
}.items():
    lowers(_op)(_bitwise(_name))


def _shift(left: bool) -> Callable[..., Value]:
    def body(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
        x, y = (given(b, operand, out.shape, out.dtype) for operand in (x, y))
        name = "shift_left" if left else "shift_right_arithmetic" if out.dtype.is_signed else "shift_right_logical"
        return b.binary(name, x, y)

    return body


lowers(aten.bitwise_left_shift, aten.__lshift__)(_shift(True))
lowers(aten.bitwise_right_shift, aten.__rshift__)(_shift(False))


@lowers(aten.bitwise_not)
def bitwise_not(b: Builder, out: Result, x: Value) -> Value:
    return b.invert(x)


@lowers(aten.logical_not)
def logical_not(b: Builder, out: Result, x: Value) -> Value:
    return b.compare("EQ", x, b.like(0, x))


def _logical(name: str) -> Callable[..., Value]:
    return lambda b, out, x, y: b.binary(
        name, *(b.broadcast(b.cast(operand, torch.bool), out.shape) for operand in (x, y))
    )


for _op, _name in {aten.logical_and: "and", aten.logical_or: "or", aten.logical_xor: "xor"}.items():
    lowers(_op)(_logical(_name))


# Comparisons.


def _comparison(direction: str) -> Callable[..., Value]:
    def body(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
        dtype = promoted([x, y])
        return b.compare(direction, given(b, x, out.shape, dtype), given(b, y, out.shape, dtype))

    return body


for _op, _name in {
    aten.eq: "EQ",
    aten.ne: "NE",
    aten.lt: "LT",
    aten.le: "LE",
    aten.gt: "GT",
    aten.ge: "GE",
    prims.eq: "EQ",
    prims.ne: "NE",
    prims.lt: "LT",
    prims.le: "LE",
    prims.gt: "GT",
    prims.ge: "GE",
}.items():
    lowers(_op)(_comparison(_name))


@lowers(aten.isnan)
def isnan(b: Builder, out: Result, x: Value) -> Value:
    return b.is_nan(x) if is_inexact(x.dtype) else b.full(False, out.shape, torch.bool)


@lowers(aten.isinf)
def isinf(b: Builder, out: Result, x: Value) -> Value:
    if not is_inexact(x.dtype):
        return b.full(False, out.shape, torch.bool)
    if x.dtype.is_complex:
        parts = [b.unary(part, x, real_of(x.dtype)) for part in ("real", "imag")]
        return b.binary("or", *(isinf(b, out, part) for part in parts))
    return b.compare("EQ", b.unary("abs", x), b.like(math.inf, x))


@lowers(aten.signbit)
def signbit(b: Builder, out: Result, x: Value) -> Value:
    if not x.dtype.is_floating_point:
        return b.compare("LT", x, b.like(0, x)) if x.dtype.is_signed else b.full(False, out.shape, torch.bool)
    bits = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32,
            torch.float64: torch.int64}
    pattern = b.unary("bitcast_convert", x, bits[x.dtype])
    return b.compare("LT", pattern, b.like(0, pattern))


@lowers(aten.copysign)
def copysign(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    size = b.unary("abs", given(b, x, out.shape, out.dtype))
    negative = signbit(b, out, given(b, y, out.shape, out.dtype))
    return b.select(negative, b.unary("negate", size), size)


@lowers(aten.hypot)
def hypot(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    def body(x: Value, y: Value) -> Value:
        x, y = b.unary("abs", x), b.unary("abs", y)
        large, small = b.binary("maximum", x, y), b.binary("minimum", x, y)
        ratio = b.div(small, large)
        length = b.mul(large, b.unary("sqrt", b.add(b.mul(ratio, ratio), b.like(1, x))))
        length = b.select(b.compare("EQ", large, b.like(0, x)), large, length)
        infinite = [b.compare("EQ", part, b.like(math.inf, x)) for part in (x, y)]  # whatever the other one is
        return b.select(b.binary("or", *infinite), b.like(math.inf, x), length)

    return computed(b, out, [x, y], body)


@lowers(aten.where, prims.where)
def where(b: Builder, out: Result, condition: Value, x: Operand, y: Operand) -> Value:
    selected = b.broadcast(b.cast(condition, torch.bool), out.shape)
    return b.select(selected, given(b, x, out.shape, out.dtype), given(b, y, out.shape, out.dtype))


# Conversions.


@lowers(aten._to_copy, prims.convert_element_type, prims.device_put, aten.to)
def to_copy(b: Builder, out: Result, x: Value, *_: Any, **__: Any) -> Value:
    return b.cast(x, out.dtype)


@lowers(aten.alias, aten.clone, aten.detach, aten.lift_fresh_copy, aten.lift_fresh, aten.lift, prims.clone,
        aten.contiguous, prims.copy_strided)
def same(b: Builder, out: Result, x: Value, *_: Any, **__: Any) -> Value:
    return x


@lowers(aten.copy)
def copy(b: Builder, out: Result, x: Value, source: Value, non_blocking: bool = False) -> Value:
    return given(b, source, out.shape, out.dtype)


lowers(aten.real)(lambda b, out, x: b.unary("real", x, out.dtype) if x.dtype.is_complex else x)
lowers(aten.imag)(lambda b, out, x: b.unary("imag", x, out.dtype))


@lowers(aten.complex)
def complex_(b: Builder, out: Result, x: Value, y: Value) -> Value:
    return b.op("complex", [b.broadcast(x, out.shape), b.broadcast(y, out.shape)], out.shape, out.dtype)


@lowers(aten._conj, aten._conj_physical, aten.conj_physical)
def conj(b: Builder, out: Result, x: Value) -> Value:
    if not x.dtype.is_complex:
        return x
    part = real_of(x.dtype)
    real, imaginary = b.unary("real", x, part), b.unary("imag", x, part)
    return b.op("complex", [real, b.unary("negate", imaginary)], out.shape, out.dtype)


@lowers(aten.view_as_real)
def view_as_real(b: Builder, out: Result, x: Value) -> Value:
    parts = [b.reshape(b.unary(part, x, out.dtype), [*x.shape, 1]) for part in ("real", "imag")]
    return b.concatenate(parts, x.rank)


@lowers(aten.view_as_complex)
def view_as_complex(b: Builder, out: Result, x: Value) -> Value:
    parts = [b.reshape(b.slice_dim(x, x.rank - 1, at, at + 1), out.shape) for at in (0, 1)]
    return b.op("complex", parts, out.shape, out.dtype)
