"""Whether two tensors of a trace have the same numbers, as far as that follows from how they were computed.

`torch.equal` of unlike shapes is false. Of two tensors that the same calls have made of the same it is true, which
kernels of Gaussian processes ask of `x / lengthscale` and `y / lengthscale`, where x is y. That a NaN equals nothing is
left out of account.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot
from torch.utils._pytree import tree_flatten, tree_leaves

from .constants import changed

aten = torch.ops.aten
# Their results have the numbers of their first argument.
_SAME = (aten.alias.default, aten.clone.default, aten.detach.default, aten.lift_fresh.default)


def equal(x: torch.Tensor, y: torch.Tensor) -> bool | None:
    """The answer to `torch.equal(x, y)`, None if the numbers of arguments decide it."""
    if x.shape != y.shape:
        return False
    comparison, nodes = _Comparison(), [node_of(x), node_of(y)]
    if not comparison.is_same(*nodes):
        return None
    graphs = {node.graph for node in nodes if isinstance(node, torch.fx.Node)}
    return None if any(comparison.read & _written(graph) for graph in graphs) else True


def node_of(x: torch.Tensor) -> Any:
    """The node that a trace has for a tensor, the tensor itself if it has none."""
    mode = get_proxy_mode()
    slot = None if mode is None else get_proxy_slot(x, mode.tracer, None)
    return x if slot is None else slot.proxy.node


def _places(tree: Any) -> set[int]:
    return {leaf.untyped_storage()._cdata for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)}


def _value(node: Any) -> Any:
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else node


def _written(graph: torch.fx.Graph) -> set[int]:
    """The memory that the calls of a graph have written to."""
    found = set()
    for node in graph.nodes:
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), _value)
        found |= _places(changed(node.target, args, kwargs))
    return found


def _is_function(node: torch.fx.Node) -> bool:
    """Whether a call has the same result whenever its arguments are the same."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return node.op == "call_function"
    return torch.Tag.nondeterministic_seeded not in node.target.tags


class _Comparison:
    """Two tensors, and side by side what they are made of."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()
        # The memory that what has been compared was in.
        self.read: set[int] = set()

    def _behind(self, part: Any) -> Any:
        self.read |= _places(_value(part))
        while isinstance(part, torch.fx.Node) and part.target in _SAME:
            part = part.args[0]
            self.read |= _places(_value(part))
        return part

    def is_same(self, left: Any, right: Any) -> bool:
        """Whether the two are one, or made of the same by the same calls."""
        waiting = [(left, right)]
        while waiting:
            left, right = (self._behind(part) for part in waiting.pop())
            if left is right or (id(left), id(right)) in self.seen:
                continue
            self.seen.add((id(left), id(right)))
            if not isinstance(left, torch.fx.Node) or not isinstance(right, torch.fx.Node):
                if isinstance(left, torch.Tensor) or type(left) is not type(right) or left != right:
                    return False
                continue
            if left.op != "call_function" or left.target is not right.target or not _is_function(left):
                return False
            parts, spec = tree_flatten((left.args, left.kwargs))
            others, other_spec = tree_flatten((right.args, right.kwargs))
            if spec != other_spec:
                return False
            waiting += zip(parts, others)
        return True
