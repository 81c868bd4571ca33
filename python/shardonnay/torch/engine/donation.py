"""Results in the memory of the arguments that they replace."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from .elements import SMALL_FLOATS, UNSIGNED, TensorType
from .program import Program

# Calls whose result may be written over an operand of the same shape, element by element.
_WRITE_OVER = {
    torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum, torch.neg, torch.sqrt, torch.exp,
    torch.tanh,
}  # fmt: skip
# What may return a view of its first operand.
_VIEWS = {
    "reshape", "permute", "expand", "movedim", "unsqueeze", "squeeze", "transpose", "flatten", "view", "contiguous",
    "to", "unfold", "narrow", "getitem", "getattr", "real", "imag", "view_as_real", "view_as_complex",
}  # fmt: skip


def aliases_of(program: Program) -> dict[int, int]:
    """{input: the result that may take its memory}, where the tensors themselves are alike."""
    found: dict[int, int] = {}
    main = program.main.body
    results = main.ops[-1].operand_types
    for at, entry in enumerate(program.manifest.get("inputs", [])):
        alias, type = entry.get("alias"), main.types[at]
        if alias is None or type != results[alias] or not isinstance(type, TensorType):
            continue
        if type.element not in UNSIGNED and type.element not in SMALL_FLOATS and alias not in found.values():
            found[at] = alias
    return found


def reuse(graph: fx.Graph, aliases: dict[int, int]) -> None:
    """Writes results over arguments: where they are computed, if nothing reads the argument from there on, else at the
    end.
    """
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    output = next(node for node in graph.nodes if node.op == "output")
    results = list(output.args[0])
    place = {node: at for at, node in enumerate(graph.nodes)}
    donated = {inputs[at]: result for at, result in aliases.items()}
    late: list[tuple[fx.Node, int]] = []
    for argument, at in donated.items():
        value = results[at]
        if value is argument:
            continue
        if _may_write_here(value, argument, results, place):
            value.update_kwarg("out", argument)
        else:
            late.append((argument, at))
    with graph.inserting_before(output):
        # What shares memory with an argument is taken out of it before that is written.
        for at, value in enumerate(results):
            root = _root(value)
            if root is not value and root in donated:
                results[at] = graph.call_function(torch.clone, (value,))
            elif (value in donated and donated[value] != at) or _may_be_an_argument(value):
                results[at] = graph.call_function(torch.clone, (value,))
        for argument, at in late:
            results[at] = graph.call_method("copy_", (argument, results[at]))
    output.args = (tuple(results),)
    graph.lint()


def _root(node: Any) -> fx.Node:
    """Whose memory a node may show."""
    while isinstance(node, fx.Node) and _is_view(node):
        node = node.args[0]
    return node


def _may_be_an_argument(node: fx.Node) -> bool:
    """A loop that does not run once returns what it was given."""
    source = node.args[0] if node.target is operator.getitem else None
    return isinstance(source, fx.Node) and isinstance(source.target, torch._ops.HigherOrderOperator)


def _last_read(user: fx.Node, place: dict[fx.Node, int]) -> int:
    """A collective reads until it has been waited for."""
    if getattr(user.target, "namespace", "") == "_c10d_functional":
        return max((place[waits] for waits in user.users), default=place[user])
    return place[user]


def _is_view(node: fx.Node) -> bool:
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return node.op in ("call_method", "call_function") and name in _VIEWS and isinstance(node.args[0], fx.Node)


def _may_write_here(value: fx.Node, argument: fx.Node, results: list[fx.Node], place: dict[fx.Node, int]) -> bool:
    if value.op != "call_function" or value.target not in _WRITE_OVER or value.kwargs or results.count(value) != 1:
        return False
    readers, seen = [argument], {argument}
    while readers:
        for user in readers.pop().users:
            if user.op == "output" or _last_read(user, place) > place[value]:
                return False
            # A view of the argument with another arrangement must not be read while it is written.
            if user is value:
                continue
            if _is_view(user) and user not in seen:
                if value in user.users:
                    return False
                seen.add(user)
                readers.append(user)
    return True
