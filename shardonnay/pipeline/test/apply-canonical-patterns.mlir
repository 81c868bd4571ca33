// RUN: sdy-opt %s --sdy-apply-canonical-patterns | FileCheck %s

// Constants stay apart: each has its own location, and is sharded on its own.
// CHECK-LABEL: @patterns
// CHECK: stablehlo.constant
// CHECK: stablehlo.constant
// CHECK: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK-NOT: stablehlo.broadcast_in_dim
// CHECK: return
func.func @patterns(%arg0: tensor<8xf32>) -> (tensor<1x8xf32>, tensor<f32>, tensor<f32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
  return %2, %0, %1 : tensor<1x8xf32>, tensor<f32>, tensor<f32>
}

// The sum goes first, then what only it used, then what is inside.
// CHECK-LABEL: @unused
// CHECK-NEXT: return
func.func @unused(%arg0: tensor<8xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.add %2, %2 : tensor<f32>
  return
}
