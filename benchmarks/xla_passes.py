"""What XLA's own partitioner takes on a module, and what it makes of it: its passes shardy-xla and spmd-partitioning.

A child compiles the module for so many CPU devices and is ended once it has partitioned: what follows (fusion, LLVM) is
no partitioning and takes minutes. Seconds are those that XLA's log gives for the two passes, in microseconds.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_TIME = re.compile(r"HLO pass: (shardy-xla|spmd-partitioning) time: .*?\((\d+) us\)")
_NEXT = "]   HLO pass control-dep-rewriter"


class Refused(RuntimeError):
    """XLA ended before it had partitioned the module."""


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


def _logged(path, devices, flags=""):
    """(line, child) of the log until the pass after the partitioner begins."""
    flags = f"--xla_force_host_platform_device_count={devices} {flags}"
    logging = {
        "XLA_FLAGS": flags,
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_CPP_VMODULE": "hlo_pass_pipeline=1",
        "JAX_PLATFORMS": "cpu",
    }
    child = subprocess.Popen(
        [sys.executable, __file__, str(path), str(devices)],
        env=dict(os.environ, **logging),
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    try:
        for line in map(str.rstrip, child.stderr):
            lines = [*lines[-20:], line]
            if line.endswith(_NEXT):
                return
            yield line, child
    finally:
        child.kill()
        child.wait()
    raise Refused(f"XLA ended before it had partitioned {path}:\n{chr(10).join(lines)}")


def measure(path, devices):
    """{"seconds", "bytes"} of one run: its two passes, and its peak until then over what was resident when it had
    parsed the module.
    """
    seconds, resident, peak = 0.0, 0, 0
    for line, child in _logged(path, devices):
        if line.startswith("resident "):
            resident = int(line.split()[1])
        elif time := _TIME.search(line):
            seconds += int(time[2]) * 1e-6
            peak = _status_bytes(child.pid, "VmHWM")
    return {"seconds": seconds, "bytes": peak - resident}


@contextlib.contextmanager
def as_file(text):
    """The path of a file with the text."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        yield file.name


def partitioned(path, devices):
    """The HLO text that spmd-partitioning leaves."""
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=spmd-partitioning --xla_dump_hlo_as_text=true"
        for _ in _logged(path, devices, flags):
            pass
        (dump,) = Path(folder).glob("*.after_spmd-partitioning.*.txt")
        return dump.read_text()


if __name__ == "__main__":
    compile_module(sys.argv[1], int(sys.argv[2]))
