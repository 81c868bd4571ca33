// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-pad-for-divisibility))" | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// Types stay global.
// CHECK-LABEL: func @uneven
func.func @uneven(%arg0: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<10xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<10xf32>
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<10xf32>
  return %0 : tensor<10xf32>
}
