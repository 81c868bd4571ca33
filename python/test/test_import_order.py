"""Libraries that bring an LLVM or an MLIR of their own, in one process with ours, whichever is imported first."""

import importlib.util
import itertools
import subprocess
import sys

import pytest

PARTS = {
    "shardonnay": """
import shardonnay
assert "stablehlo.all_" in shardonnay.compile('''sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}''').text
try:
    shardonnay.compile("module {")
    raise AssertionError("this is no program")
except shardonnay.CompileError:
    pass
""",
    "jax": """
import jax
from jax.extend.mlir import ir
assert jax.jit(lambda x: x + 1)(1.0) == 2
""",
    "torch": """
import torch
assert (torch.ones(3) @ torch.ones(3)).item() == 3
""",
}
THERE = [name for name in PARTS if importlib.util.find_spec(name)]
OPEN = "import os, sys; sys.setdlopenflags(os.RTLD_GLOBAL | os.RTLD_NOW)\n"  # all symbols are everybody's


@pytest.mark.long
@pytest.mark.parametrize("symbols", ["", OPEN], ids=["", "global symbols"])
@pytest.mark.parametrize("order", list(itertools.permutations(THERE)), ids="-".join)
def test_order(order, symbols):
    code = symbols + 2 * "".join(map(PARTS.get, order))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
