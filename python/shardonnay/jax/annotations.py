"""What users say of a program beyond JAX's words: priorities of shardings, and sharding rules of custom calls.

JAX carries shardings only. The rest is written into the lowered module, before it is compiled.
"""

import re
from dataclasses import dataclass, field, replace

import jax
from jax.extend.mlir import ir
from jax.sharding import Sharding

from ..operations import operations
from . import arguments, artefacts, rules
from .shardings import ShardingError

_SCOPE = "shardonnay.priority"
_SCOPED = re.compile(rf"{re.escape(_SCOPE)}\[([-\d,]*)\]")
_DIM = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Prioritized:
    """A sharding with the rounds of propagation in which its dims' axes count: 0 first. See `prioritized`."""

    sharding: Sharding
    priorities: tuple

    def __post_init__(self):
        if not all(number is None or isinstance(number, int) and number >= 0 for number in self.priorities):
            raise ShardingError(f"priorities: expected numbers from 0, or None, got {list(self.priorities)}")


def prioritized(sharding, *priorities):
    """In `in_shardings` or `out_shardings`, a sharding whose axes propagate by priority.

    priorities: one for all dims, or one for each; None for none, which is 0. Axes of a lower number propagate first.
    """
    return Prioritized(sharding, priorities)


def constrain(x, sharding, *priorities):
    """`jax.lax.with_sharding_constraint` with priorities, as `prioritized` has them."""
    numbers = Prioritized(sharding, priorities).priorities
    with jax.named_scope(f"{_SCOPE}[{','.join('-' if number is None else str(number) for number in numbers)}]"):
        return jax.lax.with_sharding_constraint(x, sharding)


def is_leaf(leaf):
    """For trees of shardings with priorities among them."""
    return leaf is None or isinstance(leaf, Prioritized)


def plain(tree):
    """A tree of shardings as JAX takes it."""
    return jax.tree.map(lambda leaf: leaf.sharding if isinstance(leaf, Prioritized) else leaf, tree, is_leaf=is_leaf)


def priorities(tree, full):
    """The priorities of each leaf of the tree `full`, by the prefix `tree` of shardings; [] if there are none."""
    if not any(isinstance(leaf, Prioritized) for leaf in jax.tree.leaves(tree, is_leaf=is_leaf)):
        return []
    found = arguments.spread(tree, full, is_leaf)
    return [leaf.priorities if isinstance(leaf, Prioritized) else () for leaf in found]


def with_priorities(text, numbers):
    """The `sdy` text of a sharding with priorities on the dims that have axes or may get some."""
    head, dims, tail = re.fullmatch(r"(.*?\[)(.*?)(\].*)", text, re.DOTALL).groups()
    found = _DIM.findall(dims)
    if len(numbers) == 1:
        numbers = numbers * len(found)
    if len(numbers) != len(found):
        raise ShardingError(f"{len(numbers)} priorities, expected one or as many as dims: {text}")
    spelled = [
        f"{{{dim}}}p{number}" if number is not None and dim.strip() else f"{{{dim}}}"
        for dim, number in zip(found, numbers)
    ]
    return f"{head}{', '.join(spelled)}{tail}"


def _sharding_with(attribute, numbers):
    return ir.Attribute.parse(with_priorities(str(attribute), numbers))


def _annotate_boundary(main, kind, found):
    if not found:
        return
    entries = []
    for attributes, numbers in zip(main.attributes[kind], found, strict=True):
        entry = {item.name: item.attr for item in attributes}
        if numbers and "sdy.sharding" in entry:
            entry["sdy.sharding"] = _sharding_with(entry["sdy.sharding"], numbers)
        entries.append(ir.DictAttr.get(entry))
    main.attributes[kind] = ir.ArrayAttr.get(entries)


def _shapes(values):
    return [tuple(value.type.shape) for value in values]


def _annotate_op(operation, table, used):
    if operation.name == "sdy.sharding_constraint":
        scoped = _SCOPED.findall(str(operation.location))
        if scoped:
            numbers = [None if number == "-" else int(number) for number in scoped[-1].split(",")]
            operation.attributes["sharding"] = _sharding_with(operation.attributes["sharding"], numbers)
    elif operation.name == "stablehlo.custom_call":
        target = operation.attributes["call_target_name"].value
        if target in table:
            used.add(target)
            try:
                text = rules.attribute(table[target], _shapes(operation.operands), _shapes(operation.results))
            except rules.RuleError as error:
                artefacts.refuse(operation.location, f"'{target}': {error}")
            operation.attributes["sdy.sharding_rule"] = ir.Attribute.parse(text)


@dataclass(frozen=True)
class Notes:
    """What is to be written into a lowered module.

    arguments, results: their priorities, flat, or empty. table: rules of custom calls by target, all of which the
    program calls if it is `complete`.
    """

    arguments: tuple = ()
    results: tuple = ()
    table: dict = field(default_factory=dict)
    complete: bool = True

    def within(self):
        """What is to be written elsewhere than at arguments and results."""
        return replace(self, arguments=(), results=())


def annotated(lowered, notes):
    """The text of a lowered program with the user's priorities and rules."""
    text = lowered.as_text(debug_info=True)
    if not (notes.arguments or notes.results or notes.table or _SCOPE in text):
        return text
    module = lowered.compiler_ir("stablehlo")
    with module.context, ir.Location.unknown():
        copy = ir.Module.parse(module.operation.get_asm(enable_debug_info=True))  # JAX may lower the same module again
        main = artefacts.main_of(copy)
        _annotate_boundary(main, "arg_attrs", notes.arguments)
        _annotate_boundary(main, "res_attrs", notes.results)
        used = set()
        for operation in operations(copy):
            _annotate_op(operation, notes.table, used)
        missing = sorted(set(notes.table) - used)
        if missing and notes.complete:
            raise rules.RuleError(f"sharding_rules: the program has no custom call of {missing}")
        return copy.operation.get_asm(enable_debug_info=True)
