"""What is computed once for all devices (`rng`), and functions under a name (`composite`), on eight devices."""

import numpy as np
import pytest
import shardonnay
from shardonnay import run

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'


def sharding(text):
    return f"{{sdy.sharding = #sdy.sharding<@mesh, {text}>}}"


def pieces(text, inputs):
    """(compiled, its outputs, how much copies of a shard differ)"""
    compiled = shardonnay.compile(text)
    program = run.LoadedProgram(compiled)
    outputs, spreads = program(inputs)
    return compiled, outputs, spreads


RNG = f"""{MESH}
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<64x48xf32> {sharding('[{"x"}, {"y"}]')},
    tensor<64x48xf32> {sharding('[{}, {}]')}, tensor<64x48xf32> {sharding('[{"y"}, {}]')}, tensor<50x7xi32> {sharding('[{"y"}, {}]')}) {{
  %s = stablehlo.constant dense<[64, 48]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = DISTRIBUTION : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<64x48xf32>
  %1 = stablehlo.rng %a, %b, %s, distribution = DISTRIBUTION : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<64x48xf32>
  %lo = stablehlo.constant dense<-5> : tensor<i32>
  %hi = stablehlo.constant dense<20> : tensor<i32>
  %t = stablehlo.constant dense<[50, 7]> : tensor<2xi64>
  %2 = stablehlo.rng %lo, %hi, %t, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<50x7xi32>
  return %0, %0, %1, %2 : tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>, tensor<50x7xi32>
}}"""


@pytest.mark.parametrize("distribution", ["UNIFORM", "NORMAL"])
def test_all_devices_have_one_sample(distribution):
    inputs = [np.float32(2), np.float32(5)]
    compiled, (sharded, whole, other, integers), spreads = pieces(RNG.replace("DISTRIBUTION", distribution), inputs)
    # Copies of a shard are the same, and the shards of one value are shards of one sample.
    assert spreads == [0, 0, 0, 0]
    assert np.array_equal(sharded, whole)
    # Another call is another sample; so are the rows of one.
    assert not np.array_equal(other, whole)
    for sample in (whole, other):
        assert len(np.unique(sample)) > 0.99 * sample.size
        mean, deviation = (3.5, 3 / 12**0.5) if distribution == "UNIFORM" else (2, 5)
        assert abs(sample.mean() - mean) < 0.1 * deviation and abs(sample.std() / deviation - 1) < 0.05
        assert distribution == "NORMAL" or (sample.min() >= 2 and sample.max() < 5)
    assert set(np.unique(integers)) <= set(range(-5, 20)) and len(np.unique(integers)) > 15
    # It is in the report, like all communication: each sample once to all.
    assert {group["kind"] for group in compiled.report["collectives"]} >= {"all_reduce"}
    assert compiled.report["collective_bytes"] >= 2 * 64 * 48 * 4


COMPOSITE = f"""{MESH}
func.func @main(%a: tensor<8x16xf32> {sharding('[{"x"}, {"y"}]')}, %b: tensor<8x16xf32> {sharding('[{"x"}, {"y"}]')})
    -> (tensor<8x16xf32> {sharding('[{"x"}, {"y"}]')}) {{
  %0 = stablehlo.composite "my.softplus_sum" %a, %b {{decomposition = @softplus_sum RULE}} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.composite "my.normalise" %0 {{decomposition = @normalise}} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}}
func.func private @softplus_sum(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {{
  %one = stablehlo.constant dense<1.0> : tensor<8x16xf32>
  %0 = stablehlo.exponential %a : tensor<8x16xf32>
  %1 = stablehlo.add %0, %one : tensor<8x16xf32>
  %2 = stablehlo.log %1 : tensor<8x16xf32>
  %3 = stablehlo.add %2, %b : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}}
func.func private @normalise(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.divide %a, %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}}"""
POINTWISE = ", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=16}, custom>"


