#!/usr/bin/env python3
"""Lets PyPI's PyTorch, which is built for CUDA, be imported where no CUDA is: scripts/cuda_stubs.py
SITE_PACKAGES/torch/lib

PyTorch's libraries name CUDA's as dependencies, which are 2 GB of further packages. For each that is not there, a
library with the same names is made, whose every function fails as CUDA does without a device. It needs readelf and cc.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# Libraries of CUDA, and what the names of their functions begin with. A name is the longest prefix's.
PREFIXES = {
    "libcublas": ["cublas"],
    "libcublasLt": ["cublasLt"],
    "libcudart": ["cuda", "__cuda"],
    "libcudnn": ["cudnn"],
    "libcufft": ["cufft"],
    "libcufile": ["cuFile"],
    "libcupti": ["cupti"],
    "libcurand": ["curand"],
    "libcusolver": ["cusolver"],
    "libcusparse": ["cusparse"],
    "libcusparseLt": ["cusparseLt"],
    "libnccl": ["nccl", "pnccl"],
    "libnvrtc": ["nvrtc"],
    "libnvshmem_host": ["nvshmem"],
}
NO_DEVICE = "return 100;"  # cudaErrorNoDevice
BODIES = {
    "cudaGetErrorName": 'return (long)"cudaErrorNoDevice";',
    "cudaGetErrorString": 'return (long)"no CUDA here";',
    "cudaGetLastError": "return 0;",
    "cudaPeekAtLastError": "return 0;",
}


def readelf(option, library):
    return subprocess.run(["readelf", option, "-W", library], capture_output=True, text=True, check=True).stdout


def read(folder):
    """(names of CUDA's libraries that torch's need, {undefined symbol: its version, "" if it has none})."""
    needed, symbols = set(), {}
    for library in sorted(folder.glob("lib*.so*")):
        if not library.name.startswith(("libtorch", "libc10", "libcaffe2", "libshm")):
            continue
        for name in re.findall(r"NEEDED.*\[(.*?)\]", readelf("-d", library)):
            if name.split(".so")[0] in PREFIXES:
                needed.add(name)
        for line in readelf("--dyn-syms", library).splitlines():
            columns = line.split()
            if len(columns) >= 8 and columns[6] == "UND":
                name, _, version = columns[7].partition("@")
                symbols[name] = version.lstrip("@")
    return sorted(needed), symbols


def owner(symbol):
    found = [
        (len(prefix), library) for library, all_ in PREFIXES.items() for prefix in all_ if symbol.startswith(prefix)
    ]
    return max(found)[1] if found else None


def write(path, symbols):
    """A library with these symbols, in the versions that are asked for."""
    versions = defaultdict(list)
    for name, version in sorted(symbols.items()):
        if version:
            versions[version].append(name)
    with tempfile.TemporaryDirectory() as folder:
        source, script = Path(folder, "stub.c"), Path(folder, "stub.map")
        source.write_text(
            "".join(f"long {name}(void) {{ {BODIES.get(name, NO_DEVICE)} }}\n" for name in sorted(symbols))
        )
        script.write_text(
            "".join(f"{version} {{ global: {'; '.join(names)}; }};\n" for version, names in versions.items())
        )
        command = ["cc", "-shared", "-fPIC", "-w", "-o", path, f"-Wl,-soname,{path.name}", source]
        subprocess.run(command + ([f"-Wl,--version-script,{script}"] if versions else []), check=True)


def main():
    folder = Path(sys.argv[1])
    needed, symbols = read(folder)
    for name in needed:
        if not (folder / name).exists():
            library = name.split(".so")[0]
            write(folder / name, {symbol: version for symbol, version in symbols.items() if owner(symbol) == library})


if __name__ == "__main__":
    main()
