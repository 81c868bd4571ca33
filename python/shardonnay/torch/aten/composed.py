"""Ops that are written with other ops of torch's, which tracing decomposes them into.

A function returns NotImplemented for what it has not: lowering refuses the op then, with its line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._prims_common import get_computation_dtype

aten = torch.ops.aten
COMPOSED: dict[Any, Callable[..., Any]] = {}


def composes(*ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        COMPOSED.update(dict.fromkeys(ops, function))
        return function

    return enter


@composes(aten._trilinear.default)
def _trilinear(
    x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, without_x: Sequence[int], without_y: Sequence[int],
    without_z: Sequence[int], summed: Sequence[int], unroll_dim: int = 1,
) -> torch.Tensor:  # fmt: skip
    """The products of three tensors, summed over some dims; each is without some of the dims."""
    rank = x.dim() + len(without_x)
    dims = "abcdefghijklmnopqrstuvwxyz"[:rank]
    names = [
        "".join(name for dim, name in enumerate(dims) if dim not in without)
        for without in (without_x, without_y, without_z)
    ]
    result = "".join(name for dim, name in enumerate(dims) if dim not in summed)
    return torch.einsum(f"{','.join(names)}->{result}", x, y, z)


@composes(aten.lerp.Scalar)
def _lerp(x: torch.Tensor, end: torch.Tensor, weight: complex) -> torch.Tensor:
    """torch's own decomposition asks on which side of a half the weight is for each element."""
    compute = get_computation_dtype(torch.result_type(x, end))
    start, stop = x.to(compute), end.to(compute)
    found = start + weight * (stop - start) if abs(weight) < 0.5 else stop - (stop - start) * (1 - weight)
    return found.to(x.dtype)


