// RUN: sdy-opt %s --sdy-partition-pipeline | FileCheck %s

// XLA reads no resources, as other front ends write their weights.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NOT: dialect_resources
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>) {
  %0 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
  %1 = stablehlo.add %x, %0 : tensor<2xf32>
  %2 = stablehlo.constant dense_resource<mask> : tensor<2xi1>
  return %1, %2 : tensor<2xf32>, tensor<2xi1>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040",
      mask: "0x010000000100"
    }
  }
#-}
