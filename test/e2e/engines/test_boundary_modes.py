"""Both ways to call a partitioned program: a device has its shard of arguments and results, or the whole of them."""

import itertools

import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<10x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, tf.aliasing_output = 1 : i32},
    %b: tensor<16x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
    %i: tensor<i32>)
    -> (tensor<10x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
        tensor<10x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<10x16xf32>, tensor<16x7xf32>) -> tensor<10x7xf32>
  %1 = stablehlo.dynamic_update_slice %a, %a, %i, %zero : (tensor<10x16xf32>, tensor<10x16xf32>, tensor<i32>, tensor<i32>) -> tensor<10x16xf32>
  return %0, %1 : tensor<10x7xf32>, tensor<10x16xf32>
}
"""


@pytest.mark.parametrize("arguments, results", list(itertools.product(("split", "whole"), repeat=2)))
def test_agrees_with_the_unpartitioned_program(arguments, results):
    compiled = shardonnay.compile(PROGRAM, arguments=arguments, results=results)
    manifest = compiled.manifest
    assert (manifest["arguments"], manifest["results"]) == (arguments, results)
    for mode, entries in ((arguments, manifest["inputs"]), (results, manifest["outputs"])):
        for entry in entries:
            if entry["global_shape"]:
                assert (entry["local_shape"] == entry["global_shape"]) == (mode == "whole")
    # Only where a device holds as much of the argument as of the result can the memory be the same.
    assert manifest["inputs"][0]["alias"] == (1 if arguments == results == "whole" else None)
    inputs = [
        np.random.default_rng(0).uniform(-1, 1, [10, 16]).astype(np.float32),
        np.random.default_rng(1).uniform(-1, 1, [16, 7]).astype(np.float32),
        np.asarray(3, np.int32),
    ]
    assert_agrees(compiled, PROGRAM, inputs)


def test_whole_arguments_are_sliced_without_communication():
    program = """
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.tanh %a : tensor<10xf32>
  return %0 : tensor<10xf32>
}
"""
    assert shardonnay.compile(program, arguments="whole", report=True).report["collectives"] == []
    whole = shardonnay.compile(program, arguments="whole", results="whole", report=True).report["collectives"]
    assert [collective["kind"] for collective in whole] == ["all_gather"]


def test_only_known_modes():
    with pytest.raises(ValueError, match="arguments: expected one of .*, got 'half'"):
        shardonnay.compile(PROGRAM, arguments="half")
