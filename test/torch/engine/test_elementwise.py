"""Ops on elements: every edge of every type, and for two operands every pair of edges, as PJRT has them."""

import numpy as np
import pytest
from single import COMPLEX, FLOATS, INTEGERS, SIGNED, SMALL, Case, check, edges, pairs, tensor
from shardonnay import boundary

BOOL = ["i1"]
UNARY = {
    "abs": [*FLOATS, *SMALL, *SIGNED, *COMPLEX],
    "cbrt": FLOATS,
    "ceil": [*FLOATS, *SMALL],
    "cosine": [*FLOATS, *COMPLEX],
    "count_leading_zeros": INTEGERS,
    "exponential": [*FLOATS, *SMALL, *COMPLEX],
    "exponential_minus_one": [*FLOATS, *COMPLEX],
    "floor": [*FLOATS, *SMALL],
    "imag": COMPLEX,
    "is_finite": [*FLOATS],
    "log": [*FLOATS, *COMPLEX],
    "log_plus_one": [*FLOATS, *COMPLEX],
    "logistic": FLOATS,
    "negate": [*FLOATS, *SMALL, *INTEGERS, *COMPLEX],
    "not": [*INTEGERS, *BOOL],
    "popcnt": INTEGERS,
    "real": COMPLEX,
    "round_nearest_afz": FLOATS,
    "round_nearest_even": FLOATS,
    "rsqrt": FLOATS,
    "sign": [*FLOATS, *SIGNED, *COMPLEX],
    "sine": [*FLOATS, *COMPLEX],
    "sqrt": [*FLOATS, *COMPLEX],
    "tan": FLOATS,
    "tanh": [*FLOATS, *COMPLEX],
}
BINARY = {
    "add": [*FLOATS, *SMALL, *INTEGERS, *COMPLEX, *BOOL],
    "and": [*INTEGERS, *BOOL],
    "atan2": FLOATS,
    "divide": [*FLOATS, *SMALL, *INTEGERS, *COMPLEX],
    "maximum": [*FLOATS, *SMALL, *INTEGERS, *BOOL],
    "minimum": [*FLOATS, *SMALL, *INTEGERS, *BOOL],
    "multiply": [*FLOATS, *SMALL, *INTEGERS, *COMPLEX, *BOOL],
    "or": [*INTEGERS, *BOOL],
    "power": [*FLOATS, *INTEGERS],
    "remainder": [*FLOATS, *INTEGERS],
    "shift_left": INTEGERS,
    "shift_right_arithmetic": INTEGERS,
    "shift_right_logical": INTEGERS,
    "subtract": [*FLOATS, *SMALL, *INTEGERS, *COMPLEX],
    "xor": [*INTEGERS, *BOOL],
}
CHLO = {
    name: ["f32", "f64"]
    for name in "acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh".split()
}


def unary(dialect, name, element):
    result = {"is_finite": "i1", "real": element[8:-1], "imag": element[8:-1]}.get(name, element)
    if name == "abs" and element in COMPLEX:
        result = element[8:-1]
    values = edges(element)
    shape = values.shape
    # XLA's fast forms are good to some more bits than one.
    tolerance = {"f32": 2e-5, "f64": 1e-9, "complex<f32>": 1e-4,
                 "complex<f64>": 1e-9}.get(element) if dialect == "chlo" else None
    if element in COMPLEX and name not in ("negate", "real", "imag"):
        tolerance = 2e-5 if "32" in element else 1e-11
    body = f'$r = "{dialect}.{name}"($0) : ({tensor(shape, element)}) -> {tensor(shape, result)}'
    tolerance = 0.2 if name == "exponential" and element in SMALL else tolerance
    return Case(
        f"{name} of {element}",
        [(values, element)],
        [(shape, result)],
        body,
        tolerance,
        atol=1e-6 if name == "lgamma" else 0,
    )


