"""Ops on matrices that are written with other ops of torch's: inverses, determinants and the like of factors,
exponentials."""

from __future__ import annotations

import math
from typing import Any

import torch

from .composed import composes

aten = torch.ops.aten


@composes(aten.addbmm.default)
def _addbmm(
    x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, *, beta: float = 1, alpha: float = 1
) -> torch.Tensor:
    if not x.is_floating_point() and not x.is_complex():
        beta, alpha = int(beta), int(alpha)
    found = torch.einsum("bij,bjk->ik", y, z) * alpha
    return found if beta == 0 else found + beta * x


# What follows from the factors of a matrix, A = P L U.


def _order_of(pivots: torch.Tensor, rows: int) -> torch.Tensor:
    """The rows that stand in each place after the swaps of each row with its pivot, which count from 1."""
    places = torch.arange(rows)
    order = places.expand(*pivots.shape[:-1], rows)
    for row in range(pivots.shape[-1]):
        other = pivots[..., row : row + 1].to(torch.int64) - 1
        theirs = torch.where(places == other, order, 0).sum(-1, keepdim=True)
        order = torch.where(places == row, theirs, torch.where(places == other, order[..., row : row + 1], order))
    return order


def _rows_by(x: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    batch = torch.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    index = order.expand(*batch, order.shape[-1])[..., None].expand(*batch, *x.shape[-2:])
    return x.expand(*batch, *x.shape[-2:]).gather(-2, index)


@composes(aten.linalg_lu_solve.default)
def _lu_solve(
    factors: torch.Tensor, pivots: torch.Tensor, y: torch.Tensor, *, left: bool = True, adjoint: bool = False
) -> torch.Tensor:
    if not left:
        return aten.linalg_lu_solve(factors, pivots, y.mH, left=True, adjoint=not adjoint).mH
    order = _order_of(pivots, factors.shape[-1])
    solved = torch.linalg.solve_triangular
    if adjoint:
        inner = solved(factors.mH, y, upper=False)
        return _rows_by(solved(factors.mH, inner, upper=True, unitriangular=True), torch.argsort(order, -1))
    inner = solved(factors, _rows_by(y, order), upper=False, unitriangular=True)
    return solved(factors, inner, upper=True)


@composes(aten.lu_unpack.default)
def _lu_unpack(
    factors: torch.Tensor, pivots: torch.Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, least = factors.shape[-2], min(factors.shape[-2:])
    permutation = lower = upper = factors.new_empty([0])
    if unpack_pivots:
        permutation = (_order_of(pivots, rows)[..., None, :] == torch.arange(rows)[:, None]).to(factors.dtype)
    if unpack_data:
        lower = factors[..., :least].tril(-1) + torch.eye(rows, least, dtype=factors.dtype)
        upper = factors[..., :least, :].triu()
    return permutation, lower, upper


@composes(aten.linalg_lu.default)
def _lu(x: torch.Tensor, *, pivot: bool = True) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.lu_unpack(*aten.linalg_lu_factor_ex(x, pivot=pivot)[:2])


@composes(aten.ormqr.default)
def _ormqr(
    x: torch.Tensor, tau: torch.Tensor, y: torch.Tensor, left: bool = True, transpose: bool = False
) -> torch.Tensor:
    """By the whole basis: what stands in the columns that have no reflection does not matter."""
    basis = torch.linalg.householder_product(torch.nn.functional.pad(x, [0, x.shape[-2] - x.shape[-1]]), tau)
    basis = basis.mH if transpose else basis
    return basis @ y if left else y @ basis


@composes(aten.linalg_inv_ex.default)
def _inv_ex(x: torch.Tensor, *, check_errors: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    factors, pivots, info = aten.linalg_lu_factor_ex(x)
    unit = torch.eye(x.shape[-1], dtype=x.dtype).expand(x.shape)
    return aten.linalg_lu_solve(factors, pivots, unit), info


@composes(aten._linalg_solve_ex.default)
def _solve_ex(
    x: torch.Tensor, y: torch.Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots, info = aten.linalg_lu_factor_ex(x)
    vector = y.dim() == 1 or (y.dim() == x.dim() - 1 and y.shape == x.shape[:-1])
    found = aten.linalg_lu_solve(factors, pivots, y[..., None] if vector else y, left=left)
    return found[..., 0] if vector else found, factors, pivots, info


def _sign_of(pivots: torch.Tensor) -> torch.Tensor:
    """1 or -1: of an even or an odd number of swaps."""
    swaps = (pivots != torch.arange(1, pivots.shape[-1] + 1)).sum(-1)
    return 1 - 2 * (swaps % 2)


def _by_columns(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(factors, pivots) of the matrix, or of its transpose where that is how its memory reads by columns, as the
    gradients of determinants take them.
    """
    flipped = x.is_contiguous() and not x.is_complex()
    return aten.linalg_lu_factor_ex(x.mT if flipped else x)[:2]


@composes(aten._linalg_det.default)
def _det(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots = _by_columns(x)
    return factors.diagonal(dim1=-2, dim2=-1).prod(-1) * _sign_of(pivots), factors, pivots


@composes(aten._linalg_slogdet.default)
def _slogdet(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    factors, pivots = _by_columns(x)
    diagonal = factors.diagonal(dim1=-2, dim2=-1)
    return torch.sgn(diagonal).prod(-1) * _sign_of(pivots), diagonal.abs().log().sum(-1), factors, pivots


@composes(aten.linalg_pinv.atol_rtol_tensor)
def _pinv(
    x: torch.Tensor, *, atol: torch.Tensor | None = None, rtol: torch.Tensor | None = None, hermitian: bool = False
) -> torch.Tensor:
    """Singular values at most `atol`, or `rtol` of the largest one, count as zero."""
    if not x.numel():
        return x.mT.clone()
    if hermitian:  # of which one triangle is read
        x = x.tril() + x.tril(-1).mH
    u, values, v = torch.linalg.svd(x, full_matrices=False)
    least = torch.zeros((), dtype=values.dtype) if atol is None else atol
    if rtol is None:
        rtol = torch.where(least > 0, 0.0, torch.finfo(values.dtype).eps * max(x.shape[-2:]))
    cutoff = torch.maximum(least[..., None], rtol[..., None] * values.amax(-1, keepdim=True))
    inverse = torch.where(values > cutoff, 1 / values, 0).to(x.dtype)
    return (v.mH * inverse[..., None, :]) @ u.mH


# Exponentials of matrices.

# A matrix of at most this norm, divided by 2**_SQUARINGS, is within reach of the polynomial; larger ones give NaNs.
_SQUARINGS = 16
_TERMS = 16


@composes(aten.linalg_matrix_exp.default)
def _matrix_exp(x: torch.Tensor) -> torch.Tensor:
    """The Taylor polynomial of the matrix divided by a power of two that brings its norm under a half, squared as
    often: the remainder is below 1e-18. How often is a number of each matrix, so all squarings are there and some are
    not taken.
    """
    if not x.numel():
        return x.clone()
    norm = x.abs().sum(-2).amax(-1)[..., None, None]
    count = torch.clamp(torch.ceil(torch.log2(torch.clamp(norm, min=2.0**-2))) + 1, 0, _SQUARINGS)
    small = x * torch.exp2(-count)
    identity = torch.eye(x.shape[-1], dtype=x.dtype).expand(x.shape)
    powers = [identity, small, small @ small]
    powers += [powers[2] @ small, powers[2] @ powers[2]]
    result: Any = 0
    for first in range(_TERMS - 4, -1, -4):
        part = sum(power / math.factorial(first + at) for at, power in enumerate(powers[:4]))
        result = part + (result @ powers[4] if first < _TERMS - 4 else 0)
    for at in range(_SQUARINGS):
        result = torch.where(at < count, result @ result, result)
    return torch.where(norm <= 2.0 ** (_SQUARINGS - 1), result, math.nan)