@composes(aten._weight_norm_interface_backward.default)
def _weight_norm_backward(
    gradient: torch.Tensor, direction: torch.Tensor, length: torch.Tensor, norms: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of `direction * length / norms`, where the norms are over all dims but one."""
    others = [other for other in range(direction.dim()) if other != dim % direction.dim()]
    along = (gradient * direction).sum(others, keepdim=True)
    return (length / norms) * (gradient - direction * along / norms**2), along / norms


# Losses.


def _shares(gradient: torch.Tensor, rows: int, reduction: int) -> torch.Tensor:
    """Each row's part in the gradient, as a column."""
    mean = 1
    return (gradient / rows if reduction == mean else gradient).reshape(-1, 1)


@composes(aten.multi_margin_loss_backward.default)
def _multi_margin_loss_backward(
    gradient: torch.Tensor, x: torch.Tensor, target: torch.Tensor, p: float, margin: float,
    weight: torch.Tensor | None = None, reduction: int = 1,
) -> torch.Tensor:  # fmt: skip
    rows = torch.atleast_2d(x)
    at = target.reshape(-1, 1)
    excess = margin - rows.gather(1, at) + rows
    slope = torch.where(excess > 0, torch.ones_like(excess) if p == 1 else 2 * excess, 0)
    slope = torch.where(torch.arange(rows.shape[1]) == at, 0, slope) / rows.shape[1]
    if weight is not None:
        slope = slope * weight[at]
    slope = slope.scatter_add(1, at, -slope.sum(1, keepdim=True))
    return (slope * _shares(gradient, rows.shape[0], reduction)).reshape(x.shape)


@composes(aten.multilabel_margin_loss_backward.default)
def _multilabel_margin_loss_backward(
    gradient: torch.Tensor, x: torch.Tensor, target: torch.Tensor, reduction: int, is_target: torch.Tensor
) -> torch.Tensor:
    """A row's targets end at the first -1."""
    rows, labels = torch.atleast_2d(x), torch.atleast_2d(target)
    named = (labels >= 0).to(torch.int64).cumprod(1) > 0
    at = labels.clamp(min=0)
    excess = 1 - rows.gather(1, at)[:, :, None] + rows[:, None, :]
    other = is_target.reshape(rows.shape)[:, None, :] == 0
    counted = ((excess > 0) & named[:, :, None] & other).to(x.dtype)
    slope = counted.sum(1).scatter_add(1, at, -counted.sum(2)) / rows.shape[1]
    return (slope * _shares(gradient, rows.shape[0], reduction)).reshape(x.shape)


# Activations and quantization.


@composes(aten.rrelu_with_noise_functional.default)
def _rrelu(
    x: torch.Tensor, noise: torch.Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False,
    generator: Any = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    if training:  # the slopes are random
        return NotImplemented
    return torch.where(x <= 0, x * ((lower + upper) / 2), x), noise.clone()


def _quantized(
    x: torch.Tensor, scale: torch.Tensor | float, zero: torch.Tensor | int, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """(what is left of x by whole steps of `scale`, whether it is in range)."""
    step = scale.float() if isinstance(scale, torch.Tensor) else torch.full((), scale, dtype=torch.float32)
    whole = torch.round(x * (1 / step)) + zero
    return ((whole.clamp(low, high) - zero) * step).to(x.dtype), (whole >= low) & (whole <= high)


@composes(aten.fake_quantize_per_tensor_affine_cachemask.default)
def _fake_quantize(
    x: torch.Tensor, scale: float, zero: int, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:
    return _quantized(x, scale, zero, low, high)


@composes(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default)
def _fake_quantize_by_tensors(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, enabled: torch.Tensor, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:
    found, inside = _quantized(x, scale, zero, low, high)
    on = enabled.reshape(()) != 0
    return torch.where(on, found, x), inside | ~on


@composes(aten.fake_quantize_per_channel_affine_cachemask.default)
def _fake_quantize_channels(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, axis: int, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:
    shape = [-1 if dim == axis % x.dim() else 1 for dim in range(x.dim())]
    return _quantized(x, scale.reshape(shape), zero.reshape(shape), low, high)


# Distances.


def _pairs(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = torch.triu_indices(rows, rows, 1)
    return first, second


@composes(aten._pdist_forward.default)
def _pdist(x: torch.Tensor, p: float = 2) -> torch.Tensor:
    first, second = _pairs(x.shape[0])
    return torch.linalg.vector_norm(x[first] - x[second], p, -1)


def _distance_slope(apart: torch.Tensor, distance: torch.Tensor, p: float) -> torch.Tensor:
    """How a distance grows with each difference."""
    sign = torch.sign(apart)
    if p == 0:
        return torch.zeros_like(apart)
    if p == 1:
        return sign
    if p == math.inf:
        return torch.where(apart.abs() == distance, sign, 0)
    still = (distance == 0) | (apart == 0) if p < 1 else distance == 0
    slope = sign * (apart.abs() / torch.where(distance == 0, 1, distance)) ** (p - 1)
    return torch.where(still, 0, slope)


@composes(aten._pdist_backward.default)
def _pdist_backward(gradient: torch.Tensor, x: torch.Tensor, p: float, distance: torch.Tensor) -> torch.Tensor:
    first, second = _pairs(x.shape[0])
    change = gradient[:, None] * _distance_slope(x[first] - x[second], distance[:, None], p)
    return torch.zeros_like(x).index_add(0, first, change).index_add(0, second, -change)


@composes(aten._cdist_backward.default)
def _cdist_backward(
    gradient: torch.Tensor, x: torch.Tensor, y: torch.Tensor, p: float, distance: torch.Tensor
) -> torch.Tensor:
    apart = x[..., :, None, :] - y[..., None, :, :]
    if not apart.numel():
        return torch.zeros_like(x)
    return (gradient[..., None] * _distance_slope(apart, distance[..., None], p)).sum(-2)


# Segments: rows that follow each other.

_COMBINES = {"sum": ("sum", 0.0), "mean": ("sum", 0.0), "max": ("amax", -math.inf), "min": ("amin", math.inf),
             "prod": ("prod", 1.0)}  # fmt: skip


def _segment_of(
    rows: int, lengths: torch.Tensor | None, offsets: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """(of each row its segment, of each segment its length); rows after the last have a segment behind it."""
    if lengths is not None:
        ends, sizes = torch.cumsum(lengths, 0), lengths
    else:
        assert offsets is not None
        ends, sizes = offsets[1:], offsets[1:] - offsets[:-1]
    return torch.searchsorted(ends, torch.arange(rows, dtype=ends.dtype), right=True), sizes


def _is_plain(lengths: torch.Tensor | None, offsets: torch.Tensor | None, axis: int) -> bool:
    said = lengths if lengths is not None else offsets
    return said is not None and said.dim() == 1 and axis == 0


@composes(aten.segment_reduce.default)
def _segment_reduce(
    data: torch.Tensor, reduce: str, *, lengths: torch.Tensor | None = None, indices: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None, axis: int = 0, unsafe: bool = False, initial: float | None = None,
) -> torch.Tensor:  # fmt: skip
    if not _is_plain(lengths, offsets, axis):
        return NotImplemented
    segment, sizes = _segment_of(data.shape[0], lengths, offsets)
    how, neutral = _COMBINES[reduce]
    start = data.new_full([len(sizes) + 1, *data.shape[1:]], neutral if initial is None else initial)
    if how == "sum":
        found = start.index_add(0, segment, data)[:-1]
    else:
        found = start.index_reduce(0, segment, data, how)[:-1]
    if reduce != "mean":
        return found
    count = sizes.reshape([-1] + [1] * (data.dim() - 1))
    empty = math.nan if initial is None else float(initial)
    return torch.where(count > 0, found / count.clamp(min=1), empty).to(data.dtype)


@composes(aten._segment_reduce_backward.default)
def _segment_reduce_backward(
    gradient: torch.Tensor, output: torch.Tensor, data: torch.Tensor, reduce: str, *,
    lengths: torch.Tensor | None = None, offsets: torch.Tensor | None = None, axis: int = 0,
    initial: float | None = None,
) -> torch.Tensor:  # fmt: skip
    """An extreme's gradient is shared by those that are equal to it; torch shares only what is positive."""
    if not _is_plain(lengths, offsets, axis) or reduce == "prod":
        return NotImplemented
    segment, sizes = _segment_of(data.shape[0], lengths, offsets)
    within = (segment < len(sizes)).reshape([-1] + [1] * (data.dim() - 1))
    segment = segment.clamp(max=len(sizes) - 1)
    if reduce == "mean":
        gradient = gradient / sizes.clamp(min=1).reshape([-1] + [1] * (data.dim() - 1))
    elif reduce != "sum":
        equal = ((data == output[segment]) | data.isnan()) & within
        count = torch.zeros_like(output).index_add(0, segment, equal.to(data.dtype))
        gradient, within = gradient / count.clamp(min=1), equal
    return torch.where(within, gradient[segment], 0).to(data.dtype)


# Others.


@composes(aten.mode.default)
def _mode(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """The smallest of the most frequent elements, and where it is last."""
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, places = torch.sort(x, dim=dim, stable=True)
    values, places = values.movedim(dim, -1), places.movedim(dim, -1)
    at = torch.arange(values.shape[-1]).expand(values.shape)
    fresh = torch.nn.functional.pad(values[..., 1:] != values[..., :-1], [1, 0])
    start = torch.cummax(torch.where(fresh, at, 0), -1).values
    most = torch.argmax(at - start, -1, keepdim=True)
    found = [part.gather(-1, most).movedim(-1, dim) for part in (values, places)]
    return tuple(part if keepdim else part.squeeze(dim) for part in found)


@composes(aten.bucketize.Tensor)
def _bucketize(
    x: torch.Tensor, bounds: torch.Tensor, *, out_int32: bool = False, right: bool = False
) -> torch.Tensor:
    return aten.searchsorted.Tensor(bounds, x, out_int32=out_int32, right=right)


@composes(aten.searchsorted.Tensor)
def _searchsorted(
    bounds: torch.Tensor, x: torch.Tensor, *, sorter: torch.Tensor | None = None, **keywords: Any
) -> torch.Tensor:
    if sorter is None:
        return NotImplemented
    return aten.searchsorted.Tensor(bounds.gather(-1, sorter), x, **keywords)


@composes(aten.take.default)
def _take(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The op itself: Python's brackets ask an index without dims for its number."""
    return aten.index.Tensor(x.reshape(-1), [index])


@composes(aten.put.default)
def _put(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    return torch.index_put(x.flatten(), [index], source.reshape(index.shape), accumulate).reshape(x.shape)


@composes(aten.nonzero_static.default)
def _nonzero_static(x: torch.Tensor, *, size: int, fill_value: int = -1) -> torch.Tensor:
    """The first `size` places; those of all others are written behind the end, which is left off."""
    counted = (x != 0).flatten()
    at = torch.where(counted, torch.cumsum(counted, 0) - 1, size).clamp(max=size)
    places = torch.full([size + 1], -1).scatter(0, at, torch.arange(x.numel()))[:size]
    found, stride = [], x.numel()
    for extent in x.shape:
        stride //= max(extent, 1)
        found.append(torch.where(places < 0, fill_value, places // max(stride, 1) % max(extent, 1)))
    return torch.stack(found, 1) if found else places.new_empty([size, 0])


@composes(aten._new_zeros_with_same_feature_meta.default)
def _zero_tangent(x: torch.Tensor, like: torch.Tensor, *, self_num_batch_dims: int = 0) -> torch.Tensor:
    return x.new_zeros([*x.shape[:self_num_batch_dims], *like.shape])


@composes(aten.frexp.Tensor)
def _frexp(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """From the bits of the exponent; a number below the smallest normal one is scaled up first."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    integers, low, half = (torch.int64, 52, 1022) if wide == torch.float64 else (torch.int32, 23, 126)
    mask = 2 * half + 3
    small, plain = x.abs() < torch.finfo(wide).smallest_normal, (x != 0) & torch.isfinite(x)
    bits = torch.where(small, x.to(wide) * 2.0**low, x.to(wide)).view(integers)
    exponent = (bits >> low & mask) - half - torch.where(small, low, 0)
    mantissa = (bits & ~(mask << low) | half << low).view(wide).to(x.dtype)
    return torch.where(plain, mantissa, x), torch.where(plain, exponent, 0).to(torch.int32)


@composes(aten.embedding_renorm.default)
def _embedding_renorm(x: torch.Tensor, indices: torch.Tensor, max_norm: float, norm_type: float) -> torch.Tensor:
    """The rows that are looked up, no longer than `max_norm`."""
    read = torch.zeros(x.shape[0], dtype=torch.bool).index_fill(0, indices.reshape(-1), True)
    norm = torch.linalg.vector_norm(x, norm_type, 1)
    return x * torch.where(read & (norm > max_norm), max_norm / (norm + 1e-7), 1)[:, None]


@composes(aten.adaptive_max_pool2d.default, aten.adaptive_max_pool3d.default)
def _adaptive_max_pool(x: torch.Tensor, counts: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Windows of several sizes along a dim are all of the largest one, and have their last place again and again."""
    space = len(counts)
    flat = torch.zeros([], dtype=torch.int64)
    for dim, (extent, count) in enumerate(zip(x.shape[-space:], counts)):
        size = max(-(-(row + 1) * extent // count) - row * extent // count for row in range(count))
        row = torch.arange(count)[:, None]
        last = ((row + 1) * extent + count - 1) // count - 1
        places = torch.minimum(row * extent // count + torch.arange(size), last)
        own = [count if at == dim else size if at == dim + space else 1 for at in range(2 * space)]
        flat = flat * extent + places.reshape(own)
    windows = flat.reshape(math.prod(counts), -1)
    taken = x.flatten(-space)[..., windows]
    best = torch.argmax(taken, -1, keepdim=True)
    shape = [*x.shape[:-space], *counts]
    return taken.gather(-1, best).reshape(shape), windows.expand(taken.shape).gather(-1, best).reshape(shape)


def _to_places(gradient: torch.Tensor, x: torch.Tensor, places: torch.Tensor, space: int) -> torch.Tensor:
    """The gradient of x from that of its maxima, whose places count through the last `space` dims."""
    zeros = torch.zeros_like(x).flatten(-space)
    return zeros.scatter_add(-1, places.flatten(-space), gradient.flatten(-space)).reshape(x.shape)


@composes(aten.adaptive_max_pool2d_backward.default)
def _adaptive_max_pool2d_backward(gradient: torch.Tensor, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return _to_places(gradient, x, places, 2)


@composes(aten.adaptive_max_pool3d_backward.default)
def _adaptive_max_pool3d_backward(gradient: torch.Tensor, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return _to_places(gradient, x, places, 3)


@composes(aten.max_unpool2d.default, aten.max_unpool3d.default)
def _max_unpool(x: torch.Tensor, places: torch.Tensor, size: Sequence[int], *_: Any) -> torch.Tensor:
    """Of equal places the last counts."""
    space = len(size)
    zeros = x.new_zeros([*x.shape[:-space], math.prod(size)])
    return zeros.scatter(-1, places.flatten(-space), x.flatten(-space)).reshape([*x.shape[:-space], *size])


@composes(aten.fractional_max_pool2d.default, aten.fractional_max_pool3d.default)
def _fractional_max_pool(
    x: torch.Tensor, kernel: Sequence[int], counts: Sequence[int], samples: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Windows begin where a random sample says; of two the first is that of columns, of three that of the first dim."""
    space = len(kernel)
    lead, extents = x.shape[:-space], x.shape[-space:]
    samples = samples.flip(-1) if space == 2 else samples
    flat = torch.zeros([], dtype=torch.int64)
    for dim, (extent, size, count) in enumerate(zip(extents, kernel, counts)):
        sample = samples[..., dim].reshape(*lead, 1)
        step = torch.full((), (extent - size) / (count - 1) if count > 1 else 0, dtype=x.dtype)
        at = torch.arange(count)
        start = ((at + sample) * step).to(torch.int64) - (sample * step).to(torch.int64)
        start = torch.where(at == count - 1, extent - size, start)
        own = [count if at == dim else size if at == dim + space else 1 for at in range(2 * space)]
        flat = flat * extent + (start[..., None] + torch.arange(size)).reshape(*lead, *own)
    flat = flat.reshape(*lead, math.prod(counts), math.prod(kernel))
    taken = x.flatten(-space).gather(-1, flat.flatten(-2)).reshape(flat.shape)
    best = torch.argmax(taken, -1, keepdim=True)
    shape = [*lead, *counts]
    return taken.gather(-1, best).reshape(shape), flat.gather(-1, best).reshape(shape)


@composes(aten.fractional_max_pool2d_backward.default, aten.fractional_max_pool3d_backward.default)
def _fractional_max_pool_backward(
    gradient: torch.Tensor, x: torch.Tensor, kernel: Sequence[int], counts: Sequence[int], places: torch.Tensor
) -> torch.Tensor:
    return _to_places(gradient, x, places, len(kernel))


# Ops on lists of tensors: one op for each.


def _for_each(function: Callable[..., torch.Tensor]) -> Callable[..., list[torch.Tensor]]:
    def body(xs: Sequence[torch.Tensor], *rest: Any, **keywords: Any) -> list[torch.Tensor]:
        """What is no list is the same for all."""
        each = [part if isinstance(part, (list, tuple)) else [part] * len(xs) for part in rest]
        return [function(x, *parts, **keywords) for x, *parts in zip(xs, *each)]

    return body


_ON_LISTS: dict[str, Callable[..., torch.Tensor]] = {
    "addcdiv": lambda x, y, z, value=1: torch.addcdiv(x, y, z, value=value),
    "addcmul": lambda x, y, z, value=1: torch.addcmul(x, y, z, value=value),
    "clamp_max": lambda x, most: torch.clamp(x, max=most),
    "clamp_min": lambda x, least: torch.clamp(x, min=least),
    "norm": lambda x, order=2, dtype=None: torch.linalg.vector_norm(x, order, dtype=dtype),
}
_ON_LISTS |= {
    name: getattr(torch, name)
    for name in (
        "abs add ceil cos cosh div erf erfc exp expm1 floor frac lerp lgamma log log10 log1p log2 maximum minimum mul "
        "neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc"
    ).split()
}
for _name, _function in _ON_LISTS.items():
    _packet = getattr(aten, f"_foreach_{_name}")
    composes(*(getattr(_packet, overload) for overload in _packet.overloads() if "out" not in overload))(
        _for_each(_function)
    )
