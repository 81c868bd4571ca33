// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-drop-sharding-rules))" | FileCheck %s

// CHECK-LABEL: func @rules
func.func @rules(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: tanh %arg0 : tensor<8xf32>
  %0 = stablehlo.tanh %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  // The user's stay.
  // CHECK: abs %{{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>}
  %1 = stablehlo.abs %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<8xf32>
  // CHECK: negate %{{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i}>}
  %2 = stablehlo.negate %1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i}>} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The op's own, silent on what is needed whole, as other tools write it.
// CHECK-LABEL: func @update
// CHECK-NOT: sharding_rule
func.func @update(%a: tensor<12x12xf32>, %b: tensor<12x6xf32>, %i: tensor<i32>) -> tensor<12x12xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %b, %i, %i {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=12, j=12, k=6}>} : (tensor<12x12xf32>, tensor<12x6xf32>, tensor<i32>, tensor<i32>) -> tensor<12x12xf32>
  return %0 : tensor<12x12xf32>
}
