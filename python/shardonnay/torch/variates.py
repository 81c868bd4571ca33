"""Random numbers of gamma, Dirichlet and Poisson distributions, of which all others of torch's follow but a few.

Algorithms that try until a number is accepted have as many tries here as leave one in 10**9 without: it is then the
first one that any would accept.
"""

from __future__ import annotations

from typing import Protocol

import torch

# Tries, of which one in 20 is not accepted at worst; and one in four.
_GAMMA_TRIES, _POISSON_TRIES = 8, 16
# Below this rate counts are found in a table of as many entries as hold all but 10**-16 of them.
_SMALL, _ENTRIES = 10.0, 50


class Source(Protocol):
    """What draws random numbers."""

    def uniform(self, size: list[int], dtype: torch.dtype) -> torch.Tensor: ...
    def normal(self, size: list[int], dtype: torch.dtype) -> torch.Tensor: ...


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _first(values: torch.Tensor, is_accepted: torch.Tensor, otherwise: torch.Tensor) -> torch.Tensor:
    """Of values one behind the other along dim 0 the first that is accepted."""
    at = torch.argmax(is_accepted.to(torch.uint8), 0, keepdim=True)
    return torch.where(is_accepted.any(0), torch.gather(values, 0, at)[0], otherwise)


def _gammas(r: Source, shape: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A factor, and the logarithm of another one, which may be too small for a number, of gamma variates.

    By a cube of a normal variate (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000); of a
    shape below 1, by that of the next one.
    """
    size, dtype = [_GAMMA_TRIES, *shape.shape], shape.dtype
    d = torch.where(shape < 1, shape + 1, shape) - 1 / 3
    x = r.normal(size, dtype)
    cube = (1 + x / torch.sqrt(9 * d)) ** 3
    is_positive = cube > 0
    cube = torch.where(is_positive, cube, torch.ones_like(cube))
    bound = x * x / 2 + d * (1 - cube + torch.log(cube))
    is_accepted = is_positive & (torch.log1p(-r.uniform(size, dtype)) < bound)
    less = torch.log1p(-r.uniform(list(shape.shape), dtype)) / shape
    return d * _first(cube, is_accepted, torch.ones_like(d)), torch.where(shape < 1, less, torch.zeros_like(less))


def gamma(r: Source, shape: torch.Tensor) -> torch.Tensor:
    """Gamma variates of scale 1."""
    factor, logarithm = _gammas(r, shape.to(_wide(shape.dtype)))
    return (factor * torch.exp(logarithm)).to(shape.dtype).clamp_min(torch.finfo(shape.dtype).tiny)


def dirichlet(r: Source, concentration: torch.Tensor) -> torch.Tensor:
    """Gamma variates divided by their sum along the last dim."""
    factor, logarithm = _gammas(r, concentration.to(_wide(concentration.dtype)))
    found = torch.softmax(torch.log(factor) + logarithm, -1).to(concentration.dtype)
    return found.clamp_min(torch.finfo(concentration.dtype).tiny)


def poisson(r: Source, rate: torch.Tensor) -> torch.Tensor:
    """Counts, as floats."""
    wide = rate.to(torch.float64)
    few = _few(r, wide.clamp_max(_SMALL))
    return torch.where(wide < _SMALL, few, _many(r, wide.clamp_min(_SMALL))).to(rate.dtype)


def _log_chance(rate: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    return torch.xlogy(count, rate) - rate - torch.lgamma(count + 1)


def _few(r: Source, rate: torch.Tensor) -> torch.Tensor:
    """By how many counts are passed when their chances add up to a uniform variate."""
    counts = torch.arange(_ENTRIES, dtype=rate.dtype).view(-1, *[1] * rate.dim())
    reached = torch.cumsum(torch.exp(_log_chance(rate, counts)), 0)
    return (r.uniform(list(rate.shape), rate.dtype) >= reached).sum(0).to(rate.dtype)


def _many(r: Source, rate: torch.Tensor) -> torch.Tensor:
    """By a transformed uniform variate (Hörmann, "The transformed rejection method for generating Poisson random
    variables", 1993, algorithm PTRS), whose constants these are.
    """
    size = [_POISSON_TRIES, *rate.shape]
    b = 0.931 + 2.53 * torch.sqrt(rate)
    a = -0.059 + 0.02483 * b
    u, v = r.uniform(size, rate.dtype) - 0.5, 1 - r.uniform(size, rate.dtype)
    edge = 0.5 - u.abs()
    edge = torch.where(edge > 0, edge, torch.full_like(edge, 1e-9))
    count = torch.floor((2 * a / edge + b) * u + rate + 0.43)
    is_inner = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    is_outer = (count < 0) | (edge < 0.013) & (v > edge)
    ratio = torch.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / edge**2 + b))
    is_below = ratio <= _log_chance(rate, count.clamp_min(0))
    return _first(count, is_inner | is_below & ~is_outer, torch.floor(rate))
