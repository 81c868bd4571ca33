// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-drop-sharding-rules))" | FileCheck %s

// CHECK-LABEL: func @rules
func.func @rules(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: tanh %arg0 : tensor<8xf32>
  %0 = stablehlo.tanh %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
