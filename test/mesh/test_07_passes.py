"""Acceptance test 7: each pass over collectives makes what MPI is given less, and the numbers stay."""

from types import SimpleNamespace

import numpy as np
import pytest
import shardonnay
from running import COUNTING, TIMEOUT, counts, integers
from shardonnay import mpi as package
from upstream import opt

HEAD = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
# A product whose contracted dim is sharded, so that each device has a summand.
PARTS = """
  %start = arith.constant dense<0.0> : tensor<8x8xf32>
  %p = linalg.matmul {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={AXES}>]>}
      ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%start : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = linalg.matmul {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={AXES}>]>}
      ins(%c, %d : tensor<8x8xf32>, tensor<8x8xf32>) outs(%start : tensor<8x8xf32>) -> tensor<8x8xf32>"""
X, XY = '"x"', '"x", "y"'


def program(axes, body, result=("", "")):
    """Of four arguments, a and c sharded by columns, b and d by rows; and one of the same signature without
    collectives.
    """

    def spec(*dims):
        return "{sdy.sharding = #sdy.sharding<@mesh, [" + ", ".join("{" + dim + "}" for dim in dims) + "]>}"

    kind, columns, rows = "tensor<8x8xf32>", spec("", axes), spec(axes, "")
    arguments = ", ".join(f"%{name}: {kind} {rows if name in 'bd' else columns}" for name in "abcd")

    def function(body):
        return HEAD + f"func.func @main({arguments}) -> ({kind} {spec(*result)}) {{{body}\n  return %r : {kind}\n}}\n"

    # The second one has the same arguments and results: it is fed, and read, alike.
    return function(PARTS.replace("AXES", axes) + body), function(f"\n  %r = arith.addf %a, %b : {kind}")


# By pass: the programs, and how often MPI is called before and after.
PASSES = {
    "fold-all-reduces": (*program(XY, """
  %0 = sdy.all_reduce {"x"} %p out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %r = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>"""), 2, 1),
    "fold-all-reduces of a slice": (*program(X, """
  %0 = sdy.all_reduce {"x"} %p out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %r = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>""", (X, "")), 1, 1),
    "merge-collectives": (*program(XY, """
  %0 = sdy.all_gather [{"y"}, {}] %b out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %r = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>"""), 2, 1),
    "cancel-gathers-and-slices": (*program(XY, """
  %0 = sdy.all_gather [{"x", "y"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %r = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>""", (X, "")), 1, 1),
    "share-collectives": (*program(X, """
  %0 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %r = arith.addf %0, %1 : tensor<8x8xf32>"""), 2, 1),
    "reassociate-reductions": (*program(X, """
  %0 = sdy.all_reduce {"x"} %p out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %q out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %r = linalg.add ins(%0, %1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%start : tensor<8x8xf32>) -> tensor<8x8xf32>"""), 2, 1),
    "move-gathers": (*program(X, """
  %0 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %d out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %r = arith.addf %0, %1 : tensor<8x8xf32>"""), 2, 1),
}


def run(name, mpi, *passes):
    """(output, calls, bytes) of a program in which collectives stand, after these passes."""
    text, plain, _, _ = PASSES[name]
    emitted = opt(text, *passes, "-sdy-partition-to-local", "-sdy-emit-mpi")
    manifest = shardonnay.compile(plain, target="mpi").manifest
    program = package.LoadedProgram(SimpleNamespace(text=emitted, manifest=manifest), mpi, libraries=[str(COUNTING)],
                                    timeout=TIMEOUT)
    (output,), (spread,) = program(integers(manifest["inputs"]))
    assert spread == 0
    sent = {kind: found for kind, found in counts(program).items() if kind != "communicators"}
    return output, sum(calls for calls, _ in sent.values()), sum(size for _, size in sent.values())


@pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")
@pytest.mark.parametrize("name", PASSES)
def test_less_is_sent(name):
    mpi = package.find()
    _, _, before, after = PASSES[name]
    whole, calls, size = run(name, mpi)
    output, fewer, less = run(name, mpi, f"-sdy-{name.split()[0]}")
    assert (calls, fewer) == (before, after)
    assert less <= size and (fewer, less) != (calls, size)
    np.testing.assert_array_equal(output, whole)
