"""Acceptance tests 10 and 12: the inputs that MLIR's own partitioner miscompiles or crashes on; uneven dims, a halo,
an index.
"""

import batch
import pytest
from programs import X, Y, on_mesh, sharded
from shardonnay import mpi as package

XY = f"{X}, {Y}"
CONV = f"""
func.func @main(%x: tensor<1x18x4xf32> {sharded("", X, "")}, %w: tensor<3x4x6xf32>) -> (tensor<1x16x6xf32> {sharded("", X, "")}) {{
  %zero = arith.constant dense<0.0> : tensor<1x16x6xf32>
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x18x4xf32>, tensor<3x4x6xf32>) outs(%zero : tensor<1x16x6xf32>) -> tensor<1x16x6xf32>
  return %0 : tensor<1x16x6xf32>
}}"""


def moved(source, target):
    return f"""
func.func @main(%x: tensor<8x8xf32> {sharded(*source)}) -> (tensor<8x8xf32> {sharded(*target)}) {{
  %0 = arith.addf %x, %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}"""


def uneven(axes):
    return f"""
func.func @main(%x: tensor<7x8xf32> {sharded(axes, "")}, %w: tensor<7x8xf32>) -> (tensor<7x8xf32> {sharded(axes, "")}, tensor<8xf32>, tensor<8x8xf32>) {{
  %0 = arith.addf %x, %w : tensor<7x8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %1 = linalg.reduce {{ arith.maximumf }} ins(%0 : tensor<7x8xf32>) outs(%one : tensor<8xf32>) dimensions = [0]
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x7xf32>
  %t = linalg.transpose ins(%0 : tensor<7x8xf32>) outs(%e : tensor<8x7xf32>) permutation = [1, 0]
  %2 = linalg.matmul ins(%t, %w : tensor<8x7xf32>, tensor<7x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2 : tensor<7x8xf32>, tensor<8xf32>, tensor<8x8xf32>
}}"""


INPUTS = {
    "an argument without annotation, not used": f"""
func.func @main(%x: tensor<8x8xf32> {sharded(X, "")}, %unused: tensor<8x8xf32>) -> tensor<8x8xf32> {{
  %0 = arith.addf %x, %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}""",
    "two axes of a dim go": moved([XY, ""], ["", ""]),
    "two axes move to another dim": moved([XY, ""], ["", XY]),
    "two dims exchange their axes": moved([X, Y], [Y, X]),
    "operands that are sharded on different dims": f"""
func.func @main(%x: tensor<8x8xf32> {sharded(X, "")}, %y: tensor<8x8xf32> {sharded("", Y)}) -> tensor<8x8xf32> {{
  %0 = arith.addf %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}""",
    "7x8 over 2": uneven(X),
    "7x8 over 4": uneven(XY),
    "tosa.matmul, its last dim sharded": f"""
func.func @main(%x: tensor<2x4x8xf32>, %w: tensor<2x8x6xf32> {sharded("", "", X)}) -> tensor<2x4x6xf32> {{
  %zero = "tosa.const"() {{values = dense<0.0> : tensor<1xf32>}} : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<2x4x8xf32>, tensor<2x8x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x6xf32>
  return %0 : tensor<2x4x6xf32>
}}""",
    "tosa.add of a dim of size 1": f"""
func.func @main(%x: tensor<8x8xf32> {sharded(X, "")}, %y: tensor<1x8xf32>) -> tensor<8x8xf32> {{
  %0 = tosa.add %x, %y : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}""",
    "linalg.index": f"""
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<8x8xi64> {sharded(X, Y)}) -> (tensor<8x8xi64> {sharded(X, Y)}) {{
  %0 = linalg.generic {{indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}} outs(%x : tensor<8x8xi64>) {{
  ^bb0(%a: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c10 = arith.constant 10 : index
    %t = arith.muli %i, %c10 : index
    %s = arith.addi %t, %j : index
    %n = arith.index_cast %s : index to i64
    %r = arith.addi %a, %n : i64
    linalg.yield %r : i64
  }} -> tensor<8x8xi64>
  return %0 : tensor<8x8xi64>
}}""",
    "a reduction by what is no known combiner": f"""
func.func @main(%x: tensor<8x8xf32> {sharded(X, Y)}) -> tensor<8xf32> {{
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %0 = linalg.reduce ins(%x : tensor<8x8xf32>) outs(%one : tensor<8xf32>) dimensions = [0] (%a: f32, %b: f32) {{
    %two = arith.constant 2.0 : f32
    %1 = arith.mulf %b, %two : f32
    %2 = arith.subf %1, %a : f32
    linalg.yield %2 : f32
  }}
  return %0 : tensor<8xf32>
}}""",
    "a constant with elements of its own": f"""
func.func @main() -> (tensor<4xf32> {sharded(X)}) {{
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}}""",
    "a convolution along its window": CONV,
}
TEXTS = {name: on_mesh("sdy.mesh @mesh = <[]>\n" + text, 4) for name, text in INPUTS.items()}


def check(texts, mpi, **more):
    expected = batch.run(list(texts.values()), package.find(), whole=True)
    wrong = {}
    for name, found, wanted in zip(texts, batch.run(list(texts.values()), mpi, **more), expected):
        said = str(found) if isinstance(found, Exception) else batch.disagreement(found, wanted, exact=True)
        if said:
            wrong[name] = said[:300]
    assert not wrong


def test_right_numbers(mpi):
    check(TEXTS, mpi)


@pytest.mark.parametrize("mode", ["arguments", "results"])
def test_11_whole_boundaries(mode, mpi):
    """Acceptance test 11: global arrays on every device, sliced by an index, give the same numbers."""
    check(TEXTS, mpi, options={mode: "whole"})
