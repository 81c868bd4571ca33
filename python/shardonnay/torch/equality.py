"""Whether two tensors of a trace have the same numbers, as far as that follows from how they were computed.

`torch.equal` of unlike shapes is false. Of two tensors that the same calls have made of the same it is true, which
kernels of Gaussian processes ask of `x / lengthscale` and `y / lengthscale`, where x is y. That a NaN equals nothing is
left out of account.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from .history import History
from .recording import Token

aten = torch.ops.aten
# Their results have the numbers of their first argument.
_SAME = (aten.alias.default, aten.clone.default, aten.detach.default, aten.lift_fresh.default)


def equal(x: torch.Tensor, y: torch.Tensor) -> bool | None:
    """The answer to `torch.equal(x, y)`, None if the numbers of arguments decide it."""
    if x.shape != y.shape:
        return False
    history = History.current()
    if history is None:
        return True if x is y else None
    comparison = _Comparison(history)
    if not comparison.is_same(history.token(x), history.token(y)):
        return None
    return None if any(map(history.is_written, comparison.read)) else True


class _Comparison:
    """Two tensors, and side by side what they are made of."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.seen: set[tuple[int, int]] = set()
        # What has been compared.
        self.read: set[Token] = set()

    def _behind(self, part: Any) -> Any:
        while isinstance(part, Token):
            self.read.add(part)
            call, _ = self.history.made.get(part, (None, None))
            if call is None or call.op not in _SAME:
                break
            part = call.args[0]
        return part

    def is_same(self, left: Any, right: Any) -> bool:
        """Whether the two are one, or made of the same by the same calls."""
        waiting = [(left, right)]
        while waiting:
            left, right = (self._behind(part) for part in waiting.pop())
            if left is right or (id(left), id(right)) in self.seen:
                continue
            self.seen.add((id(left), id(right)))
            if not isinstance(left, Token) or not isinstance(right, Token):
                if type(left) is not type(right) or left != right:
                    return False
                continue
            behind = self._arguments(left, right)
            if behind is None:
                return False
            waiting += behind
        return True

    def _arguments(self, left: Token, right: Token) -> list[tuple[Any, Any]] | None:
        """Side by side the arguments of the calls that have made the two, None if these are not alike."""
        if left not in self.history.made or right not in self.history.made:
            return None
        (call, part), (other, other_part) = self.history.made[left], self.history.made[right]
        if call.op is not other.op or part != other_part or torch.Tag.nondeterministic_seeded in call.op.tags:
            return None
        parts, spec = tree_flatten((call.args, call.kwargs))
        others, other_spec = tree_flatten((other.args, other.kwargs))
        return list(zip(parts, others)) if spec == other_spec else None
