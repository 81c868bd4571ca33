// RUN: sdy-opt %s -sdy-inline-private-functions -mlir-print-debuginfo | FileCheck %s

// CHECK: stablehlo.abs %arg0 : tensor<8xf32> loc(#[[SITE:.*]])
// CHECK: #[[CALLEE:.*]] = loc("in f")
// CHECK: #[[CALL:.*]] = loc("the call")
// CHECK: #[[SITE]] = loc(callsite(#[[CALLEE]] at #[[CALL]]))
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32> loc("the call")
  return %0 : tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %arg0 : tensor<8xf32> loc("in f")
  return %0 : tensor<8xf32>
}
