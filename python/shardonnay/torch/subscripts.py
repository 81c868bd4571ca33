"""`x[i]` and `x[i] = value` where a tensor in the brackets is one number, or a mask; and `masked_select`.

PyTorch asks the first for its number and the second for its places. A number that an argument says is an index like
any other here; the places of a mask that is constant are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_Known = Callable[[torch.Tensor], torch.Tensor | None]


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


def _spelled_out(x: torch.Tensor, index: Any, known: _Known) -> list[Any] | None:
    """The parts between the brackets, without an ellipsis, with the places of masks in place of masks; None if that is
    what stands there anyway.
    """
    parts = [_as_mask(part) for part in (index if isinstance(index, tuple) else (index,))]
    is_known = [_is_mask(part) and part.dim() > 0 and known(part) is not None for part in parts]
    is_asked = [_is_number(part) and known(part) is None for part in parts]
    if not any(is_known) and not any(is_asked):
        return None
    taken = sum(part.dim() if _is_mask(part) else 1 for part in parts if part is not None and part is not Ellipsis)
    spelled: list[Any] = []
    for part, is_places in zip(parts, is_known):
        if part is Ellipsis:
            spelled += [slice(None)] * (x.dim() - taken)
        elif is_places:
            spelled += torch.nonzero(part, as_tuple=True)
        elif _is_number(part) and known(part) is not None:
            spelled.append(int(part))
        else:
            spelled.append(part)
    return spelled


def _numbers(parts: list[Any], known: _Known) -> list[int]:
    """Where numbers stand that an argument says."""
    return [at for at, part in enumerate(parts) if _is_number(part) and known(part) is None]


def _dim_before(parts: list[Any], at: int) -> int:
    """The dim of the operand that a part speaks of."""
    return sum(part.dim() if _is_mask(part) else 1 for part in parts[:at] if part is not None)


def getitem(x: torch.Tensor, index: Any, known: _Known) -> torch.Tensor:
    """`x[index]`."""
    parts = _spelled_out(x, index, known)
    if parts is None:
        return x[index]
    for at in _numbers(parts, known):
        dim = _dim_before(parts, at)
        x = torch.index_select(x, dim, _from_the_front(parts[at], x.shape[dim])[None])
        parts[at] = 0
    return x[tuple(parts)]


def _from_the_front(number: torch.Tensor, extent: int) -> torch.Tensor:
    return torch.where(number < 0, number + extent, number)


def masked_select(x: torch.Tensor, mask: torch.Tensor, known: _Known) -> torch.Tensor:
    """`torch.masked_select`."""
    if known(mask) is None:
        return torch.masked_select(x, mask)
    x, mask = torch.broadcast_tensors(x, mask)
    return x[torch.nonzero(mask, as_tuple=True)] if mask.dim() else torch.masked_select(x, mask)


def setitem(x: torch.Tensor, index: Any, value: Any, known: _Known) -> None:
    """`x[index] = value`."""
    parts = _spelled_out(x, index, known)
    if parts is None:
        x[index] = value
        return
    numbers = _numbers(parts, known)
    others = [part for at, part in enumerate(parts) if at not in numbers]
    if not numbers or any(isinstance(part, (torch.Tensor, list)) for part in others):
        x[tuple(parts)] = value
        return
    # A view that has the dims of the numbers, which come first.
    kept = [slice(None) if at in numbers else part for at, part in enumerate(parts)]
    dims = [sum(not isinstance(part, int) for part in kept[:at]) for at in numbers]
    view = x[tuple(kept)].movedim(dims, list(range(len(dims))))
    value = torch.as_tensor(value, dtype=x.dtype, device=x.device) if not isinstance(value, torch.Tensor) else value
    rest = view.shape[len(dims) :]
    while value.dim() > len(rest) and value.shape[0] == 1:
        value = value[0]
    view.index_put_([parts[at][None] for at in numbers], value.to(x.dtype).expand(rest)[None])
