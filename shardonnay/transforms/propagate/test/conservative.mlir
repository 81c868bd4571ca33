// RUN: sdy-opt %s --sdy-user-priority-propagate=conservative-propagation=true | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-populate-op-sharding-rules{conservative-propagation=true}))' | FileCheck %s --check-prefix=RULES

sdy.mesh @mesh = <["a"=4, "b"=2]>

// The part of "a" that fits the first dim is not taken.
// CHECK-LABEL: func @parts_of_axes
func.func @parts_of_axes(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}) -> tensor<2x4x16xf32> {
  // CHECK: stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {"b", ?}]>]>}
  %0 = stablehlo.reshape %x : (tensor<8x16xf32>) -> tensor<2x4x16xf32>
  return %0 : tensor<2x4x16xf32>
}

// CHECK-LABEL: func @neighbours
// RULES-LABEL: func @neighbours
func.func @neighbours(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}) {
  // CHECK: stablehlo.slice %arg0 [0:4, 0:16] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"b", ?}]>]>}
  // RULES: stablehlo.slice {{.*}} blocked_propagation={i}
  %0 = stablehlo.slice %x [0:4, 0:16] : (tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.concatenate %arg0, %arg0, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"b", ?}]>]>}
  %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  // CHECK: stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>}
  // RULES: stablehlo.reverse
  // RULES-NOT: blocked
  %2 = stablehlo.reverse %x, dims = [0] : tensor<8x16xf32>
  return
}
