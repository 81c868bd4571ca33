"""Linear algebra, Fourier transforms and normalisation."""

from __future__ import annotations

import torch

from .lowering import Lowering, Value, rule
from .program import Op

Lower = Lowering


@rule("stablehlo.cholesky")
def cholesky(lower: Lower, op: Op, x: Value) -> Value:
    """Of a matrix that has none all is NaN, as in LAPACK's callers."""
    is_lower = op.attributes.get("lower", False)
    factor, failed = torch.linalg.cholesky_ex(x if is_lower else x.mH)
    factor = torch.where((failed != 0)[..., None, None], float("nan"), factor)
    return (factor if is_lower else factor.mH).contiguous()


@rule("stablehlo.triangular_solve")
def triangular_solve(lower: Lower, op: Op, a: Value, b: Value) -> Value:
    form = op.attributes.get("transpose_a", "NO_TRANSPOSE")
    upper = not op.attributes.get("lower", False)
    if form != "NO_TRANSPOSE":
        a = a.mH if form == "ADJOINT" else a.mT
        upper = not upper
    a = torch.triu(a) if upper else torch.tril(a)
    return torch.linalg.solve_triangular(
        a, b, upper=upper, left=op.attributes.get("left_side", False),
        unitriangular=op.attributes.get("unit_diagonal", False)
    ).contiguous()


@rule("stablehlo.fft")
def fft(lower: Lower, op: Op, x: Value) -> Value:
    lengths, form = list(op.attributes["fft_length"]), op.attributes["fft_type"]
    dims = list(range(-len(lengths), 0))
    if not lengths:
        return x
    if not op.tensor().size or not op.operand().size:
        return torch.zeros(op.tensor().shape, dtype=op.tensor().dtype, device=lower.device)
    functions = {"FFT": torch.fft.fftn, "IFFT": torch.fft.ifftn, "RFFT": torch.fft.rfftn, "IRFFT": torch.fft.irfftn}
    return functions[form](x, lengths, dims).to(op.tensor().dtype).contiguous()


def _per_feature(op: Op, value: Value) -> Value:
    dim = op.attributes["feature_index"]
    return value.reshape([-1 if at == dim else 1 for at in range(len(op.operand().shape))])


def _others(op: Op) -> list[int]:
    return [dim for dim in range(len(op.operand().shape)) if dim != op.attributes["feature_index"]]


@rule("stablehlo.batch_norm_inference")
def batch_norm_inference(
    lower: Lower, op: Op, x: Value, scale: Value, offset: Value, mean: Value, variance: Value
) -> Value:
    mean, variance, scale, offset = (_per_feature(op, value) for value in (mean, variance, scale, offset))
    return (x - mean) / torch.sqrt(variance + op.attributes["epsilon"]) * scale + offset


@rule("stablehlo.batch_norm_training")
def batch_norm_training(lower: Lower, op: Op, x: Value, scale: Value, offset: Value) -> Value:
    mean, variance = torch.mean(x, _others(op)), torch.var(x, _others(op), correction=0)
    found = batch_norm_inference(lower, op, x, scale, offset, mean, variance)
    return found, mean, variance


@rule("stablehlo.batch_norm_grad")
def batch_norm_grad(
    lower: Lower, op: Op, x: Value, scale: Value, mean: Value, variance: Value, gradient: Value
) -> Value:
    others, type = _others(op), op.operand()
    count = type.size // type.shape[op.attributes["feature_index"]]
    centered = x - _per_feature(op, mean)
    inverse = 1 / torch.sqrt(variance + op.attributes["epsilon"])
    offset_gradient = torch.sum(gradient, others)
    product = torch.sum(gradient * centered, others)
    inner = count * gradient - _per_feature(op, offset_gradient)
    inner = inner - centered * _per_feature(op, product * inverse * inverse)
    return _per_feature(op, scale * inverse) / count * inner, product * inverse, offset_gradient
