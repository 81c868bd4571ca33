"""examples/torch as its guide has it: the losses of eight ranks are those of one process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples/torch"


def run(*command, folder):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "strategy", ["both", *(pytest.param(name, marks=pytest.mark.long) for name in ("megatron", "fsdp"))]
)
def test_ranks_have_the_losses_of_one_process(strategy, tmp_path):
    report = run(FOLDER / "compile.py", strategy, tmp_path / "step.shard", folder=tmp_path)
    assert "all_reduce" in report and "gpt.py:" in report
    alone = [float(line) for line in run(FOLDER / "train.py", folder=tmp_path).splitlines()]
    printed = run("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", 8, FOLDER / "train.py",
                  tmp_path / "step.shard", tmp_path / "checkpoint", folder=tmp_path).splitlines()  # fmt: skip
    losses = [float(line) for line in printed if line.replace(".", "").isdigit()]
    assert len(alone) == 5 and losses == pytest.approx(alone, abs=1e-3)
    assert any(line.startswith("blocks.0.wq.weight: (32, 32)") for line in printed)
    assert any((tmp_path / "checkpoint").iterdir())
