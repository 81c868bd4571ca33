"""Linear algebra by StableHLO's Cholesky factor and triangular solution, and by LAPACK's factorisations, which the
engine of the ranks has in torch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..builder import Builder, Value, dims_text
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


_LETTERS = {torch.float32: "s", torch.float64: "d", torch.complex64: "c", torch.complex128: "z"}
Type = tuple[tuple[int, ...], torch.dtype]


def _sharding_rule(shapes: Sequence[Sequence[int]], operands: int, batch: int) -> str:
    """Batches pass through; no other dim is another's."""
    names, sizes, sides = "ijklmnopqrstuvwxyz", list(shapes[0][:batch]), []
    for shape in shapes:
        factors = list(range(batch))
        for extent in shape[batch:]:
            factors.append(len(sizes))
            sizes.append(extent)
        sides.append(dims_text([names[factor] for factor in factors]))  # type: ignore[misc]
    given = ", ".join(f"{name}={size}" for name, size in zip(names, sizes))
    rule = f"({', '.join(sides[:operands])})->({', '.join(sides[operands:])})"
    return f"#sdy.op_sharding_rule<{rule} {{{given}}}, custom>"


def _lapack(
    b: Builder, name: str, operands: Sequence[Value], results: Sequence[Type], **options: str
) -> list[Value]:
    """A routine as JAX calls it, on matrices whose columns are contiguous; options: letters."""
    batch = operands[0].rank - 2

    def layouts(shapes: Sequence[Sequence[int]]) -> str:
        each = []
        for shape in shapes:
            order = list(range(batch, len(shape))) + list(reversed(range(batch)))
            each.append(f"dense<{dims_text(order)}> : tensor<{len(shape)}xindex>" if shape else
                        "dense<> : tensor<0xindex>")  # fmt: skip
        return f"[{', '.join(each)}]"

    given, made = [operand.shape for operand in operands], [shape for shape, _ in results]
    attributes = f'call_target_name = "lapack_{_LETTERS[operands[0].dtype]}{name}_ffi", backend_config = ""'
    attributes += f", operand_layouts = {layouts(given)}, result_layouts = {layouts(made)}"
    letters = ", ".join(f"{key} = {ord(letter)} : ui8" for key, letter in options.items())
    extra = f"mhlo.backend_config = {{{letters}}}"
    if batch:
        extra += f", sdy.sharding_rule = {_sharding_rule([*given, *made], len(given), batch)}"
    return b.multi("custom_call", operands, results, attributes, discardable=extra)


def _info_of(x: Value) -> Type:
    return x.shape[:-2], torch.int32


@lowers(aten.linalg_lu_factor_ex.default)
def lu_factor_ex(
    b: Builder, out: list[Result], x: Value, *, pivot: bool = True, check_errors: bool = False
) -> list[Value]:
    if not pivot:
        raise b.refuse("'aten.linalg_lu_factor_ex' without pivots, which torch has not for CPUs either")
    if 0 in x.shape:  # LAPACK takes it for an error
        return [x, *(b.full(0, part.shape, part.dtype) for part in out[1:])]
    return _lapack(b, "getrf", [x], [(part.shape, part.dtype) for part in out])


def _below(b: Builder, x: Value, rows: int, columns: int) -> Value:
    """The first rows and columns."""
    return b.slice_dim(b.slice_dim(x, x.rank - 2, 0, rows), x.rank - 1, 0, columns)


@lowers(aten.linalg_householder_product.default)
def householder_product(b: Builder, out: Result, x: Value, tau: Value) -> Value:
    return _lapack(b, "ungqr" if x.dtype.is_complex else "orgqr", [x, tau], [(out.shape, out.dtype)])[0]


@lowers(aten.geqrf.default)
def geqrf(b: Builder, out: list[Result], x: Value) -> list[Value]:
    return _lapack(b, "geqrf", [x], [(part.shape, part.dtype) for part in out])


@lowers(aten.linalg_qr.default)
def qr(b: Builder, out: list[Result], x: Value, mode: str = "reduced") -> list[Value]:
    rows, columns = x.shape[-2:]
    found, tau = geqrf(b, [Result(x.shape, x.dtype), Result((*x.shape[:-2], min(rows, columns)), x.dtype)], x)
    upper = triangular(False)(b, out[1], _below(b, found, out[1].shape[-2], columns))
    if mode == "r":
        return [b.full(0, out[0].shape, out[0].dtype), upper]
    # A complete basis has more columns than there are reflections: what stands in these does not matter.
    more = [0] * (x.rank - 1) + [max(0, out[0].shape[-1] - columns)]
    reflections = b.pad(_below(b, found, rows, min(out[0].shape[-1], columns)), [0] * x.rank, more)
    return [householder_product(b, out[0], reflections, tau), upper]


@lowers(aten._linalg_eigh.default)
def eigh(b: Builder, out: list[Result], x: Value, triangle: str = "L", vectors: bool = True) -> list[Value]:
    name = "heevd" if x.dtype.is_complex else "syevd"
    results = [(x.shape, x.dtype), (out[0].shape, out[0].dtype), _info_of(x)]
    found = _lapack(b, name, [x], results, mode="V", uplo=triangle.upper())
    return [found[1], found[0] if vectors else b.full(0, out[1].shape, out[1].dtype)]


@lowers(aten._linalg_svd.default)
def svd(
    b: Builder, out: list[Result], x: Value, full: bool = False, vectors: bool = True, *, driver: str | None = None
) -> list[Value]:
    rows, columns = x.shape[-2:]
    left, right = (rows, columns) if full else (min(rows, columns),) * 2
    of_left, of_right = (*x.shape[:-1], left), (*x.shape[:-2], right, columns)
    results = [(x.shape, x.dtype), (out[1].shape, out[1].dtype), (of_left, x.dtype), (of_right, x.dtype), _info_of(x)]
    _, values, u, v, _ = _lapack(b, "gesdd", [x], results, mode="A" if full else "S")
    return [u, values, v] if vectors else [b.full(0, out[0].shape, x.dtype), values, b.full(0, out[2].shape, x.dtype)]
