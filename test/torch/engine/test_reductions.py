"""Reductions over dims and windows, scatters of selections, sorts: by kinds that torch knows and by computations that
it does not.
"""

import numpy as np
import pytest
from single import COMPLEX, FLOATS, INTEGERS, Case, check, edges, interpreted, numbers, tensor
from shardonnay import boundary

KINDS = {"add": [*FLOATS, *INTEGERS, *COMPLEX], "multiply": [*FLOATS, *INTEGERS, *COMPLEX],
         "maximum": [*FLOATS, *INTEGERS, "i1"], "minimum": [*FLOATS, *INTEGERS, "i1"], "and": [*INTEGERS, "i1"],
         "or": [*INTEGERS, "i1"], "xor": [*INTEGERS, "i1"]}  # fmt: skip
ROUGH = {"bf16": 5e-2, "f16": 5e-3, "f32": 1e-5}


def region(element, body, count=1):
    """`body` computes $z from $p and $q (or $p0, $q0, ...)."""
    if count == 1:
        arguments = f"$p: {tensor((), element)}, $q: {tensor((), element)}"
        return f"({{\n^bb0({arguments}):\n{body}\nstablehlo.return $z : {tensor((), element)}\n}})"
    raise AssertionError


def named(kind, element):
    return region(element, f"$z = stablehlo.{kind} $p, $q : {tensor((), element)}")


@pytest.mark.parametrize("kind", KINDS)
def test_reduce(kind):
    cases = []
    for element in KINDS[kind]:
        for shape, dims, result in (((3, 4, 5), [1], (3, 5)), ((3, 4, 5), [0, 2], (4,)), ((4,), [0], ()),
                                    ((0, 3), [0], (3,)), ((2, 3), [], (2, 3))):
            init = np.asarray(numbers((), element, 3))
            body = f"""$r = "stablehlo.reduce"($0, $1) <{{dimensions = array<i64{': ' if dims else ''}{', '.join(map(str, dims))}>}}> {named(kind, element)} :
                ({tensor(shape, element)}, {tensor((), element)}) -> {tensor(result, element)}"""
            cases.append(Case(f"{kind} {element} {shape} {dims}", [(numbers(shape, element), element), (init, element)],
                              [(result, element)], body, ROUGH.get(element), atol=ROUGH.get(element, 0.0)))
    check(cases)


def test_extremes():
    """NaN and infinities are kept; unsigned integers have their own order."""
    cases = []
    for element in (*FLOATS, *INTEGERS):
        values = edges(element)
        for kind in ("maximum", "minimum"):
            init = np.asarray(values[0])
            body = f"""$r = "stablehlo.reduce"($0, $1) <{{dimensions = array<i64: 0>}}> {named(kind, element)} :
                ({tensor(values.shape, element)}, {tensor((), element)}) -> {tensor((), element)}"""
            cases.append(Case(f"{kind} {element}", [(values, element), (init, element)], [((), element)], body))
            finite = values[np.isfinite(values.astype(float))] if element in FLOATS else values[3:]
            body = body.replace(tensor(values.shape, element), tensor(finite.shape, element))
            cases.append(
                Case(f"finite {kind} {element}", [(finite, element), (finite[0], element)], [((), element)], body)
            )
    check(cases)


def test_computed_reduction():
    """The largest and where it is, as JAX writes argmax; and products modulo a number."""
    x = np.array([[1, 5, 5, -2, np.nan], [3, 3, 3, 3, 3], [-1, -5, 0, -0.0, 0]], np.float32)
    body = """$i = stablehlo.iota dim = 1 : tensor<3x5xi32>
      $a = stablehlo.constant dense<0xFF800000> : tensor<f32>
      $b = stablehlo.constant dense<0> : tensor<i32>
      $r:2 = "stablehlo.reduce"($0, $i, $a, $b) <{dimensions = array<i64: 1>}> ({
      ^bb0($p: tensor<f32>, $m: tensor<i32>, $q: tensor<f32>, $n: tensor<i32>):
        $c = stablehlo.compare GT, $p, $q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        $d = stablehlo.compare NE, $p, $p, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        $e = stablehlo.or $c, $d : tensor<i1>
        $f = stablehlo.compare EQ, $p, $q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        $g = stablehlo.compare LT, $m, $n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        $h = stablehlo.and $f, $g : tensor<i1>
        $j = stablehlo.or $e, $h : tensor<i1>
        $k = stablehlo.select $e, $p, $q : tensor<i1>, tensor<f32>
        $l = stablehlo.select $j, $m, $n : tensor<i1>, tensor<i32>
        stablehlo.return $k, $l : tensor<f32>, tensor<i32>
      }) : (tensor<3x5xf32>, tensor<3x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)"""
    modulo = region("i32", """$m = stablehlo.constant dense<7> : tensor<i32>
        $y = stablehlo.multiply $p, $q : tensor<i32>
        $z = stablehlo.remainder $y, $m : tensor<i32>""")
    other = f"""$r = "stablehlo.reduce"($0, $1) <{{dimensions = array<i64: 0>}}> {modulo} :
        (tensor<9x4xi32>, tensor<i32>) -> tensor<4xi32>"""
    check([
        Case("argmax", [(x, "f32")], [((3,), "f32"), ((3,), "i32")], body),
        Case("modulo", [(np.arange(1, 37, dtype=np.int32).reshape(9, 4), "i32"), (np.int32(1), "i32")], [((4,), "i32")],
             other),
    ])  # fmt: skip


