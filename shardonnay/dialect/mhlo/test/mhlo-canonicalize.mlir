// RUN: sdy-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @ops
func.func @ops(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: mhlo
  %0 = mhlo.copy %x : tensor<4xf32>
  // CHECK: %[[ERF:.*]] = chlo.erf %arg0 {test.attr} : tensor<4xf32> -> tensor<4xf32>
  %1 = mhlo.erf %0 {test.attr} : tensor<4xf32>
  // CHECK: %[[COPY:.*]] = stablehlo.reshape %arg0 {test.attr}
  %2 = mhlo.copy %x {test.attr} : tensor<4xf32>
  // CHECK: return %arg0, %[[ERF]], %[[COPY]]
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
