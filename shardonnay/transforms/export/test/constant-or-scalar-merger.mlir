// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-constant-or-scalar-merger))" | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @equal_expressions
func.func @equal_expressions(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[C:.*]] = sdy.constant
  // CHECK-NOT: sdy.constant
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[C]]
  // CHECK-NOT: broadcast
  %0 = sdy.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = sdy.constant dense<1.0> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
  // What is no constant expression stays twice.
  // CHECK: %[[A0:.*]] = stablehlo.add %arg0, %[[B]]
  // CHECK: %[[A1:.*]] = stablehlo.add %arg0, %[[B]]
  %4 = stablehlo.add %arg0, %1 : tensor<8xf32>
  %5 = stablehlo.add %arg0, %3 : tensor<8xf32>
  // CHECK: return %[[A0]], %[[A1]]
  return %4, %5 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @different_shardings
func.func @different_shardings() -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: sdy.constant {sdy.sharding
  // CHECK: sdy.constant dense
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = sdy.constant dense<1.0> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// In each region its own.
// CHECK-LABEL: func @regions
// CHECK-COUNT-2: sdy.constant
// CHECK-NOT: sdy.constant
func.func @regions(%arg0: tensor<i1>) -> tensor<8xf32> {
  %0 = "stablehlo.if"(%arg0) ({
    %1 = sdy.constant dense<1.0> : tensor<8xf32>
    %2 = sdy.constant dense<1.0> : tensor<8xf32>
    %3 = stablehlo.add %1, %2 : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }, {
    %1 = sdy.constant dense<1.0> : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
