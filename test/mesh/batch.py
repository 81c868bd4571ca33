"""Many programs in one run of MPI: starting processes takes longer than most of them do."""

import concurrent.futures
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import shardonnay
from running import integers
from shardonnay import _core, boundary
from shardonnay import mpi as package

WORKER = Path(__file__).parent / "batch_worker.py"


def build(text, path, mpi, whole=False, **options):
    """The compiled program, whose shared library is at `path`."""
    if whole:
        stripped = _core.unpartitioned(text, "program")
        assert stripped.ok, stripped.diagnostics
        text = stripped.text
    program = shardonnay.compile(text, target="mpi", **options)
    package.build(program, path, mpi, shared=True, flags=["-O1"])
    return program


def write_inputs(program, path, inputs):
    stored = {}
    for number, (entry, value) in enumerate(zip(program.manifest["inputs"], inputs, strict=True)):
        for rank, shard in enumerate(boundary.shard(entry, value, program.manifest["mesh"])):
            stored[f"in{number}.{rank}"] = shard
    for number, entry in enumerate(program.manifest["outputs"]):
        stored[f"shape{number}"] = np.array(entry["local_shape"], np.int64)
        stored[f"bytes{number}"] = boundary.dtype_of(entry["dtype"]).itemsize
    np.savez(path, **stored)


def read_outputs(program, folder, number):
    """(output, spread) of each result."""
    devices = program.manifest["devices"]
    files = [np.load(folder / f"{number}.{rank}.npz") for rank in range(devices)]
    return [
        boundary.assemble(entry, [file[f"out{at}"].view(boundary.dtype_of(entry["dtype"])) for file in files],
                          program.manifest["mesh"])
        for at, entry in enumerate(program.manifest["outputs"])
    ]


def run(texts, mpi, seed=0, whole=False, options=None, timeout=600, environment=None):
    """By text: a list of (output, spread), or the exception that refused it. All are of one number of devices."""
    folder = Path(tempfile.mkdtemp(prefix="shardonnay-batch-"))

    def one(number, text):
        program = build(text, folder / f"{number}.so", mpi, whole, **(options or {}))
        write_inputs(program, folder / f"{number}.npz", integers(program.manifest["inputs"], seed))
        return program

    try:
        built = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(one, number, text) for number, text in enumerate(texts)]
        for job in jobs:
            built.append(job.exception() or job.result())
        devices = {each.manifest["devices"] for each in built if not isinstance(each, Exception)}
        assert len(devices) <= 1, devices
        if devices:
            done = subprocess.run(
                mpi.launch(devices.pop(), [sys.executable, str(WORKER), str(folder)]),
                capture_output=True, text=True, timeout=timeout, env={**mpi.environment(), **(environment or {})},
            )
            assert done.returncode == 0, done.stderr[-3000:]
        return [
            each if isinstance(each, Exception) else read_outputs(each, folder, at) for at, each in enumerate(built)
        ]
    finally:
        shutil.rmtree(folder)


def disagreement(found, expected, exact):
    """What is wrong with the results of a program; None if nothing is."""
    for at, ((output, spread), (wanted, _)) in enumerate(zip(found, expected, strict=True)):
        if output.shape != wanted.shape or output.dtype != wanted.dtype:
            return f"result {at}: expected {wanted.dtype}{wanted.shape}, got {output.dtype}{output.shape}"
        if exact or not boundary.is_inexact(output.dtype):
            if spread or boundary.difference(output, wanted):
                return f"result {at}: copies differ by {spread}, numbers by {boundary.difference(output, wanted)}"
        else:
            wide = output.astype(np.float64), wanted.astype(np.float64)
            if not np.allclose(*wide, rtol=1e-5, atol=1e-5, equal_nan=True) or spread > 1e-5:
                return f"result {at}: copies differ by {spread}, numbers by {boundary.difference(output, wanted)}"
    return None
