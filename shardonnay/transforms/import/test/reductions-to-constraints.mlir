// RUN: sdy-opt %s -sdy-reductions-to-constraints | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// As other partitioners write it.
// CHECK-LABEL: func @contraction
func.func @contraction(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.sharding_constraint %[[DOT]] <@mesh, [{}, {}]>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[ROWS:.*]] = sdy.sharding_constraint %[[DOT]] <@mesh, [{"x"}, {}]>
  %2 = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[WHOLE]], %[[ROWS]]
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func @partial
func.func @partial(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: sdy.all_reduce {"x"} %arg0
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  // CHECK-NEXT: sdy.reduce_scatter [{"x"}] %arg0
  %1 = sdy.reduce_scatter [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{}]>
  %2 = sdy.all_reduce {"x", "y"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
