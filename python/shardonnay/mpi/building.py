"""Compiled programs, their boundaries and the runtime, linked by the compiler of an MPI."""

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
    devices = manifest["devices"]
    lines = ['#include "Runtime.h"', f"extern const int64_t shardonnay_table_{devices}[];"]
    for kind, entries in (("input", manifest["inputs"]), ("output", manifest["outputs"])):
        made = [_tensor(kind, number, entry) for number, entry in enumerate(entries)]
        lines += [line for tables, _ in made for line in tables]
        lines += [f"static const ShardonnayTensor {kind}s[] = {{", *(row for _, row in made), "    {0}};"]
    inputs, outputs = len(manifest["inputs"]), len(manifest["outputs"])
    types = ", ".join(["int64_t *"] * (inputs + outputs)) or "void"
    arguments = ", ".join(f"descriptors[{number}]" for number in range(inputs + outputs))
    lines += [
        f"void shardonnay_run_{devices}({types});",
        f"static void run(int64_t **descriptors) {{ (void)descriptors; shardonnay_run_{devices}({arguments}); }}",
        f"const ShardonnayProgram shardonnay_program_{devices} = {{{devices}, {inputs}, {outputs}, inputs, outputs, "
        f"shardonnay_table_{devices}, run}};",
    ]
    return "\n".join(lines) + "\n"


def programs_source(counts):
    """C that lists the programs, which are for these numbers of devices."""
    names = [f"shardonnay_program_{devices}" for devices in counts]
    listed = ", ".join(f"&{name}" for name in names)
    return f"""#include "Runtime.h"
extern const ShardonnayProgram {", ".join(names)};
const ShardonnayProgram *const shardonnay_programs[] = {{{listed}, NULL}};
"""


def _compiled_parts(program, folder, flags):
    """The names of an object and a C file in `folder`, whose symbols say for how many devices the program is."""
    devices = program.manifest["devices"]
    name = f"program{devices}.o"
    lowering.to_object(program.text, f"{folder}/{name}", flags)
    renamed = {
        "_mlir_ciface_shardonnay_program": f"shardonnay_run_{devices}",
        "shardonnay_table": f"shardonnay_table_{devices}",
    }
    options = [f"--keep-global-symbol={symbol}" for symbol in renamed.values()]
    options += [f"--redefine-sym={before}={after}" for before, after in renamed.items()]
    run_tool(["objcopy", *options, name], cwd=folder)
    Path(f"{folder}/boundary{devices}.c").write_text(boundary_source(program.manifest))
    return [name, f"boundary{devices}.c"]


def build(programs, output, mpi, *, shared=False, flags=(), runtime_flags=(), libraries=()):
    """Writes the executable, or the shared library, of a Program that was compiled with target="mpi".

    programs: one, or several of one source, each for another number of devices: the number of processes says which one
    runs. flags: of clang for the program's own code. runtime_flags: of the MPI's compiler for the runtime. libraries:
    linked before the MPI, such as one that counts its calls.
    """
    programs = programs if isinstance(programs, (list, tuple)) else [programs]
    counts = [program.manifest["devices"] for program in programs]
    if not counts or len(set(counts)) < len(counts):
        raise MpiError(f"expected programs for different numbers of devices, got {counts}")
    with tempfile.TemporaryDirectory() as folder:
        parts = [part for program in programs for part in _compiled_parts(program, folder, flags)]
        Path(f"{folder}/programs.c").write_text(programs_source(counts))
        runtime = [str(runtime_library(mpi, runtime_flags)), *compiler_runtime()]
        linked = [*parts, "programs.c", *libraries, *runtime, "-lm"]
        if shared:
            linked = ["-shared", "-Wl,-Bsymbolic", "-Wl,-u,shardonnay_execute", *linked]
        run_tool([mpi.compiler, *_FLAGS, f"-I{RUNTIME}", "-o", str(Path(output).absolute()), *linked], cwd=folder)
