"""A program partitioned, built for an MPI and run, against itself in one process without shardings."""

import functools
import re
from pathlib import Path

import numpy as np
import shardonnay
from shardonnay import _core, boundary, mpi as package

TIMEOUT = 240
COUNTING = Path(__file__).parent / "counting.c"


def integers(entries, seed=0):
    """Inputs of small whole numbers: sums of their products are exact in any order."""
    random = np.random.default_rng(seed)
    arrays = []
    for entry in entries:
        dtype, shape = boundary.dtype_of(entry["dtype"]), tuple(entry["global_shape"])
        low, high = (0, 2) if dtype.kind == "b" else (0, 4) if dtype.kind == "u" else (-3, 4)
        arrays.append(np.asarray(random.integers(low, high, shape)).astype(dtype))
    return arrays


@functools.cache
def whole(text, mpi):
    """The unpartitioned program, loaded."""
    stripped = _core.unpartitioned(text, "program")
    assert stripped.ok, stripped.diagnostics
    return package.LoadedProgram(shardonnay.compile(stripped.text, target="mpi"), mpi, timeout=TIMEOUT)


@functools.cache
def expected(text, mpi, seed):
    program = whole(text, mpi)
    return program(integers(program.manifest["inputs"], seed))[0]


def compiled(text, **options):
    return shardonnay.compile(text, target="mpi", **options)


def check(text, mpi, exact=True, seed=0, options=None, **load):
    """Equal numbers, and equal copies. Returns the loaded program, which says what it printed."""
    program = package.LoadedProgram(compiled(text, **(options or {})), mpi, timeout=TIMEOUT, **load)
    outputs, spreads = program(integers(program.manifest["inputs"], seed))
    # The reference is the same for all MPIs: one process sends nothing.
    for entry, output, spread, wanted in zip(
        program.manifest["outputs"], outputs, spreads, expected(text, package.find(), seed), strict=True
    ):
        if exact or not boundary.is_inexact(output.dtype):
            np.testing.assert_array_equal(output.astype(wanted.dtype), wanted, err_msg=entry["name"])
            assert spread == 0, entry["name"]
        else:
            np.testing.assert_allclose(output, wanted, rtol=1e-5, atol=1e-5, err_msg=entry["name"])
            assert spread <= 1e-5, entry["name"]
    return program


def collectives(text, **options):
    """{kind: how many} of the partitioned program, without slices."""
    report = shardonnay.compile(text, target="mpi", report=True, **options).report
    found = {}
    for entry in report["collectives"]:
        if entry["kind"] != "slice":
            found[entry["kind"]] = found.get(entry["kind"], 0) + entry["count"]
    return found


def counted(text, mpi, **options):
    """{what: (calls, bytes)} that a run asked MPI for, by counting.c; its numbers are right."""
    return counts(check(text, mpi, options=options, libraries=[str(COUNTING)]))


def counts(program):
    """What counting.c said at the end of a program's last run."""
    return {kind: (int(a), int(b)) for kind, a, b in re.findall(r"counted (\w+) (\d+) (\d+)", program.said)}
