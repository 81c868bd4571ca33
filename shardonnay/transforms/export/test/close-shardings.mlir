// RUN: sdy-opt %s -sdy-close-shardings | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// CHECK-LABEL: func @close
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}], unreduced={"z"}>})
func.func @close(
    %arg0: tensor<8x8xf32> {sdy.given_sharding = #sdy.sharding<@mesh, [{?}, {?}]>,
                            sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}], replicated={"y"}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}p2], unreduced={"z"}>}) {
  // CHECK: reshard %arg0 <@mesh, [{"y"}, {}]>
  %0 = sdy.reshard %arg0 <@mesh, [{"y", ?}, {?}]> : tensor<8x8xf32>
  // CHECK: tanh {{.*}}<@mesh, [{}, {"x"}]>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
