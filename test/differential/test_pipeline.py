"""Our sdy-propagation-pipeline against jaxlib's: JAX programs and random graphs, every tensor's sharding equal.

Where they differ on purpose, a row of the table in docs/design/propagation.md says why; every other difference fails.
"""

from collections import Counter
from functools import cached_property
from pathlib import Path

import jax_programs
import pytest
from bodies import as_barriers
from comparison import Refused, differences, ours, shardings, tagged, their_halves, their_pipeline, theirs
from random_graphs import MORE_OPS, OPS, Program
from structure import STRUCTURE

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/design/propagation.md"
ALLOWED = 0.01  # of all tensors
ALLOWED_IN_SUBSET = 0.03


def graph(seed):
    return Program(f"graph {seed}", even=seed % 8 > 0, priorities=seed % 3 == 0, ops=OPS + MORE_OPS, length=20).text()


def structured(seed):
    """With bodies: half of the ops, besides those that groups and constraints make."""
    ops = OPS + STRUCTURE * 4
    return Program(f"structured {seed}", even=seed % 8 > 0, priorities=seed % 3 == 0, ops=ops, length=16).text()


PROGRAMS = jax_programs.programs(168) | {f"graph {seed}": graph(seed) for seed in range(160)}
PROGRAMS |= {f"structured {seed}": structured(seed) for seed in range(120)}
SUBSET = list(PROGRAMS)[::7]


class Compared:
    """The text that is compared."""

    def __init__(self, tagged):
        self.tagged = tagged

    @cached_property
    def agrees_without_bodies(self):
        """All tensors do, where barriers stand for bodies; and there are some."""
        start, rest = their_halves()
        imported = theirs(self.tagged, start)
        program = as_barriers(imported)
        count, found = differences(shardings(ours(program, rest)), shardings(theirs(program, rest)))
        assert count
        return program != imported and not found


def goes_with_the_bodies(compared, what, place, mine, other):
    return compared.agrees_without_bodies


# Rows of the table, by the name in their first column.
RULES = {"edges of bodies": goes_with_the_bodies}


def documented():
    table = DOCUMENT.read_text().split("## Where ours differs")[1].split("\n## ")[0]
    return {row.split("|")[1].strip() for row in table.splitlines() if row.startswith("| ")} - {"rule", "---"}


def test_every_rule_is_documented():
    assert documented() == set(RULES)


def compare(names):
    """(tensors, {rule: differences}, what no rule explains)"""
    other = their_pipeline()
    tensors, explained, unexplained = 0, Counter(), []
    for name in names:
        text = PROGRAMS[name]
        try:
            text = tagged(text, keep_calls=name.startswith("structured"))
            count, found = differences(shardings(ours(text, other)), shardings(theirs(text, other)))
        except Refused as refusal:
            unexplained.append((name, str(refusal)))
            continue
        compared, tensors = Compared(text), tensors + count
        for difference in found:
            rule = next((rule for rule, explains in RULES.items() if explains(compared, *difference)), None)
            explained[rule] += rule is not None
            if rule is None:
                unexplained.append((name, difference))
    return tensors, explained, unexplained


def check(names, allowed, record_property):
    tensors, explained, unexplained = compare(names)
    record_property("tensors", tensors)
    record_property("differences", str(dict(explained)))
    print(f"{len(names)} programs, {tensors} tensors, differences: {dict(explained)}")
    assert not unexplained, f"{len(unexplained)} of {tensors}: {unexplained[:5]}"
    assert sum(explained.values()) <= allowed * tensors


# An axis reaches the operand of a body after the edge into the body was visited.
LATE = """sdy.mesh @mesh = <["a"=2]>
func.func @main(%0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %1 = sdy.named_computation<"f">(%0) (%2: tensor<8xf32>) {
    %3 = sdy.data_flow_edge %2 : tensor<8xf32>
    sdy.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %4 = sdy.data_flow_edge %1 : tensor<8xf32>
  %5 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %4, %5 : tensor<8xf32>, tensor<8xf32>
}"""


def test_a_sweep_of_theirs_leaves_edges_of_bodies():
    """Ours is done after one run of a pass, theirs after two; with a barrier in the body's place it is after one."""
    once = "builtin.module(sdy-basic-propagate)"

    def results(run, text):
        return shardings(run(text, once))["res_attrs"][0]

    assert results(ours, LATE) == results(theirs, theirs(LATE, once)) == results(theirs, as_barriers(LATE))
    assert results(theirs, LATE)[0] is None and None not in results(ours, LATE)


def test_there_are_three_hundred():
    assert len(PROGRAMS) >= 300


def test_some_programs(record_property):
    check(SUBSET, ALLOWED_IN_SUBSET, record_property)


@pytest.mark.long
def test_all_programs(record_property):
    check(PROGRAMS, ALLOWED, record_property)