@pytest.mark.parametrize("rule", ["", POINTWISE], ids=["expanded", "kept"])
def test_composites(rule):
    text = COMPOSITE.replace("RULE", rule)
    inputs = [np.random.default_rng(seed).uniform(0, 1, (8, 16)).astype(np.float32) for seed in (0, 1)]
    compiled, outputs, spreads = pieces(text, inputs)
    assert ("stablehlo.composite" in compiled.text) == bool(rule)
    assert ("tensor<4x4xf32>) -> tensor<4x4xf32>\n" in compiled.text) or not rule
    expected = np.log(np.exp(inputs[0]) + 1) + inputs[1]
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(outputs[0], expected, rtol=1e-5)
    # Of the rows' sums, nothing is gathered.
    assert {group["kind"] for group in compiled.report["collectives"]} <= {"all_reduce", "reduce_scatter"}
    assert compiled.report["collectives"]


DYNAMIC = f"""{MESH}
func.func @main(%a: tensor<8x16xf32> {sharding('[{"x"}, {"y"}]')}, %n: tensor<2xi32>)
    -> (tensor<16x8xf32> {sharding('[{"x"}, {}]')}, tensor<10x16xf32> {sharding('[{"x"}, {"y"}]')}, tensor<4x16xf32> {sharding('[{}, {"y"}]')}) {{
  %shape = stablehlo.constant dense<[16, 8]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %a, %shape : (tensor<8x16xf32>, tensor<2xi32>) -> tensor<16x8xf32>
  %low = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.dynamic_pad %a, %zero, %low, %low, %none : (tensor<8x16xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<10x16xf32>
  %limit = stablehlo.constant dense<[8, 16]> : tensor<2xi32>
  %stride = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %2 = stablehlo.real_dynamic_slice %a, %none, %limit, %stride : (tensor<8x16xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x16xf32>
  return %0, %1, %2 : tensor<16x8xf32>, tensor<10x16xf32>, tensor<4x16xf32>
}}"""


def test_sizes_that_are_known_after_all():
    value = np.arange(128, dtype=np.float32).reshape(8, 16)
    compiled, outputs, _ = pieces(DYNAMIC, [value, np.zeros(2, np.int32)])
    assert "dynamic_pad" not in compiled.text and "dynamic_reshape" not in compiled.text
    for output, expected in zip(
        outputs, (value.reshape(16, 8), np.pad(value, ((1, 1), (0, 0))), value[::2]), strict=True
    ):
        assert np.array_equal(output, expected)


def test_sizes_that_are_data_are_gathered_or_refused():
    text = DYNAMIC.replace("%low, %low, %none :", "%n, %n, %none :")
    compiled = shardonnay.compile(text)
    warnings = [d.message for d in compiled.diagnostics if d.severity == "warning"]
    assert any("'stablehlo.dynamic_pad' cannot be computed sharded" in message for message in warnings), warnings
    with pytest.raises(shardonnay.CompileError, match="dynamic_pad"):
        shardonnay.compile(text, no_implicit_replication=True)


BROADCASTING = f"""{MESH}
func.func @main(%a: tensor<8x1xf32> {sharding('[{"x"}, {}]')}, %b: tensor<16xf32> {sharding('[{"y"}]')}, %p: tensor<8x16xi1> {sharding('[{"x"}, {"y"}]')})
    -> (tensor<8x16xf32> {sharding('[{"x"}, {"y"}]')}) {{
  %0 = chlo.broadcast_add %a, %b : (tensor<8x1xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %1 = chlo.broadcast_multiply %a, %0 : (tensor<8x1xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = chlo.broadcast_select %p, %1, %b : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}}"""


def test_broadcasting_functions():
    generator = np.random.default_rng(0)
    a, b = generator.uniform(size=(8, 1)).astype(np.float32), generator.uniform(size=16).astype(np.float32)
    p = generator.uniform(size=(8, 16)) < 0.5
    compiled, (output,), _ = pieces(BROADCASTING, [a, b, p])
    np.testing.assert_allclose(output, np.where(p, a * (a + b), b), rtol=1e-6)
    assert compiled.report["collective_bytes"] == 0
