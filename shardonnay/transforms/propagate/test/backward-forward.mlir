// RUN: sdy-opt %s -sdy-user-priority-propagate=backward-forward | FileCheck %s
// RUN: sdy-opt %s -sdy-user-priority-propagate | FileCheck %s --check-prefix=LEVELS

sdy.mesh @mesh = <["x"=2]>

// What the result is wanted as reaches the weight before what the activations
// are given as: it is sharded by columns, and the activations are gathered.
// CHECK-LABEL: func @weight
// CHECK-SAME: %arg1: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>}
// LEVELS-LABEL: func @weight
func.func @weight(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %w: tensor<8x32xf32>) -> tensor<4x32xf32> {
  // CHECK: stablehlo.dot {{.*}}<@mesh, [{?}, {"x", ?}]>
  %0 = stablehlo.dot %x, %w : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  %1 = stablehlo.negate %0 : tensor<4x32xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}]> : tensor<4x32xf32>
  return %2 : tensor<4x32xf32>
}

// Two sweeps, and no more: what the second finds does not go back.
// CHECK-LABEL: func @once
// CHECK-SAME: %arg0: tensor<8xf32>, %arg1
// LEVELS-LABEL: func @once
// LEVELS-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}
func.func @once(%a: tensor<8xf32>, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.negate {{.*}}<@mesh, [{"x", ?}]>
  // CHECK: stablehlo.add {{.*}}<@mesh, [{"x", ?}]>
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.add %0, %b : tensor<8xf32>
  return %1 : tensor<8xf32>
}
