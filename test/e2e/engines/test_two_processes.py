"""Programs in two processes of four devices each (jax.distributed, gloo) compute what one device computes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import corpus
import numpy as np
import pytest
import shardonnay
from shardonnay import boundary, compare

PROCESSES = 2
QUICK = [("scanned-blocks", "fsdp"), ("experts", "expert")]
TEN = [("scanned-blocks", "2-D"), ("decoder", "megatron"), ("attention-uneven", "2-D"), ("resnet", "fsdp"),
       ("u-net", "spatial"), ("lstm", "2-D"), ("graph", "data"), ("sliding-window", "context"),
       ("greedy-decoding", "2-D"),
       ("gaussian-process", "data")]  # fmt: skip


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def run_together(folder):
    """Runs process_of_two.py in every process; complains with what the first that fails has printed."""
    script, port = Path(__file__).with_name("process_of_two.py"), free_port()
    processes, logs = [], []
    for rank in range(PROCESSES):
        logs.append((folder / f"log.{rank}").open("w+"))
        command = [sys.executable, script, str(rank), str(PROCESSES), str(port), str(folder)]
        processes.append(
            subprocess.Popen(command, stdout=logs[-1], stderr=subprocess.STDOUT, env={**os.environ, "XLA_FLAGS": ""})
        )
    try:
        for process, log in zip(processes, logs):
            if process.wait(timeout=240):
                log.seek(0)
                pytest.fail(log.read()[-3000:])
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for log in logs:
            log.close()


def check(pairs, folder, row):
    programs = {}
    for name, strategy in pairs:
        pair = f"{name}-{strategy}"
        text, inputs = corpus.lower(name, strategy)
        compiled = shardonnay.compile(text)
        (folder / f"{pair}.mlir").write_text(compiled.text)
        (folder / f"{pair}.json").write_text(json.dumps(compiled.manifest))
        np.savez(folder / f"{pair}.npz", *inputs)
        programs[pair] = compiled, compare.reference(text, inputs)
    run_together(folder)
    wrong = []
    for pair, (compiled, expected) in programs.items():
        pieces = {}
        for rank in range(PROCESSES):
            with np.load(folder / f"{pair}.{rank}.npz") as stored:
                pieces.update(stored)
        entries, mesh = compiled.manifest["outputs"], compiled.manifest["mesh"]
        assert len(pieces) == 8 * len(entries)
        whole = [
            boundary.assemble(entry, [pieces[f"{i}_{d}"] for d in range(8)], mesh) for i, entry in enumerate(entries)
        ]
        outputs, spreads = zip(*whole)
        found = compare.agreements(entries, outputs, spreads, expected)
        wrong += [f"{pair}: {agreement}" for agreement in found if not agreement.ok]
        row(f"{pair}: {len(found)} outputs of two processes of four devices")
    assert not wrong, "\n".join(wrong)


def test_two_processes_agree(tmp_path, row):
    check(QUICK, tmp_path, row)


@pytest.mark.long
@pytest.mark.parametrize("name, strategy", [pytest.param(*pair, id="-".join(pair)) for pair in TEN])
def test_model_agrees_in_two_processes(name, strategy, tmp_path, row):
    check([(name, strategy)], tmp_path, row)
