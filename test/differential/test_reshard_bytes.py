"""No reshard between two layouts sends more than jaxlib's own `sdy-reshard-to-collectives` does (benchmarks/reshard).
"""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / "benchmarks/reshard/run.py"


@pytest.mark.parametrize("pairs", [100, pytest.param(5000, marks=pytest.mark.long)])
def test_never_dearer(pairs):
    done = subprocess.run([sys.executable, RUN, "--pairs", str(pairs)], capture_output=True, text=True)
    print(done.stdout)
    # A line for each of four meshes and three ranks; the last number is how many pairs are dearer.
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 12 and all(row[-1] == "0" for row in rows), done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
