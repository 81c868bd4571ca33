// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-trim-idle-axes))" | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func @trim
// The boundary is the business of other passes.
// CHECK-SAME: %arg0: tensor<2x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @trim(
    %arg0: tensor<2x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) -> tensor<2x10xf32> {
  // CHECK: tanh {{.*}}<@mesh, [{"x":(1)2, ?}, {"y", ?}]>
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : tensor<2x10xf32>
  // Shards of 3 and of 2.
  // CHECK: negate {{.*}}<@mesh, [{?}, {"x", ?}]>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>} : tensor<2x10xf32>
  // CHECK: negate {{.*}}<@mesh, [{?}, {"y", "x", ?}]>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"y", "x", ?}]>]>} : tensor<2x10xf32>
  // What the user closed stays.
  // CHECK: reshard {{.*}} <@mesh, [{"x"}, {?}]>
  %3 = sdy.reshard %2 <@mesh, [{"x"}, {?}]> : tensor<2x10xf32>
  return %3 : tensor<2x10xf32>
}
