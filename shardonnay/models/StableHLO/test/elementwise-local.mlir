// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @same_op_on_pieces
func.func @same_op_on_pieces(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %p: tensor<i1>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK: %[[TANH:.*]] = stablehlo.tanh %arg0 : tensor<4x4xf32>
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x16xf32>
  // CHECK: stablehlo.select %arg1, %[[TANH]], %arg0 : tensor<i1>, tensor<4x4xf32>
  %1 = stablehlo.select %p, %0, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<i1>, tensor<8x16xf32>
  // CHECK: chlo.square %{{.*}} : tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = chlo.square %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x16xf32> -> tensor<8x16xf32>
  // CHECK: stablehlo.optimization_barrier %{{.*}} : tensor<4x4xf32>
  %3 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}
