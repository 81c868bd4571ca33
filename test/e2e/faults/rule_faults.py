"""Faults that other partitioners have with rules: ops without one, and rules of the user."""

import numpy as np
from fault_cases import MOVES, fault
from uneven import argument

# Ops that have no rule there.
ROWS_BY = [argument([8, 16], ["x", "y"])]
fault("sdy-no-rule-map", ROWS_BY, ([8, 16], "f32", ["x", "y"]),
      """$r = "stablehlo.map"($0) <{dimensions = array<i64: 0, 1>}> ({
^bb0($a: tensor<f32>):
$b = stablehlo.multiply $a, $a : tensor<f32>
stablehlo.return $b : tensor<f32>
}) : (tensor<8x16xf32>) -> tensor<8x16xf32>""", set())
fault("sdy-no-rule-if", [*ROWS_BY, (np.array(True), "i1", [])], ([8, 16], "f32", ["x", "y"]),
      """$r = "stablehlo.if"($1) ({
$a = stablehlo.negate $0 : tensor<8x16xf32>
stablehlo.return $a : tensor<8x16xf32>
}, {
stablehlo.return $0 : tensor<8x16xf32>
}) : (tensor<i1>) -> tensor<8x16xf32>""", set())
fault("sdy-no-rule-einsum", [argument([4, 8, 6], ["x", "y", ""]), argument([4, 6, 5], ["x", "", ""], seed=1)],
      ([4, 8, 5], "f32", ["x", "y", ""]),
      '$r = stablehlo.einsum $0, $1, config = "bij,bjk->bik" : (tensor<4x8x6xf32>, tensor<4x6x5xf32>) -> '
      'tensor<4x8x5xf32>', set())
fault("sdy-no-rule-torch-index-select", [argument([8, 16], ["", "y"]), (np.array([7, 0, 3]), "i32", [""])],
      ([3, 16], "f32", ["", "y"]),
      '$r = "stablehlo.torch_index_select"($0, $1) <{dim = 0 : i64, batch_dims = 0 : i64}> : '
      "(tensor<8x16xf32>, tensor<3xi32>) -> tensor<3x16xf32>", set())
fault("sdy-no-rule-replica-id", [(np.arange(8), "ui32", ["xy"])], ([8], "ui32", ["xy"]),
      "$a = stablehlo.replica_id : tensor<ui32>\n$b = stablehlo.broadcast_in_dim $a, dims = [] : (tensor<ui32>) -> "
      "tensor<8xui32>\n$r = stablehlo.add $0, $b : tensor<8xui32>", set())
fault("sdy-no-rule-chlo", [(np.linspace(-0.9, 0.9, 128).reshape(8, 16), "f32", ["x", "y"])],
      ([8, 16], "f32", ["x", "y"]), "$r = chlo.erf_inv $0 : tensor<8x16xf32> -> tensor<8x16xf32>", set())
FEATURES = (np.linspace(0.5, 2, 16), "f32", ["y"])
fault(
    "sdy-no-rule-batch-norm training",
    [*ROWS_BY, FEATURES, FEATURES],
    ([8, 16], "f32", ["x", "y"]),
    '$r, $m, $v = "stablehlo.batch_norm_training"($0, $1, $2) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : '
    "(tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)",
    {"all_reduce"},
    tolerance=1e-5,
)
fault("sdy-no-rule-batch-norm gradient",
      [*ROWS_BY, FEATURES, FEATURES, FEATURES, argument([8, 16], ["x", "y"], seed=1)],
      ([8, 16], "f32", ["x", "y"]),
      '$r, $m, $v = "stablehlo.batch_norm_grad"($0, $1, $2, $3, $4) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : '
      "(tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x16xf32>) -> "
      "(tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)", {"all_reduce"}, tolerance=1e-4)

# Rules that the user gives: ignored where the op has its own, and its operands are not resharded.
fault("sdy-user-rules operands that disagree", [argument([8, 16], ["x", "y"]), argument([8, 16], ["y", ""], seed=1)],
      ([8, 16], "f32", ["x", "y"]),
      "$r = stablehlo.add $0, $1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=16}, "
      "custom>} : tensor<8x16xf32>", MOVES)
fault("pytorch-167677 rule of a few words", [argument([8, 16], ["x", "y"]), argument([8, 16], ["", "y"], seed=1)],
      ([8, 16], "f32", ["x", "y"]),
      "$r = stablehlo.multiply $0, $1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, "
      "j=16}, custom>} : tensor<8x16xf32>", set())
fault("sdy-override dim that the user wants whole", ROWS_BY, ([8, 16], "f32", ["x", "y"]),
      "$r = stablehlo.negate $0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} "
      "need_replication={j}, custom>} : tensor<8x16xf32>", {"all_to_all"})
