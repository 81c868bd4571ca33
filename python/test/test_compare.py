"""The reference, its tolerance, and running text on devices: against per-device programs written by hand."""

import os
import subprocess
import sys

import numpy as np
import pytest
from shardonnay import boundary, compare, run
from shardonnay import Program, compile

WHOLE = """
module @m attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, jax.buffer_donor = true},
                         %n: tensor<ui32>) -> (tensor<4xf32>, tensor<ui32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<4x8xf32>
    %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %square = chlo.square %sum : tensor<4xf32> -> tensor<4xf32>
    return %square, %n : tensor<4xf32>, tensor<ui32>
  }
}
"""

DEVICE = """
module @m attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<4x2xf32>, %n: tensor<ui32>) -> (tensor<4xf32>, tensor<ui32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %part = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %sum = "stablehlo.all_reduce"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<GROUPS> : tensor<SIZExi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %square = chlo.square %sum : tensor<4xf32> -> tensor<4xf32>
    return %square, %n : tensor<4xf32>, tensor<ui32>
  }
}
"""


def entry(index, name, dtype, shape, local, slices):
    return dict(
        index=index, name=name, dtype=dtype, global_shape=shape, local_shape=local, slices=slices, partial=None,
        alias=None
    )


MANIFEST = {
    "devices": 8,
    "mesh": '#sdy.mesh<["data"=2, "model"=4]>',
    "inputs": [
        entry(0, "x", "f32", [4, 8], [4, 2], [[[0, 4], [2 * (d % 4), 2 * (d % 4) + 2]] for d in range(8)]),
        entry(1, "n", "ui32", [], [], [[]] * 8),
    ],
    "outputs": [entry(0, "y", "f32", [4], [4], [[[0, 4]]] * 8), entry(1, "n", "ui32", [], [], [[]] * 8)],
}


def agreements(groups, size):
    text = DEVICE.replace("GROUPS", groups).replace("SIZE", size)
    program = run.LoadedProgram(Program(text, MANIFEST, None, ()))
    inputs = run.random_inputs(program)
    return run.check(program, inputs, compare.reference(WHOLE, inputs))


def test_the_right_groups_agree():
    assert all(agreement.ok for agreement in agreements("[[0, 1, 2, 3], [4, 5, 6, 7]]", "2x4"))


@pytest.mark.parametrize(
    "groups, size",
    [
        ("[[0], [1], [2], [3], [4], [5], [6], [7]]", "8x1"),
        ("[[0, 4], [1, 5], [2, 6], [3, 7]]", "4x2"),
        ("[[0, 1, 2, 3, 4, 5, 6, 7]]", "1x8"),
    ],
)
def test_wrong_groups_are_flagged(groups, size):
    value, integer = agreements(groups, size)
    assert not value.ok and integer.ok
    assert "DISAGREES" in str(value)


def test_the_reference_knows_no_mesh():
    text = compare.unpartitioned(WHOLE)
    assert "sdy" not in text and "jax.buffer_donor" not in text and "num_partitions = 1" in text


def test_wrong_inputs_never_reach_the_engine():
    text = DEVICE.replace("GROUPS", "[[0, 1, 2, 3], [4, 5, 6, 7]]").replace("SIZE", "2x4")
    program = run.LoadedProgram(Program(text, MANIFEST, None, ()))
    with pytest.raises(boundary.BoundaryError, match=r"input 0 \(x\): expected float32\[4, 8\], got float32\[4, 9\]"):
        program([np.ones((4, 9), np.float32), np.uint32(1)])


def test_a_manifest_that_contradicts_the_text_never_reaches_the_engine():
    text = DEVICE.replace("GROUPS", "[[0, 1, 2, 3], [4, 5, 6, 7]]").replace("SIZE", "2x4").replace("4x2xf32", "4x4xf32")
    program = run.LoadedProgram(Program(text, MANIFEST, None, ()))
    with pytest.raises(boundary.BoundaryError, match=r"the program takes float32\[4, 4\], got float32\[4, 2\]"):
        program([np.ones((4, 8), np.float32), np.uint32(1)])


