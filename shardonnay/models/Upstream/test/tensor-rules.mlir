// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @reshapes
func.func @reshapes(%a: tensor<2x8x1x3xf32>) -> tensor<4x4x3xf32> {
  // CHECK: tensor.collapse_shape {{.*}}<([i, j, k, l])->([ij, l]) {i=2, j=8, k=1, l=3}>
  %0 = tensor.collapse_shape %a [[0, 1], [2, 3]] : tensor<2x8x1x3xf32> into tensor<16x3xf32>
  // CHECK: tensor.expand_shape {{.*}}<([ij, k])->([i, j, k]) {i=4, j=4, k=3}>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [4, 4, 3] : tensor<16x3xf32> into tensor<4x4x3xf32>
  return %1 : tensor<4x4x3xf32>
}

// Dims that are taken whole pass; a static slice moves a window, of a dim that
// is dropped every device needs all.
// CHECK-LABEL: func @slices
func.func @slices(%a: tensor<8x16x4xf32>) -> tensor<8x16x4xf32> {
  // CHECK: tensor.extract_slice {{.*}}<([i, j, k])->([i, k]) {i=8, j=16, k=4} need_replication={j}>
  %0 = tensor.extract_slice %a[0, 3, 0] [8, 1, 4] [1, 1, 1] : tensor<8x16x4xf32> to tensor<8x4xf32>
  // CHECK: tensor.insert_slice {{.*}}<([i, k], [i, j, k])->([i, j, k]) {i=8, j=16, k=4} need_replication={j}>
  %1 = tensor.insert_slice %0 into %a[0, 5, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<8x16x4xf32>
  // CHECK: tensor.extract_slice {{.*}}<([i, j, k])->([i, j, k]) {i=8, j=16, k=4} permutation={j}>
  %2 = tensor.extract_slice %1[0, 4, 0] [8, 6, 4] [1, 2, 1] : tensor<8x16x4xf32> to tensor<8x6x4xf32>
  return %1 : tensor<8x16x4xf32>
}

// CHECK-LABEL: func @pad_and_concat
func.func @pad_and_concat(%a: tensor<8x16xf32>) -> tensor<8x36xf32> {
  %zero = arith.constant 0.0 : f32
  // CHECK: tensor.pad
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} permutation={j}>
  %0 = tensor.pad %a low[0, 1] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x16xf32> to tensor<8x20xf32>
  // CHECK: tensor.concat {{.*}}<([i, j], [i, j])->([i, j]) {i=8, j=36} need_replication={j}>
  %1 = tensor.concat dim(1) %a, %0 : (tensor<8x16xf32>, tensor<8x20xf32>) -> tensor<8x36xf32>
  return %1 : tensor<8x36xf32>
}

// CHECK-LABEL: func @cast
func.func @cast(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: tensor.cast {{.*}}<([i, j])->([i, j]) {i=8, j=16}>
  %0 = tensor.cast %a : tensor<8x16xf32> to tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
