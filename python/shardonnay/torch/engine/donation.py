"""Results in the memory of the arguments that they replace, and of operands that nothing reads any more."""

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
# Other calls whose result shares no memory with their operands. What is not known to be one may return a view.
_OWN = _WRITE_OVER | {
    torch.abs, torch.amax, torch.amin, torch.cat, torch.clone, torch.conv1d, torch.conv2d, torch.conv3d, torch.cos,
    torch.eq, torch.erf, torch.expm1, torch.flip, torch.gather, torch.ge, torch.gt, torch.le, torch.log, torch.log1p,
    torch.logical_and, torch.logical_not, torch.logical_or, torch.lt, torch.matmul, torch.ne, torch.pow, torch.rsqrt,
    torch.sigmoid, torch.sign, torch.sin, torch.stack, torch.sum, torch.where,
}  # fmt: skip
_OWN_METHODS = {"clone"}
_WAIT = torch.ops._c10d_functional.wait_tensor.default


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
        if _is_overwriting(value) and results.count(value) == 1 and _is_last_reader(value, argument, place):
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


def reuse_temporaries(graph: fx.Graph) -> None:
    """Writes what is computed element by element over an operand of the same type that nothing reads from there on:
    fresh memory has to be paged in.
    """
    place = {node: at for at, node in enumerate(graph.nodes)}
    for value in graph.nodes:
        for operand in value.args if _is_overwriting(value) else ():
            if (
                isinstance(operand, fx.Node) and _is_computed(operand)
                and operand.meta.get("type") == value.meta.get("type") is not None
                and _is_last_reader(value, operand, place)
            ):  # fmt: skip
                value.update_kwarg("out", operand)
                break


def _root(node: Any) -> fx.Node:
    """Whose memory a node may show."""
    while node.args and isinstance(node.args[0], fx.Node) and not _has_own_memory(node):
        node = node.args[0]
    return node


def _may_be_an_argument(node: fx.Node) -> bool:
    """A loop that does not run once returns what it was given."""
    source = node.args[0] if node.target is operator.getitem else None
    return isinstance(source, fx.Node) and isinstance(source.target, torch._ops.HigherOrderOperator)


def _is_collective(node: fx.Node) -> bool:
    return getattr(node.target, "namespace", "") == "_c10d_functional"


def _last_read(user: fx.Node, place: dict[fx.Node, int]) -> int:
    """A collective reads until it has been waited for."""
    if _is_collective(user):
        return max((place[waits] for waits in user.users), default=place[user])
    return place[user]


def _has_own_memory(node: fx.Node) -> bool:
    """Or that of an operand which it is written over."""
    return node.target in _OWN or _is_collective(node) or node.op == "call_method" and node.target in _OWN_METHODS


def _is_computed(node: fx.Node) -> bool:
    """In memory of its own, which nobody outside of the graph sees; or that of an operand which it is written over."""
    return node.op == "call_function" and (node.target in _OWN or node.target is _WAIT)


def _is_overwriting(value: fx.Node) -> bool:
    return value.op == "call_function" and value.target in _WRITE_OVER and not value.kwargs


def _is_last_reader(value: fx.Node, operand: fx.Node, place: dict[fx.Node, int]) -> bool:
    """Nothing reads the operand's memory behind `value`, nor while that is written: a view of it may have another
    arrangement.
    """
    readers, seen = [operand], {operand}
    while readers:
        for user in readers.pop().users:
            if user.op == "output" or _last_read(user, place) > place[value]:
                return False
            if user is value or _has_own_memory(user) or user in seen:
                continue
            if value in user.users:
                return False
            seen.add(user)
            readers.append(user)
    return True
