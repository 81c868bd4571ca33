"""Dots and convolutions: batch dims, several contracted dims, none; strides, dilations, groups, edges that take away;
types.
"""

import itertools

import numpy as np
import pytest
from single import COMPLEX, FLOATS, Case, check, numbers, tensor

DOTS = {
    "matrix": ((3, 4), (4, 5), (3, 5), "contracting_dims = [1] x [0]"),
    "transposed": ((4, 3), (5, 4), (3, 5), "contracting_dims = [0] x [1]"),
    "batched": ((2, 3, 4), (2, 4, 5), (2, 3, 5), "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
    "batched inside": ((3, 2, 4), (4, 5, 2), (2, 3, 5), "batching_dims = [1] x [2], contracting_dims = [2] x [0]"),
    "two contracted": ((2, 3, 4), (4, 5, 3), (2, 5), "contracting_dims = [1, 2] x [2, 0]"),
    "outer": ((3,), (4,), (3, 4), "contracting_dims = [] x []"),
    "vectors": ((5,), (5,), (), "contracting_dims = [0] x [0]"),
    "many rows": ((2, 3, 4), (4, 5), (2, 3, 5), "contracting_dims = [2] x [0]"),
    "elements": ((2, 3), (2, 3), (2, 3), "batching_dims = [0, 1] x [0, 1], contracting_dims = [] x []"),
    "nothing contracted": ((3, 0), (0, 4), (3, 4), "contracting_dims = [1] x [0]"),
    "no rows": ((0, 3), (3, 4), (0, 4), "contracting_dims = [1] x [0]"),
}
# Of the operands, of the result.
TYPES = [*((element, element) for element in [*FLOATS, *COMPLEX, "i32", "i8", "ui8", "i64", "ui32"]), ("i8", "i32"),
         ("bf16", "f32"), ("f16", "f32"), ("f8E4M3FN", "f32"), ("ui8", "i32")]  # fmt: skip


@pytest.mark.parametrize("name", DOTS)
def test_dot(name):
    left, right, result, dims = DOTS[name]
    cases = []
    for source, target in TYPES:
        body = (
            f"$r = stablehlo.dot_general $0, $1, {dims} : ({tensor(left, source)}, {tensor(right, source)}) -> "
            f"{tensor(result, target)}"
        )
        tolerance = {"bf16": 2e-2, "f16": 4e-3, "f32": 2e-5}.get(target)
        cases.append(
            Case(
                f"{source} to {target}",
                [(numbers(left, source), source), (numbers(right, source, 1), source)],
                [(result, target)],
                body,
                tolerance,
                atol=2e-2 if target == "bf16" else 4e-3 if target == "f16" else 2e-6,
            )
        )
    check(cases)


def convolution(element, spatial, kernel, strides, pads, lhs, rhs, features=4, outputs=6, groups=1, batch_groups=1,
                reverse=False, batch=2, turned=False):
    """Input [b, 0, 1, f] and kernel [0, 1, i, o]; `turned`, as gradients have it, input [f, 0, 1, b]."""
    count = len(spatial)
    numbers_ = ", ".join(map(str, range(count)))
    sep = ", " if count else ""
    first, last = "fb" if turned else "bf"
    dims = f"[{first}{sep}{numbers_}, {last}]x[{numbers_}{sep}i, o]->[b{sep}{numbers_}, f]"
    left = (features, *spatial, batch) if turned else (batch, *spatial, features)
    right = (*kernel, features // groups, outputs)
    sizes = []
    for n, k, s, (a, b), dl, dr in zip(spatial, kernel, strides, pads, lhs, rhs):
        extent, reach = (max(n - 1, 0) * dl + min(n, 1)) + a + b, (k - 1) * dr + 1
        sizes.append(max(0, (extent - reach) // s + 1) if extent >= reach else 0)
    result = (batch // batch_groups, *sizes, outputs)
    window = (
        f"stride = {list(strides)}, pad = {[list(p) for p in pads]}, lhs_dilate = {list(lhs)}, rhs_dilate = "
        f"{list(rhs)}, reverse = [{', '.join(['true' if reverse else 'false'] * count)}]"
    )
    body = f"""$r = stablehlo.convolution($0, $1) dim_numbers = {dims}, window = {{{window if count else ''}}}
        {{batch_group_count = {batch_groups} : i64, feature_group_count = {groups} : i64}} :
        ({tensor(left, element)}, {tensor(right, element)}) -> {tensor(result, element)}"""
    tolerance = {"bf16": 3e-2, "f16": 4e-3, "f32": 2e-5}.get(element)
    return Case(body.replace("\n", " "), [(numbers(left, element), element), (numbers(right, element, 1), element)],
                [(result, element)], body, tolerance, atol=6e-2 if element == "bf16" else 8e-3 if element == "f16"
                else 1e-5)


@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "f16", "i32", "complex<f32>"])
def test_convolution_types(element):
    check([convolution(element, (5, 6), (3, 2), (2, 1), ((1, 1), (0, 2)), (1, 1), (1, 2))])


@pytest.mark.parametrize("groups, batch_groups", [(1, 1), (2, 1), (4, 1), (1, 2)])
def test_convolution_windows(groups, batch_groups):
    cases = []
    for stride, lhs, rhs, reverse in itertools.product((1, 2), (1, 3), (1, 2), (False, True)):
        for pad in ((0, 0), (2, 1), (-1, 1), (1, -2)):
            cases.append(convolution("f32", (5, 4), (2, 3), (stride, 1), (pad, (1, 1)), (lhs, 1), (1, rhs),
                                     groups=groups, batch_groups=batch_groups, outputs=8, reverse=reverse))
    check(cases)


@pytest.mark.parametrize("batch_groups", [1, 2])
def test_gradients_for_kernels(batch_groups):
    """A kernel larger than the result; edges and strides of which some of the input is left over."""
    cases = []
    for stride, rhs, reverse in itertools.product((1, 2), (1, 2), (False, True)):
        for pad in ((0, 0), (2, 1), (-1, 1), (1, -2), (0, 3)):
            cases.append(convolution("f32", (13, 8), (5, 6), (stride, 1), (pad, (1, 1)), (1, 1), (rhs, 1), batch=4,
                                     batch_groups=batch_groups, reverse=reverse, turned=True))
    check(cases)


def test_convolution_of_ranks():
    cases = [convolution("f32", spatial, kernel, (1,) * len(spatial), ((1, 0),) * len(spatial), (1,) * len(spatial),
                         (1,) * len(spatial))
             for spatial, kernel in (((7,), (3,)), ((4, 5), (2, 2)), ((3, 4, 5), (2, 2, 3)),
                                     ((3, 3, 2, 2), (2, 1, 2, 2)))]
    cases.append(convolution("f32", (), (), (), (), (), ()))
    cases.append(convolution("f32", (3,), (5,), (1,), ((0, 0),), (1,), (1,)))
    check(cases)


def test_dims_in_any_order():
    x, k = numbers((3, 2, 6, 4), "f32"), numbers((5, 3, 2, 2), "f32", 1)
    body = """$r = stablehlo.convolution($0, $1) dim_numbers = [f, b, 1, 0]x[o, i, 1, 0]->[0, f, b, 1], window = {stride = [1, 2], pad = [[0, 1], [1, 0]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x2x6x4xf32>, tensor<5x3x2x2xf32>) -> tensor<4x5x2x3xf32>"""
    check([Case("order", [(x, "f32"), (k, "f32")], [((4, 5, 2, 3), "f32")], body, 2e-5, atol=1e-5)])


# The operands, the result and the contracted dims: groups of rows, of what is contracted; small ones, and multiples of
# 16 bytes.
RAGGED = {
    "rows": ((7, 3), (3, 3, 4), (7, 4), 1, 1),
    "rows of transposed matrices": ((7, 3), (3, 4, 3), (7, 4), 1, 2),
    "aligned rows": ((7, 4), (3, 4, 8), (7, 8), 1, 1),
    "aligned rows of transposed matrices": ((7, 4), (3, 8, 4), (7, 8), 1, 2),
    "columns": ((7, 3), (7, 4), (3, 3, 4), 0, 0),
    "aligned columns": ((8, 4), (8, 12), (3, 4, 12), 0, 0),
    "transposed columns": ((4, 7), (7, 4), (3, 4, 4), 1, 0),
}


@pytest.mark.parametrize("name", RAGGED)
def test_ragged_dot(name):
    left, right, result, of_left, of_right = RAGGED[name]
    by_rows = len(right) == 3
    groups = f"lhs_ragged_dimensions = [{0 if by_rows else of_left}]" + ", rhs_group_dimensions = [0]" * by_rows
    body = f"""$r = "chlo.ragged_dot"($0, $1, $2) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<
        lhs_contracting_dimensions = [{of_left}], rhs_contracting_dimensions = [{of_right}], {groups}>}}> :
        ({tensor(left, "f32")}, {tensor(right, "f32")}, tensor<3xi32>) -> {tensor(result, "f32")}"""
    x, y = numbers(left, "f32"), numbers(right, "f32", 1)
    cases = [Case(str(sizes), [(x, "f32"), (y, "f32"), (np.array(sizes, np.int32), "i32")], [(result, "f32")], body,
                  2e-5, atol=1e-5)
             for sizes in ([2, 0, 5], [7, 0, 0], [0, 0, 7], [1, 2, 3])]
    check(cases)
