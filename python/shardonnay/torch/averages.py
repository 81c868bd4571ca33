"""`torch.optim.swa_utils.AveragedModel` while a step is captured: its own update asks whether it is the first."""

from __future__ import annotations

import contextlib
import itertools

import torch
from torch.optim import swa_utils

from .replacing import replaced


def _update(self: swa_utils.AveragedModel, model: torch.nn.Module) -> None:
    """`update_parameters`: a first one copies, which is seen afterwards here, where each is computed as an average."""
    if self.use_buffers:
        both = [itertools.chain(part.parameters(), part.buffers()) for part in (self.module, model)]
    else:
        both = [self.parameters(), model.parameters()]
    pairs = [(mine.detach(), other.detach()) for mine, other in zip(*both)]
    is_first, average = self.n_averaged == 0, self.avg_fn or swa_utils.get_swa_avg_fn()
    if self.multi_avg_fn is not None:
        for dtype in dict.fromkeys(mine.dtype for mine, _ in pairs):
            alike = [pair for pair in pairs if pair[0].dtype == dtype]
            self.multi_avg_fn([mine for mine, _ in alike], [other for _, other in alike], self.n_averaged)
    for mine, other in pairs:
        value = mine if self.multi_avg_fn is not None else average(mine, other, self.n_averaged)
        mine.copy_(torch.where(is_first, other, value))
    if not self.use_buffers:
        for mine, other in zip(self.module.buffers(), model.buffers()):
            mine.detach().copy_(other.detach())
    self.n_averaged += 1


def without_first() -> contextlib.AbstractContextManager[None]:
    """While it lasts, the update of an average asks for no number."""
    return replaced(swa_utils.AveragedModel, "update_parameters", _update)
