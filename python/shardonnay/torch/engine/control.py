"""Loops, branches and calls. A branch whose condition the device's number decides is decided when the graph is
written.
"""

from __future__ import annotations

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.while_loop import while_loop_op

from .lowering import Lowering, Value, rule
from .program import Block, Op

Lower = Lowering


@rule("func.call", elementwise=True)
def call(lower: Lower, op: Op, *operands: Value) -> Value:
    return _results(op, lower.call_function(op, op.attributes["callee"], operands))


@rule("stablehlo.composite")
def composite(lower: Lower, op: Op, *operands: Value) -> Value:
    return _results(op, lower.call_function(op, op.attributes["decomposition"], operands))


def _results(op: Op, values: list[Value]) -> Value:
    return tuple(values) if len(op.results) != 1 else values[0]


@rule("stablehlo.while")
def while_(lower: Lower, op: Op, *operands: Value) -> Value:
    """What the body returns as it got it is no part of what is carried."""
    condition, body = op.regions
    stays = [returned == argument for returned, argument in zip(body.returned, body.arguments, strict=True)]
    carried = [at for at, same in enumerate(stays) if not same]
    bound = {
        number: value
        for block in op.regions
        for number, value, same in zip(block.arguments, operands, stays, strict=True)
        if same
    }
    if not carried:
        return _results(op, list(operands))  # it does not run, or for ever
    inner = [_without_arguments(block, [block.arguments[at] for at in carried]) for block in op.regions]
    extra, known = lower.captured(inner, bound)
    names = [[block.arguments[at] for at in carried] for block in op.regions]
    functions = [
        lower.region(_returning(block, keep), [*own, *extra], known, one=block is condition)
        for block, own, keep in zip((condition, body), names, ([0], carried), strict=True)
    ]
    initial = tuple(lower.symbolic(operands[at]).contiguous() for at in carried)
    outside = tuple(bound[number] if number in bound else lower.value(number) for number in extra)
    found = lower.call(while_loop_op, functions[0], functions[1], initial, outside)
    results = list(operands)
    for at, value in zip(carried, lower.items(found, len(carried)), strict=True):
        results[at] = value
    return _results(op, results)


def _without_arguments(block: Block, arguments: list[int]) -> Block:
    return Block(arguments, [], block.ops)


def _returning(block: Block, keep: list[int]) -> Block:
    """The block with some of its results."""
    end = block.ops[-1]
    operands = [end.operands[at] for at in keep]
    types = [end.operand_types[at] for at in keep]
    return Block(block.arguments, block.types, [*block.ops[:-1], Op(end.name, operands, types, [], [], {}, [])])


@rule("stablehlo.if")
def if_(lower: Lower, op: Op, condition: Value) -> Value:
    then, otherwise = op.regions
    if isinstance(condition, torch.Tensor):
        return _results(op, lower.run(then if bool(condition) else otherwise, ()))
    return _branch(lower, op, condition, then, otherwise)


def _branch(lower: Lower, op: Op, condition: Value, then: Block, otherwise: Block) -> Value:
    if not op.results:
        return ()
    extra, known = lower.captured([then, otherwise], {})
    functions = [lower.region(block, extra, known) for block in (then, otherwise)]
    values = tuple(lower.value(number) for number in extra)
    return _results(op, lower.items(lower.call(cond_op, condition, *functions, values), len(op.results)))


@rule("stablehlo.case")
def case(lower: Lower, op: Op, index: Value) -> Value:
    """An index out of bounds means the last branch."""
    count = len(op.regions)
    if isinstance(index, torch.Tensor):
        at = int(index)
        return _results(op, lower.run(op.regions[at if 0 <= at < count else count - 1], ()))
    if count == 1:
        return _results(op, lower.run(op.regions[0], ()))
    return _cases(lower, op, index, op.regions, 0)


def _cases(lower: Lower, op: Op, index: Value, regions: list[Block], first: int) -> Value:
    """The first branch or, in a branch of its own, the others."""
    if len(regions) == 2:
        return _branch(lower, op, index == first, *regions)
    rest = Op(
        "stablehlo.case", op.operands, op.operand_types, op.results, op.result_types, {}, regions[1:], op.location
    )
    shifted = Op("engine.decrement", op.operands, op.operand_types, [-1 - op.operands[0]], op.operand_types, {}, [])
    rest.operands = shifted.results
    # Values are numbered once in a program; the count that has gone down is known to this region alone.
    otherwise = Block([], [], [shifted, rest, Op("stablehlo.return", op.results, op.result_types, [], [], {}, [])])
    return _branch(lower, op, index == first, regions[0], otherwise)


@rule("engine.decrement")
def decrement(lower: Lower, op: Op, x: Value) -> Value:
    """What is out of bounds stays there: below zero is as good as far above."""
    return torch.where(x < 0, 2**31 - 1, x - 1).to(op.tensor().dtype)
