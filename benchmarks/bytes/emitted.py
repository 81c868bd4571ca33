"""The bytes that a device sends in a program of ours, counted in its text: what the report says, seen from outside.

Every collective counts, the user's own too, a loop's as often as it runs. A ragged_all_to_all, whose data says what it
sends, does not; nor in hlo.py.
"""

import math
import re
from dataclasses import dataclass

from jaxlib.mlir import ir
from shardonnay import engine
from shardonnay.xla import ring_bytes

_KINDS = {
    f"stablehlo.{kind}" for kind in ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")
}


@dataclass(frozen=True)
class Sent:
    """A collective: what it sends in a step, and how often it runs."""

    kind: str
    bytes: float
    times: int
    type: str


def _element_bytes(element):
    text = str(element)
    if text.startswith("complex"):
        return 2 * _element_bytes(ir.ComplexType(element).element_type)
    if text.startswith("f8E"):
        return 1
    return max(int("".join(filter(str.isdigit, text))) / 8, 1 if text == "i1" else 0.5)


def _bytes(kind):
    kind = ir.RankedTensorType(kind)
    return math.prod(kind.shape) * _element_bytes(kind.element_type)


def _group(operation):
    if operation.name == "stablehlo.collective_permute":
        return 2
    groups = operation.attributes["replica_groups"]
    if isinstance(groups, ir.DenseElementsAttr):
        return groups.type.shape[1]
    # JAX 0.11 names the axes of a mesh, which is spelled out before them.
    mesh, axes = str(groups).rsplit(", axes = ", 1)
    sizes = dict(re.findall(r'name = "(\w+)", size = (\d+)', mesh))
    return math.prod(int(sizes[name]) for name in re.findall(r'axis_ref<name = "(\w+)">', axes))


def _constant(value):
    """The integer that `value` is known to be, or None."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.constant":
        return None
    elements = ir.DenseElementsAttr(owner.attributes["value"])
    return int(ir.IntegerAttr(elements.get_splat_value()).value) if elements.is_splat else None


def _step(loop, number):
    """What a turn adds to loop variable `number`, or None."""
    body = loop.regions[1].blocks[0]
    added = body.operations[len(body.operations) - 1].operands[number].owner
    if isinstance(added, ir.Block) or added.name != "stablehlo.add" or added.operands[0] != body.arguments[number]:
        return None
    return _constant(added.operands[1])


def trips(loop):
    """How often the body of a while runs that counts up to a constant, else 1."""
    block = loop.regions[0].blocks[0]
    compare = block.operations[len(block.operations) - 1].operands[0].owner
    if (
        isinstance(compare, ir.Block)
        or compare.name != "stablehlo.compare"
        or "LT" not in str(compare.attributes["comparison_direction"])
    ):
        return 1
    for number, argument in enumerate(block.arguments):
        if compare.operands[0] == argument:
            start, end, step = _constant(loop.operands[number]), _constant(compare.operands[1]), _step(loop, number)
            if None not in (start, end, step) and step > 0:
                return max(0, -(-(end - start) // step))
    return 1


class _Count:
    def __init__(self, module):
        self.functions = {op.name.value: op.operation for op in module.body if op.operation.name == "func.func"}
        self.found = []
        self.visit(self.functions["main"], 1)

    def visit(self, operation, times):
        if operation.name in _KINDS:
            kind, group = operation.name.removeprefix("stablehlo."), _group(operation)
            for result in operation.results:
                self.found.append(
                    Sent(kind, times * ring_bytes(kind, _bytes(result.type), group), times, str(result.type))
                )
        if operation.name in ("func.call", "call"):
            self.visit(self.functions[ir.FlatSymbolRefAttr(operation.attributes["callee"]).value], times)
        inner = times * (trips(operation) if operation.name == "stablehlo.while" else 1)
        for region in operation.regions:
            for block in region:
                for each in block:
                    self.visit(each.operation, inner)


def collectives(text):
    """A Sent for every collective of a program's text."""
    with engine.context(), ir.Location.unknown():
        return _Count(ir.Module.parse(text)).found


def sent_bytes(text):
    return math.fsum(collective.bytes for collective in collectives(text))
