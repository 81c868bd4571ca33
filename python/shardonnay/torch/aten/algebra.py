"""Linear algebra by StableHLO's Cholesky factor and triangular solution."""

from __future__ import annotations

import torch

from ..builder import Builder, Value
from .table import Result, lowers
from .views import triangular

aten = torch.ops.aten


def _solved(
    b: Builder, a: Value, y: Value, *, left: bool = True, upper: bool = False, unit: bool = False, adjoint: bool = False
) -> Value:
    """X of `a X = y`, or `X a = y`, of which a triangle of `a` is used; batches are broadcast."""
    batch = torch.broadcast_shapes(a.shape[:-2], y.shape[:-2])
    a, y = b.broadcast(a, [*batch, *a.shape[-2:]]), b.broadcast(y, [*batch, *y.shape[-2:]])
    if 0 in y.shape:
        return y
    flags = {"left_side": left, "lower": not upper, "unit_diagonal": unit}
    attributes = ", ".join(f"{name} = {str(value).lower()}" for name, value in flags.items())
    attributes += f", transpose_a = #stablehlo<transpose {'ADJOINT' if adjoint else 'NO_TRANSPOSE'}>"
    return b.op("triangular_solve", [a, y], y.shape, y.dtype, attributes)


@lowers(aten.linalg_cholesky_ex.default)
def cholesky_ex(
    b: Builder, out: list[Result], x: Value, *, upper: bool = False, check_errors: bool = False
) -> list[Value]:
    """[the factor, whether there is none]: then it is of NaNs, and no number says where it failed."""
    if 0 in x.shape:
        return [x, b.full(0, out[1].shape, out[1].dtype)]
    found = b.op("cholesky", [x], x.shape, x.dtype, f"lower = {str(not upper).lower()}")
    factor = triangular(not upper)(b, out[0], found)
    failed = b.reduce("or", b.is_nan(factor), [x.rank - 2, x.rank - 1], False)
    return [factor, b.cast(failed, out[1].dtype)]


@lowers(aten.linalg_solve_triangular.default)
def solve_triangular(
    b: Builder, out: Result, a: Value, y: Value, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Value:
    return _solved(b, a, y, left=left, upper=upper, unit=unitriangular)


@lowers(aten.triangular_solve.default)
def triangular_solve(
    b: Builder, out: list[Result], y: Value, a: Value, upper: bool = True, transpose: bool = False,
    unitriangular: bool = False,
) -> list[Value]:  # fmt: skip
    if transpose:
        a = b.transpose(a, [*range(a.rank - 2), a.rank - 1, a.rank - 2])
    solution = _solved(b, a, y, upper=upper != transpose, unit=unitriangular)
    return [solution, b.broadcast(a, out[1].shape)]


@lowers(aten.cholesky_solve.default)
def cholesky_solve(b: Builder, out: Result, y: Value, factor: Value, upper: bool = False) -> Value:
    first = _solved(b, factor, y, upper=upper, adjoint=upper)
    return _solved(b, factor, first, upper=upper, adjoint=not upper)


@lowers(aten.cholesky_inverse.default)
def cholesky_inverse(b: Builder, out: Result, factor: Value, upper: bool = False) -> Value:
    unit = b.broadcast(b.tensor(torch.eye(factor.shape[-1], dtype=factor.dtype)), factor.shape)
    return cholesky_solve(b, out, unit, factor, upper)
