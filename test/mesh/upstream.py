"""Exported programs, judged and run by MLIR's own tools.

    exported(text)            annotations of MLIR's `shard` dialect, after propagation
    exported_local(text)      a device's program with the collectives of that dialect
    Lowered(text, ranks)      such a program, lowered by `mlir-opt` alone and linked with MPICH
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import shardonnay
from shardonnay import boundary
from shardonnay.mpi.lowering import PASSES
from shardonnay.mpi.toolchain import llvm_tool, run_tool

ROOT = Path(__file__).resolve().parents[2]
SDY_OPT = str(ROOT / "build/bin/sdy-opt")
WORKER = Path(__file__).parent / "upstream_worker.py"
# What MLIR's lowering calls to copy a part of an array.
LIBRARIES = Path(llvm_tool("mlir-opt")).resolve().parent.parent / "lib"
RUNNER = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-lmlir_c_runner_utils"]
# MLIR's collectives first; at the end its one conversion that knows the mpi dialect.
PIPELINE = (
    "convert-shard-to-mpi, "
    + PASSES.split("convert-arith-to-llvm")[0]
    .replace("allow-return-allocs-from-loops", "allow-return-allocs-from-loops allow-unknown-ops")
    .replace("buffer-deallocation-pipeline, ", "")
    + "func.func(llvm-request-c-wrappers), convert-to-llvm, reconcile-unrealized-casts, symbol-dce"
)


def opt(text, *passes):
    return run_tool([SDY_OPT, "-", *passes], text)


def judged(text):
    """What mlir-opt makes of a text without changing it; MpiError if it refuses it."""
    return run_tool([llvm_tool("mlir-opt"), "-"], text)


def exported(text, **options):
    return opt(shardonnay.compile(text, to="export", **options).text, "-sdy-export-shard")


def exported_local(text, expand="keep-named", **options):
    local = shardonnay.compile(text, to="partition", target="mpi", **options).text
    return opt(local, f"-sdy-expand-collectives={expand}" if expand else "-sdy-expand-collectives",
               "-sdy-export-local-shard")


class Lowered:
    """The program in which all_reduce alone communicates, as MLIR lowers it."""

    def __init__(self, text, mpi, **options):
        self.folder = Path(tempfile.mkdtemp(prefix="shardonnay-upstream-"))
        self.mpi = mpi
        self.manifest = shardonnay.compile(text, target="mpi", **options).manifest
        local = exported_local(text, expand="", **options)
        # Else it stands in the way of the translation to LLVM IR.
        local = re.sub(r"(shard\.grid .*\))$", r'\1 {sym_visibility = "private"}', local, count=1, flags=re.M)
        lowered = run_tool(
            [llvm_tool("mlir-opt"), "-", f"--pass-pipeline=builtin.module({' '.join(PIPELINE.split())})"], local
        )
        left = [line for line in lowered.splitlines() if "shard." in line or "mpi." in line]
        assert not left, left[:3]
        ir = self.folder / "program.ll"
        ir.write_text(run_tool([llvm_tool("mlir-translate"), "-", "--mlir-to-llvmir"], lowered))
        objects = self.folder / "program.o"
        run_tool([llvm_tool("clang"), "-c", "-O1", "-fPIC", "-Wno-override-module", str(ir), "-o", str(objects)])
        run_tool([mpi.compiler, "-shared", "-o", str(self.folder / "program.so"), str(objects), "-lm", *RUNNER])

    def __call__(self, inputs):
        """[(output, spread)] of global arrays."""
        stored = {}
        for number, (entry, value) in enumerate(zip(self.manifest["inputs"], inputs, strict=True)):
            for rank, shard in enumerate(boundary.shard(entry, value, self.manifest["mesh"])):
                stored[f"in{number}.{rank}"] = shard
        for number, entry in enumerate(self.manifest["outputs"]):
            stored[f"out{number}"] = np.zeros(entry["local_shape"], boundary.dtype_of(entry["dtype"]))
        np.savez(self.folder / "arrays.npz", **stored)
        devices = self.manifest["devices"]
        done = subprocess.run(self.mpi.launch(devices, [sys.executable, str(WORKER), str(self.folder)]),
                              capture_output=True, text=True, timeout=300, env=self.mpi.environment())
        assert done.returncode == 0, done.stderr[-2000:]
        files = [np.load(self.folder / f"{rank}.npz") for rank in range(devices)]
        return [boundary.assemble(entry, [file[f"out{at}"] for file in files], self.manifest["mesh"])
                for at, entry in enumerate(self.manifest["outputs"])]

    def close(self):
        shutil.rmtree(self.folder)
