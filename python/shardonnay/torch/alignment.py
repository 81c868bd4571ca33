"""The loss of connectionist temporal classification while a step is captured.

Torch's own kernel asks lengths for their numbers. Here the recursion over time is written out, for all labels of all
rows at once; lengths are masks. What a mask selects, as many numbers as it says, is known here as labels of this loss
and nothing else: padded to the size of the mask, they are labels all the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TypeAlias

import torch

from .replacing import replaced

# In place of the logarithm of 0, whose differences are NaNs.
_NEVER = -1e30
_MEAN, _SUM = 1, 2
Lengths: TypeAlias = torch.Tensor | Sequence[int]


def _padded_labels(labels: torch.Tensor, lengths: torch.Tensor, most: int) -> torch.Tensor:
    """Labels that stand one row behind the other as rows."""
    starts = torch.cumsum(lengths, 0) - lengths
    at = (starts[:, None] + torch.arange(most)).clamp(max=max(labels.shape[0] - 1, 0))
    return labels[at] if labels.shape[0] else torch.zeros_like(at)


def _likelihood(
    log_probs: torch.Tensor, labels: torch.Tensor, times: torch.Tensor, lengths: torch.Tensor, blank: int
) -> torch.Tensor:
    """The logarithm of the probability of each row's labels; log_probs: [time, row, class]."""
    states = torch.stack([torch.full_like(labels, blank), labels], -1).flatten(1)
    states = torch.nn.functional.pad(states, [0, 1], value=blank)
    # A state follows the one before the last if a label is between them that need not be.
    may_skip = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    penalty = torch.nn.functional.pad(torch.where(may_skip, 0.0, _NEVER), [2, 0], value=_NEVER)
    penalty = penalty[:, : states.shape[1]].to(log_probs.dtype)
    seen = log_probs.gather(2, states.expand(log_probs.shape[0], *states.shape))
    first = torch.arange(states.shape[1]) < 2
    reached = torch.where(first, seen[0], _NEVER)
    for time in range(1, log_probs.shape[0]):
        before = torch.nn.functional.pad(reached, [2, 0], value=_NEVER)
        ways = torch.stack([reached, before[:, 1:-1], before[:, :-2] + penalty])
        reached = torch.where(time < times[:, None], torch.logsumexp(ways, 0) + seen[time], reached)
    last = 2 * lengths[:, None]
    ends = reached.gather(1, torch.cat([last, (last - 1).clamp(min=0)], 1))
    return torch.where(lengths > 0, torch.logsumexp(ends, 1), ends[:, 0])


def selected(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """What `torch.masked_select` gives, and behind it zeros, as many as the mask leaves out."""
    x, mask = (part.flatten() for part in torch.broadcast_tensors(x, mask))
    place = torch.where(mask, torch.cumsum(mask, 0) - 1, x.shape[0])
    return x.new_zeros(x.shape[0] + 1).scatter(0, place, x)[:-1]


def ctc_loss(
    log_probs: torch.Tensor, targets: torch.Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int = 0,
    reduction: int = _MEAN, zero_infinity: bool = False,
) -> torch.Tensor:  # fmt: skip
    """As `torch.ctc_loss`, the gradient too: it is that of logits, which a softmax made probabilities."""
    single = log_probs.dim() == 2
    log_probs = log_probs[:, None] if single else log_probs
    times, lengths = (
        torch.as_tensor(given, dtype=torch.int64).reshape(-1) for given in (input_lengths, target_lengths)
    )
    if targets.dim() == 2:
        labels = targets.to(torch.int64)
    elif single:
        labels = targets.to(torch.int64)[None]
    else:
        most = targets.shape[0] if isinstance(target_lengths, torch.Tensor) else max(target_lengths, default=0)
        labels = _padded_labels(targets.to(torch.int64), lengths, min(most, log_probs.shape[0]))
    within = torch.arange(labels.shape[1]) < lengths[:, None]
    labels = torch.where(within, labels, blank)
    fits = lengths <= labels.shape[1]
    likelihood = _likelihood(log_probs, labels, times, lengths.clamp(max=labels.shape[1]), blank)
    known = torch.arange(log_probs.shape[0])[:, None] < times
    mass = torch.where(known, log_probs.exp().sum(2), 0).sum(0)
    possible = (likelihood > _NEVER / 2) & fits
    loss = torch.where(possible, mass - mass.detach() - likelihood, 0)
    if not zero_infinity:
        loss = loss + torch.where(possible, 0, torch.inf)
    if reduction == _MEAN:
        return (loss / lengths.clamp(min=1)).mean()
    return loss.sum() if reduction == _SUM else loss[0] if single else loss


def without_kernel() -> contextlib.AbstractContextManager[None]:
    """While it lasts, `torch.nn.functional.ctc_loss` is written out."""
    return replaced(torch, "ctc_loss", ctc_loss)
