// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @dynamic_slice
func.func @dynamic_slice(%a: tensor<4x8xf32>, %i: tensor<i32>) {
  // CHECK: stablehlo.dynamic_slice {{.*}}<([i, j], [], [])->([i, j]) {i=4, j=8} need_replication={i} blocked_propagation={i}>
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  return
}

// The operand's updated dim may be sharded, the update's not.
// CHECK-LABEL: func @dynamic_update_slice
func.func @dynamic_update_slice(%a: tensor<4x8xf32>, %u: tensor<2x8xf32>, %i: tensor<i32>) {
  // CHECK: stablehlo.dynamic_update_slice {{.*}}<([i, k], [j, k], [], [])->([i, k]) {i=4, j=2, k=8} need_replication={j}>
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}
