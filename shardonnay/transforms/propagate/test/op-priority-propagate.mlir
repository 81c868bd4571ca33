// RUN: sdy-opt %s -sdy-op-priority-propagate | FileCheck %s --check-prefixes=CHECK,LADDER
// RUN: sdy-opt %s -sdy-op-priority-propagate=run-op-priority-propagation=false | FileCheck %s --check-prefixes=CHECK,NONE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @elementwise_before_dot
func.func @elementwise_before_dot(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  // LADDER: dot_general {{.*}}<@mesh, [{?}, {"x", ?}]>
  // NONE: dot_general {{.*}}<@mesh, [{"x", ?}, {?}]>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %arg2 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A pass-through op whose operand has other uses comes second.
// CHECK-LABEL: func @only_user_first
func.func @only_user_first(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>})
    -> (tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) {
  // LADDER: tanh %arg0 {{.*}}<@mesh, [{?}, {"x", ?}]>
  // NONE: tanh %arg0 {{.*}}<@mesh, [{"x", ?}, {?}]>
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  return %arg0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Pass-through factors before reductions.
// CHECK-LABEL: func @reduction_later
func.func @reduction_later(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>},
    %arg1: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) {
  // The column of the result reaches %arg1 before its contracting dim does.
  // LADDER-SAME: %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
