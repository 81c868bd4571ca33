"""Given shardings propagate in the order that makes the cheapest plan, and everything that speaks of it agrees."""

import numpy as np
import pytest
import shardonnay
from shardonnay import compare, explain, run
from shardonnay.__main__ import main
from shardonnay.report import lines

# The bias is added element by element, which propagates first, and gives its columns to all activations: then each
# product is a sum of parts.
LAYERS = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch"),
    %arg1: tensor<32x32xf32> loc("weight"),
    %arg2: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}PRIORITY]>} loc("bias"))
    -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.add %0, %arg2 : tensor<16x32xf32>
  %2 = stablehlo.dot %1, %arg1 : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %3 = stablehlo.add %2, %arg2 : tensor<16x32xf32>
  %4 = stablehlo.dot %3, %arg1 : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}
"""
PROGRAM = LAYERS.replace("PRIORITY", "")


def sharding_of(values, name):
    return next(value["sharding"] for value in values if value["name"] == name)


def test_the_cheaper_order_is_taken_and_said():
    compiled = shardonnay.compile(PROGRAM, device_model="bytes", report=True)
    order, price = compiled.report["order"], compiled.report["price"]
    assert order["later"] == ["bias"]
    assert order["price"] == pytest.approx(price["emitted"] + price["compute"])
    # One exchange of the bias, for three sums of the activations.
    assert compiled.report["executed_bytes"] == 384
    assert order["price_as_given"] > 4 * order["price"]
    said = next(line for line in lines(compiled.report) if line.startswith("propagated after"))
    assert said == "propagated after the others: bias, as the plan costs 0.11 of what it would"


# A cache that is given whole, and a row of it that is written in each run of a loop.
CACHE = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %cache: tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %row: tensor<64x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%at = %zero, %carried = %cache) : tensor<i32>, tensor<64x512xf32>
    cond {
    %more = stablehlo.compare LT, %at, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %written = stablehlo.dynamic_update_slice %carried, %row, %zero, %at
        : (tensor<64x512xf32>, tensor<64x1xf32>, tensor<i32>, tensor<i32>) -> tensor<64x512xf32>
    %next = stablehlo.add %at, %one : tensor<i32>
    stablehlo.return %next, %written : tensor<i32>, tensor<64x512xf32>
  }
  return %0#1 : tensor<64x512xf32>
}
"""


def test_a_loop_carries_a_cache_as_it_is_given():
    compiled = shardonnay.compile(CACHE, device_model="bytes", report=True)
    # One row, gathered once; the cache behind the loop would be 512 of them.
    assert compiled.report["executed_bytes"] == 192
    said = next(line for line in lines(compiled.report) if line.startswith("carried"))
    assert said == "carried by loops as given: result 1 of stablehlo.while, as the plan costs 0.00 of what it would"
    cache, row = np.zeros((64, 512), np.float32), np.arange(64, dtype=np.float32)[:, None]
    agreements = run.check(run.LoadedProgram(compiled), [cache, row], compare.reference(CACHE, [cache, row]))
    assert all(agreement.ok for agreement in agreements)


# Rows that four devices share, in three batches that a loop takes one by one.
BATCHES = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %rows: tensor<384x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %sum: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %split = stablehlo.reshape %rows : (tensor<384x32xf32>) -> tensor<3x128x32xf32>
  %0:2 = stablehlo.while(%at = %zero, %carried = %sum) : tensor<i32>, tensor<32x32xf32>
    cond {
    %more = stablehlo.compare LT, %at, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %split, %at, %zero, %zero, sizes = [1, 128, 32]
        : (tensor<3x128x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x32xf32>
    %batch = stablehlo.reshape %slice : (tensor<1x128x32xf32>) -> tensor<128x32xf32>
    %1 = stablehlo.dot_general %batch, %batch, contracting_dims = [0] x [0]
        : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<32x32xf32>
    %2 = stablehlo.add %carried, %1 : tensor<32x32xf32>
    %next = stablehlo.add %at, %one : tensor<i32>
    stablehlo.return %next, %2 : tensor<i32>, tensor<32x32xf32>
  }
  return %0#1 : tensor<32x32xf32>
}
"""


@pytest.mark.parametrize("model", ["bytes", "cpu"])
def test_devices_share_each_batch(model):
    compiled = shardonnay.compile(BATCHES, device_model=model, report=True)
    flops = compiled.report["contraction_flops"]
    assert flops["per_device"] * 4 == flops["global"]
    said = next(line for line in lines(compiled.report) if line.startswith("split"))
    assert said.startswith("split so that devices share each batch: result 0 of stablehlo.reshape, as the plan costs")
    rows = np.random.default_rng(0).integers(-4, 5, (384, 32)).astype(np.float32)
    arguments = [rows, np.ones((32, 32), np.float32)]
    agreements = run.check(run.LoadedProgram(compiled), arguments, compare.reference(BATCHES, arguments))
    assert all(agreement.ok for agreement in agreements)


def test_numbers():
    inputs = [np.random.default_rng(seed).standard_normal(size).astype(np.float32)
              for seed, size in enumerate(((16, 32), (32, 32), (16, 32)))]  # fmt: skip
    agreements = run.check(
        run.LoadedProgram(shardonnay.compile(PROGRAM)), inputs, compare.reference(PROGRAM, inputs)
    )
    assert all(agreement.ok for agreement in agreements)


@pytest.mark.parametrize("program, options", [
    (PROGRAM, {"keep_propagated": True}),
    (LAYERS.replace("PRIORITY", "p0").replace('{"x"}, {}]>} loc("batch")', '{"x"}p1, {}]>} loc("batch")'), {}),
])  # fmt: skip
def test_the_users_order_stays(program, options):
    assert "order" not in shardonnay.compile(program, report=True, **options).report
    assert sharding_of(explain.explain(program, **options), "%1") == '#sdy.sharding<@mesh, [{?}, {"x", ?}]>'


def test_explain_says_what_compile_does():
    values = explain.explain(PROGRAM)
    assert sharding_of(values, "%1") == '#sdy.sharding<@mesh, [{"x", ?}, {?}]>'
    refused = next(value for value in values if value["name"] == "%1")["refused"]
    assert [entry["winner"] for entry in refused if entry["offered_by"] == "%arg2"]
    propagated = shardonnay.compile(PROGRAM, to="propagate").text
    assert propagated.count('[{"x", ?}, {?}]') == 5


def test_the_command_takes_options(tmp_path, capsys):
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM)
    for option, sharding in (("--device-model=cpu", '[{"x", ?}, {?}]'), ("--keep-propagated", '[{?}, {"x", ?}]')):
        assert main(["explain", str(path), "--value", "%1", option]) == 0
        assert sharding in capsys.readouterr().out


def test_what_fits_comes_before_what_is_cheaper():
    for limit, fits in ((8000, True), (6000, False)):
        report = shardonnay.compile(PROGRAM, device_model="bytes", memory_limit=limit, report=True).report
        assert ("order" in report) == fits
        assert report["peak_bytes"]["per_device"] <= limit
