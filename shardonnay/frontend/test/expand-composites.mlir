// RUN: sdy-opt %s --sdy-expand-composites -verify-diagnostics | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

func.func private @twice(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @total(%a: tensor<8xf32>) -> tensor<8xf32> { // expected-note {{the decomposition is defined here}}
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func @without_a_rule
func.func @without_a_rule(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: call @twice(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = stablehlo.composite "my.twice" %a {decomposition = @twice, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @elementwise_with_a_rule
func.func @elementwise_with_a_rule(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.composite "my.twice" %arg0 {decomposition = @twice
  %0 = stablehlo.composite "my.twice" %a {decomposition = @twice, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @not_elementwise
func.func @not_elementwise(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: call @total(%arg0)
  // expected-warning @below {{the sharding rule is not used: a composite is kept only if its decomposition is element-wise on tensors of one shape; it is partitioned as its decomposition}}
  %0 = stablehlo.composite "my.total" %a {decomposition = @total, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
