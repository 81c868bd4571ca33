"""A five-point sum against the program that a person would write in C: the same numbers, and the same bytes."""

import re
import subprocess
from pathlib import Path

import numpy as np
import shardonnay
from programs import X, on_mesh, sharded, stencil
from running import COUNTING, TIMEOUT, counts
from shardonnay import mpi as package

SOURCE = Path(__file__).parent / "stencil.c"


def looped(size, steps):
    """The stencil on rows, in a loop."""
    step = stencil(size, 1, (X, "")).split("\n", 3)[3].rsplit("\n  return", 1)[0].replace("%x", "%v")
    kind = f"tensor<{size}x{size}xf32>"
    return f"""sdy.mesh @mesh = <[]>
func.func @main(%x: {kind} {sharded(X, "")}) -> ({kind} {sharded(X, "")}) {{
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant {steps} : index
  %0 = scf.for %n = %first to %steps step %one iter_args(%v = %x) -> ({kind}) {{{step}
    scf.yield %s0 : {kind}
  }}
  return %0 : {kind}
}}"""


def by_hand(mpi, folder, ranks, x, steps):
    """(the result, {what: (calls, bytes)} that MPI is asked for)."""
    program = folder / "stencil"
    built = [mpi.compiler, "-O3", "-march=native", str(SOURCE), str(COUNTING), "-o", str(program)]
    subprocess.run(built, check=True, capture_output=True, timeout=TIMEOUT)
    x.tofile(folder / "in")
    command = [str(program), str(len(x)), str(steps), str(folder / "in"), str(folder / "out")]
    said = subprocess.run(mpi.launch(ranks, command), check=True, capture_output=True, text=True, timeout=TIMEOUT,
                          env=mpi.environment()).stdout
    rows = [np.fromfile(folder / f"out.{rank}", np.float32).reshape(-1, len(x)) for rank in range(ranks)]
    found = {kind: (int(a), int(b)) for kind, a, b in re.findall(r"counted (\w+) (\d+) (\d+)", said)}
    return np.concatenate(rows), found


def test_same_numbers_and_bytes(mpi, tmp_path):
    size, steps = 32, 5
    text = on_mesh(looped(size, steps), 8).replace('"x"=2, "y"=4', '"x"=4')
    x = np.random.default_rng(0).integers(-3, 4, (size, size)).astype(np.float32)
    wanted, sent = by_hand(mpi, tmp_path, 4, x, steps)
    program = package.LoadedProgram(shardonnay.compile(text, target="mpi"), mpi, libraries=[str(COUNTING)], timeout=TIMEOUT)
    (output,), _ = program([x])
    np.testing.assert_array_equal(output, wanted)
    assert counts(program)["messages"][1] == sent["messages"][1] > 0
