// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @broadcast_in_dim
func.func @broadcast_in_dim(%a: tensor<1x8xf32>, %s: tensor<f32>) {
  // A dim of size 1 that is repeated has a factor of its own.
  // CHECK: stablehlo.broadcast_in_dim {{.*}}<([i, l])->([j, k, l]) {i=1, j=4, k=5, l=8}>
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<1x8xf32>) -> tensor<4x5x8xf32>
  // CHECK: stablehlo.broadcast_in_dim {{.*}}<([i, k])->([i, j, k]) {i=1, j=5, k=8}>
  %1 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<1x8xf32>) -> tensor<1x5x8xf32>
  // CHECK: stablehlo.broadcast_in_dim {{.*}}<([])->([i, j]) {i=5, j=8}>
  %2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<5x8xf32>
  return
}

// CHECK-LABEL: func @reshape
func.func @reshape(%a: tensor<4x8xf32>, %b: tensor<1x8xf32>, %c: tensor<1x1xf32>) {
  // CHECK: stablehlo.reshape {{.*}}<([ij, k])->([i, jk]) {i=2, j=2, k=8}>
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<2x16xf32>
  // CHECK: stablehlo.reshape {{.*}}<([i, j])->([ij]) {i=4, j=8}>
  %1 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>
  // Dims of size 1 have factors of their own.
  // CHECK: stablehlo.reshape {{.*}}<([i, kl])->([i, j, k, l]) {i=4, j=1, k=4, l=2}>
  %2 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<4x1x4x2xf32>
  // CHECK: stablehlo.reshape {{.*}}<([i, k])->([j, k]) {i=1, j=1, k=8}>
  %3 = stablehlo.reshape %b : (tensor<1x8xf32>) -> tensor<1x8xf32>
  // CHECK: stablehlo.reshape {{.*}}<([i, j])->([]) {i=1, j=1}>
  %4 = stablehlo.reshape %c : (tensor<1x1xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func @reshape_of_shapes_that_diverge
func.func @reshape_of_shapes_that_diverge(%a: tensor<6x4xf32>, %b: tensor<2x1x36xf32>, %c: tensor<0x8xf32>) {
  // Factors that one side only has stay whole; both meet again at the last 2.
  // CHECK: stablehlo.reshape {{.*}}<([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2} need_replication={j, k, l, m}>
  %0 = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<4x6xf32>
  // CHECK: stablehlo.reshape {{.*}}<([ij, l])->([ik, m]) {i=2, j=3, k=4, l=4, m=3} need_replication={j, k, l, m}>
  %1 = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<8x3xf32>
  // CHECK: stablehlo.reshape {{.*}}<([i, k, lop])->([j, m, np, q]) {i=2, j=3, k=1, l=9, m=4, n=3, o=2, p=2, q=1} need_replication={i, j, l, m, n, o}>
  %2 = stablehlo.reshape %b : (tensor<2x1x36xf32>) -> tensor<3x4x6x1xf32>
  // CHECK: stablehlo.reshape %{{[^{]*}} :
  %3 = stablehlo.reshape %c : (tensor<0x8xf32>) -> tensor<0x4xf32>
  return
}

// CHECK-LABEL: func @transpose
func.func @transpose(%a: tensor<4x8x2xf32>) {
  // CHECK: stablehlo.transpose {{.*}}<([j, k, i])->([i, j, k]) {i=2, j=4, k=8}>
  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<4x8x2xf32>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func @bitcast_convert
func.func @bitcast_convert(%a: tensor<4xf32>) {
  // CHECK: stablehlo.bitcast_convert {{.*}}<([i])->([i]) {i=4}>
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: stablehlo.bitcast_convert {{.*}}<([i])->([i, j]) {i=4, j=2} need_replication={j}>
  %1 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x2xi16>
  // CHECK: stablehlo.bitcast_convert {{.*}}<([i, j])->([i]) {i=4, j=2} need_replication={j}>
  %2 = stablehlo.bitcast_convert %1 : (tensor<4x2xi16>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func @slice
func.func @slice(%a: tensor<4x8xf32>) {
  // CHECK: stablehlo.slice {{.*}}<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
  %0 = stablehlo.slice %a [0:4, 0:4] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.slice {{.*}}<([i, j])->([i, j]) {i=4, j=8}>
  %1 = stablehlo.slice %a [0:4, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @reverse
func.func @reverse(%a: tensor<4x8xf32>) {
  // CHECK: stablehlo.reverse {{.*}}<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
  %0 = stablehlo.reverse %a, dims = [1] : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @pad
func.func @pad(%a: tensor<4x8xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.pad {{.*}}<([i, j], [])->([i, j]) {i=4, j=8} permutation={i}>
  %0 = stablehlo.pad %a, %s, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  // A shift keeps the size, but no element its place.
  // CHECK: stablehlo.pad {{.*}}<([i, j], [])->([i, j]) {i=4, j=8} permutation={i}>
  %1 = stablehlo.pad %a, %s, low = [-1, 0], high = [1, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @concatenate
func.func @concatenate(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  %0 = stablehlo.slice %a [0:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %1 = stablehlo.slice %b [2:4, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: stablehlo.concatenate {{.*}}<([i, j], [i, j])->([i, j]) {i=8, j=8} need_replication={i}>
  %2 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.concatenate {{.*}}<([i, j], [i, j])->([i, j]) {i=4, j=8} permutation={i}>
  %3 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.concatenate {{.*}}<([i, j], [i, j])->([i, j]) {i=6, j=8} permutation={i}>
  %4 = stablehlo.concatenate %a, %0, dim = 0 : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  // CHECK: stablehlo.concatenate {{.*}}<([i, j], [i, j])->([i, j]) {i=6, j=8} need_replication={i}>
  %5 = stablehlo.concatenate %a, %1, dim = 0 : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  return
}

// Without an operand, there is nothing to write an attribute about.
// CHECK-LABEL: func @iota
func.func @iota() {
  // CHECK: stablehlo.iota dim = 0 : tensor
  %0 = stablehlo.iota dim = 0 : tensor<4x8xi32>
  return
}
