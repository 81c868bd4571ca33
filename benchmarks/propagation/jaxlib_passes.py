"""jaxlib_passes.py FILE PIPELINE [WARM-UP]: time-passes.cpp for jaxlib's own passes, with the same output."""

import ctypes
import json
import sys
import time
from pathlib import Path

from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager


def status_bytes(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return 0


def count_ops(operation):
    return 1 + sum(count_ops(op) for region in operation.regions for block in region for op in block)


def trim_heap():
    """As in time-passes.cpp."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    libc.malloc_trim(0)
    for _ in range(1000):
        libc.free(libc.malloc(64 << 20))


def measure(path, pipeline):
    with mlir.make_ir_context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(Path(path).read_text())
        passes = passmanager.PassManager.parse(f"builtin.module({pipeline})")
        passes.enable_verifier(False)
        trim_heap()
        Path("/proc/self/clear_refs").write_text("5")  # sets the peak to what is resident now
        before = status_bytes("VmRSS")
        start = time.process_time()
        passes.run(module.operation)
        seconds = time.process_time() - start
        peak = status_bytes("VmHWM") - before
        return {"ops": count_ops(module.operation), "seconds": seconds, "bytes": peak}


def main(path, pipeline, *warm_up):
    for program in warm_up:
        measure(program, pipeline)
    print(json.dumps(measure(path, pipeline)))


if __name__ == "__main__":
    main(*sys.argv[1:])
