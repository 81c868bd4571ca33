// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func @kinds
func.func @kinds(%arg0: tensor<8x4xf32>, %arg1: tensor<4x2xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=2, k=4} reduction={k}>
  "test.dot"(%arg0, %arg1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=2, k=4} reduction={k}>} : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  // CHECK: ([i, k], [k, j])->([i, j]) {i=8, j=2, k=4} reduction={k} need_replication={j} permutation={i} blocked_propagation={i, k}, custom>
  "test.dot"(%arg0, %arg1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=2, k=4} reduction={k} need_replication={j} permutation={i} blocked_propagation={i, k}, custom>} : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return
}

// CHECK-LABEL: func @compound
func.func @compound(%arg0: tensor<8x8xf32>, %arg1: tensor<f32>) {
  // CHECK: <([ij, k])->([i, jk]) {i=2, j=4, k=8}>
  "test.reshape"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, jk]) {i=2, j=4, k=8}>} : (tensor<8x8xf32>) -> tensor<2x32xf32>
  // CHECK: <([])->([])>
  "test.scalar"(%arg1) {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>} : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func @many_factors
func.func @many_factors(%arg0: tensor<1048576xf32>) {
  // CHECK: <([ijklmnopqrstuvwxyzz_1z_2])->([ijklmnopqrstuvwxyzz_1z_2])
  // CHECK-SAME: y=2, z=2, z_1=2, z_2=2}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([ijklmnopqrstuvwxyzz_1z_2])->([ijklmnopqrstuvwxyzz_1z_2]) {i=2, j=2, k=2, l=2, m=2, n=2, o=2, p=2, q=2, r=2, s=2, t=2, u=2, v=2, w=2, x=2, y=2, z=2, z_1=2, z_2=2}>} : (tensor<1048576xf32>) -> tensor<1048576xf32>
  return
}
