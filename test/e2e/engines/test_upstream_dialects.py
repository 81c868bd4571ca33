"""linalg and TOSA programs, each device's by MLIR's own lowering and JIT, against the whole program by the same."""

import os
import re
from pathlib import Path

import pytest

import lockstep

ROOT = Path(__file__).resolve().parents[3]
SDY_OPT = os.environ.get("SDY_OPT", str(ROOT / "build/bin/sdy-opt"))
TESTS = ROOT / "shardonnay/models/Upstream/test"

pytestmark = pytest.mark.skipif(
    not Path(f"{lockstep.LLVM}/bin/mlir-runner").exists(), reason="mlir-22-tools is not installed"
)


def programs():
    """The programs of the local tests that have floats in and out and that MLIR's JIT runs, and the two MLPs."""
    for name in ("linalg-mlp", "tosa-mlp", "local", "windows-local", "indexed-local", "forall"):
        for i, part in enumerate((TESTS / f"{name}.mlir").read_text().split("// -----")):
            signature = re.search(r"^func\.func @main.*?\{\n", part, re.M | re.S)[0]
            if "index" not in signature and "xi32>" not in signature and "pack" not in part:
                yield pytest.param(part, id=f"{name}-{i}")


@pytest.mark.parametrize("program", list(programs()))
def test_numbers(program):
    lockstep.compare(SDY_OPT, program)


def test_bias_counts_once():
    """The negative control: were the bias added by each of the four devices, the numbers would differ."""
    program = (TESTS / "linalg-mlp.mlir").read_text()
    original = lockstep.run

    def broken(command, text):
        out = original(command, text)
        return re.sub(r"arith\.cmpi eq", "arith.cmpi sge", out) if "-sdy-partition-to-local" in command else out

    lockstep.run = broken
    try:
        with pytest.raises(AssertionError, match="Mismatched"):
            lockstep.compare(SDY_OPT, program)
    finally:
        lockstep.run = original
