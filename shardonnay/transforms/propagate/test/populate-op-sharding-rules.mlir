// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-populate-op-sharding-rules))" | FileCheck %s
// RUN: sdy-opt %s -sdy-user-priority-propagate=keep-sharding-rules=true | FileCheck %s

// CHECK-LABEL: func @rules
func.func @rules(%arg0: tensor<8x32xf32>, %arg1: tensor<32x16xf32>) -> tensor<8x16xf32> {
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  // What the user gave stays.
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16, k=16}, custom>
  %1 = stablehlo.tanh %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16, k=16}, custom>} : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
