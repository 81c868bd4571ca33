"""Eight ranks of gloo as processes of their own, which run one job after the other; the reference is PJRT in this
process.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from shardonnay import boundary
from shardonnay.torch.engine import listing
from shardonnay.torch.engine.elements import SMALL_INTEGERS, outside

HERE = Path(__file__).resolve().parent


def to_torch(array, element):
    """A NumPy array, ml_dtypes' included, as a tensor of the same bits."""
    dtype, array = outside(element), np.asarray(array)
    if element in SMALL_INTEGERS:
        array = array.astype(np.uint8 if element.startswith("u") else np.int8)
    if not array.size:
        return torch.zeros(array.shape, dtype=dtype)
    return torch.frombuffer(bytearray(array.tobytes()), dtype=dtype).reshape(array.shape)


def to_numpy(tensor, element):
    shape, dtype = tuple(tensor.shape), boundary.dtype_of(element)
    if not tensor.numel():
        return np.zeros(shape, dtype)
    return np.frombuffer(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes(), dtype).reshape(shape)


class RankError(Exception):
    """A rank answered with an error, or not at all."""


class Cluster:
    """`world` ranks; a job goes to all of them, and all answer."""

    def __init__(self, world=8, timeout=120):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        environment = dict(
            os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(world), OMP_NUM_THREADS="1",
            GROUP_TIMEOUT=str(timeout), PYTHONWARNINGS="ignore", GLOO_SOCKET_IFNAME="lo",
        )  # fmt: skip
        self.world = world
        self.processes = [
            subprocess.Popen(
                [sys.executable, HERE / "ranks.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            )
            for rank in range(world)
        ]  # fmt: skip
        for process in self.processes:
            self._line(process)

    @staticmethod
    def _line(process):
        while line := process.stdout.readline():
            if line.startswith("{"):
                return json.loads(line)
        raise RankError(f"a rank ended with {process.wait()}")

    def start(self, job, ranks=None):
        for rank in range(self.world) if ranks is None else ranks:
            process = self.processes[rank]
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()

    def answers(self, ranks=None):
        chosen = range(self.world) if ranks is None else ranks
        return [self._line(self.processes[rank])["answer"] for rank in chosen]

    def __call__(self, **job):
        self.start(job)
        answers = self.answers()
        failed = [(rank, answer) for rank, answer in enumerate(answers) if "error" in answer]
        if failed:
            raise RankError(
                "\n".join(f"rank {rank}: {answer['error']}\n{answer['trace']}" for rank, answer in failed[:1])
            )
        return answers

    def run(self, program, shards, folder, **more):
        """The outputs of a program for `shards[input][device]` in NumPy: [output][device], and the ranks' answers."""
        entries = program.manifest
        path = Path(folder)
        program.save(path / "program.shard")
        by_rank = [
            [to_torch(pieces[device], entry["dtype"]) for pieces, entry in zip(shards, entries["inputs"], strict=True)]
            for device in range(program.devices)
        ]
        torch.save(by_rank, path / "inputs.pt")
        answers = self(
            kind="run",
            program=str(path / "program.shard"),
            inputs=str(path / "inputs.pt"),
            outputs=str(path / "outputs"),
            **more,
        )
        outputs = [torch.load(f"{path}/outputs.{device}", weights_only=True) for device in range(program.devices)]
        return [
            [to_numpy(outputs[device][at], entry["dtype"]) for device in range(program.devices)]
            for at, entry in enumerate(entries["outputs"])
        ], answers

    def close(self):
        """All are told to end before any is waited for: a rank may wait for others that have not been told."""
        for process in self.processes:
            process.stdin.close()
        end = time.monotonic() + 20
        for process in self.processes:
            try:
                process.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


class OnRanks:
    """A compiled program on the ranks: global arrays in, global arrays and the spread of copies out, as
    run.LoadedProgram.
    """

    def __init__(self, compiled, cluster, folder, **more):
        self.manifest = compiled.manifest
        self._program = listing.read(compiled.text, compiled.manifest)
        self._cluster, self._folder, self._more = cluster, folder, more

    def __call__(self, inputs):
        entries, mesh = self.manifest["inputs"], self.manifest["mesh"]
        shards = [boundary.shard(entry, value, mesh) for entry, value in zip(entries, inputs, strict=True)]
        pieces, self.answers = self._cluster.run(self._program, shards, self._folder, **self._more)
        found = [
            boundary.assemble(entry, part, mesh) for entry, part in zip(self.manifest["outputs"], pieces, strict=True)
        ]
        return [output for output, _ in found], [spread for _, spread in found]
