"""`x[i]` and `x[i] = value` where a tensor in the brackets is one number, or a mask; and `masked_select`.

PyTorch asks the first for its number and the second for its places. A number that an argument says is an index like
any other here; the places of a mask that is constant are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .constants import Constants


def _is_mask(part: Any) -> bool:
    return isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8)


def _as_mask(part: Any) -> Any:
    """A list or array of truths as a tensor; what else there is as it is."""
    is_list = isinstance(part, list) and len(part) > 0 and all(isinstance(entry, bool) for entry in part)
    return torch.tensor(part) if is_list or str(getattr(part, "dtype", "")) == "bool" else part


def _is_number(part: Any) -> bool:
    """Of an integer type, without dims."""
    return (
        isinstance(part, torch.Tensor)
        and not part.dim()
        and part.dtype in (torch.int64, torch.int32, torch.int16, torch.int8)
    )


def _spelled_out(x: torch.Tensor, index: Any, known: Constants) -> list[Any] | None:
    """The parts between the brackets, without an ellipsis, with the places of masks in place of masks; None if that is
    what stands there anyway.
    """
    parts = [_as_mask(part) for part in (index if isinstance(index, tuple) else (index,))]
    is_known = [_is_mask(part) and part.dim() > 0 and known.value(part) is not None for part in parts]
    if not any(is_known) and not _numbers(parts, known):
        return None
    taken = sum(part.dim() if _is_mask(part) else 1 for part in parts if part is not None and part is not Ellipsis)
    spelled: list[Any] = []
    for part, is_places in zip(parts, is_known):
        if part is Ellipsis:
            spelled += [slice(None)] * (x.dim() - taken)
        elif is_places:
            spelled += torch.nonzero(part, as_tuple=True)
        elif _is_number(part) and known.is_fixed(part):
            spelled.append(int(part))
        else:
            spelled.append(part)
    return spelled


def _numbers(parts: list[Any], known: Constants) -> list[int]:
    """Where numbers stand that an argument says."""
    return [at for at, part in enumerate(parts) if _is_number(part) and not known.is_fixed(part)]


def _dim_before(parts: list[Any], at: int) -> int:
    """The dim of the operand that a part speaks of."""
    return sum(part.dim() if _is_mask(part) else 1 for part in parts[:at] if part is not None)


def _is_view(parts: list[Any], numbers: list[int]) -> bool:
    """Whether PyTorch makes a view of these parts, in which numbers stand."""
    return not any(isinstance(part, (torch.Tensor, list)) for at, part in enumerate(parts) if at not in numbers)


def _from_the_front(number: torch.Tensor, extent: int) -> torch.Tensor:
    return torch.where(number < 0, number + extent, number)


class Subscripts:
    """The functions of one trace by what they stand for, and the copies that stand for views."""

    def __init__(self, known: Constants) -> None:
        self.known = known
        # (what they are of, the parts between the brackets, which of these are numbers, the copy)
        self.copies: list[tuple[torch.Tensor, list[Any], list[int], torch.Tensor]] = []
        self.functions: dict[Any, Callable[..., Any]] = {
            torch.Tensor.__getitem__: self.getitem,
            torch.Tensor.__setitem__: self.setitem,
            torch.Tensor.masked_select: self.masked_select,
            torch.masked_select: self.masked_select,
        }

    def getitem(self, x: torch.Tensor, index: Any) -> torch.Tensor:
        """`x[index]`."""
        parts = _spelled_out(x, index, self.known)
        if parts is None:
            return x[index]
        numbers = _numbers(parts, self.known)
        for at in numbers:  # they may change before what is taken
            parts[at] = parts[at].clone()
        found = _taken(x, parts, numbers)
        if numbers and _is_view(parts, numbers):
            self.copies.append((x, parts, numbers, found))
        return found

    def setitem(self, x: torch.Tensor, index: Any, value: Any) -> None:
        """`x[index] = value`."""
        parts = _spelled_out(x, index, self.known)
        numbers = [] if parts is None else _numbers(parts, self.known)
        if numbers and _is_view(parts or [], numbers):
            _put(x, parts or [], numbers, value)
        else:
            x[index if parts is None else tuple(parts)] = value

    def masked_select(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """`torch.masked_select`."""
        if self.known.value(mask) is None:
            return torch.masked_select(x, mask)
        x, mask = torch.broadcast_tensors(x, mask)
        return x[torch.nonzero(mask, as_tuple=True)] if mask.dim() else torch.masked_select(x, mask)

    def pass_on(self) -> None:
        """After a call: what it has written to a copy is written to what the copy is of, and the other way round."""
        places = set(self.known.written)
        self.known.written.clear()
        if not self.copies or not places:
            return
        for x, parts, numbers, copy in reversed(self.copies):
            if _place(copy) in places:
                _put(x, parts, numbers, copy)
                places.add(_place(x))
        for x, parts, numbers, copy in self.copies:
            if _place(x) in places and _place(copy) not in places:
                copy.copy_(_taken(x, parts, numbers))
                places.add(_place(copy))
        self.known.written.clear()


def _taken(x: torch.Tensor, parts: list[Any], numbers: list[int]) -> torch.Tensor:
    """A copy of `x[parts]`."""
    for at in numbers:
        dim = _dim_before(parts, at)
        x = torch.index_select(x, dim, _from_the_front(parts[at], x.shape[dim])[None])
        parts = [*parts[:at], 0, *parts[at + 1 :]]
    return x[tuple(parts)]


def _put(x: torch.Tensor, parts: list[Any], numbers: list[int], value: Any) -> None:
    """`x[parts] = value`, by a view that has the dims of the numbers, which come first."""
    kept = [slice(None) if at in numbers else part for at, part in enumerate(parts)]
    dims = [sum(not isinstance(part, int) for part in kept[:at]) for at in numbers]
    view = x[tuple(kept)].movedim(dims, list(range(len(dims))))
    value = torch.as_tensor(value, dtype=x.dtype, device=x.device) if not isinstance(value, torch.Tensor) else value
    rest = view.shape[len(dims) :]
    while value.dim() > len(rest) and value.shape[0] == 1:
        value = value[0]
    view.index_put_([parts[at][None] for at in numbers], value.to(x.dtype).expand(rest)[None])


def _place(x: torch.Tensor) -> int:
    """The identity of the memory, of what torch.func wraps too."""
    while torch._C._functorch.is_functorch_wrapped_tensor(x):
        x = torch._C._functorch.get_unwrapped(x)
    return x.untyped_storage()._cdata
