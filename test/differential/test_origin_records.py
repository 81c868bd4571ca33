"""Where axes come from: `sdy.sharding_origins` and `sdy.propagation_edges` of random graphs, ours against jaxlib's.

Where they differ, a row of RULES says why. Groups crash jaxlib here, and its verifier refuses what it writes at loops.
"""

import re
from collections import Counter

import pytest
from comparison import TAG, ours, tagged, theirs
from jaxlib.mlir import ir
from random_graphs import MORE_OPS, OPS, Program
from shardonnay import engine
from shardonnay.operations import operations

DEBUG = "{debug-sharding-origins=true debug-propagation-edge-sharding=true}"
PASSES = (
    f"builtin.module(sdy-add-data-flow-edges,sdy-apply-sharding-constraints{DEBUG},sdy-user-priority-propagate{DEBUG})"
)
KINDS = [op for op in OPS + MORE_OPS if op.__name__ not in ("group", "loop", "branches")]
RECORDS = ("sdy.sharding_origins", "sdy.propagation_edges")
ALLOWED = 0.01  # of the records: the same axes by another of two ways


def graph(seed):
    return Program(f"why {seed}", even=seed % 4 > 0, priorities=seed % 3 == 0, ops=KINDS, length=14).text()


def records(text):
    """{(op's number, which record): its text}, of every op that both compilers keep, and of the arguments of @main."""
    found = {}
    with engine.context():
        module = ir.Module.parse(text)
        for operation in operations(module):
            if operation.name == "func.func":
                if "arg_attrs" in operation.attributes:
                    for i, entry in enumerate(operation.attributes["arg_attrs"]):
                        found[f"argument {i}", RECORDS[0]] = str(entry[RECORDS[0]]) if RECORDS[0] in entry else None
            elif TAG in operation.attributes:
                number = ir.IntegerAttr(operation.attributes[TAG]).value
                for record in RECORDS:
                    found[number, record] = (
                        str(operation.attributes[record]) if record in operation.attributes else None
                    )
    return found


def without_steps(record):
    """Steps are counted from another number where the one compiler wrote one that the other did not."""
    return record and re.sub(r"step-\d+", "step", record)


def axes(record):
    return set(
        re.findall(r'"?(\w+(?::\(\d+\)\d+)?)"? = "?(?:operand|result|input|output|constraint|self)', record or "")
    )


RULES = {
    "theirs lists axes that the sharding does not have in the end": lambda mine, other: mine is not None
    and axes(mine) < axes(other),
    "an op's own sharding has the name op_N; theirs prints an empty one": lambda mine, other: "op_" in (mine or "")
    or '""' in (other or ""),
    "an axis given at an argument is its own; theirs names a constraint that has it too": lambda mine, other: bool(
        re.search('"self"|"input: ', mine or "")
    )
    and "constraint_" in (other or ""),
    "the number of a step": lambda mine, other: without_steps(mine) == without_steps(other),
}


def compare(seeds):
    """(records, {rule: differences}, what no rule explains)"""
    count, explained, unexplained = 0, Counter(), []
    for seed in seeds:
        text = tagged(graph(seed))
        mine, other = records(ours(text, PASSES)), records(theirs(text, PASSES))
        for key in mine.keys() & other.keys():
            count += bool(mine[key] or other[key])
            if mine[key] == other[key]:
                continue
            rule = next((rule for rule, explains in RULES.items() if explains(mine[key], other[key])), None)
            explained[rule] += 1
            if rule is None:
                unexplained.append((seed, key, mine[key], other[key]))
    return count, explained, unexplained


def check(seeds, record_property):
    count, explained, unexplained = compare(seeds)
    record_property("records", count)
    print(f"{len(seeds)} programs, {count} records, differences: {dict(explained)}")
    assert count > 5 * len(seeds)
    assert len(unexplained) <= ALLOWED * count, unexplained[:5]


def test_thirty_programs(record_property):
    check(range(30), record_property)


@pytest.mark.long
def test_more_programs(record_property):
    check(range(30, 44), record_property)  # jaxlib crashes on the next one
