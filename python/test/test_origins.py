"""`sdy.sharding_origins` and `sdy.propagation_edges` against those that jaxlib's passes write: equal text."""

import re
import subprocess
from pathlib import Path

import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
DEBUG = "debug-sharding-origins=true debug-propagation-edge-sharding=true"
PASSES = ["sdy-add-data-flow-edges", f"sdy-user-priority-propagate{{{DEBUG}}}"]

PROGRAMS = {
    "forward_and_backward": """
      (%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
       %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>})
      -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", "c", ?}]>}) {
      %0 = stablehlo.add %a, %a : tensor<8x8xf32>
      %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]
          : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {?}]> : tensor<8x16xf32>
      %3 = stablehlo.tanh %2 : tensor<8x16xf32>
      return %3 : tensor<8x16xf32>
    """,
    "sideways": """
      (%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
       %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = sdy.sharding_constraint %b <@mesh, [{?}, {"c", ?}]> : tensor<8x8xf32>
      %1 = stablehlo.add %a, %0 : tensor<8x8xf32>
      %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %2 : tensor<8x8xf32>
    """,
    "parts_of_an_axis": """
      (%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {?}]>}) -> tensor<2x4x8xf32> {
      %0 = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
      %1 = stablehlo.tanh %0 : tensor<2x4x8xf32>
      return %1 : tensor<2x4x8xf32>
    """,
    "the_source_that_has_all": """
      (%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
       %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "c"}, {?}]>}) -> tensor<8x8xf32> {
      %0 = stablehlo.add %a, %b : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    """,
    "priorities": """
      (%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p1, {?}]>},
       %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"c"}]>}) -> tensor<8x8xf32> {
      %0 = stablehlo.add %a, %b : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    """,
    "data_flow_edges": """
      (%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %b: tensor<8x8xf32>)
      -> tensor<8x8xf32> {
      %0:2 = stablehlo.optimization_barrier %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
      %1 = stablehlo.multiply %0#0, %0#1 : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    """,
}


def in_jaxlib(text, *passes):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
        return str(module)


def by_us(text):
    command = [SDY_OPT, f"--pass-pipeline=builtin.module({','.join(PASSES)})"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_jaxlib_writes_them(name):
    text = f'sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2, "d"=4]>\nfunc.func @main{PROGRAMS[name]}}}'
    # Theirs are named by an earlier pass, ours by this one where they have no name.
    named = re.sub(r"(sdy\.sharding_constraint .*>) :", r'\1 {sdy.sharding_origin_name = "constraint_0"} :', text)
    ours = by_us(text)
    assert in_jaxlib(ours) == in_jaxlib(named, *PASSES)
    assert "sdy.sharding_origins" in ours and "sdy.propagation_edges" in ours
