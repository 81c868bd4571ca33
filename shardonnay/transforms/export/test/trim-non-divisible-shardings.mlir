// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-trim-non-divisible-shardings))" | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func @trim
// The boundary is the business of other passes.
// CHECK-SAME: %arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @trim(
    %arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) -> tensor<6x8xf32> {
  // CHECK: tanh {{.*}}<@mesh, [{"x":(1)2, ?}, {"y", ?}]>
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : tensor<6x8xf32>
  // CHECK: reshard {{.*}} <@mesh, [{?}, {"y", "x"}]>
  %1 = sdy.reshard %0 <@mesh, [{?}, {"y", "x"}]> : tensor<6x8xf32>
  // What the user closed stays, and partition refuses it.
  // CHECK: reshard {{.*}} <@mesh, [{"x"}, {"y", ?}]>
  %2 = sdy.reshard %1 <@mesh, [{"x"}, {"y", ?}]> : tensor<6x8xf32>
  // CHECK: negate {{.*}}<@mesh, [{?}, {"x", "y"}]>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", "y"}]>]>} : tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}
