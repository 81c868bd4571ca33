// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @element_by_element
func.func @element_by_element(%a: tensor<4x8xf32>) {
  // CHECK: <([i, j])->([i, j]) {i=4, j=8}>
  %0 = stablehlo.custom_call @mhlo.erf(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.map"
  // CHECK: <([i, j])->([i, j]) {i=4, j=8}>
  %1 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @matrices
func.func @matrices(%a: tensor<2x3x5x4xf32>, %t: tensor<2x3x4xf32>) {
  // CHECK: @Qr{{.*}}<([i, j, k, l])->([i, j, k, l], [i, j, m]) {i=2, j=3, k=5, l=4, m=4} need_replication={k, l, m}>
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x3x5x4xf32>) -> (tensor<2x3x5x4xf32>, tensor<2x3x4xf32>)
  // CHECK: @QrDecompositionBlock{{.*}}<([i, j, k, l])->([i, j, k, l], [i, j, m]) {i=2, j=3, k=5, l=4, m=4} need_replication={k, l, m}>
  %1:2 = stablehlo.custom_call @QrDecompositionBlock(%a) : (tensor<2x3x5x4xf32>) -> (tensor<2x3x5x4xf32>, tensor<2x3x4xf32>)
  // CHECK: @CompactWyHelper{{.*}}<([i, j, k, l], [i, j, m])->([i, j, n, o]) {i=2, j=3, k=5, l=4, m=4, n=4, o=4} need_replication={k, l, m, n, o}>
  %2 = stablehlo.custom_call @CompactWyHelper(%a, %t) : (tensor<2x3x5x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4x4xf32>
  return
}

// CHECK-LABEL: func @passed_on
func.func @passed_on(%a: tensor<4x8xf32>, %f: tensor<f32>) {
  // CHECK: @xla.megascale.provide_metadata{{.*}}<([i, j], [])->([i, j]) {i=4, j=8}>
  %0 = stablehlo.custom_call @xla.megascale.provide_metadata(%a, %f) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: @MoveToHost{{.*}}<([i, j])->([i, j]) {i=4, j=8}>
  %1 = stablehlo.custom_call @MoveToHost(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @the_best
func.func @the_best(%a: tensor<4x8xf32>, %f: tensor<f32>) {
  // CHECK: @mhlo.topk{{.*}}<([i, j])->([i, j], [i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}>
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  // CHECK: @ApproxTopK{{.*}}<([i, j], [])->([i, k]) {i=4, j=8, k=3} need_replication={k} blocked_propagation={k}>
  %1 = stablehlo.custom_call @ApproxTopK(%a, %f) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x3xf32>
  // CHECK: @PartialReduce{{.*}}<([i, k], [])->([j, k]) {i=4, j=4, k=8} need_replication={j} blocked_propagation={j}>
  %2 = stablehlo.custom_call @PartialReduce(%a, %f) {mhlo.backend_config = {reduction_dim = 0 : i64}} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // As many as there were, along a dim that nothing names.
  // CHECK: @PartialReduce(%arg0, %arg1) : (tensor<4x8xf32>, tensor<f32>)
  %3 = stablehlo.custom_call @PartialReduce(%a, %f) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @no_rule
func.func @no_rule(%a: tensor<4x8xf32>) {
  // CHECK: stablehlo.custom_call @no_such_target(%arg0) : (tensor<4x8xf32>)
  %0 = stablehlo.custom_call @no_such_target(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.custom_call @mhlo.erf(%arg0) : (tensor<4x8xf32>)
  %1 = stablehlo.custom_call @mhlo.erf(%a) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// The user's rule wins.
// CHECK-LABEL: func @own_rule
func.func @own_rule(%a: tensor<4x8xf32>) {
  // CHECK: <([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>
  %0 = stablehlo.custom_call @mhlo.erf(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
