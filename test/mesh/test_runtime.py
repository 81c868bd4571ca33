"""The runtime alone, in eight processes that call it from Python."""

import subprocess
import sys
from pathlib import Path

import pytest
from shardonnay.mpi import building

WORKER = Path(__file__).parent / "runtime_worker.py"


@pytest.mark.parametrize(
    ("most", "elements"),
    [([], []), (["-DSHARDONNAY_MOST_COUNTED=3"], ["i8", "f32", "bf16", "complex<f64>"])],
    ids=["every-element", "large-tensors"],
)
def test_every_call(mpi, most, elements, tmp_path):
    """What needs a program is left out. With counts of 3 at most, all tensors are too large to be counted."""
    library = tmp_path / "runtime.so"
    sources = [str(path) for path in building.RUNTIME.glob("*.c") if path.stem not in ("Main", "Library", "Program")]
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", *most]
    subprocess.run([mpi.compiler, *flags, "-o", str(library), *sources, "-lm"], check=True)
    done = subprocess.run(
        mpi.launch(8, [sys.executable, str(WORKER), str(library), *elements]),
        capture_output=True, text=True, env=mpi.environment(), timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("ok") == 8
