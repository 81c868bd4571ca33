"""Python that asks whether matrices have Cholesky factors: a program goes on as if they had.

`torch.linalg.cholesky_ex` says in a second result which have none, and models that add something to their diagonals
then ask for it (`if torch.any(info)`). Such matrices have NaNs for factors here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .history import History
from .recording import Token, mapped

aten = torch.ops.aten


class _FurtherNumbersError(Exception):
    """A tensor follows from more than whether matrices have factors."""


def number(x: torch.Tensor) -> Any:
    """The number of a tensor if every matrix has a factor, None if it follows from more than that."""
    history = History.current(with_call_of=aten.linalg_cholesky_ex.default)
    if history is None:
        return None
    try:
        with _disable_current_modes():
            return _found(history.token(x), history, {}).item()
    except _FurtherNumbersError:
        return None


def _found(token: Token, history: History, found: dict[Token, Any]) -> Any:
    if token in found:
        return found[token]
    call, part = history.made.get(token, (None, None))
    if call is None or history.is_written(token):
        raise _FurtherNumbersError
    if call.op is aten.linalg_cholesky_ex.default and part == 1:
        result = torch.zeros(token.type.shape, dtype=torch.int32)
    elif not call.args:
        raise _FurtherNumbersError
    else:
        args, kwargs = mapped([call.args, call.kwargs], Token, lambda leaf: _found(leaf, history, found))
        result = call.op(*args, **kwargs)
        result = result if part is None else result[part]
    found[token] = result
    return result
