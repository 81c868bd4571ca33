"""Finds gathers because an op can't be computed sharded, of which no warning says so; shares no code with the stage.

Reads the program as it is behind `reshard` (text), with jaxlib's MLIR, and each op's sharding rule as sdy-opt prints
it. A reshard gathers if a dim of its result is sharded less than that of its operand, and than propagation left it:
where a constraint of the user makes the dim whole, one reshard does both. The op that uses it can't be computed sharded
if it has no rule, or if a dim that is sharded less consists of factors that it needs whole. Then a warning that names
the op has to be at it.

A window that is all of a sharded dim is such a gather too. It is read from the program of a device; one behind a
collective has its cause, and one of parts that devices made themselves, one each, is how reductions of many tensors are
exchanged.
"""

import re
import sys
from collections import Counter
from contextlib import contextmanager
from math import prod
from pathlib import Path

from jaxlib.mlir import ir
from shardonnay.operations import operations

sys.path.append(str(Path(__file__).parents[2] / "e2e/training_steps"))
from rematerialisations import Rule, axes_per_dim, axis_size, generic, sharding_of, with_rules

# They say how their values are sharded, whatever computes them.
PASSED_ON = ("return", "stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.optimization_barrier")


def axes_of(value):
    """Axes per dim of a value: an argument of a function, or of a result."""
    owner = value.owner
    if not isinstance(owner, ir.Block):
        return axes_per_dim(str(owner.attributes["sharding"])) if owner.name == "sdy.reshard" else sharding_of(value)
    parent = owner.owner.operation
    if parent.name != "func.func" or "arg_attrs" not in parent.attributes:
        return []
    attributes = parent.attributes["arg_attrs"][ir.BlockArgument(value).arg_number]
    return axes_per_dim(str(attributes["sdy.sharding"])) if "sdy.sharding" in attributes else []


