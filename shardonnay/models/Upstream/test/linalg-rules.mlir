// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// The init is where the result is; the sum goes over the other loop.
// CHECK-LABEL: func @matmul
func.func @matmul(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: linalg.matmul {{.*}}<([i, k], [k, j], [i, j])->([i, j]) {i=8, j=16, k=4} reduction={k}>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func @batch_matmul
func.func @batch_matmul(%a: tensor<2x8x4xf32>, %b: tensor<2x4x16xf32>, %c: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  // CHECK: linalg.batch_matmul {{.*}}<([i, j, l], [i, l, k], [i, j, k])->([i, j, k]) {i=2, j=8, k=16, l=4} reduction={l}>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x8x4xf32>, tensor<2x4x16xf32>) outs(%c : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}

// Batch and channels pass, positions move a window, the window itself is whole.
// CHECK-LABEL: func @convolution
func.func @convolution(%x: tensor<8x16x4xf32>, %w: tensor<3x4x6xf32>, %c: tensor<8x14x6xf32>) -> tensor<8x14x6xf32> {
  // CHECK: linalg.conv_1d_nwc_wcf {{.*}}<([i, j, m], [l, m, k], [i, j, k])->([i, j, k]) {i=8, j=14, k=6, l=3, m=4} reduction={m} need_replication={l}{{.*}}>
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<8x16x4xf32>, tensor<3x4x6xf32>) outs(%c : tensor<8x14x6xf32>) -> tensor<8x14x6xf32>
  return %0 : tensor<8x14x6xf32>
}

// CHECK-LABEL: func @pooling
func.func @pooling(%x: tensor<8x16x4xf32>, %w: tensor<2xf32>, %c: tensor<8x8x4xf32>) -> tensor<8x8x4xf32> {
  // CHECK: linalg.pooling_nwc_max {{.*}}<([i, j, k], [l], [i, j, k])->([i, j, k]) {i=8, j=8, k=4, l=2} need_replication={l}{{.*}}>
  %0 = linalg.pooling_nwc_max {strides = dense<2> : tensor<1xi64>} ins(%x, %w : tensor<8x16x4xf32>, tensor<2xf32>) outs(%c : tensor<8x8x4xf32>) -> tensor<8x8x4xf32>
  return %0 : tensor<8x8x4xf32>
}

// CHECK-LABEL: func @transpose
func.func @transpose(%x: tensor<8x16xf32>, %t: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK: linalg.transpose {{.*}}<([j, i], [i, j])->([i, j]) {i=16, j=8}>
  %0 = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%t : tensor<16x8xf32>) permutation = [1, 0]
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<8x16xf32>, %c: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: linalg.reduce {{.*}}<([i, j], [i])->([i]) {i=8, j=16} reduction={j}>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<8x16xf32>) outs(%c : tensor<8xf32>) dimensions = [1]
  // CHECK: linalg.reduce {{.*}}<([i, j], [i])->([i]) {i=8, j=16} reduction={j}>
  %1 = linalg.reduce { arith.maximumf } ins(%x : tensor<8x16xf32>) outs(%c : tensor<8xf32>) dimensions = [1]
  // A product is no kind that partial results may have.
  // CHECK: linalg.reduce {{.*}}<([i, j], [i])->([i]) {i=8, j=16} need_replication={j}>
  %2 = linalg.reduce { arith.mulf } ins(%x : tensor<8x16xf32>) outs(%c : tensor<8xf32>) dimensions = [1]
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @broadcast_and_map
func.func @broadcast_and_map(%b: tensor<16xf32>, %x: tensor<8x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: linalg.broadcast {{.*}}<([j], [i, j])->([i, j]) {i=8, j=16}>
  %0 = linalg.broadcast ins(%b : tensor<16xf32>) outs(%c : tensor<8x16xf32>) dimensions = [0]
  // CHECK: linalg.map {{.*}}<([i, j], [i, j], [i, j])->([i, j]) {i=8, j=16}>
  %1 = linalg.map { arith.addf } ins(%0, %x : tensor<8x16xf32>, tensor<8x16xf32>) outs(%c : tensor<8x16xf32>)
  return %1 : tensor<8x16xf32>
}

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<8x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: linalg.softmax {{.*}}<([i, j], [i, j])->([i, j]) {i=8, j=16} need_replication={j}>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<8x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// The diagonal reads both dims by one loop: only one of them has its factor.
// CHECK-LABEL: func @diagonal
func.func @diagonal(%x: tensor<8x8xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: linalg.generic {{.*}}<([i, j], [i])->([i]) {i=8, j=8} need_replication={i, j}>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%c : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A body that reads a tensor at computed places, and a dynamic shape: no rule.
// CHECK-LABEL: func @none
func.func @none(%table: tensor<100xf32>, %x: tensor<8xindex>, %c: tensor<8xf32>, %d: tensor<?xf32>) -> (tensor<8xf32>, tensor<?xf32>) {
  // CHECK-NOT: sdy.sharding_rule
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xindex>) outs(%c : tensor<8xf32>) {
  ^bb0(%a: index, %b: f32):
    %2 = tensor.extract %table[%a] : tensor<100xf32>
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %1 = linalg.map { math.exp } ins(%d : tensor<?xf32>) outs(%d : tensor<?xf32>)
  return %0, %1 : tensor<8xf32>, tensor<?xf32>
}
