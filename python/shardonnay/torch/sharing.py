"""Parameters and buffers that forward makes share their memory, `x.data = y.data`: what an optimizer makes of one is
the other's new value too. And what is changed that a program can not keep.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

Pairs = list[tuple[torch.Tensor, torch.Tensor]]
# Of each step that is being captured, the innermost last.
_NOTED: list[Pairs] = []
OVERLAP = (
    "a view that has a place in memory twice, or one that as_strided makes of a view; expected a copy of it (clone) "
    "changed, or a slice"
)
# What functionalization raises, and what it means for who changes a tensor in place.
CONSTANT = "mutating a non-functional tensor"
UNKEPT = {
    CONSTANT: "a tensor that is neither an argument nor a parameter or buffer of the model, "
    "which a program does not hand on to its next step; expected a buffer (register_buffer)",
    "internal overlap": OVERLAP,
    "mutation on a view chain": OVERLAP,
}


def overlaps(shape: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether elements of a tensor may share a place in memory, as expand makes one: no dim steps over all that the
    narrower ones reach.
    """
    reached = 0
    for step, extent in sorted(zip(stride, shape)):
        if extent > 1 and step <= reached:
            return 0 not in shape
        reached += (extent - 1) * step
    return False


def is_lost_by_foreach(func: Any, args: Sequence[Any]) -> bool:
    """Whether `torch._foreach_mul_` and its like change a tensor twice, or a view, whose gradient a trace loses."""
    name = getattr(func, "__name__", "")
    if not name.startswith("_foreach_") or not name.endswith("_") or not args:
        return False
    places = [(x.untyped_storage()._cdata, x.storage_offset()) for x in args[0]]
    is_view = torch.is_grad_enabled() and any(x._is_view() and x.requires_grad for x in args[0])
    return is_view or len(set(places)) < len(places)


@contextlib.contextmanager
def noted() -> Iterator[Pairs]:
    """While it lasts, notes what is set to which data."""
    pairs: Pairs = []
    _NOTED.append(pairs)
    try:
        yield pairs
    finally:
        _NOTED.remove(pairs)


def note(x: torch.Tensor, value: torch.Tensor) -> None:
    """`x.data = value` has run."""
    if _NOTED:
        _NOTED[-1].append((x, value))


def _place(x: torch.Tensor) -> tuple[int, int, tuple[int, ...]]:
    return x.untyped_storage()._cdata, x.storage_offset(), x.stride()


def shared(pairs: Pairs, tensors: Mapping[str, torch.Tensor]) -> dict[str, str]:
    """Of the names of tensors those that have the memory of another one in the end, and of which."""
    names = {id(tensor): name for name, tensor in tensors.items()}
    places = {_place(tensor): name for name, tensor in tensors.items()}
    found: dict[str, str] = {}
    for x, value in pairs:
        if id(x) not in names:
            continue
        found.pop(names[id(x)], None)
        if _place(value) in places:
            found[names[id(x)]] = places[_place(value)]
    return found
