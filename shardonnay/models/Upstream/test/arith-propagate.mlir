// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter -sdy-user-priority-propagate | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Dim by dim: the argument's rows and the result's columns meet in all values.
// CHECK-LABEL: func @elementwise
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}
// CHECK: arith.maximumf {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
// CHECK: math.exp {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
func.func @elementwise(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
  %0 = arith.maximumf %arg0, %arg1 : tensor<8x8xf32>
  %1 = math.exp %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A number that chooses between tensors has no dims.
// CHECK-LABEL: func @select
// CHECK: arith.select {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
func.func @select(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32>, %a: index, %b: index) -> tensor<8x8xf32> {
  %0 = arith.cmpi slt, %a, %b : index
  %1 = arith.select %0, %arg0, %arg1 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Each use of a constant has its own, by the trait alone.
// CHECK-LABEL: func @constants
// CHECK: %[[A:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} dense<1.0
// CHECK: %[[B:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>} dense<1.0
// CHECK: arith.addf %arg0, %[[A]]
// CHECK: arith.addf %arg1, %[[B]]
func.func @constants(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant dense<1.0> : tensor<8xf32>
  %0 = arith.addf %arg0, %c : tensor<8xf32>
  %1 = arith.addf %arg1, %c : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
