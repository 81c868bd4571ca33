// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @sum_into_rows
func.func @sum_into_rows(%a: tensor<64x32xf32>, %ids: tensor<8x16x1xi32>, %u: tensor<8x16x32xf32>) {
  // CHECK: "stablehlo.scatter"
  // CHECK: }) {sdy.sharding_rule = {{.*}}<([l, k], [i, j, m], [i, j, k])->([l, k]) {i=8, j=16, k=32, l=64, m=1} reduction={i, j} need_replication={m}>
  %0 = "stablehlo.scatter"(%a, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x16x1xi32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
  return
}

// The last update wins: updates can't be on different devices.
// CHECK-LABEL: func @set_rows
func.func @set_rows(%a: tensor<64x32xf32>, %ids: tensor<8x16x1xi32>, %u: tensor<8x16x32xf32>) {
  // CHECK: }) {sdy.sharding_rule = {{.*}}<([l, k], [i, j, m], [i, j, k])->([l, k]) {i=8, j=16, k=32, l=64, m=1} need_replication={i, j, m}>
  %0 = "stablehlo.scatter"(%a, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x16x1xi32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
  return
}

// CHECK-LABEL: func @batching_dims
func.func @batching_dims(%a: tensor<8x16x64xf32>, %ids: tensor<8x16x1x1xi32>, %u: tensor<8x16x1xf32>) {
  // CHECK: }) {sdy.sharding_rule = {{.*}}<([i, j, l], [i, j, k, m], [i, j, k])->([i, j, l]) {i=8, j=16, k=1, l=64, m=1} reduction={k} need_replication={m}>
  %0 = "stablehlo.scatter"(%a, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x16x64xf32>, tensor<8x16x1x1xi32>, tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
  return
}

// CHECK-LABEL: func @partial_window
func.func @partial_window(%a: tensor<64x32xf32>, %ids: tensor<8x1xi32>, %u: tensor<8x4xf32>) {
  // CHECK: }) {sdy.sharding_rule = {{.*}}<([l, j], [i, m], [i, k])->([l, j]) {i=8, j=32, k=4, l=64, m=1} reduction={i} need_replication={j, k, m}>
  %0 = "stablehlo.scatter"(%a, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.minimum %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x1xi32>, tensor<8x4xf32>) -> tensor<64x32xf32>
  return
}

// CHECK-LABEL: func @two_inputs
func.func @two_inputs(%a: tensor<64xf32>, %ids: tensor<8x1xi32>, %u: tensor<8xf32>) {
  // CHECK: }) {sdy.sharding_rule = {{.*}}<([j], [j], [i, k], [i], [i])->([j], [j]) {i=8, j=64, k=1} need_replication={i, k}>
  %0:2 = "stablehlo.scatter"(%a, %a, %ids, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    stablehlo.return %z, %w : tensor<f32>, tensor<f32>
  }) : (tensor<64xf32>, tensor<64xf32>, tensor<8x1xi32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  return
}
