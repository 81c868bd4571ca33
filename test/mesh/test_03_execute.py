"""Acceptance test 3: programs in 2, 4 and 8 processes, on both MPIs, against one process."""

import functools

import batch
import numpy as np
import pytest
from programs import EXACT, PROGRAMS, REFUSED
from running import TIMEOUT, compiled, integers
from shardonnay import mpi as package

NAMES = [name for name in PROGRAMS if name not in REFUSED]


@functools.cache
def wholes():
    """What one process yields; the same for all meshes and MPIs."""
    return batch.run([PROGRAMS[name](2) for name in NAMES], package.find(), whole=True)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_numbers(ranks, mpi):
    wrong = {}
    for name, found, expected in zip(NAMES, batch.run([PROGRAMS[name](ranks) for name in NAMES], mpi), wholes()):
        if isinstance(found, Exception) or isinstance(expected, Exception):
            wrong[name] = str(found)[:500]
        elif said := batch.disagreement(found, expected, name in EXACT):
            wrong[name] = said
    assert not wrong


@pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")
def test_wrong_groups_are_seen(monkeypatch):
    """The negative control: programs that reduce along the wrong axis disagree."""
    names = ["reduce_sum_f32", "reduce_sum_i32"]
    texts = [PROGRAMS[name](4) for name in names]
    original = batch.shardonnay.compile

    def broken(text, **options):
        program = original(text, **options)
        # The first word of a group's last reference is its axis.
        program.text = program.text.replace("2, 2, 2, 0, 1, 0, 1, 2", "2, 2, 2, 0, 1, 1, 1, 2")
        return program

    monkeypatch.setattr(batch.shardonnay, "compile", broken)
    found = batch.run(texts, package.find())
    assert all(batch.disagreement(each, wholes()[NAMES.index(name)], True) for name, each in zip(names, found))


READS_WHAT_IT_WRITES = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%v: tensor<4xf64>, %x: tensor<6x4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<6x4xf64> {
  %numbered = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      outs(%v : tensor<4xf64>) {
  ^bb0(%p: f64):
    %at = linalg.index 0 : index
    %word = arith.index_cast %at : index to i32
    %number = arith.sitofp %word : i32 to f64
    %sum = arith.addf %p, %number : f64
    linalg.yield %sum : f64
  } -> tensor<4xf64>
  %empty = tensor.empty() : tensor<6x4xf64>
  %scaled = linalg.generic {indexing_maps = [affine_map<(b, a) -> (a)>, affine_map<(b, a) -> (b, a)>,
                                             affine_map<(b, a) -> (b, a)>], iterator_types = ["parallel", "parallel"]}
      ins(%numbered, %x : tensor<4xf64>, tensor<6x4xf64>) outs(%empty : tensor<6x4xf64>) {
  ^bb0(%p: f64, %q: f64, %r: f64):
    %product = arith.mulf %p, %q : f64
    linalg.yield %product : f64
  } -> tensor<6x4xf64>
  return %scaled : tensor<6x4xf64>
}"""


def test_a_generic_that_reads_what_it_writes(mpi):
    """Against numpy: one process goes through the same passes of MLIR, whose fusion computed it once for each row."""
    program = package.LoadedProgram(compiled(READS_WHAT_IT_WRITES), mpi, timeout=TIMEOUT)
    v, x = integers(program.manifest["inputs"])
    outputs, _ = program([v, x])
    np.testing.assert_array_equal(outputs[0], (v + np.arange(4)) * x)


@pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_lowering_is_refused(name):
    (found,) = batch.run([PROGRAMS[name](2)], package.find())
    assert isinstance(found, package.MpiError) and REFUSED[name] in str(found)
