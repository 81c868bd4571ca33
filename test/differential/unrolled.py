"""Loops of a per-device program as copies of their bodies, each of whose collectives has a channel of its own."""

from comparison import ours
from jaxlib.mlir import ir
from shardonnay import engine
from shardonnay.operations import operations


def unrolled(text, trips):
    """The program with `trips` copies of the body in the place of each loop; calls are inlined first."""
    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(ours(text, "builtin.module(sdy-inline-private-functions)"))
        for loop in [operation for operation in operations(module) if operation.name == "stablehlo.while"]:
            _unroll(loop, trips)
        module.operation.verify()
        text = str(module)
    return ours(text, "builtin.module(sdy-number-channels)")


def _unroll(loop, trips):
    values, body = list(loop.operands), loop.regions[1].blocks[0]
    *inside, end = body.operations
    for _ in range(trips):
        known = dict(zip(body.arguments, values, strict=True))
        for operation in inside:
            copy = operation.operation.clone(ip=ir.InsertionPoint(loop))
            for place, operand in enumerate(copy.operands):
                copy.operands[place] = known.get(operand, operand)
            known |= dict(zip(operation.results, copy.results, strict=True))
        values = [known.get(value, value) for value in end.operands]
    for result, value in zip(loop.results, values, strict=True):
        result.replace_all_uses_with(value)
    loop.erase()
