"""xla_passes.py FILE DEVICES: what XLA's own partitioner takes on a module, with the output of jaxlib_passes.py.

A child compiles the module for DEVICES CPU devices, with XLA's log of pass times on. After `spmd-partitioning` it is
ended: what follows (fusion, LLVM) is no partitioning and takes minutes. `seconds` is the sum of the wall times of
`shardy-xla` and `spmd-partitioning` as XLA logs them; `bytes` is the child's peak until then over what was resident
when it had parsed the module.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

_PASS = re.compile(r"HLO pass: (\S+?),? time: .*?\((\d+) us\)")
_PARTITIONING = ("shardy-xla", "spmd-partitioning")


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


def measure(path, devices):
    """{"seconds", "bytes"} of one run."""
    flags = f"--xla_force_host_platform_device_count={devices}"
    logging = {"XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "hlo_pass_pipeline=1", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, "--child", str(path), str(devices)]
    child = subprocess.Popen(command, env=dict(os.environ, **logging), stderr=subprocess.PIPE, text=True)
    times, resident, lines = {}, 0, []
    for line in child.stderr:
        lines = [*lines[-20:], line]
        if line.startswith("resident "):
            resident = int(line.split()[1])
        found = _PASS.search(line)
        if found and found[1] in _PARTITIONING:
            times[found[1]] = int(found[2]) * 1e-6
            if found[1] == _PARTITIONING[-1]:
                peak = _status_bytes(child.pid, "VmHWM")
                child.kill()
                child.wait()
                return {"seconds": sum(times.values()), "bytes": peak - resident, **times}
    raise RuntimeError(f"XLA ended with {child.wait()} before it had partitioned {path}:\n{''.join(lines)}")


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        compile_module(sys.argv[2], int(sys.argv[3]))
    else:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
