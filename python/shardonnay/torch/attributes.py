"""What forward leaves in a module's attributes, where a program has no place for it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor

from .deferred import Number

_PLAIN = (bool, int, float, torch.Tensor)
Held = dict[str, Any]


def _own(module: torch.nn.Module) -> list[tuple[Held, Held]]:
    """Attributes, buffers and parameters: where they are held, and what they are now. What else torch has is its work.
    """
    attributes = {name: value for name, value in vars(module).items() if not isinstance(value, dict) or name[0] != "_"}
    return [(vars(module), attributes), *((held, dict(held)) for held in (module._buffers, module._parameters))]


def _is_new(before: Any, after: Any) -> bool:
    """A tensor of the trace, or another number than before."""
    if before is after and isinstance(after, torch.Tensor):
        return False
    if any(isinstance(leaf, FakeTensor) or type(leaf) is Number for leaf in pytree.tree_leaves(after)):
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
        for name, module, places in modules:
            for (held, before), (_, own) in zip(places, _own(module)):
                for attribute in [key for key, after in own.items() if _is_new(before.get(key), after)]:
                    _restore(held, attribute, before)
                    warnings.warn(
                        f"forward sets the attribute '{attribute}' of '{name or type(module).__name__}', which a "
                        "program does not hand on to its next step; expected a buffer that is there before "
                        "(register_buffer in __init__) for what a next step reads",
                        stacklevel=2,
                    )


def _restore(held: Held, attribute: str, before: Held) -> None:
    if attribute in before:
        held[attribute] = before[attribute]
    else:
        del held[attribute]
