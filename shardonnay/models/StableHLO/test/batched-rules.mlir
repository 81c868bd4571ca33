// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @sort
func.func @sort(%a: tensor<4x8xf32>, %b: tensor<4x8xi32>) {
  // CHECK: <([i, j], [i, j])->([i, j], [i, j]) {i=4, j=8} need_replication={i}>
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<i32>, %w: tensor<i32>):
    %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
  return
}

// CHECK-LABEL: func @sort_of_one_row
func.func @sort_of_one_row(%a: tensor<1x8xf32>) {
  // CHECK: <([i, j])->([i, j]) {i=1, j=8} need_replication={j} blocked_propagation={j}>
  %0 = "stablehlo.sort"(%a) <{dimension = -1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return
}

// CHECK-LABEL: func @fft
func.func @fft(%a: tensor<4x8x16xcomplex<f32>>, %b: tensor<4x8x16xf32>) {
  // CHECK: <([i, j, k])->([i, j, k]) {i=4, j=8, k=16} need_replication={j, k}>
  %0 = stablehlo.fft %a, type = FFT, length = [8, 16] : (tensor<4x8x16xcomplex<f32>>) -> tensor<4x8x16xcomplex<f32>>
  // CHECK: <([i, j, k])->([i, j, k]) {i=4, j=8, k=16} need_replication={k} blocked_propagation={k}>
  %1 = stablehlo.fft %b, type = RFFT, length = [16] : (tensor<4x8x16xf32>) -> tensor<4x8x9xcomplex<f32>>
  return
}

// CHECK-LABEL: func @matrices
func.func @matrices(%a: tensor<2x4x4xf32>, %b: tensor<2x4x5xf32>, %c: tensor<2x5x4xf32>) {
  // CHECK: <([i, j, k])->([i, j, k]) {i=2, j=4, k=4} need_replication={j, k}>
  %0 = stablehlo.cholesky %a : tensor<2x4x4xf32>
  // CHECK: <([i, j, l], [i, j, k])->([i, l, k]) {i=2, j=4, k=5, l=4} need_replication={j, l}>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x4x4xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  // CHECK: <([i, k, l], [i, j, k])->([i, j, l]) {i=2, j=5, k=4, l=4} need_replication={k, l}>
  %2 = "stablehlo.triangular_solve"(%a, %c) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<2x4x4xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}
