"""What propagation promises, on random programs: idempotent, deterministic, monotone."""

import itertools
import re

import pytest
from comparison import ours, shardings, tagged
from random_graphs import MORE_OPS, OPS, Program

IMPORT = "builtin.module(sdy-import-pipeline)"
PROPAGATE = "builtin.module(sdy-user-priority-propagate)"


def imported(seed):
    program = Program(f"property {seed}", seed % 2 == 0, priorities=seed % 3 == 0, ops=OPS + MORE_OPS, length=20)
    return ours(tagged(program.text()), IMPORT)


SEEDS = [*range(12), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(12, 120))]


def without_records(text):
    """Without what export wants to know of a boundary's sharding before propagation: a second run can't know it."""
    return re.sub(r"sdy.given_sharding = #sdy.sharding<.*?\](?:, \w+=\{.*?\})*>, ", "", text)


@pytest.mark.parametrize("seed", SEEDS)
def test_idempotent(seed):
    once = without_records(ours(imported(seed), PROPAGATE))
    assert without_records(ours(once, PROPAGATE)) == once


def dims(sharding):
    return [re.findall(r'"[^,]+', dim) for dim in re.findall(r"\{([^{}]*)\}", re.search(r"\[(.*?)\]", sharding)[1])]


def is_prefix(first, second):
    """Of axes, major to minor; a sub-axis is a prefix of its axis."""
    for place, (one, other) in enumerate(itertools.zip_longest(first, second)):
        if one != other:
            is_last = place == len(first) - 1
            return one is None or (is_last and other is not None and one.split(":")[0] == other.split(":")[0])
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_monotone(seed):
    """No given axis is lost: what import leaves on a value is a prefix of what it has afterwards."""
    text = imported(seed)
    before, after = shardings(text), shardings(ours(text, PROPAGATE))
    kept = 0
    for what, copies in before.items():
        if len(copies) > 1:  # a constant's, and nothing tells which is which
            continue
        for given, found in zip(copies[0], after[what][0], strict=True):
            for first, second in zip(dims(given), dims(found), strict=True) if given else ():
                assert is_prefix(first, second), (what, given, found)
                kept += len(first)
    if not kept:
        pytest.skip("nothing was given")


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 10))])
def test_deterministic(seed):
    """A hundred runs, each in its own process with its own addresses."""
    text = imported(seed)
    first = ours(text, PROPAGATE)
    assert all(ours(text, PROPAGATE) == first for _ in range(99))