def binary(name, element):
    x, y = pairs(element)
    if name == "power" and element in FLOATS:
        keep = np.isfinite(x.astype(float)) & np.isfinite(y.astype(float)) & (np.abs(y.astype(float)) < 8)
        x, y = x[keep], y[keep]
    if name == "power" and element in INTEGERS:  # XLA reads six bits of the exponent
        y = np.where(y < 64, y, 5)
    if element in COMPLEX and name == "divide":
        x, y = x[y != 0], y[y != 0]
    body = (
        f'$r = "stablehlo.{name}"($0, $1) : ({tensor(x.shape, element)}, {tensor(x.shape, element)}) -> '
        f'{tensor(x.shape, element)}'
    )
    tolerance = {"f32": 2e-5, "f64": 1e-10}.get(element) if name == "power" else None
    return Case(f"{name} of {element}", [(x, element), (y, element)], [(x.shape, element)], body, tolerance)


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name):
    check([unary("stablehlo", name, element) for element in UNARY[name]])


@pytest.mark.parametrize("name", CHLO)
def test_chlo(name):
    check([unary("chlo", name, element) for element in CHLO[name]])


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name):
    check([binary(name, element) for element in BINARY[name]])


def compare(element, direction, kind=None):
    x, y = pairs(element)
    kind = f", compare_type = #stablehlo<comparison_type {kind}>" if kind else ""
    body = f"""$r = "stablehlo.compare"($0, $1) <{{comparison_direction = #stablehlo<comparison_direction {direction}>{kind}}}> :
        ({tensor(x.shape, element)}, {tensor(x.shape, element)}) -> {tensor(x.shape, "i1")}"""
    return Case(f"{direction} {kind} of {element}", [(x, element), (y, element)], [(x.shape, "i1")], body)


@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
def test_compare(direction):
    cases = [compare(element, direction) for element in (*FLOATS, *INTEGERS, "i1")]
    cases += [compare(element, direction, "TOTALORDER") for element in FLOATS]
    if direction in ("EQ", "NE"):
        cases += [compare(element, direction) for element in COMPLEX]
    check(cases)


def convert(source, target):
    values = edges(source)
    if source in FLOATS and target in INTEGERS:
        values = np.concatenate(
            [values.astype(float), [3e38, -3e38, 2.0**31, 2.0**63, 2.0**64, -(2.0**63), 255.5, -129.0]]
        )
        values = values.astype(boundary.dtype_of(source))
    body = f"$r = stablehlo.convert $0 : ({tensor(values.shape, source)}) -> {tensor(values.shape, target)}"
    return Case(f"{source} to {target}", [(values, source)], [(values.shape, target)], body, 0.0)


@pytest.mark.parametrize("source", [*FLOATS, *SMALL, *INTEGERS, "i1", "i4", "ui4", *COMPLEX])
def test_convert(source):
    targets = [*FLOATS, *INTEGERS, "i1", *COMPLEX] if source not in COMPLEX else COMPLEX
    if source in (*FLOATS, *SMALL):
        targets = [*targets, *SMALL]
    check([convert(source, target) for target in targets if target != source])


WIDTHS = [("f32", (5,), "i32", (5,)), ("ui8", (3, 4), "f32", (3,)), ("f32", (3,), "ui8", (3, 4)),
          ("f64", (2,), "ui32", (2, 2)), ("ui16", (4, 2), "ui32", (4,)), ("bf16", (6,), "ui16", (6,)),
          ("f8E4M3FN", (4,), "ui8", (4,)), ("ui8", (4,), "f8E5M2", (4,)), ("i64", (), "f64", ()),
          ("f32", (), "ui16", (2,))]  # fmt: skip


def test_bitcast():
    cases = []
    for source, shape, target, wanted in WIDTHS:
        values = np.resize(edges(source, 3)[2:], shape) if shape else edges(source, 3)[4]
        body = f"$r = stablehlo.bitcast_convert $0 : ({tensor(shape, source)}) -> {tensor(wanted, target)}"
        cases.append(Case(f"{source} as {target}", [(values, source)], [(wanted, target)], body, 0.0))
    check(cases)


