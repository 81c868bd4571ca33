"""Sharding rules of custom calls from Python: how a call that only its author knows may be sharded.

A rule reads like an einsum: `"b s d, d f -> b s f"`. Dims with one name are one factor; along each factor the call
may be sharded, every device then computing with its shards. `(h d)` is a dim of several factors, major first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import ShardonnayError

_TOKEN = re.compile(r"\s*(?:(\w+)|(\()|(\)))")


class RuleError(ShardonnayError, ValueError):
    """A rule that is no rule, or that does not fit its call."""


@dataclass(frozen=True)
class ShardingRule:
    """A rule, and what its text cannot say.

    reduction: factors along which the devices' results are summed.
    replicated: factors along which nothing may be sharded. One that not all results have is taken as such, if it is no
    reduction.
    sizes: of factors that no dim has to itself.
    """

    text: str
    reduction: tuple = ()
    replicated: tuple = ()
    sizes: dict = field(default_factory=dict)


def _dims(text, rule):
    dims, group, at = [], None, 0
    text = text.strip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token:
            raise RuleError(f'rule "{rule}": expected names and parentheses, got "{text[at:]}"')
        name, opens, closes = token.groups()
        at = token.end()
        if (opens and group is not None) or (closes and not group):
            raise RuleError(f'rule "{rule}": parentheses do not match in "{text}"')
        if opens:
            group = []
        elif closes:
            dims.append(tuple(group))
            group = None
        elif group is None:
            dims.append((name,))
        else:
            group.append(name)
    if group is not None:
        raise RuleError(f'rule "{rule}": parentheses do not match in "{text}"')
    return dims


def parse(rule):
    """(operands, results), of each tensor its dims, of each dim its factors."""
    text = rule.text
    sides = text.split("->")
    if len(sides) != 2:
        raise RuleError(f'rule "{text}": expected "operands -> results"')
    return tuple([_dims(tensor, text) for tensor in side.split(",")] if side.strip() else [] for side in sides)


def checked(table):
    """`table`, rules of custom calls by target; TypeError if it cannot be one."""
    example = '{"my_kernel": "b s d, d f -> b s f"}'
    if not isinstance(table, Mapping):
        raise TypeError(f"sharding_rules: expected a dict such as {example}, got {table!r}")
    for rule in table.values():
        if not isinstance(rule, str | ShardingRule):
            raise TypeError(f"sharding_rules: expected a text as in {example}, or a ShardingRule, got {rule!r}")
    return table


def _sizes(rule, tensors, shapes):
    """The size of each factor, from the shapes of the call."""
    sizes = dict(rule.sizes)
    pairs = [(dim, extent) for dims, shape in zip(tensors, shapes) for dim, extent in zip(dims, shape)]
    for _ in pairs:  # each round finds a factor, or nothing is left to find
        for dim, extent in pairs:
            unknown = [factor for factor in dim if factor not in sizes]
            known = 1
            for factor in dim:
                known *= sizes.get(factor, 1)
            if len(unknown) == 1 and extent % known == 0:
                sizes[unknown[0]] = extent // known
            elif not unknown and known != extent:
                raise RuleError(f'rule "{rule.text}": {" ".join(dim)} is {known}, but the dim has {extent}')
    return sizes


def _symbol(number):
    """The name of a factor in `sdy` text: i to z, then z_1 and on."""
    letters = ord("z") - ord("i") + 1
    return chr(ord("i") + number) if number < letters else f"z_{number - letters + 1}"


def attribute(rule, operands, results):
    """The `sdy` text of a rule for a call with these shapes; RuleError if it does not fit."""
    rule = ShardingRule(rule) if isinstance(rule, str) else rule
    sides = parse(rule)
    for kind, tensors, shapes in zip(("operands", "results"), sides, (operands, results)):
        if [len(dims) for dims in tensors] != [len(shape) for shape in shapes]:
            raise RuleError(f'rule "{rule.text}" does not fit {kind} of shapes {[list(shape) for shape in shapes]}')
    tensors = [*sides[0], *sides[1]]
    factors = list(dict.fromkeys(factor for dims in tensors for dim in dims for factor in dim))
    sizes = _sizes(rule, tensors, [*operands, *results])
    unknown = [factor for factor in [*factors, *rule.reduction, *rule.replicated] if factor not in sizes]
    if unknown:
        raise RuleError(f'rule "{rule.text}": the size of {unknown} does not follow from the shapes; give sizes=')
    everywhere = set(factors).intersection(*({factor for dim in dims for factor in dim} for dims in sides[1]))
    replicated = [
        name for name in factors if name in rule.replicated or name not in everywhere and name not in rule.reduction
    ]
    numbers = {name: _symbol(at) for at, name in enumerate(factors)}

    def spell(dims):
        return "[" + ", ".join("".join(numbers[factor] for factor in dim) for dim in dims) + "]"

    def listed(name, selected):
        # Factors are listed in the order of their numbers.
        text = ", ".join(numbers[factor] for factor in factors if factor in selected)
        return f" {name}={{{text}}}" if selected else ""

    left, right = (", ".join(map(spell, side)) for side in sides)
    extents = ", ".join(f"{numbers[factor]}={sizes[factor]}" for factor in factors)
    kinds = listed("reduction", rule.reduction) + listed("need_replication", replicated)
    return f"#sdy.op_sharding_rule<({left})->({right}) {{{extents}}}{kinds}, custom>"
