// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @matmul
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) {
  // CHECK: stablehlo.dot_general {{.*}}<([i, k], [k, j])->([i, j]) {i=4, j=6, k=8} reduction={k}>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func @batched_with_two_contracting_dims
func.func @batched_with_two_contracting_dims(%a: tensor<2x3x4x5xf32>, %b: tensor<2x5x4x7xf32>) {
  // CHECK: stablehlo.dot_general {{.*}}<([i, j, m, l], [i, l, m, k])->([i, j, k]) {i=2, j=3, k=7, l=5, m=4} reduction={l, m}>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [3, 2] x [1, 2] : (tensor<2x3x4x5xf32>, tensor<2x5x4x7xf32>) -> tensor<2x3x7xf32>
  return
}

// CHECK-LABEL: func @inner_product
func.func @inner_product(%a: tensor<8xf32>) {
  // CHECK: stablehlo.dot_general {{.*}}<([i], [i])->([]) {i=8} reduction={i}>
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func @matrix_and_vector
func.func @matrix_and_vector(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: stablehlo.dot {{.*}}<([i, j], [j])->([i]) {i=4, j=8} reduction={j}>
  %0 = stablehlo.dot %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}
