"""Two processes of four devices each, under jax.distributed."""

import socket
import subprocess
import sys
from pathlib import Path


def test_training():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    script = Path(__file__).with_name("two_processes.py")
    started = [
        subprocess.Popen(
            [sys.executable, script, str(rank), port], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    found = [process.communicate(timeout=300) for process in started]
    assert not any(process.returncode for process in started), found[0][1] + found[1][1]
    for out, _ in found:
        lines = [line.split() for line in out.splitlines() if line.startswith(("jit ", "partition "))]
        losses = {name: [value for kind, value in lines if kind == name] for name in ("jit", "partition")}
        assert len(losses["jit"]) == 4 and losses["jit"] == losses["partition"]
