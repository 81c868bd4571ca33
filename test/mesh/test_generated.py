"""Random programs in real processes: the numbers of one process without shardings.

The long test runs SHARDONNAY_MESH_PROGRAMS of them (300) for each number of ranks and MPI, from seed
SHARDONNAY_MESH_SEED (0) on.
"""

import os

import batch
import pytest
import shardonnay
from generate import program
from shardonnay import mpi as package

COUNT = int(os.environ.get("SHARDONNAY_MESH_PROGRAMS", "300"))
FIRST = int(os.environ.get("SHARDONNAY_MESH_SEED", "0"))
TOGETHER = 30  # in one run of MPI


def wrong(seeds, ranks, mpi):
    """What is wrong, by seed, with the program."""
    texts = [program(seed, ranks) for seed in seeds]
    expected = batch.run(texts, package.find(), whole=True)
    found = batch.run(texts, mpi)
    told = {}
    for seed, text, output, wanted in zip(seeds, texts, found, expected, strict=True):
        said = next((str(each) for each in (wanted, output) if isinstance(each, Exception)), None)
        said = said or batch.disagreement(output, wanted, exact=True)
        if said:
            told[seed] = f"{said[:400]}\n{text}"
    return told


def check(seeds, ranks, mpi):
    told = {}
    for first in range(0, len(seeds), TOGETHER):
        told |= wrong(seeds[first : first + TOGETHER], ranks, mpi)
    assert not told, f"{len(told)} of {len(seeds)}: " + "\n".join(f"seed {seed}: {said}" for seed, said in told.items())


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_some(ranks, mpi):
    check(range(100 * ranks, 100 * ranks + 8), ranks, mpi)


def test_what_is_no_tensor_has_no_sharding():
    """A shape among the operands of what is added up was looked up as a sharding, out of bounds."""
    assert shardonnay.compile(program(119, 4), target="mpi").text


@pytest.mark.long
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_many(ranks, mpi):
    check(range(FIRST, FIRST + COUNT), ranks, mpi)
