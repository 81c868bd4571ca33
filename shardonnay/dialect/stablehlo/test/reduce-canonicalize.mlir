// RUN: sdy-opt %s --canonicalize | FileCheck %s

// The gradient of what vmap broadcasts: a sum over the batch, then one over the rest.
// CHECK-LABEL: func @through_reshapes
// CHECK: %[[R:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [0, 2, 3] {sdy.cause = "kept"} : (tensor<8x16x4x4xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: return %[[R]]
func.func @through_reshapes(%x: tensor<8x16x4x4xf32>) -> tensor<16xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x16x4x4xf32>, tensor<f32>) -> tensor<16x4x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x4x4xf32>) -> tensor<1x16x4x4xf32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1x16x4x4xf32>, tensor<f32>) -> tensor<16x4x4xf32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [1, 2] {sdy.cause = "kept"} : (tensor<16x4x4xf32>, tensor<f32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// Dims of size 1: one of the operand, one that a reshape adds and the result has, one that it takes away. And no element.
// CHECK-LABEL: func @dims_of_one
// CHECK: %[[A:.*]] = stablehlo.reduce(%arg0 {{.*}} dimensions = [1, 2] : (tensor<3x1x5xi32>, tensor<i32>) -> tensor<3xi32>
// CHECK: %[[B:.*]] = stablehlo.reshape %[[A]] : (tensor<3xi32>) -> tensor<1x3x1xi32>
// CHECK: %[[C:.*]] = stablehlo.reduce(%arg1 {{.*}} dimensions = [0, 1] : (tensor<0x4xi32>, tensor<i32>) -> tensor<i32>
// CHECK: return %[[B]], %[[C]]
func.func @dims_of_one(%x: tensor<3x1x5xi32>, %y: tensor<0x4xi32>) -> (tensor<1x3x1xi32>, tensor<i32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2] : (tensor<3x1x5xi32>, tensor<i32>) -> tensor<3x1xi32>
  %1 = stablehlo.reshape %0 : (tensor<3x1xi32>) -> tensor<1x1x3x1xi32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1x1x3x1xi32>, tensor<i32>) -> tensor<1x3x1xi32>
  %3 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [1] : (tensor<0x4xi32>, tensor<i32>) -> tensor<0xi32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<0xi32>, tensor<i32>) -> tensor<i32>
  return %2, %4 : tensor<1x3x1xi32>, tensor<i32>
}

// A sum that something else needs, or that has a sharding of its own; one of short floats, which would be rounded more often; one that
// starts elsewhere; another combination; a reshape that moves elements.
// CHECK-LABEL: func @kept
// CHECK-COUNT-12: stablehlo.reduce(
func.func @kept(%x: tensor<4x6xf32>, %b: tensor<4x6xbf16>) -> (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<bf16>, tensor<f32>, tensor<f32>, tensor<3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %o = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] {sdy.cause = "mine"} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.reduce(%b init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %5 = stablehlo.reduce(%4 init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4xbf16>, tensor<bf16>) -> tensor<bf16>
  %6 = stablehlo.reduce(%x init: %o) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = stablehlo.reduce(%6 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %8 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %9 = stablehlo.reduce(%8 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %10 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  %11 = stablehlo.reshape %10 : (tensor<6xf32>) -> tensor<3x2xf32>
  %12 = stablehlo.reduce(%11 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1, %3, %5, %7, %9, %12 : tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<bf16>, tensor<f32>, tensor<f32>, tensor<3xf32>
}

// What is reduced along a merged dim is reduced along its parts: whatever the combination, and where the reshape has another use.
// CHECK-LABEL: func @merged_dims
// CHECK: %[[A:.*]] = stablehlo.reduce(%arg0 {{.*}} applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x6x5xbf16>, tensor<bf16>) -> tensor<5xbf16>
// CHECK: %[[R:.*]] = stablehlo.reshape %arg0
// CHECK: %[[B:.*]] = stablehlo.reduce(%arg0 {{.*}} applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6x5xbf16>, tensor<bf16>) -> tensor<5xbf16>
// CHECK: return %[[A]], %[[B]], %[[R]]
func.func @merged_dims(%x: tensor<4x6x5xbf16>) -> (tensor<5xbf16>, tensor<5xbf16>, tensor<24x5xbf16>) {
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reshape %x : (tensor<4x6x5xbf16>) -> tensor<24x5xbf16>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<24x5xbf16>, tensor<bf16>) -> tensor<5xbf16>
  %2 = stablehlo.reshape %x : (tensor<4x6x5xbf16>) -> tensor<24x5xbf16>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<24x5xbf16>, tensor<bf16>) -> tensor<5xbf16>
  return %1, %3, %2 : tensor<5xbf16>, tensor<5xbf16>, tensor<24x5xbf16>
}

// Kept dims are merged behind.
// CHECK-LABEL: func @merged_both
// CHECK: %[[A:.*]] = stablehlo.reduce(%arg0 {{.*}} dimensions = [0, 1, 2] : (tensor<1x4x6x3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
// CHECK: %[[B:.*]] = stablehlo.reshape %[[A]] {sdy.cause = "mine"} : (tensor<3x5xf32>) -> tensor<15xf32>
// CHECK: return %[[B]]
func.func @merged_both(%x: tensor<1x4x6x3x5xf32>) -> tensor<15xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<1x4x6x3x5xf32>) -> tensor<24x15xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] {sdy.cause = "mine"} : (tensor<24x15xf32>, tensor<f32>) -> tensor<15xf32>
  return %1 : tensor<15xf32>
}

// Nothing reduced was merged: kept dims that were, a dim that was split, no elements, and a reshape that has a sharding.
// CHECK-LABEL: func @kept_reshapes
// CHECK-COUNT-4: stablehlo.reshape
func.func @kept_reshapes(%x: tensor<4x6x5xf32>, %e: tensor<0x6xf32>) -> (tensor<24xf32>, tensor<4x30xf32>, tensor<f32>, tensor<5xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<4x6x5xf32>) -> tensor<24x5xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<24x5xf32>, tensor<f32>) -> tensor<24xf32>
  %2 = stablehlo.reshape %x : (tensor<4x6x5xf32>) -> tensor<4x30x1xf32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x30x1xf32>, tensor<f32>) -> tensor<4x30xf32>
  %4 = stablehlo.reshape %e : (tensor<0x6xf32>) -> tensor<0xf32>
  %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<0xf32>, tensor<f32>) -> tensor<f32>
  %6 = stablehlo.reshape %x {sdy.cause = "mine"} : (tensor<4x6x5xf32>) -> tensor<24x5xf32>
  %7 = stablehlo.reduce(%6 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<24x5xf32>, tensor<f32>) -> tensor<5xf32>
  return %1, %3, %5, %7 : tensor<24xf32>, tensor<4x30xf32>, tensor<f32>, tensor<5xf32>
}