def test_programs_that_round_nothing_are_held_to_the_bit():
    text = (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{ %0 = stablehlo.{0} %x : tensor<4xf32> return %0 : "
        "tensor<4xf32> }}"
    )
    assert compare.is_exact(text.format("negate"))
    assert not compare.is_exact(text.format("tanh"))
    exact = compare.reference(text.format("negate"), [np.ones(4, np.float32)])
    assert exact.tolerances == [0.0]


QUANTIZED = """
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%x: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                       %w: tensor<64x64xf32>) -> tensor<256x64xi8> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %size = stablehlo.abs %y : tensor<256x64xf32>
  %most = stablehlo.reduce(%size init: %zero) applies stablehlo.maximum across dimensions = [1]
      : (tensor<256x64xf32>, tensor<f32>) -> tensor<256xf32>
  %half = stablehlo.constant dense<127.5> : tensor<256xf32>
  %scale = stablehlo.divide %most, %half : tensor<256xf32>
  %scales = stablehlo.broadcast_in_dim %scale, dims = [0] : (tensor<256xf32>) -> tensor<256x64xf32>
  %scaled = stablehlo.divide %y, %scales : tensor<256x64xf32>
  %least = stablehlo.constant dense<-128.0> : tensor<f32>
  %greatest = stablehlo.constant dense<127.0> : tensor<f32>
  %rounded = stablehlo.round_nearest_even %scaled : tensor<256x64xf32>
  %clamped = stablehlo.clamp %least, %rounded, %greatest
      : (tensor<f32>, tensor<256x64xf32>, tensor<f32>) -> tensor<256x64xf32>
  %q = stablehlo.convert %clamped : (tensor<256x64xf32>) -> tensor<256x64xi8>
  return %q : tensor<256x64xi8>
}
"""


def test_quantized_numbers_may_round_otherwise_where_the_largest_is_a_tie():
    """MaxText's cache of keys and values in int8: the largest of each group is 127.5, or what is next to it."""
    program = run.LoadedProgram(compile(QUANTIZED))
    inputs = run.random_inputs(program)
    expected = compare.reference(QUANTIZED, inputs)
    assert all(agreement.ok for agreement in run.check(program, inputs, expected))
    expected.outputs[0] = expected.outputs[0] // 16 * 16
    assert not any(agreement.ok for agreement in run.check(program, inputs, expected))


def test_random_inputs_are_deterministic_and_in_range():
    entries = [entry(0, "x", "f32", [64], [64], []), entry(1, "i", "i32", [64], [64], []),
               entry(2, "b", "i1", [64], [64], [])]
    first, again = compare.random_inputs(entries), compare.random_inputs(entries)
    assert all((a == b).all() for a, b in zip(first, again))
    assert first[0].min() < 0 and set(first[1].tolist()) <= set(range(8)) and first[2].dtype == bool
    assert compare.random_inputs(entries, positive=True)[0].min() >= 0


def test_inputs_that_yield_nan_are_avoided():
    device = (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.sqrt %x : tensor<4xf32> return %0 : "
        "tensor<4xf32> }"
    )
    whole = [entry(0, "x", "f32", [4], [4], [[[0, 4]]])]
    manifest = {"devices": 1, "mesh": None, "inputs": whole, "outputs": whole}
    program = run.LoadedProgram(Program(device, manifest, None, ()))
    assert run.random_inputs(program)[0].min() >= 0


def test_named_computations_and_constants_of_sdy_are_what_they_hold():
    text = """
        func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = sdy.named_computation<"f">(%a) (%b: tensor<4xf32>) {
            %1 = sdy.constant dense<2.0> : tensor<4xf32>
            %2 = stablehlo.add %b, %1 : tensor<4xf32>
            sdy.return %2 : tensor<4xf32>
          } : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }"""
    (found,) = compare.reference(text, [np.ones(4, np.float32)]).outputs
    np.testing.assert_array_equal(found, np.full(4, 3, np.float32))


def test_packed_bools():
    """Eight elements a byte, as the MLIR of LLVM 22 and older prints a large constant, and so TensorFlow does."""
    text = 'func.func @main() -> tensor<128xi1> {\n  %0 = stablehlo.constant dense<"0x'
    text += "03" + "00" * 15 + '"> : tensor<128xi1>\n  return %0 : tensor<128xi1>\n}'
    for source in (text, text.encode()):  # a file is read as bytes
        (output,) = compare.reference(source, []).outputs
        assert output.nonzero()[0].tolist() == [0, 1]


def test_manual_computations_of_gspmd():
    """Each device computes its part of the whole program's manual computation, too."""
    sharding = '{mhlo.sharding = "{devices=[2]<=[2]}"}'
    text = f"""
func.func @main(%x: tensor<4xf32> {sharding}) -> tensor<4xf32> {{
  %0 = stablehlo.custom_call @Sharding(%x) {sharding} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {{mhlo.sharding = "{{manual}}"}} : (tensor<4xf32>) -> tensor<2xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<2xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {{mhlo.sharding = "{{manual}}"}} : (tensor<2xf32>) -> tensor<2xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {sharding} : (tensor<2xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}}"""
    (output,) = compare.reference(text, [np.arange(4, dtype=np.float32)]).outputs
    assert output.tolist() == [1, 0, 3, 2]


def test_resources():
    """Constants at the end of a file, as torch-mlir writes weights, which XLA does not read."""
    text = """
func.func @main() -> tensor<2xf32> {
  %0 = arith.constant dense_resource<weights> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-#
  dialect_resources: {builtin: {weights: "0x040000000000803F00000040"}}
#-}"""
    (output,) = compare.reference(text, []).outputs
    assert output.tolist() == [1, 2]


@pytest.mark.parametrize("flag, prepared, found", [("8", (1, 8), 8), ("8", (4,), 8), ("2", (8,), 8), ("", (8,), 8)])
def test_devices_that_the_user_asked_for_stay(flag, prepared, found):
    code = (
        f"import jax; from shardonnay import engine; [engine.prepare(devices) for devices in {prepared}]; "
        f"assert len(jax.devices()) == {found}, jax.devices()"
    )
    flags = f"--xla_force_host_platform_device_count={flag}" if flag else ""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "XLA_FLAGS": flags}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
