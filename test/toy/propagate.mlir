// RUN: sdy-opt-toy %s -sdy-user-priority-propagate | FileCheck %s
// RUN: sdy-opt-toy %s -sdy-populate-op-sharding-rules | FileCheck %s --check-prefix=RULE

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// m has the axis of the rows of the left operand, n that of the columns of the
// right one; k is a reduction, along which an axis goes from one operand to the
// other and not to the result.
//
// What the reduction combines with, the op does not say: none may shard it.
// RULE: toy.matmul {{.*}}<([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} need_replication={k}>
// CHECK-LABEL: func @matmul
// CHECK-SAME: %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}, {"y"}]>}
// CHECK-SAME: -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>})
// CHECK: toy.matmul {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
func.func @matmul(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"z"}]>}, %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) -> tensor<8x16xf32> {
  %0 = toy.matmul %arg0, %arg1 : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// From the result of the second to the operands of the first: m goes up, n too.
// CHECK-LABEL: func @backward
// CHECK-SAME: %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
// CHECK-SAME: %arg1: tensor<4x16xf32>,
// CHECK-SAME: %arg2: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>}
func.func @backward(%arg0: tensor<8x4xf32>, %arg1: tensor<4x16xf32>, %arg2: tensor<16x2xf32>) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = toy.matmul %arg0, %arg1 : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = toy.matmul %0, %arg2 : (tensor<8x16xf32>, tensor<16x2xf32>) -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
