"""Covariances while a step is captured: torch's own ask whether weights and the divisor are positive."""

from __future__ import annotations

from collections.abc import Callable

import torch


def _cov(
    x: torch.Tensor, *, correction: int = 1, fweights: torch.Tensor | None = None, aweights: torch.Tensor | None = None
) -> torch.Tensor:
    x = torch.atleast_2d(x)
    given = [part for part in (fweights, aweights) if part is not None]
    weight = given[0] if len(given) == 1 else given[0] * given[1] if given else torch.ones(x.shape[1])
    total = weight.sum()
    lost = correction if aweights is None or not correction else correction * (weight * aweights).sum() / total
    apart = x - ((x * weight).sum(1) / total)[:, None]
    return (apart @ (apart * weight).mH / (total - lost).clamp(min=0)).to(apart.dtype).squeeze()


def _corrcoef(x: torch.Tensor) -> torch.Tensor:
    found = _cov(x)
    if not found.dim():
        return found / found
    spread = found.diagonal().real.sqrt()
    found = found / spread[:, None] / spread
    if found.is_complex():
        return torch.complex(found.real.clamp(-1, 1), found.imag.clamp(-1, 1))
    return found.clamp(-1, 1)


WITHOUT_QUESTIONS: dict[Callable[..., torch.Tensor], Callable[..., torch.Tensor]] = {
    torch.cov: _cov, torch.Tensor.cov: _cov, torch.corrcoef: _corrcoef, torch.Tensor.corrcoef: _corrcoef,
}  # fmt: skip
