"""Functions of numbers that are written with other ops of torch's: polynomials by their recurrences, histograms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .composed import composes

aten, prims = torch.ops.aten, torch.ops.prims


@composes(aten.gcd.default, prims.gcd.default)
def _gcd(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """By Euclid, as many steps as numbers of the type may need, whose ratio is the golden one then."""
    dtype = torch.result_type(x, y)
    x, y = (part.to(dtype).abs() for part in torch.broadcast_tensors(x, y))
    for _ in range(torch.iinfo(x.dtype).bits * 3 // 2):
        x, y = torch.where(y == 0, x, y), torch.where(y == 0, 0, x % torch.where(y == 0, 1, y))
    return x


# Of n, x and the polynomials of degree n and n - 1 that of degree n + 1; and that of degree 1.
_Next = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def _chebyshev(n: int, x: torch.Tensor, last: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    return 2 * x * last - before


_POLYNOMIALS: dict[str, tuple[_Next, Callable[[torch.Tensor], torch.Tensor]]] = {
    "chebyshev_polynomial_t": (_chebyshev, lambda x: x),
    "chebyshev_polynomial_u": (_chebyshev, lambda x: 2 * x),
    "chebyshev_polynomial_v": (_chebyshev, lambda x: 2 * x - 1),
    "chebyshev_polynomial_w": (_chebyshev, lambda x: 2 * x + 1),
    "hermite_polynomial_h": (lambda n, x, last, before: 2 * (x * last - n * before), lambda x: 2 * x),
    "hermite_polynomial_he": (lambda n, x, last, before: x * last - n * before, lambda x: x),
    "laguerre_polynomial_l": (
        lambda n, x, last, before: ((2 * n + 1 - x) * last - n * before) / (n + 1), lambda x: 1 - x,
    ),
    "legendre_polynomial_p": (lambda n, x, last, before: ((2 * n + 1) * x * last - n * before) / (n + 1), lambda x: x),
}  # fmt: skip


def _polynomial(following: _Next, linear: Callable[[torch.Tensor], torch.Tensor], shifted: bool) -> Any:
    def body(x: torch.Tensor, n: float) -> torch.Tensor:
        wide = x.to(torch.get_default_dtype()) if not x.is_floating_point() else x
        wide = 2 * wide - 1 if shifted else wide
        before, last = torch.zeros_like(wide) if n < 0 else torch.ones_like(wide), linear(wide)
        for degree in range(1, int(n)):
            before, last = last, following(degree, wide, last, before)
        return last if n >= 1 else before

    return body


for _name, (_following, _linear) in _POLYNOMIALS.items():
    composes(getattr(aten, f"special_{_name}").n_scalar)(_polynomial(_following, _linear, False))
    if _following is _chebyshev:
        composes(getattr(aten, f"special_shifted_{_name}").n_scalar)(_polynomial(_following, _linear, True))

composes(aten.special_modified_bessel_i0.default)(torch.special.i0)
composes(aten.special_modified_bessel_i1.default)(torch.special.i1)


@composes(prims.spherical_bessel_j0.default)
def _spherical_bessel_j0(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x == 0, 1, torch.sin(x) / torch.where(x == 0, 1, x))


@composes(prims.ndtri.default)
def _ndtri(x: torch.Tensor) -> torch.Tensor:
    """By the inverse of erf, and a step of Newton's, as that has few digits of what is near 0."""
    wide = x.double()
    found = math.sqrt(2) * torch.erfinv(2 * wide - 1)
    slope = torch.exp(-found * found / 2) / math.sqrt(2 * math.pi)
    return torch.where(slope > 0, found - (torch.erfc(-found / math.sqrt(2)) / 2 - wide) / slope, found).to(x.dtype)


@composes(aten.histogram.bins_tensor)
def _histogram(
    x: torch.Tensor, edges: torch.Tensor, *, weight: torch.Tensor | None = None, density: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of equal parts too, where torch computes the part in place of searching it."""
    x, count = x.flatten(), edges.shape[0] - 1
    at = torch.where(x == edges[-1], count - 1, torch.searchsorted(edges, x, right=True) - 1)
    at = torch.where((x >= edges[0]) & (x <= edges[-1]), at, count)
    weight = torch.ones_like(x) if weight is None else weight.flatten()
    found = x.new_zeros(count + 1).index_add(0, at, weight)[:count]
    return found / (found.sum() * edges.diff()) if density else found, edges.clone()


@composes(aten.histogram.bin_ct)
def _histogram_of_parts(
    x: torch.Tensor, bins: int = 100, *, range: Sequence[float] | None = None, weight: torch.Tensor | None = None,
    density: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    if range is not None:
        edges = torch.linspace(range[0], range[1], bins + 1, dtype=x.dtype)
    else:
        low, high = torch.aminmax(x)
        same = low == high
        low, high = torch.where(same, low - 0.5, low), torch.where(same, high + 0.5, high)
        at = torch.arange(bins + 1, dtype=x.dtype) / bins
        edges = torch.where(at < 0.5, low + (high - low) * at, high - (high - low) * (1 - at))
    return _histogram(x, edges, weight=weight, density=density)
