"""Element types, the text of tensor types and attributes, and the data of arguments."""

import math

import ml_dtypes
import numpy as np
from shardonnay import boundary

FLOATS = ("f32", "bf16", "f16", "f64", "f8E4M3FN", "f8E5M2")
WIDE = ("f32", "f64")
SIGNED = ("i32", "i8", "i64", "i16", "i4")
UNSIGNED = ("ui32", "ui8", "ui64", "ui16", "ui4")
INTEGERS = SIGNED + UNSIGNED
COMPLEX = ("complex<f32>", "complex<f64>")
NUMBERS = FLOATS + INTEGERS + COMPLEX
ANY = (*NUMBERS, "i1")
# Bits of a significand, the hidden one too.
MANTISSA = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8, "f8E4M3FN": 4, "f8E5M2": 3}
SIZES = (2, 4, 8, 3, 5, 1, 10, 7, 16, 0, 9, 12)
LARGEST = 2048  # elements of a value


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def scalar_of(element):
    """The real type of a complex one; else itself."""
    return element[8:-1] if element.startswith("complex") else element


def is_float(element):
    return scalar_of(element) in MANTISSA


def array_text(numbers):
    """An array attribute; an empty one has no colon."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if len(numbers) else "array<i64>"


#
# Data
#


def data(kind, shape, element, seed):
    """The array of an argument: what it holds is said by `kind`, (name, parameters ...)."""
    random, dtype = np.random.default_rng(seed), boundary.dtype_of(element)
    name, *parameters = kind
    if element == "i1":
        return random.random(shape) < 0.5
    found = DATA[name](random, shape, dtype, *parameters)
    return np.asarray(found).astype(dtype)


def _limits(dtype):
    return ml_dtypes.iinfo(dtype) if dtype.kind == "V" else np.iinfo(dtype)


def _small(random, shape, dtype):
    """Integers whose sums are exact in every type."""
    if dtype.kind == "c":
        return random.integers(-3, 4, shape) + 1j * random.integers(-3, 4, shape)
    return random.integers(0 if "uint" in dtype.name else -3, 4, shape)


def _wild(random, shape, dtype):
    """NaN, infinities and both zeros among floats; the extremes among integers."""
    found = _small(random, shape, dtype)
    if boundary.is_inexact(dtype):
        special = [np.nan, np.inf, -np.inf, -0.0, 1.5]
        return np.where(random.random(shape) < 0.4, random.choice(special, shape), found)
    limits = _limits(dtype)
    extremes = np.array([int(limits.min), int(limits.max)], object)
    return np.where(random.random(shape) < 0.4, random.choice(extremes, shape), found.astype(object))


def _real(random, shape, dtype, low=-2.0, high=2.0):
    found = random.uniform(low, high, shape)
    return found + 1j * random.uniform(low, high, shape) if dtype.kind == "c" else found


def _place(random, shape, dtype, size):
    """Indices of a dim of `size`: within, on its bounds, and far outside."""
    limits = _limits(dtype)
    outside = [-1, 0, size - 1, size, size + 3, -size - 7, int(limits.min), int(limits.max)]
    outside = [place for place in outside if limits.min <= place <= limits.max]
    within = random.integers(0, max(1, min(size, int(limits.max))), shape)
    return np.where(random.random(shape) < 0.3, random.choice(np.array(outside, object), shape), within).astype(object)


def _apart(random, shape, dtype, size):
    """Different indices, where there are as many: rows of `shape` are places of one dim."""
    count = math.prod(shape)
    return random.permutation(max(count, size, 1))[:count].reshape(shape)


def _definite(random, shape, dtype):
    factor = random.integers(-2, 3, shape).astype(float)
    if dtype.kind == "c":
        factor = factor + 1j * random.integers(-2, 3, shape)
    return factor @ np.conj(factor.swapaxes(-1, -2)) + 2 * shape[-1] * np.eye(shape[-1])


def _triangle(random, shape, dtype):
    """Well-conditioned in both triangles: the solver reads one."""
    return 0.25 * random.integers(-2, 3, shape) + 4 * np.eye(shape[-1])


def _extreme(random, shape, dtype, side):
    """The least or the largest of the type."""
    if boundary.is_inexact(dtype):
        return np.full(shape, -np.inf if side == "low" else np.inf)
    limits = _limits(dtype)
    return np.full(shape, int(limits.min if side == "low" else limits.max), object)


DATA = {
    "extreme": _extreme, "small": _small, "wild": _wild, "real": _real, "place": _place, "apart": _apart,
    "definite": _definite, "triangle": _triangle,
}


def capped_power(value, terms):
    """Of a product of so many factors of at most `value`; at most 2**60."""
    return 2.0 ** min(60, terms * math.log2(max(1, value)))


def bound_of(kind, element):
    """|value| at most, if the data are integral."""
    if element == "i1":
        return 1
    return {"small": 5 if element.startswith("complex") else 3}.get(kind[0])
