// RUN: sdy-opt %s --sdy-partition-pipeline='device-model=bytes' | FileCheck %s

// A mean and a variance sum the same up. Reduced behind the reshape of one of them the sum would be reduced twice.
// CHECK-LABEL: func public @main
// CHECK-COUNT-1: stablehlo.all_reduce
// CHECK-NOT: stablehlo.all_reduce
sdy.mesh @mesh = <["x"=4]>

func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16xf32>, tensor<1x16xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  %2 = stablehlo.exponential %1 : tensor<16xf32>
  %3 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  %4 = stablehlo.reshape %3 : (tensor<16xf32>) -> tensor<1x16xf32>
  %5 = stablehlo.exponential %4 : tensor<1x16xf32>
  return %2, %5 : tensor<16xf32>, tensor<1x16xf32>
}
