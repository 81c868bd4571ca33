"""Derivatives of random numbers in the parameters of their distributions.

A variate x of which the distribution function F(x; a) is the same for all a changes with a as -(dF/da) / (dF/dx). Of
gamma and beta distributions dF/da is an integral of the density times a logarithm. It is taken from x towards the
nearer end, away from the mode, where the density falls all the way, in a variable in which it is log-concave, up to
where nothing is left of it, by Gauss and Legendre's rule.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from .composed import composes

aten = torch.ops.aten
_POINTS = 40
# A density that has fallen by so many powers of e is nothing.
_NOTHING = 36.0
_STEPS = 8


def _legendre(count: int) -> tuple[list[float], list[float]]:
    """Squares of Gauss and Legendre's places, and weights, from 0 to 1, by the eigenvalues of the polynomials'
    recurrence.
    """
    n = torch.arange(1, count, dtype=torch.float64)
    beside = torch.diag(n / torch.sqrt(4 * n * n - 1), 1)
    places, vectors = torch.linalg.eigh(beside + beside.T)
    places = (places + 1) / 2
    return (places**2).tolist(), (2 * places * vectors[0] ** 2).tolist()


_PLACES, _WEIGHTS = _legendre(_POINTS)


def _rule(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Places and weights along a dim before those of x."""
    shape = [-1, *[1] * x.dim()]
    places, weights = (torch.tensor(part, dtype=x.dtype).view(shape) for part in (_PLACES, _WEIGHTS))
    return places, weights


@composes(aten._standard_gamma_grad.default)
def _gamma(shape: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """At x * exp(-u)."""
    dtype, a, x = shape.dtype, shape.to(torch.float64), x.to(torch.float64).clamp_min(1e-300)
    is_below = x <= a
    k = _NOTHING / torch.maximum(a, x)
    below, above = (k + torch.sqrt(k * k + 8 * k)) / 2, torch.sqrt(2 * k)
    above = torch.where(k > 1.3, torch.minimum(above, torch.log1p(2 * k)), above)
    end = torch.where(is_below, below, -above)
    places, weights = _rule(x)
    u = end * places
    each = (torch.digamma(a) - torch.log(x) + u) * torch.exp(-a * u - x * torch.expm1(-u))
    return (x * end * (weights * each).sum(0)).to(dtype)


@composes(aten._dirichlet_grad.default)
def _beta(x: torch.Tensor, shape: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    """Of x with a beta distribution, divided by 1 - x, at the place whose logit is less by u."""
    dtype, a, both = x.dtype, shape.to(torch.float64), total.to(torch.float64)
    x = x.to(torch.float64).clamp(1e-300, 1 - 2.0**-53)
    b, log_x, log_rest = both - a, torch.log(x), torch.log1p(-x)
    logit, is_below = log_x - log_rest, x * both <= a
    side = torch.where(is_below, 1.0, -1.0).to(x.dtype)

    def fallen(u: torch.Tensor) -> torch.Tensor:
        return a * (log_x - F.logsigmoid(logit - u)) + b * (log_rest - F.logsigmoid(u - logit))

    # By Newton's method from beyond: what has fallen is convex.
    end = (_NOTHING - both * torch.where(is_below, log_rest, log_x)) / torch.where(is_below, a, b)
    for _ in range(_STEPS):
        at = torch.sigmoid(logit - side * end)
        slope = side * (a * (1 - at) - b * at)
        end = torch.where(slope > 0, end - (fallen(side * end) - _NOTHING) / slope, end)
    places, weights = _rule(x)
    u = side * end * places
    each = (torch.digamma(a) - torch.digamma(both) - F.logsigmoid(logit - u)) * torch.exp(-fallen(u))
    return (x * side * end * (weights * each).sum(0)).to(dtype)
