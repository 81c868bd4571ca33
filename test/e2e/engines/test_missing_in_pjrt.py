"""What PJRT on CPU lacks, a program's own collectives among it: another form, the same numbers."""

import functools

import numpy as np
import pytest
import shardonnay
from jaxlib.mlir import ir
from shardonnay import boundary, engine, run

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x4xTYPE> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<2x4xTYPE> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<2x4xTYPE> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0:2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]
      manual_axes={"x", "y"} (%b: tensor<1x4xTYPE>) {
    %n = stablehlo.not %b : tensor<1x4xTYPE>
    %1:2 = "stablehlo.all_reduce"(%b, %n) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<TYPE>, %r: tensor<TYPE>):
      %2 = stablehlo.OP %l, %r : tensor<TYPE>
      stablehlo.return %2 : tensor<TYPE>
    }) : (tensor<1x4xTYPE>, tensor<1x4xTYPE>) -> (tensor<1x4xTYPE>, tensor<1x4xTYPE>)
    sdy.return %1#0, %1#1 : tensor<1x4xTYPE>, tensor<1x4xTYPE>
  } : (tensor<8x4xTYPE>) -> (tensor<2x4xTYPE>, tensor<2x4xTYPE>)
  return %0#0, %0#1 : tensor<2x4xTYPE>, tensor<2x4xTYPE>
}
"""


@pytest.mark.parametrize("op, combine", [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)])
def test_bitwise_reductions_of_several_operands(op, combine):
    text = PROGRAM.replace("OP", op).replace("TYPE", "i32")
    program = run.LoadedProgram(shardonnay.compile(text))
    value = np.random.default_rng(0).integers(-1000, 1000, (8, 4)).astype(np.int32)
    outputs, spreads = program([value])
    assert spreads == [0.0, 0.0]
    for output, whole in zip(outputs, (value, ~value), strict=True):
        wanted = [functools.reduce(combine, half) for half in (whole[:4], whole[4:])]
        np.testing.assert_array_equal(output, wanted)


GATHERED_TRANSFORM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<7x5x6xcomplex<f64>> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>})
    -> (tensor<7x5x6xcomplex<f64>> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}]>}) {
  %0 = stablehlo.fft %a, type = FFT, length = [6] : (tensor<7x5x6xcomplex<f64>>) -> tensor<7x5x6xcomplex<f64>>
  return %0 : tensor<7x5x6xcomplex<f64>>
}
"""


def test_transform_before_a_gather():
    program = run.LoadedProgram(shardonnay.compile(GATHERED_TRANSFORM))
    value = np.random.default_rng(0).normal(size=(7, 5, 6)).astype(np.complex128)
    (output,), _ = program([value])
    np.testing.assert_allclose(output, np.fft.fft(value), atol=1e-12)


NARROW = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<7x6xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>})
    -> (tensor<7x6xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  return %a : tensor<7x6xELEMENT>
}
"""


@pytest.mark.parametrize("element", ["i2", "ui2", "i4", "ui4"])
def test_integers_of_few_bits(element):
    value = (np.arange(42).reshape(7, 6) % 2).astype(boundary.dtype_of(element))
    program = run.LoadedProgram(shardonnay.compile(NARROW.replace("ELEMENT", element)))
    for _ in range(5):
        (output,), spreads = program([value])
        assert spreads == [0.0]
        np.testing.assert_array_equal(output.astype(int), value.astype(int))


MASKED = """
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<16x16xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xi1> {
  %mask = stablehlo.constant dense<MASK> : tensor<16x16xi1>
  %0 = stablehlo.and %a, %mask : tensor<16x16xi1>
  return %0 : tensor<16x16xi1>
}
"""


def test_bools_that_print_as_digits():
    mask = np.tril(np.ones((16, 16), bool))
    text = MASKED.replace("MASK", str(mask.tolist()).lower())
    with engine.context():
        theirs = str(ir.Module.parse(text))
    assert 'dense<"0x' in theirs
    for written in (text, theirs):
        (output,), _ = run.LoadedProgram(shardonnay.compile(written))([np.ones((16, 16), bool)])
        np.testing.assert_array_equal(output, mask)