WINDOWS = [((5, 6), (2, 3), (1, 2), (1, 1), (1, 1), ((0, 0), (1, 1))),
           ((5, 6), (3, 1), (2, 1), (1, 1), (2, 1), ((1, 0), (0, 0))),
           ((4, 5), (2, 2), (1, 1), (2, 3), (1, 2), ((1, 2), (0, 1))), ((8,), (8,), (1,), (1,), (1,), ((7, 0),)),
           ((3,), (5,), (1,), (1,), (1,), ((0, 0),)),
           ((6, 4), (2, 2), (2, 2), (1, 1), (1, 1), ((-1, 1), (0, -2)))]  # fmt: skip


def windowed(kind, init=None, elements=("f32", "f64", "bf16", "i32", "ui32", "i8")):
    """Windows of every kind and type; `init` or, without one, some number."""
    cases = []
    for element in elements:
        for shape, window, strides, base, dilation, pads in WINDOWS:
            result = []
            for n, w, s, b, d, (low, high) in zip(shape, window, strides, base, dilation, pads):
                extent, reach = (n - 1) * b + 1 + low + high, (w - 1) * d + 1
                result.append(max(0, (extent - reach) // s + 1) if extent >= reach else 0)
            listed = [
                f"{name} = array<i64: {', '.join(map(str, values))}>"
                for name, values in (
                    ("window_dimensions", window),
                    ("window_strides", strides),
                    ("base_dilations", base),
                    ("window_dilations", dilation),
                )
            ]
            listed.append(f"padding = dense<{[list(p) for p in pads]}> : tensor<{len(shape)}x2xi64>")
            body = f"""$r = "stablehlo.reduce_window"($0, $1) <{{{', '.join(listed)}}}> {named(kind, element)} :
                ({tensor(shape, element)}, {tensor((), element)}) -> {tensor(tuple(result), element)}"""
            first = numbers((), element, 2) if init is None else np.asarray(init, boundary.dtype_of(element))
            cases.append(Case(f"{kind} {element} {shape} {window}",
                              [(numbers(shape, element), element), (first, element)], [(tuple(result), element)], body,
                              ROUGH.get(element), atol=ROUGH.get(element, 0.0)))
    return cases


@pytest.mark.parametrize("kind, init", [("add", 0), ("maximum", None), ("minimum", None), ("multiply", 1)])
def test_reduce_window(kind, init):
    check(windowed(kind, init))


@pytest.mark.parametrize("kind", ["add", "multiply"])
def test_windows_that_count_their_init(kind):
    """An init that is not neutral is counted wherever a window is padded, as StableHLO's interpreter has it; XLA
    passes over padding.
    """
    check(windowed(kind, elements=("f32", "f64", "i32", "ui32", "i8")), interpreted)  # bfloat16 does not leave it


@pytest.mark.parametrize("shape, window, strides, pads",
                         [((4, 6), (2, 2), (2, 2), ((0, 0), (0, 0))), ((5, 5), (3, 2), (2, 1), ((1, 1), (0, 1))),
                                                          ((6,), (3,), (1,), ((1, 1),))], ids=str)  # fmt: skip
def test_select_and_scatter(shape, window, strides, pads):
    cases = []
    for element in ("f32", "f64", "i32"):
        result = tuple((n + a + b - w) // s + 1 for n, w, s, (a, b) in zip(shape, window, strides, pads))
        listed = [
            f"window_dimensions = array<i64: {', '.join(map(str, window))}>",
            f"window_strides = array<i64: {', '.join(map(str, strides))}>",
            f"padding = dense<{[list(p) for p in pads]}> : tensor<{len(shape)}x2xi64>",
        ]
        compare = f"$z = stablehlo.compare GE, $p, $q : ({tensor((), element)}, {tensor((), element)}) -> tensor<i1>"
        select = (
            f"({{\n^bb0($p: {tensor((), element)}, $q: {tensor((), element)}):\n{compare}\nstablehlo.return $z : "
            f"tensor<i1>\n}}, "
        )
        scatter = named("add", element)[1:].replace("$p", "$u").replace("$q", "$v").replace("$z", "$w")
        body = f"""$r = "stablehlo.select_and_scatter"($0, $1, $2) <{{{', '.join(listed)}}}> {select}{scatter} :
            ({tensor(shape, element)}, {tensor(result, element)}, {tensor((), element)}) -> {tensor(shape, element)}"""
        values = np.random.default_rng(1).permutation(np.prod(shape)).reshape(shape).astype(boundary.dtype_of(element))
        cases.append(Case(element, [(values, element), (numbers(result, element), element),
                                    (np.asarray(numbers((), element)) * 0, element)],
                          [(shape, element)], body, 1e-5, atol=1e-6))
    check(cases)


def sort(element, direction, kind="", dim=1, shape=(3, 9), body=None):
    values = np.resize(np.random.default_rng(2).permutation(edges(element)), shape)
    places = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    scalar = tensor((), element)
    body = body or f"$z = stablehlo.compare {direction}, $p, $q{kind} : ({scalar}, {scalar}) -> tensor<i1>"
    text = f"""$r:2 = "stablehlo.sort"($0, $1) <{{dimension = {dim} : i64, is_stable = true}}> ({{
      ^bb0($p: {tensor((), element)}, $q: {tensor((), element)}, $m: tensor<i32>, $n: tensor<i32>):
        {body}
        stablehlo.return $z : tensor<i1>
      }}) : ({tensor(shape, element)}, {tensor(shape, 'i32')}) -> ({tensor(shape, element)}, {tensor(shape, 'i32')})"""
    return Case(f"{direction} {element} {dim}", [(values, element), (places, "i32")],
                [(shape, element), (shape, "i32")], text, 0.0)


@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_sort(direction):
    cases = [sort(element, direction, dim=dim) for element in (*INTEGERS, "i1") for dim in (0, 1)]
    cases += [sort(element, direction, ", TOTALORDER") for element in FLOATS]
    check(cases)


def test_sort_by_any_comparison():
    """By the remainder of 3, then from the largest; a comparison that no key stands for; one row, no row."""
    remainders = """$k = stablehlo.constant dense<3> : tensor<i32>
        $a = stablehlo.remainder $p, $k : tensor<i32>
        $b = stablehlo.remainder $q, $k : tensor<i32>
        $c = stablehlo.compare LT, $a, $b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        $d = stablehlo.compare EQ, $a, $b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        $e = stablehlo.compare GT, $p, $q : (tensor<i32>, tensor<i32>) -> tensor<i1>
        $f = stablehlo.and $d, $e : tensor<i1>
        $z = stablehlo.or $c, $f : tensor<i1>"""
    crossed = """$a = stablehlo.subtract $p, $q : tensor<i32>
        $b = stablehlo.constant dense<0> : tensor<i32>
        $z = stablehlo.compare LT, $a, $b : (tensor<i32>, tensor<i32>) -> tensor<i1>"""
    cases = [sort("i32", "remainders", shape=(2, 40), body=remainders)]
    small = sort("i32", "crossed", shape=(4, 13), body=crossed)
    small.arguments[0] = (numbers((4, 13), "i32"), "i32")
    cases += [small, sort("i32", "LT", shape=(3, 1)), sort("i32", "LT", shape=(3, 0))]
    check(cases)


@pytest.mark.parametrize("element", ["f32", "bf16", "i32", "ui32", "i8"])
def test_top_k(element):
    values = np.stack([edges(element), np.roll(edges(element), 3)])
    kind = tensor((2, 4), element)
    body = f"$r:2 = chlo.top_k($0, k = 4) : {tensor(values.shape, element)} -> ({kind}, tensor<2x4xi32>)"
    check([Case(element, [(values, element)], [((2, 4), element), ((2, 4), "i32")], body)])