def shard_size(shape, axes, sizes):
    """How many elements a device has of it."""
    counts = [prod(axis_size(axis, sizes) for axis in each) for each in axes] or [1] * len(shape)
    return prod(-(-size // count) for size, count in zip(shape, counts))


def shards(axes, sizes):
    return prod(axis_size(axis, sizes) for each in axes for axis in each)


def given_up(shape, before, after, sizes):
    """The dims that are whole with the axes `after`, if devices then have more, and not by padding alone."""
    if shard_size(shape, before, sizes) >= shard_size(shape, after, sizes) or shards(before, sizes) <= shards(
        after, sizes
    ):
        return set()
    return {dim for dim, (axes, kept) in enumerate(zip(before, after or [[]] * len(shape))) if axes and not kept}


@contextmanager
def parsed(text):
    """A program as sdy-opt prints it: its ops in generic form, as jaxlib's MLIR does not know all of them."""
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        yield ir.Module.parse(text)


def numbered(text):
    """The program, with a number at every op that stays there through all passes."""
    with parsed(generic(text)) as module:
        for number, operation in enumerate(operations(module)):
            operation.attributes["audit.op"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
        return module.operation.get_asm(print_generic_op_form=True)


def number_of(operation):
    return ir.IntegerAttr(operation.attributes["audit.op"]).value if "audit.op" in operation.attributes else None


def operand_axes(text):
    """{(number of an op, number of an operand): its axes per dim} of a program that `numbered` gave numbers to."""
    with parsed(generic(text)) as module:
        return {
            (number_of(operation), i): axes_of(operand)
            for operation in operations(module)
            for i, operand in enumerate(operation.operands)
        }


def gathered_for(text, wanted={}):
    """Counter of the names of the ops that a tensor is gathered for because they can't be computed on its shards.

    wanted: how propagation left operands, where that matters (of `operand_axes`).
    """
    found = Counter()
    sizes = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', text.partition("func.func")[0])}
    with parsed(with_rules(text)) as module:
        for operation in operations(module):
            if operation.name == "sdy.reshard":
                shape = ir.RankedTensorType(operation.results[0].type).shape
                before, after = axes_of(operation.operands[0]), axes_of(operation.results[0])
                dims = given_up(shape, before, after, sizes)
                for use in operation.results[0].uses:
                    meant = wanted.get((number_of(use.owner.operation), use.operand_number), before)
                    found.update(demanded(use, dims & given_up(shape, meant, after, sizes)))
    return found


def elements(value):
    return prod(ir.RankedTensorType(value.type).shape)


def demanded(use, dims):
    """[the name of the op that uses it], if that is why `dims` are sharded less."""
    user = use.owner.operation
    if len(user.results) == 1 and re.search(r"[<x]0x", str(user.results[0].type)):
        return []  # it computes nothing
    name = user.name
    if not dims or name.startswith("sdy.") or any(name.endswith(end) for end in PASSED_ON):
        return []
    if name == "stablehlo.select_and_scatter" and use.operand_number == 1:
        return []  # propagation sees its windows on their own; they are computed on shards where the operand's are
    if name in ("stablehlo.gather", "stablehlo.torch_index_select") and 2 * elements(user.results[0]) <= elements(
        user.operands[0]
    ):
        return []  # what devices find can be summed; propagation does not see it, and the gather is the cheaper one
    if "sdy.sharding_rule" not in user.attributes:
        return [name]
    text = str(user.attributes["sdy.sharding_rule"])
    factors = Rule(text).tensors[use.operand_number]
    whole = {factor.strip() for found in re.findall(r"need_replication=\{(.*?)\}", text) for factor in found.split(",")}
    return [name] if any(factors and set(factors[dim]) <= whole for dim in dims) else []


def warned(compiled):
    """The names of the ops that are said to gather."""
    said = (
        re.match(r"op '([\w.]+)' cannot be computed sharded.* bytes per device", d.message)
        for d in compiled.diagnostics
    )
    return {match[1] for match in said if match}


WINDOW = re.compile(
    r"spmd\.fetch_window \S+ dim=(\d+) global_size=(\d+) start=(-?\d+) step=(-?\d+) size=(\d+) @\w+ \{(.*?)\}(.*?) : "
    r"\(tensor<((?:\d+x)*)"
)
AXIS = re.compile(r'"(\w+)"(?::\(\d+\)(\d+))?')


def whole_windows(text):
    """How many windows, in the program of a device, are all of a dim that has more than one shard."""
    sizes = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', text.partition("func.func")[0])}
    found = 0
    for line in text.splitlines():
        match = WINDOW.search(line)
        if not match or " to {" in match[7]:
            continue
        cause = re.search(r'sdy\.cause = "(.*?)"', line)
        if cause and not cause[1].startswith("what '"):  # of a collective that it belongs to
            continue
        dim, size, start, step, length = map(int, match.groups()[:5])
        shards = prod(int(part or sizes[name]) for name, part in AXIS.findall(match[6]))
        local = [int(each) for each in match[8].split("x") if each]
        covers = any(start + step * i <= 0 and start + step * i + length >= size for i in range(shards))
        found += shards > 1 and size > 1 and prod(local) > 0 and covers
    return found


# Rules say that these need a dim whole, which propagation reads; they are computed on shards of it all the same.
# Lookups are where that costs no more than to gather what is looked up in: test/e2e and models/StableHLO/test hold
# where.
LOOKUPS = {"stablehlo.scatter", "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"}
SHARDED_ALL_THE_SAME = {
    "stablehlo.concatenate", "stablehlo.batch_norm_training", "stablehlo.batch_norm_grad", "stablehlo.reduce", *LOOKUPS,
}


def silent(text, compile):
    """What is gathered, by the name of the op, of which the warnings of `compile(text, to)` do not say so."""
    said = warned(compile(text))
    spoken_for = said | SHARDED_ALL_THE_SAME
    found = [name for name in gathered_for(compile(text, to="reshard").text) if name not in spoken_for]
    if found:
        text = numbered(text)
        wanted = operand_axes(compile(text, to="propagate").text)
        found = [name for name in gathered_for(compile(text, to="reshard").text, wanted) if name not in spoken_for]
    if whole_windows(compile(text, to="partition").text) and not said:
        found.append("a window")
    return found
