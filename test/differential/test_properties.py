"""What propagation promises, on random programs: idempotent, deterministic, monotone."""

import itertools
import re

import pytest
from comparison import SDY_OPT, ours, tagged
from random_graphs import MORE_OPS, OPS, Program

IMPORT = "builtin.module(sdy-import-pipeline)"
PROPAGATE = "builtin.module(sdy-user-priority-propagate)"
assert SDY_OPT.exists()


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
    return [re.findall(r'"[^,]+', dim.replace("?", "")) for dim in re.findall(r"\{([^{}]*)\}", sharding)]



def is_prefix(first, second):
    """Of axes, major to minor; a sub-axis is a prefix of its axis."""
    for one, other in itertools.zip_longest(first, second):
        if one is None:
            return True
        if one != other:
            name = one.split(":")[0]
            return other is not None and other.split(":")[0] == name and len(first) == first.index(one) + 1
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_monotone(seed):
    """No given axis is lost: what import leaves on a value is a prefix of what it has afterwards."""
    before = imported(seed)
    after = ours(before, PROPAGATE)
    kept = 0
    for old, new in zip(carriers(before), carriers(after), strict=True):
        for value in old.keys():
            assert value in new, value
            for first, second in zip(old[value], new[value], strict=True):
                assert is_prefix(first, second), (value, first, second)
                kept += len(first)
    if not kept:
        pytest.skip("nothing was given")


def carriers(text):
    """By line: {what carries a sharding: its dims}; an argument by its name, an op by its tag, an edge by its place."""
    found = []
    for line in without_records(text).splitlines():
        entries = {}
        if "func.func" in line:
            for place, part in enumerate(re.split(r"tensor<[^>]*>", line)[1:]):
                sharding = re.search(r"<@mesh, \[(.*?)\]", part)
                if sharding:
                    entries[place] = dims(sharding[1])
        else:
            for place, sharding in enumerate(re.findall(r"<@mesh, \[(.*?)\]", line)):
                entries[place] = dims(sharding)
        found.append(entries)
    return found


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 10))])
def test_deterministic(seed):
    """A hundred runs, each in its own process with its own addresses."""
    text = imported(seed)
    first = ours(text, PROPAGATE)
    assert all(ours(text, PROPAGATE) == first for _ in range(99))
