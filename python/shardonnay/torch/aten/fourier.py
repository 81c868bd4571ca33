"""Fourier transforms. torch says the scale as 0 (none), 1 (one over the root of the size) or 2 (one over the size)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from ..builder import Builder, Value, ints
from .table import Result, dim_of, lowers, real_of

aten = torch.ops.aten


def _transform(b: Builder, x: Value, kind: str, dims: Sequence[int], lengths: Sequence[int], shape: Sequence[int],
               dtype: torch.dtype) -> Value:
    """Along `dims`, in their order; `shape`: of the result. The inverse kinds are divided by the size."""
    if len(dims) > 3:
        raise b.refuse(
            f"a Fourier transform along {len(dims)} dims, expected at most 3; apply it to some after the others"
        )
    order = [dim for dim in range(x.rank) if dim not in dims] + list(dims)
    attributes = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {ints(lengths)}"
    moved = b.op("fft", [b.transpose(x, order)], [shape[dim] for dim in order], dtype, attributes)
    return b.transpose(moved, [order.index(dim) for dim in range(x.rank)])


def _scaled(b: Builder, x: Value, lengths: Sequence[int], normalization: int, inverse: bool) -> Value:
    count = math.prod(lengths)
    scale = {0: 1.0, 1: 1 / math.sqrt(count), 2: 1 / count}[normalization] * (count if inverse else 1)
    if scale == 1:
        return x
    if not x.dtype.is_complex:
        return b.mul(x, b.like(scale, x))
    part = real_of(x.dtype)
    halves = [b.unary(name, x, part) for name in ("real", "imag")]
    return b.op("complex", [b.mul(half, b.like(scale, half)) for half in halves], x.shape, x.dtype)


@lowers(aten._fft_c2c)
def fft_c2c(b: Builder, out: Result, x: Value, dims: Sequence[int], normalization: int, forward: bool) -> Value:
    dims = [dim_of(dim, x.rank) for dim in dims]
    if not dims or 0 in x.shape:
        return x
    lengths = [x.shape[dim] for dim in dims]
    result = _transform(b, x, "FFT" if forward else "IFFT", dims, lengths, x.shape, x.dtype)
    return _scaled(b, result, lengths, normalization, not forward)


@lowers(aten._fft_r2c)
def fft_r2c(b: Builder, out: Result, x: Value, dims: Sequence[int], normalization: int, onesided: bool) -> Value:
    dims = [dim_of(dim, x.rank) for dim in dims]
    lengths = [x.shape[dim] for dim in dims]
    if onesided:
        result = _transform(b, x, "RFFT", dims, lengths, out.shape, out.dtype)
    else:
        result = _transform(b, b.cast(x, out.dtype), "FFT", dims, lengths, out.shape, out.dtype)
    return _scaled(b, result, lengths, normalization, False)


@lowers(aten._fft_c2r)
def fft_c2r(b: Builder, out: Result, x: Value, dims: Sequence[int], normalization: int, last: int) -> Value:
    dims = [dim_of(dim, x.rank) for dim in dims]
    lengths = [out.shape[dim] for dim in dims]
    result = _transform(b, x, "IRFFT", dims, lengths, out.shape, out.dtype)
    return _scaled(b, result, lengths, normalization, True)
