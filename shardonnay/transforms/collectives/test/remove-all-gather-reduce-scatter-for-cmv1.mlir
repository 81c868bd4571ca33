// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-remove-all-gather-reduce-scatter-for-cmv1))' | FileCheck %s

sdy.mesh @mesh = <["a"=4]>

// CHECK-LABEL: func @gather
func.func @gather(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: stablehlo.dot %arg0, %arg1
  %0 = sdy.all_gather [{"a"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.dot %0, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// CHECK-LABEL: func @two_uses
func.func @two_uses(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  // CHECK: sdy.all_gather
  %0 = sdy.all_gather [{"a"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.dot %0, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// CHECK-LABEL: func @no_contraction
func.func @no_contraction(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x16xf32> {
  // CHECK: sdy.all_gather
  %0 = sdy.all_gather [{"a"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.tanh %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// CHECK-LABEL: func @scatter
func.func @scatter(%a: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}
  // CHECK-NEXT: return
  %1 = stablehlo.dot %a, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %2 = sdy.reduce_scatter [{"a"}, {}] %1 out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// CHECK-LABEL: func @stated_partial_sum
func.func @stated_partial_sum(%a: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  // CHECK: sdy.reduce_scatter
  %1 = stablehlo.dot %a, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"a"}>]>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %2 = sdy.reduce_scatter [{"a"}, {}] %1 out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
