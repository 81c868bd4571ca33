"""Special functions, by those of StableHLO's extension CHLO and by polynomials.

A polynomial is Chebyshev's of torch's own function, as many degrees as float64 needs, of a variable from -1 to 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import torch

from ..builder import Builder, Value
from .table import Operand, Result, given, lowers, wide

aten, prims = torch.ops.aten, torch.ops.prims


def _of_floats(body: Callable[[Builder, Value], Value]) -> Callable[..., Value]:
    """An entry for a function of one number, half types computed in float32."""
    return lambda b, out, x: b.cast(body(b, b.cast(x, wide(out.dtype))), out.dtype)


def _plus(b: Builder, x: Value, number: float) -> Value:
    return b.add(x, b.like(number, x))


def _times(b: Builder, x: Value, number: float) -> Value:
    return b.mul(x, b.like(number, x))


@functools.cache
def _coefficients(function: Callable[[torch.Tensor], torch.Tensor], degree: int) -> tuple[float, ...]:
    """Of Chebyshev's polynomials up to `degree`: the interpolation at their nodes."""
    count = degree + 1
    angles = (torch.arange(count, dtype=torch.float64) + 0.5) * (math.pi / count)
    waves = torch.cos(torch.arange(count, dtype=torch.float64)[:, None] * angles)
    found = waves @ function(torch.cos(angles)) * (2 / count)
    return (found[0].item() / 2, *found[1:].tolist())


def _polynomial(b: Builder, x: Value, function: Callable[[torch.Tensor], torch.Tensor], degree: int) -> Value:
    """By Clenshaw's recurrence."""
    first, *rest = _coefficients(function, degree)
    double = _times(b, x, 2)
    later, last = b.like(0, x), b.like(0, x)
    for coefficient in reversed(rest):
        later, last = last, _plus(b, b.sub(b.mul(double, last), later), coefficient)
    return _plus(b, b.sub(b.mul(x, last), later), first)


# Bessel functions I0 and I1, times exp(-|x|): up to 8 of x, beyond of its reciprocal.


def _i0e_near(t: torch.Tensor) -> torch.Tensor:
    return torch.special.i0e(4 * (t + 1))


def _i0e_far(t: torch.Tensor) -> torch.Tensor:
    x = 16 / (t + 1)
    return torch.special.i0e(x) * torch.sqrt(x)


def _i0e(b: Builder, x: Value) -> Value:
    size = b.unary("abs", x)
    near = _polynomial(b, _plus(b, _times(b, size, 0.25), -1), _i0e_near, 30)
    large = b.binary("maximum", size, b.like(8, x))
    far = _polynomial(b, _plus(b, b.div(b.like(16, x), large), -1), _i0e_far, 25)
    return b.select(b.compare("LE", size, b.like(8, x)), near, b.div(far, b.unary("sqrt", large)))


def _i1e(b: Builder, x: Value) -> Value:
    return b.unary("chlo.bessel_i1e", x)


def _grown(function: Callable[[Builder, Value], Value]) -> Callable[[Builder, Value], Value]:
    """In two factors, of which neither overflows before the product does."""

    def body(b: Builder, x: Value) -> Value:
        root = b.unary("exponential", _times(b, b.unary("abs", x), 0.5))
        return b.mul(b.mul(function(b, x), root), root)

    return body


lowers(prims.bessel_i0e)(_of_floats(_i0e))
lowers(prims.bessel_i1e)(_of_floats(_i1e))
lowers(prims.bessel_i0)(_of_floats(_grown(_i0e)))
lowers(prims.bessel_i1)(_of_floats(_grown(_i1e)))


# exp(x**2) erfc(x).


def _erfcx_of(t: torch.Tensor) -> torch.Tensor:
    """Of t = 1 at 0 and -1 at infinity, times x + 1, which is 1 / sqrt(pi) there."""
    y = (t + 1) / 2
    x = 3 * (1 - y) / y
    return torch.special.erfcx(x) * (x + 1)


def _erfcx(b: Builder, x: Value) -> Value:
    size = b.unary("abs", x)
    three = b.like(3, x)
    part = _plus(b, b.div(_times(b, three, 2), b.add(size, three)), -1)
    positive = b.div(_polynomial(b, part, _erfcx_of, 40), _plus(b, size, 1))
    square = b.mul(x, x)
    negative = b.sub(_times(b, b.unary("exponential", square), 2), positive)
    return b.select(b.compare("LT", x, b.like(0, x)), negative, positive)


lowers(prims.erfcx)(_of_floats(_erfcx))


# Zeta and the derivatives of log gamma.


@lowers(prims.zeta)
def zeta(b: Builder, out: Result, x: Operand, q: Operand) -> Value:
    """CHLO's, which adds no more than nine terms before it goes by an asymptotic series: further below zero that is
    another number, and here none.
    """
    x, q = (given(b, operand, out.shape, wide(out.dtype)) for operand in (x, q))
    far = b.compare("LT", q, b.like(-4, q))
    return b.cast(b.select(far, b.like(math.nan, q), b.binary("chlo.zeta", x, q)), out.dtype)


def _cotangent_derivative(n: int) -> list[int]:
    """Coefficients, lowest first, of the n-th derivative of cot as a polynomial of cot, whose own is -(1 + cot**2)."""
    found = [0, 1]
    for _ in range(n):
        slope = [power * coefficient for power, coefficient in enumerate(found)][1:]
        found = [-(low + high) for low, high in zip([*slope, 0, 0], [0, 0, *slope])]
    return found


def _digamma(b: Builder, x: Value) -> Value:
    """At 0 an infinity, whose sign is not the zero's."""
    zero = b.like(0, x)
    return b.select(b.compare("EQ", x, zero), b.div(b.like(-1, x), x), b.unary("chlo.digamma", x))


@lowers(aten.digamma)
def digamma(b: Builder, out: Result, x: Value) -> Value:
    return b.cast(_digamma(b, b.cast(x, wide(out.dtype))), out.dtype)


@lowers(aten.polygamma)
def polygamma(b: Builder, out: Result, n: int, x: Value) -> Value:
    """Below a half by its reflection."""
    x = b.cast(x, wide(out.dtype))
    if n == 0:
        return b.cast(_digamma(b, x), out.dtype)
    small = b.compare("LT", x, b.like(0.5, x))
    values = b.binary("chlo.zeta", b.like(n + 1, x), b.select(small, b.sub(b.like(1, x), x), x))
    right = _times(b, values, (-1) ** (n + 1) * math.factorial(n))
    # Of pi x, from what is beyond a whole number: exact where that is nothing or a half.
    beyond = b.sub(x, b.unary("floor", x))
    sine, cosine = (
        b.unary("sine", _times(b, angle, math.pi)) for angle in (beyond, b.sub(b.like(0.5, x), beyond))
    )
    *others, last = _cotangent_derivative(n)
    cotangent, slope = b.div(cosine, sine), b.like(last, x)
    for coefficient in reversed(others):
        slope = _plus(b, b.mul(slope, cotangent), coefficient)
    reflected = b.sub(_times(b, right, (-1) ** n), _times(b, slope, math.pi ** (n + 1)))
    return b.cast(b.select(small, reflected, right), out.dtype)


@lowers(prims.nextafter)
def nextafter(b: Builder, out: Result, x: Operand, y: Operand) -> Value:
    x, y = (given(b, operand, out.shape, out.dtype) for operand in (x, y))
    return b.binary("chlo.next_after", x, y)
