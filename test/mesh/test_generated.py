"""Random programs in real processes: the numbers of one process without shardings, or a located refusal.

SHARDONNAY_MESH_PROGRAMS says how many for each number of ranks and MPI (30), SHARDONNAY_MESH_SEED where they begin (0).
"""

import os

import batch
import pytest
from generate import program
from shardonnay import mpi as package

COUNT = int(os.environ.get("SHARDONNAY_MESH_PROGRAMS", "30"))
FIRST = int(os.environ.get("SHARDONNAY_MESH_SEED", "0"))


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_generated(ranks, mpi):
    seeds = range(FIRST, FIRST + COUNT)
    texts = [program(seed, ranks) for seed in seeds]
    expected = batch.run(texts, package.find(), whole=True)
    found = batch.run(texts, mpi)
    wrong = {}
    for seed, text, output, wanted in zip(seeds, texts, found, expected, strict=True):
        said = next((str(each) for each in (wanted, output) if isinstance(each, Exception)), None)
        said = said or batch.disagreement(output, wanted, exact=True)
        if said:
            wrong[seed] = f"{said[:400]}\n{text}"
    assert not wrong, f"{len(wrong)} of {COUNT}: " + "\n".join(f"seed {seed}: {said}" for seed, said in wrong.items())
