"""What forward leaves in a module's attributes, where a program has no place for it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor

_PLAIN = (bool, int, float, torch.Tensor)


def _own(module: torch.nn.Module) -> dict[str, Any]:
    """Attributes but those of torch's: parameters, buffers, submodules and hooks are others' work."""
    return {name: value for name, value in vars(module).items() if not isinstance(value, dict) or name[0] != "_"}


def _is_new(before: Any, after: Any) -> bool:
    """A tensor of the trace, or another number than before."""
    if any(isinstance(leaf, FakeTensor) for leaf in pytree.tree_leaves(after)):
        return True
    return before is not after and isinstance(after, _PLAIN[:3]) and not (before == after)


@contextlib.contextmanager
def restored(model: torch.nn.Module | None) -> Iterator[None]:
    """Gives the modules of `model` their attributes back, and warns of those that forward has changed: whether a next
    step would read them is not seen.
    """
    modules = [] if model is None else [(name, module, _own(module)) for name, module in model.named_modules()]
    try:
        yield
    finally:
        for name, module, before in modules:
            for attribute, after in _own(module).items():
                if _is_new(before.get(attribute), after):
                    _restore(module, attribute, before)
                    warnings.warn(
                        f"forward sets the attribute '{attribute}' of '{name or type(module).__name__}', which a "
                        "program does not hand on to its next step; expected a buffer (register_buffer) for what a "
                        "next step reads",
                        stacklevel=2,
                    )


def _restore(module: torch.nn.Module, attribute: str, before: dict[str, Any]) -> None:
    if attribute in before:
        vars(module)[attribute] = before[attribute]
    else:
        del vars(module)[attribute]
