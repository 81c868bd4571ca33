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

// CHECK-LABEL: func.func @quantised(%arg0: tensor<4x4xf32>
func.func @quantised(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: stablehlo.uniform_quantize %arg0 : (tensor<4x4xf32>) -> tensor<4x4x!quant.uniform<i8:f32, 5.000000e-01>>
  %0 = stablehlo.uniform_quantize %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4x!quant.uniform<i8:f32, 0.5>>
  // CHECK: stablehlo.uniform_dequantize %{{.*}} -> tensor<4x4xf32>
  %1 = stablehlo.uniform_dequantize %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// All devices of a replica have its number.
// CHECK-LABEL: func.func @replica(
func.func @replica() -> tensor<ui32> {
  // CHECK-NEXT: stablehlo.replica_id
  %0 = stablehlo.replica_id : tensor<ui32>
  return %0 : tensor<ui32>
}