def test_reduce_precision():
    cases = []
    for element in ("f32", "f64", "bf16", "f16"):
        values = np.concatenate([edges(element).astype(float), [65519.0, 1.00390625, 1.01171875]])
        values = values.astype(boundary.dtype_of(element))
        for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (2, 1), (8, 23)):
            body = (
                f"$r = stablehlo.reduce_precision $0, format = e{exponent}m{mantissa} : {tensor(values.shape, element)}"
            )
            cases.append(
                Case(f"e{exponent}m{mantissa} of {element}", [(values, element)], [(values.shape, element)], body, 0.0)
            )
    check(cases)


def test_three_operands():
    cases = []
    for element in (*FLOATS, "i32", "ui32", "ui8", "i64", "ui64"):
        x, y = pairs(element)
        which = np.arange(len(x)) % 3 == 0
        kind = tensor(x.shape, element)
        cases.append(Case(f"select {element}", [(which, "i1"), (x, element), (y, element)], [(x.shape, element)],
                          f"$r = stablehlo.select $0, $1, $2 : {tensor(x.shape, 'i1')}, {kind}"))
        low, high = edges(element)[4], edges(element)[2 if element in FLOATS else 3]
        cases.append(Case(f"clamp {element}", [(low, element), (x, element), (high, element)], [(x.shape, element)],
                          f"$r = stablehlo.clamp $0, $1, $2 : ({tensor((), element)}, {kind}, {tensor((), element)}) "
                          f"-> {kind}"))
    for part in ("f32", "f64"):
        x, y = pairs(part)
        cases.append(Case(f"complex {part}", [(x, part), (y, part)], [(x.shape, f"complex<{part}>")],
                          f"$r = stablehlo.complex $0, $1 : {tensor(x.shape, f'complex<{part}>')}", 0.0))
    check(cases)


@pytest.mark.parametrize("element", ["i4", "ui4"])
def test_four_bits(element):
    """Every number with every other: results are rounded to four bits."""
    values = np.arange(16).astype(np.uint8) if element == "ui4" else np.arange(-8, 8).astype(np.int8)
    values = values.astype(boundary.dtype_of(element))
    x, y = np.repeat(values, 16), np.tile(values, 16)
    cases = [
        Case(f"{name} {element}", [(x, element), (y, element)], [((256,), element)],
             f"$r = stablehlo.{name} $0, $1 : tensor<256x{element}>")
        for name in ("add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor")
    ]  # fmt: skip
    check(cases)


def test_chlo_of_two():
    x, y = pairs("f32", 1)
    cases = []
    for name in ("next_after", "zeta"):
        keep = (
            (x > 1) & (y > 0) & np.isfinite(x) & np.isfinite(y) if name == "zeta" else np.isfinite(x) & np.isfinite(y)
        )
        a, b = x[keep], y[keep]
        cases.append(Case(name, [(a, "f32"), (b, "f32")], [(a.shape, "f32")],
                          f'$r = "chlo.{name}"($0, $1) : ({tensor(a.shape, "f32")}, {tensor(a.shape, "f32")}) -> '
                          f'{tensor(a.shape, "f32")}', 2e-5, atol=1e-37))
    n, z = (
        np.repeat(np.arange(4.0), 5).astype(np.float32),
        np.tile(np.array([0.5, 1.0, 2.25, 7.5, 30.0]), 4).astype(np.float32),
    )
    cases.append(Case("polygamma", [(n, "f32"), (z, "f32")], [(n.shape, "f32")],
                      f'$r = "chlo.polygamma"($0, $1) : ({tensor(n.shape, "f32")}, {tensor(n.shape, "f32")}) -> '
                      f'{tensor(n.shape, "f32")}', 5e-5))
    for element in ("i32", "ui32", "i64", "ui64", "i8", "ui8"):
        a, b = pairs(element)
        kind = tensor(a.shape, element)
        cases.append(Case(f"mulhi {element}", [(a, element), (b, element)], [(a.shape, element)],
                          f'$r = "chlo.mulhi"($0, $1) : ({kind}, {kind}) -> {kind}'))
    check(cases)


