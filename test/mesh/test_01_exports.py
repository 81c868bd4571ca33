"""Acceptance tests 1 to 3, 9 and 15: what is written in MLIR's `shard` dialect, judged and run by MLIR's own tools."""

import re

import numpy as np
import pytest
from programs import PROGRAMS, X, Y, on_mesh, sharded
from rfc_programs import experts, mlp, mlp_2d
from running import integers, whole
from shardonnay import mpi as package
from shardonnay.mpi import MpiError
from upstream import Lowered, exported, exported_local, judged, opt

SCHEDULE = {"schedule": "backward-forward"}
TEXTS = {
    **{name: (PROGRAMS[name](8), {}) for name in
       ("reduce_sum_f32", "reduce_max_bf16", "matmul_f64", "matmul_i32", "attention", "stencil", "rotation", "loop",
        "linalg-mlp-0", "tosa-mlp-0")},
    "mlp": (mlp({"x": 4}, "annotations"), SCHEDULE),
    "mlp in two dims": (mlp_2d({"x": 2, "y": 4}), {}),
    "experts on a part of an axis": (experts({"x": 4}), {}),
}


# Annotations have no partial values, which these two have between their ops.
PARTIAL = {"mlp", "mlp in two dims"}


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in PARTIAL])
def test_annotations(name):
    """1 and 15: MLIR reads them, and what was written, read and written again, is the same."""
    text, options = TEXTS[name]
    once = exported(text, **options)
    judged(once)
    assert "sdy." not in once
    assert opt(once, "-sdy-import-shard", "-sdy-export-shard") == once


@pytest.mark.parametrize("name", TEXTS)
def test_local_programs(name):
    """The same of a device's program with collectives."""
    text, options = TEXTS[name]
    once = exported_local(text, **options)
    judged(once)
    assert "sdy." not in once and "spmd." not in once
    assert opt(once, "-sdy-import-shard", "-sdy-export-local-shard") == once


LOCAL = """
shard.grid @mesh(shape = 2x4)
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = shard.all_gather %a on @mesh grid_axes = [1] gather_axis = 1 : tensor<8x8xf32> -> tensor<8x32xf32>
  %1 = shard.all_slice %0 on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x32xf32> -> tensor<4x32xf32>
  %2 = shard.all_to_all %1 on @mesh grid_axes = [0] split_axis = 1 concat_axis = 0 : tensor<4x32xf32> -> tensor<8x16xf32>
  %3 = shard.all_reduce %2 on @mesh grid_axes = [1, 0] reduction = max : tensor<8x16xf32> -> tensor<8x16xf32>
  %4 = shard.reduce_scatter %3 on @mesh grid_axes = [0] scatter_axis = 1 : tensor<8x16xf32> -> tensor<8x8xf32>
  %5 = shard.process_multi_index on @mesh axes = [1] : index
  return %4 : tensor<8x8xf32>
}
"""
CORRUPTED = {
    "an axis that there is not": ("grid_axes = [1] gather", "grid_axes = [2] gather"),
    "an axis twice": ("grid_axes = [1, 0]", "grid_axes = [1, 1]"),
    "a grid that there is not": ("%a on @mesh", "%a on @grid"),
    "a dim that there is not": ("gather_axis = 1", "gather_axis = 2"),
    "a gather of a wrong size": ("tensor<8x32xf32>\n  %1", "tensor<8x16xf32>\n  %1"),
    "a slice of a wrong size": ("slice_axis = 0", "slice_axis = 1"),
    "an exchange of a wrong size": ("split_axis = 1 concat_axis = 0", "split_axis = 0 concat_axis = 1"),
    "a sum of another shape": ("-> tensor<8x16xf32>\n  %4", "-> tensor<8x8xf32>\n  %4"),
    "a scatter along a wrong axis": ("[0] scatter_axis = 1", "[1] scatter_axis = 1"),
    "an index along an axis that there is not": ("axes = [1] : index", "axes = [5] : index"),
}


@pytest.mark.parametrize("name", CORRUPTED)
def test_02_the_judge_is_awake(name):
    """Acceptance test 2: MLIR refuses what is wrong."""
    before, after = CORRUPTED[name]
    assert before in LOCAL
    judged(LOCAL)
    with pytest.raises(MpiError):
        judged(LOCAL.replace(before, after))


MPICH = next((mpi for mpi in package.installed() if mpi.kind == "mpich"), None)
# MLIR itself lowers no all_reduce of a bool, of what is narrower than a byte, or of a type that MPI does not know
# (bf16).
RUN = ["reduce_sum_f32", "matmul_f64", "matmul_i32", "stencil", "rotation", "linalg-mlp-0",
       "mlp", "mlp in two dims", "experts on a part of an axis"]


@pytest.mark.skipif(MPICH is None, reason="MPICH IS NOT INSTALLED: run scripts/setup --mpi")
@pytest.mark.parametrize("name", RUN)
def test_03_mlir_runs_it(name):
    """Acceptance test 3: all collectives made of all_reduce and slices, lowered by MLIR alone, give the same numbers.
    """
    text, options = TEXTS[name]
    program = Lowered(text, MPICH, **options)
    try:
        inputs = integers(program.manifest["inputs"])
        for (output, spread), wanted in zip(program(inputs), whole(text, package.find())(inputs)[0], strict=True):
            np.testing.assert_array_equal(output.astype(np.float64), wanted.astype(np.float64))
            assert spread == 0
    finally:
        program.close()


SIMPLE = {
    "elementwise": f"""
func.func @main(%a: tensor<8x8xf32> {sharded(X, "")}, %b: tensor<8x8xf32> {sharded(X, "")}) -> (tensor<8x8xf32> {sharded(X, "")}) {{
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.add ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}""",
    "transposed": f"""
func.func @main(%a: tensor<8x6xf32> {sharded(X, "")}) -> (tensor<6x8xf32> {sharded("", X)}) {{
  %e = tensor.empty() : tensor<6x8xf32>
  %0 = linalg.transpose ins(%a : tensor<8x6xf32>) outs(%e : tensor<6x8xf32>) permutation = [1, 0]
  return %0 : tensor<6x8xf32>
}}""",
    "rows of a product": f"""
func.func @main(%a: tensor<8x16xf32> {sharded(Y, "")}, %b: tensor<16x12xf32> {sharded("", "")}) -> (tensor<8x12xf32> {sharded(Y, "")}) {{
  %s = tensor.empty() : tensor<8x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x12xf32>) outs(%s : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}}""",
}


def types_of(text):
    """Of the function's arguments and results."""
    signature = re.search(r"func\.func @main\((.*?)\) -> (.*?) \{\n", text, re.S)
    return re.findall(r"tensor<[^>]*>", signature[0])


@pytest.mark.parametrize("name", SIMPLE)
def test_09_mlir_partitions_alike(name):
    """Acceptance test 9: where MLIR's own partitioner is right, it gives a device the same tensors."""
    text = on_mesh("sdy.mesh @mesh = <[]>\n" + SIMPLE[name], 4)
    theirs = package.toolchain.run_tool(
        [package.toolchain.llvm_tool("mlir-opt"), "-",
         "--pass-pipeline=builtin.module(func.func(sharding-propagation{traversal=forward-backward}, "
         "shard-partition))"],
        exported(text))
    assert types_of(theirs) == types_of(exported_local(text))
