// RUN: sdy-opt %s -split-input-file -sdy-trim-constraints | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// A single token, of a program that is written for sequences.
// CHECK-LABEL: func @token
func.func @token(%arg0: tensor<8x1x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", ?}, {}]>}) -> (tensor<8x1x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>}) {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}, {?}]>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {"y"}, {?}]> : tensor<8x1x64xf32>
  return %0 : tensor<8x1x64xf32>
}

// Axes that make a device's part smaller stay, uneven or not.
// CHECK-LABEL: func @kept
func.func @kept(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {"y"}]>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<2x3xf32>
  // CHECK-NEXT: sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]> : tensor<2x3xf32>
  // CHECK-NEXT: sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x", "y"}, {}]> : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @inlined
func.func @inlined(%arg0: tensor<1xf32>, %arg1: tensor<0xf32>) -> (tensor<1xf32>, tensor<0xf32>) {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <mesh<["x"=8]>, [{}]>
  %0 = sdy.sharding_constraint %arg0 <mesh<["x"=8]>, [{"x"}]> : tensor<1xf32>
  // CHECK-NEXT: sdy.sharding_constraint %arg1 <mesh<["x"=8]>, [{"x"}]>
  %1 = sdy.sharding_constraint %arg1 <mesh<["x"=8]>, [{"x"}]> : tensor<0xf32>
  return %0, %1 : tensor<1xf32>, tensor<0xf32>
}
