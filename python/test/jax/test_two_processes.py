"""Two processes of four devices each, under jax.distributed."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("two_processes.py")


@pytest.mark.parametrize("model", [pytest.param("linen_transformer", marks=pytest.mark.long), "nnx_blocks"])
def test_training(model):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = [
        subprocess.Popen(
            [sys.executable, SCRIPT, str(rank), port, model], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    found = [process.communicate(timeout=300) for process in started]
    assert not any(process.returncode for process in started), found[0][1] + found[1][1]
    for out, _ in found:
        lines = [line.split() for line in out.splitlines() if line.startswith(("jit ", "partition "))]
        losses = {name: [float(value) for kind, value in lines if kind == name] for name in ("jit", "partition")}
        assert len(losses["jit"]) == 4 and losses["jit"][-1] < losses["jit"][0]
        assert losses["partition"] == pytest.approx(losses["jit"], rel=2e-3)
