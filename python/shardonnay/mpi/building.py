"""A compiled program, its boundary and the runtime, linked by the compiler of an MPI."""

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path

from .. import boundary
from . import lowering
from .toolchain import MpiError, llvm_tool, run_tool

RUNTIME = Path(__file__).parent / "runtime"
_FLAGS = ("-std=c11", "-O2", "-fPIC")
# The spellings of MLIR -> the names of Abi.h.
ELEMENTS = {
    spelling: name
    for name, spelling in re.findall(r'X\((\w+), "([^"]*)", \d+\)', (RUNTIME / "Abi.h").read_text())
}


def _cache():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "shardonnay" / "mpi"


def runtime_library(mpi, flags=()):
    """The runtime compiled for an MPI: made once for its sources, the compiler and its flags."""
    sources = sorted(RUNTIME.glob("*.[ch]"))
    key = hashlib.sha256()
    for part in [run_tool([mpi.compiler, "-show"]), mpi.compiler, *flags, *(path.read_text() for path in sources)]:
        key.update(part.encode() + b"\0")
    library = _cache() / key.hexdigest()[:32] / "libshardonnay-mpi.a"
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        names = [path for path in sources if path.suffix == ".c"]
        run_tool([mpi.compiler, *_FLAGS, *flags, "-c", *map(str, names)], cwd=folder)
        objects = [str(path.with_suffix(".o").name) for path in names]
        run_tool(["ar", "rcs", "library.a", *objects], cwd=folder)
        os.replace(f"{folder}/library.a", library)  # Of several processes that make it, each one's is whole.
    return library


def compiler_runtime():
    """LLVM's library of what processors lack (conversions of bf16), of which an older compiler's own has less."""
    library = run_tool([llvm_tool("clang"), "--rtlib=compiler-rt", "--print-libgcc-file-name"]).strip()
    return [library] if os.path.exists(library) else []


def _array(values):
    return "{" + ", ".join(map(str, values)) + "}" if values else "{0}"


def _tensor(kind, number, entry):
    """The tables of a tensor, and the row that names them."""
    if entry["dtype"] not in ELEMENTS:
        raise MpiError(f"{entry['name']}: elements of type {entry['dtype']} have no array for MPI")
    name = f"{kind}{number}"
    bounds = [bound for device in boundary.slices(entry) for dim in device for bound in dim]
    tables = [
        f"static const int64_t {name}_{table}[] = {_array(values)};"
        for table, values in (("global", entry["global_shape"]), ("local", entry["local_shape"]), ("slices", bounds))
    ]
    row = (
        f"    {{{json.dumps(entry['name'])}, SHARDONNAY_{ELEMENTS[entry['dtype']]}, {len(entry['global_shape'])}, "
        f"{name}_global, {name}_local, {name}_slices, {int(entry['partial'] is not None)}}},"
    )
    return tables, row


def boundary_source(manifest):
    """C that says what crosses the program's boundary, and calls it."""
    lines = ['#include "Runtime.h"', "extern const int64_t shardonnay_table[];"]
    for kind, entries in (("input", manifest["inputs"]), ("output", manifest["outputs"])):
        made = [_tensor(kind, number, entry) for number, entry in enumerate(entries)]
        lines += [line for tables, _ in made for line in tables]
        lines += [f"static const ShardonnayTensor {kind}s[] = {{", *(row for _, row in made), "    {0}};"]
    inputs, outputs = len(manifest["inputs"]), len(manifest["outputs"])
    types = ", ".join(["int64_t *"] * (inputs + outputs)) or "void"
    arguments = ", ".join(f"descriptors[{number}]" for number in range(inputs + outputs))
    lines += [
        f"void _mlir_ciface_shardonnay_program({types});",
        f"static void run(int64_t **descriptors) {{ (void)descriptors; _mlir_ciface_shardonnay_program({arguments}); }}",
        f"const ShardonnayProgram shardonnay_this_program = {{{manifest['devices']}, {inputs}, {outputs}, inputs, outputs, "
        "shardonnay_table, run};",
    ]
    return "\n".join(lines) + "\n"


def build(program, output, mpi, *, shared=False, flags=(), runtime_flags=(), libraries=()):
    """Writes the executable, or the shared library, of a Program that was compiled with target="mpi".

    flags: of clang for the program's own code. runtime_flags: of the MPI's compiler for the runtime. libraries: linked
    before the MPI, such as one that counts its calls.
    """
    with tempfile.TemporaryDirectory() as folder:
        lowering.to_object(program.text, f"{folder}/program.o", flags)
        Path(f"{folder}/boundary.c").write_text(boundary_source(program.manifest))
        runtime = [str(runtime_library(mpi, runtime_flags)), *compiler_runtime()]
        linked = ["program.o", "boundary.c", *libraries, *runtime, "-lm"]
        if shared:
            linked = ["-shared", "-Wl,-Bsymbolic", "-Wl,-u,shardonnay_execute", *linked]
        run_tool([mpi.compiler, *_FLAGS, f"-I{RUNTIME}", "-o", str(Path(output).absolute()), *linked], cwd=folder)
