"""Ops that move elements, of every type and with sizes of zero and one."""

import numpy as np
import pytest
from single import COMPLEX, FLOATS, INTEGERS, SMALL, Case, check, numbers, tensor

ALL = [*FLOATS, *SMALL, *INTEGERS, *COMPLEX, "i1", "i4"]


def moved(name, operands, result, body, extra=()):
    """The case for every element type: `{0}`, `{1}`, ... are the operands' types, `{r}` the result's."""
    cases = []
    for at, element in enumerate(ALL):
        types = [tensor(shape, element) for shape in operands] + [tensor((), "i32") for _ in extra]
        arguments = [(numbers(shape, element, at), element) for shape in operands] + [
            (np.int32(start), "i32") for start in extra
        ]
        text = body
        for number, kind in enumerate(types):
            text = text.replace(f"{{{number}}}", kind)
        cases.append(
            Case(f"{name} {element}", arguments, [(result, element)], text.replace("{r}", tensor(result, element)), 0.0)
        )
    return cases


SHAPES = {
    "reshape": ([(2, 6)], (3, 4), "$r = stablehlo.reshape $0 : ({0}) -> {r}"),
    "reshape of nothing": ([(0, 6)], (3, 0), "$r = stablehlo.reshape $0 : ({0}) -> {r}"),
    "transpose": ([(2, 3, 4)], (4, 2, 3), "$r = stablehlo.transpose $0, dims = [2, 0, 1] : ({0}) -> {r}"),
    "broadcast": ([(3,)], (2, 3, 4), "$r = stablehlo.broadcast_in_dim $0, dims = [1] : ({0}) -> {r}"),
    "broadcast swapped": ([(3, 2)], (2, 4, 3), "$r = stablehlo.broadcast_in_dim $0, dims = [2, 0] : ({0}) -> {r}"),
    "broadcast of ones": ([(1, 3)], (5, 3), "$r = stablehlo.broadcast_in_dim $0, dims = [0, 1] : ({0}) -> {r}"),
    "broadcast of a scalar": ([()], (70, 80), "$r = stablehlo.broadcast_in_dim $0, dims = [] : ({0}) -> {r}"),
    "slice": ([(5, 7)], (2, 3), "$r = stablehlo.slice $0 [1:4:2, 2:7:2] : ({0}) -> {r}"),
    "slice of nothing": ([(5, 7)], (0, 7), "$r = stablehlo.slice $0 [2:2, 0:7] : ({0}) -> {r}"),
    "concatenate": ([(2, 3), (2, 0), (2, 4)], (2, 7), "$r = stablehlo.concatenate $0, $1, $2, dim = 1 : ({0}, {1}, "
                                                      "{2}) -> {r}"),
    "reverse": ([(2, 3, 4)], (2, 3, 4), "$r = stablehlo.reverse $0, dims = [0, 2] : {r}"),
    "pad": ([(2, 3), ()], (6, 8), "$r = stablehlo.pad $0, $1, low = [1, 0], high = [2, 3], interior = [1, 1] : ({0}, "
                                  "{1}) -> {r}"),
    "pad away": ([(5, 6), ()], (2, 5), "$r = stablehlo.pad $0, $1, low = [-1, 2], high = [-2, -3], interior = [0, 0] "
                                       ": ({0}, {1}) -> {r}"),
    "pad away and between": ([(3, 4), ()], (4, 8), "$r = stablehlo.pad $0, $1, low = [-1, 3], high = [0, -2], "
                                                   "interior = [1, 1] : ({0}, {1}) -> {r}"),
    "pad of one": ([(1, 0), ()], (3, 2), "$r = stablehlo.pad $0, $1, low = [1, 1], high = [1, 1], interior = [3, 2] "
                                         ": ({0}, {1}) -> {r}"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_moved(name):
    operands, result, body = SHAPES[name]
    check(moved(name, operands, result, body))


@pytest.mark.parametrize("starts", [(1, 2), (-3, 100), (4, 3), (2**31 - 1, -(2**31))], ids=str)
def test_dynamic_slices(starts):
    """Starts out of bounds are put where the slice fits in."""
    take = "$r = stablehlo.dynamic_slice $0, $1, $2, sizes = [2, 7] : ({0}, {1}, {2}) -> {r}"
    write = "$r = stablehlo.dynamic_update_slice $0, $1, $2, $3 : ({0}, {1}, {2}, {3}) -> {r}"
    cases = moved("dynamic_slice", [(5, 7)], (2, 7), take, starts) + moved(
        "update", [(5, 7), (3, 2)], (5, 7), write, starts
    )
    cases += moved("update of all", [(5, 7), (5, 7)], (5, 7), write, starts)
    check(cases)


@pytest.mark.parametrize("starts", [(1, 2), (-3, 100)], ids=str)
def test_known_starts(starts):
    """Starts that are constants make views."""
    constants = "".join(
        f"$k{at} = stablehlo.constant dense<{start}> : tensor<i32>\n" for at, start in enumerate(starts)
    )
    take = (
        constants + "$r = stablehlo.dynamic_slice $0, $k0, $k1, sizes = [2, 4] : ({0}, tensor<i32>, tensor<i32>) -> {r}"
    )
    write = (
        constants + "$r = stablehlo.dynamic_update_slice $0, $1, $k0, $k1 : ({0}, {1}, tensor<i32>, tensor<i32>) -> {r}"
    )
    check(moved("dynamic_slice", [(5, 7)], (2, 4), take) + moved("update", [(5, 7), (3, 2)], (5, 7), write))


@pytest.mark.parametrize("dim", [0, 1])
def test_iota(dim):
    cases = [
        Case(f"iota {element}", [], [((3, 4), element)], f"$r = stablehlo.iota dim = {dim} : {tensor((3, 4), element)}")
        for element in [*FLOATS, *INTEGERS, *COMPLEX]
    ]
    check(cases)


@pytest.mark.parametrize("element", ALL)
def test_constants(element):
    """Splat, listed, of no element, and large enough to be printed as bytes."""
    value = {"i1": "true", "complex<f32>": "(1.0, -2.0)", "complex<f64>": "(1.0, -2.0)"}.get(
        element, "1.0" if "f" in element else "1"
    )
    other = {"i1": "false", "complex<f32>": "(0.5, 3.0)", "complex<f64>": "(0.5, 3.0)"}.get(
        element, "2.0" if "f" in element else "2"
    )
    listed = ", ".join([value, other] * 40)
    cases = [
        Case("splat", [], [((2, 3), element)], f"$r = stablehlo.constant dense<{value}> : {tensor((2, 3), element)}",
             0.0),
        Case("listed", [], [((80,), element)], f"$r = stablehlo.constant dense<[{listed}]> : "
                                               f"{tensor((80,), element)}", 0.0),
        Case("empty", [], [((0, 3), element)], f"$r = stablehlo.constant dense<> : {tensor((0, 3), element)}", 0.0),
    ]
    check(cases)
