"""Named and manual computations as optimization barriers: the edges into and out of a body become those of barriers.

jaxlib's propagation does not look at an edge of a body again, in one sweep, when what flows into it changes; at one of
a barrier it does. A difference that goes with the bodies is that one.
"""


from jaxlib.mlir import ir
from origins import SHARDING
from shardonnay import engine
from shardonnay.operations import operations

BODIES = ("sdy.named_computation", "sdy.manual_computation")


def as_barriers(text):
    """An imported program without bodies; those of manual computations, which work element by element, on whole
    tensors.
    """
    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for operation in [operation for operation in operations(module) if operation.name in BODIES][::-1]:
            dissolve(operation)
        module.operation.verify()
        return str(module)


def barrier(value, before):
    """A barrier behind `value`: what it returns."""
    return ir.Operation.create(
        "stablehlo.optimization_barrier", results=[value.type], operands=[value], ip=ir.InsertionPoint(before)
    ).results[0]


def dissolve(operation):
    block, is_manual = operation.regions[0].blocks[0], operation.name == "sdy.manual_computation"
    given = SHARDING.findall(str(operation.attributes["in_shardings"])) if is_manual else []
    for argument, operand in zip(block.arguments, operation.operands, strict=True):
        (use,) = argument.uses  # its edge
        if is_manual:
            use.owner.attributes["sharding"] = ir.Attribute.parse(f"#sdy.sharding{given[argument.arg_number]}")
            argument.set_type(operand.type)
        argument.replace_all_uses_with(barrier(operand, operation))
    *inside, end = block.operations
    for each in inside:
        each.move_before(operation)
        if is_manual:
            each.results[0].set_type(operation.operands[0].type)
    for result, value in zip(operation.results, list(end.operands), strict=True):
        result.replace_all_uses_with(barrier(value, operation))
    operation.erase()
