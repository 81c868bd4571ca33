"""Generated programs compiled under valgrind: what reads freed or unset memory is right by chance elsewhere."""

import argparse
import subprocess
from pathlib import Path

import campaign
import families
import pytest
import runner

SDY_OPT = Path(__file__).resolve().parents[3] / "build/bin/sdy-opt"


# A dozen families a program, several cases of each: what depends on more than the op is met.
GROUPS = {name: at // 12 for at, name in enumerate(families.FAMILIES)}
EACH = 8


def program(group):
    """Cases of the families of a group."""
    names = [name for name, at in GROUPS.items() if at == group]
    options = argparse.Namespace(seeds="0..1", batch=EACH * len(names), each=EACH)
    _, batch = next(campaign.programs(names, options))
    return runner.module([case for case, _ in batch])


def valgrind(path):
    """Its exit code is 9 where it found something."""
    command = ["valgrind", "--quiet", "--error-exitcode=9", SDY_OPT, path, "--sdy-partition-pipeline", "-o",
               "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True)


# There the window of an op was once read from a list that was gone.
ONCE = GROUPS["stablehlo.select_and_scatter"]


@pytest.mark.parametrize(
    "group",
    [pytest.param(group, marks=[] if group == ONCE else pytest.mark.long) for group in sorted(set(GROUPS.values()))],
)
def test_memory_is_read_as_it_was_written(tmp_path, group):
    path = tmp_path / "program.mlir"
    path.write_text(program(group))
    found = valgrind(path)
    assert found.returncode == 0, found.stderr[-4000:]
