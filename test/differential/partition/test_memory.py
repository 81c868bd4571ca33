"""Generated programs compiled under valgrind: what reads freed or unset memory is right by chance elsewhere."""

import argparse
import subprocess
from pathlib import Path

import campaign
import families
import pytest
import runner

SDY_OPT = Path(__file__).resolve().parents[3] / "build/bin/sdy-opt"


def program(seed):
    """The first program of a seed: a case of each of a hundred families."""
    options = argparse.Namespace(seeds=f"{seed}..{seed + 1}", batch=100, each=1)
    _, batch = next(campaign.programs(list(families.FAMILIES), options))
    return runner.module([case for case, _ in batch])


def valgrind(path):
    """Its exit code is 9 where it found something."""
    command = ["valgrind", "--quiet", "--error-exitcode=9", SDY_OPT, path, "--sdy-partition-pipeline", "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True)


# At seed 9000 the window of a select_and_scatter was read from a list that was gone.
@pytest.mark.parametrize("seed", [9000, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(9100, 9112))])
def test_memory_is_read_as_it_was_written(tmp_path, seed):
    path = tmp_path / "program.mlir"
    path.write_text(program(seed))
    found = valgrind(path)
    assert found.returncode == 0, found.stderr[-4000:]
