"""xla_passes.py FILE DEVICES: what XLA's own partitioner takes on a module, with the output of jaxlib_passes.py.

A child compiles the module for DEVICES CPU devices, with XLA's log of passes on. After `spmd-partitioning` it is
ended: what follows (fusion, LLVM) is no partitioning and takes minutes. `seconds` is the CPU time of the child between
the lines that begin and end `shardy-xla` and `spmd-partitioning`, without what XLA's verifier takes between them;
`bytes` is the child's peak until then over what was resident when it had parsed the module.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

_BEGIN = re.compile(r"\]   HLO pass (shardy-xla|spmd-partitioning)$")
_END = re.compile(r"HLO pass: (shardy-xla|spmd-partitioning) time:")


def compile_module(path, devices):
    """The child: parses, says so with what is resident, and compiles."""
    import numpy as np
    import jax
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir

    options = _jax.CompileOptions()
    options.num_replicas, options.num_partitions = 1, devices
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, devices
    build.use_shardy_partitioner = build.use_spmd_partitioning = True
    build.device_assignment = _jax.DeviceAssignment.create(np.arange(devices).reshape(1, devices))
    local = tuple(jax.devices("cpu"))
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(Path(path).read_text())
        Path("/proc/self/clear_refs").write_text("5")  # sets the peak to what is resident now
        print(f"resident {_status_bytes('self', 'VmRSS')}", file=sys.stderr, flush=True)
        local[0].client.compile_and_load(module, _jax.DeviceList(local), options)


def _status_bytes(process, key):
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(rf"{key}:\s+(\d+)", status)[1]) * 1024


def _cpu_seconds(process):
    """Of all its threads, in nanoseconds as the scheduler counts them."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9


def measure(path, devices):
    """{"seconds", "bytes"} of one run."""
    flags = f"--xla_force_host_platform_device_count={devices}"
    logging = {"XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "hlo_pass_pipeline=1", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, "--child", str(path), str(devices)]
    child = subprocess.Popen(command, env=dict(os.environ, **logging), stderr=subprocess.PIPE, text=True)
    times, resident, lines, inside, before = {}, 0, [], None, 0.0
    for line in map(str.rstrip, child.stderr):
        lines = [*lines[-20:], line]
        now = _cpu_seconds(child.pid)
        if inside and "Invariant checker done" not in line:
            times[inside] += now - before
        before = now
        if line.startswith("resident "):
            resident = int(line.split()[1])
        elif begins := _BEGIN.search(line):
            inside = begins[1]
            times.setdefault(inside, 0.0)
        elif ends := _END.search(line):
            inside = None
            if ends[1] == "spmd-partitioning":
                peak = _status_bytes(child.pid, "VmHWM")
                child.kill()
                child.wait()
                return {"seconds": sum(times.values()), "bytes": peak - resident, **times}
    raise RuntimeError(f"XLA ended with {child.wait()} before it had partitioned {path}:\n{chr(10).join(lines)}")


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        compile_module(sys.argv[2], int(sys.argv[3]))
    else:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
