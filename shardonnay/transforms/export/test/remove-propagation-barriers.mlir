// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-remove-propagation-barriers))" | FileCheck %s

// CHECK-LABEL: func @barrier
func.func @barrier(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %arg0
  %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  // CHECK-NEXT: return %[[T]]
  return %1 : tensor<8xf32>
}
