"""Python that asks whether matrices have Cholesky factors: a program goes on as if they had.

`torch.linalg.cholesky_ex` says in a second result which have none, and models that add something to their diagonals
then ask for it (`if torch.any(info)`). Such matrices have NaNs for factors here.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

aten = torch.ops.aten


class _FurtherNumbersError(Exception):
    """A tensor follows from more than whether matrices have factors."""


def number(node: Any) -> Any:
    """The number that a node asks of a tensor if every matrix has a factor, None if it follows from more than that."""
    if not isinstance(node, torch.fx.Node):
        return None
    try:
        with _disable_current_modes():
            return _found(node, {}).item()
    except _FurtherNumbersError:
        return None


def _is_code(node: torch.fx.Node) -> bool:
    return (
        node.target is operator.getitem
        and node.args[1] == 1
        and getattr(node.args[0], "target", None) is aten.linalg_cholesky_ex.default
    )


def _found(node: torch.fx.Node, found: dict[torch.fx.Node, Any]) -> Any:
    if node in found:
        return found[node]
    if _is_code(node):
        result = torch.zeros(node.meta["val"].shape, dtype=torch.int32)
    elif not isinstance(node.target, torch._ops.OpOverload) or node.target._schema.is_mutable or not node.args:
        raise _FurtherNumbersError
    else:
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda part: _found(part, found))
        result = node.target(*args, **kwargs)
    found[node] = result
    return result
