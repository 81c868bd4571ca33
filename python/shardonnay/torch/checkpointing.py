"""Activation checkpointing while a step is captured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import checkpoint

from .replacing import replaced


class _WithoutReentry:
    """Stands for `CheckpointFunction`: what it is asked for is done as `use_reentrant=False` does it."""

    @staticmethod
    def apply(function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        if any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args):
            return checkpoint.checkpoint(function, *args, use_reentrant=False, preserve_rng_state=preserve_rng_state)
        checkpoint.check_backward_validity(args)  # warns: nothing within is given a gradient
        with torch.no_grad():
            return function(*args)


def without_reentry() -> contextlib.AbstractContextManager[None]:
    """While it lasts, a checkpoint with use_reentrant=True has the gradients that it has otherwise, without `backward`.

    Its own backward pass calls `backward`, for which torch refuses `torch.autograd.grad`, which is what is captured.
    """
    return replaced(checkpoint, "CheckpointFunction", _WithoutReentry)
