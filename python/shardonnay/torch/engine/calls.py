"""Custom calls that have a form in torch: LAPACK's, as JAX lowers linear algebra for CPUs, and what is nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch

from .lowering import Lowering, Value, rule
from .program import Op

Lower = Lowering
_CALLS: dict[str, Callable[..., Any]] = {}


def _call(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _CALLS[name] = function
        return function

    return register


@rule("stablehlo.custom_call")
def custom_call(lower: Lower, op: Op, *operands: Value) -> Value:
    target = op.attributes["call_target_name"]
    lapack = re.fullmatch(r"lapack_[sdcz](\w+)_ffi", target)
    function = _CALLS.get(lapack[1] if lapack else target)
    if function is None:
        raise op.refuse(f"calls '{target}', which has no form in torch; expected LAPACK's {', '.join(sorted(_CALLS))}")
    options = op.attributes.get("mhlo.backend_config") or {}
    letters = {name: chr(value) for name, value in options.items() if isinstance(value, int) and 0 < value < 128}
    return function(op, letters, *operands)


def _info(value: Value) -> Value:
    return value.to(torch.int32)


def _fine(value: Value) -> Value:
    """Of each matrix a zero."""
    return (value[..., 0, 0] * 0 != 0).to(torch.int32) * 0


@_call("LayoutConstraint")
def layout_constraint(op: Op, options: dict[str, str], x: Value) -> Value:
    return x


@_call("potrf")
def potrf(op: Op, options: dict[str, str], x: Value) -> Value:
    """The other triangle stays."""
    if options.get("uplo") == "U":
        factor, info = torch.linalg.cholesky_ex(torch.triu(x).mH)
        return torch.triu(factor.mH) + torch.tril(x, -1), _info(info)
    factor, info = torch.linalg.cholesky_ex(torch.tril(x))
    return torch.tril(factor) + torch.triu(x, 1), _info(info)


@_call("getrf")
def getrf(op: Op, options: dict[str, str], x: Value) -> Value:
    found = torch.linalg.lu_factor_ex(x)
    return found[0].contiguous(), found[1], _info(found[2])


@_call("geqrf")
def geqrf(op: Op, options: dict[str, str], x: Value) -> Value:
    found = torch.geqrf(x)
    return found[0].contiguous(), found[1]


def _householder(op: Op, options: dict[str, str], x: Value, tau: Value) -> Value:
    return torch.linalg.householder_product(x, tau).contiguous()


_CALLS["orgqr"] = _CALLS["ungqr"] = _householder


def _eigh(op: Op, options: dict[str, str], x: Value) -> Value:
    found = torch.linalg.eigh(x, UPLO=options.get("uplo", "L"))
    return found[1].contiguous(), found[0], _fine(x)


_CALLS["syevd"] = _CALLS["heevd"] = _eigh


@_call("gesdd")
def gesdd(op: Op, options: dict[str, str], x: Value) -> Value:
    """mode: A all vectors, S as many as there are values, N none."""
    if options.get("mode") == "N":
        return x, torch.linalg.svdvals(x), *(x.new_zeros(type.shape) for type in (op.tensor(2), op.tensor(3))), _fine(x)
    found = torch.linalg.svd(x, full_matrices=options.get("mode") == "A")
    return x, found[1], found[0].contiguous(), found[2].contiguous(), _fine(x)


@_call("trsm")
def trsm(op: Op, options: dict[str, str], a: Value, b: Value) -> Value:
    upper = options.get("uplo") == "U"
    a = torch.triu(a) if upper else torch.tril(a)
    if options.get("trans_x", "N") != "N":
        a, upper = (a.mH if options["trans_x"] == "C" else a.mT), not upper
    return torch.linalg.solve_triangular(
        a, b, upper=upper, left=options.get("side", "L") == "L", unitriangular=options.get("diag") == "U"
    ).contiguous()
