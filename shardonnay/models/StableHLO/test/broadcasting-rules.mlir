// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @aligned_at_the_last_dim
func.func @aligned_at_the_last_dim(%x: tensor<4xf32>, %y: tensor<2x4xf32>) {
  // CHECK: <([j], [i, j])->([i, j]) {i=2, j=4}>
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func @at_named_dims
func.func @at_named_dims(%x: tensor<2xf32>, %y: tensor<2x4xf32>) {
  // CHECK: <([i], [i, j])->([i, j]) {i=2, j=4}>
  %0 = chlo.broadcast_multiply %x, %y {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func @repeated
func.func @repeated(%x: tensor<2x1xf32>, %y: tensor<1x4xf32>) {
  // CHECK: <([j, k], [i, l])->([j, l]) {i=1, j=2, k=1, l=4}>
  %0 = chlo.broadcast_maximum %x, %y : (tensor<2x1xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func @select
func.func @select(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<2x4xf32>) {
  // CHECK: <([], [j], [i, j])->([i, j]) {i=2, j=4}>
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func @scan_of_elements
func.func @scan_of_elements(%x: tensor<4x3xf32>, %c: tensor<3xf32>) {
  // CHECK: <([i, j], [j])->([i, j], [j]) {i=4, j=3} need_replication={i}>
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%e: tensor<3xf32>, %a: tensor<3xf32>):
    %s = stablehlo.add %e, %a : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  return
}

// CHECK-LABEL: func @scan_of_slices
func.func @scan_of_slices(%x: tensor<4x3xf32>, %c: tensor<3xf32>) {
  // CHECK: chlo.scan
  // CHECK-NOT: dimension=0{{.*}}sharding_rule
  // CHECK: stablehlo.reverse
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%e: tensor<3xf32>, %a: tensor<3xf32>):
    %r = stablehlo.reverse %a, dims = [0] : tensor<3xf32>
    %s = stablehlo.add %e, %r : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  return
}
