// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @rows_of_a_table
func.func @rows_of_a_table(%table: tensor<64x32xf32>, %ids: tensor<8x16x1xi32>) {
  // CHECK: "stablehlo.gather"{{.*}}<([l, k], [i, j, m])->([i, j, k]) {i=8, j=16, k=32, l=64, m=1} reduction={l} need_replication={m}>
  %0 = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x16x1xi32>) -> tensor<8x16x32xf32>
  return
}

// CHECK-LABEL: func @index_vector_dim_past_the_last
func.func @index_vector_dim_past_the_last(%table: tensor<64x32xf32>, %ids: tensor<8xi32>) {
  // CHECK: "stablehlo.gather"{{.*}}<([k, j], [i])->([i, j]) {i=8, j=32, k=64} reduction={k}>
  %0 = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8xi32>) -> tensor<8x32xf32>
  return
}

// CHECK-LABEL: func @batching_dims
func.func @batching_dims(%a: tensor<8x16x64xf32>, %ids: tensor<8x16x1x1xi32>) {
  // CHECK: "stablehlo.gather"{{.*}}<([i, j, l], [i, j, k, m])->([i, j, k]) {i=8, j=16, k=1, l=64, m=1} reduction={l} need_replication={m}>
  %0 = "stablehlo.gather"(%a, %ids) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x16x64xf32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1xf32>
  return
}

// CHECK-LABEL: func @windows
func.func @windows(%a: tensor<64x32xf32>, %ids: tensor<8x16x1xi32>) {
  // One element that stays a dim, and some elements.
  // CHECK: "stablehlo.gather"{{.*}}<([k, m], [i, j, n])->([i, j, l, m]) {i=8, j=16, k=64, l=1, m=32, n=1} reduction={k} need_replication={l, m, n} blocked_propagation={m}>
  %0 = "stablehlo.gather"(%a, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 16>}> : (tensor<64x32xf32>, tensor<8x16x1xi32>) -> tensor<8x16x1x16xf32>
  return
}

// CHECK-LABEL: func @collapsed_dim_of_size_1
func.func @collapsed_dim_of_size_1(%a: tensor<8x16x1xf32>, %ids: tensor<1xi32>) {
  // CHECK: "stablehlo.gather"{{.*}}<([i, j, k], [l])->([i, j]) {i=8, j=16, k=1, l=1} need_replication={k, l}>
  %0 = "stablehlo.gather"(%a, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [2], start_index_map = [2]>, slice_sizes = array<i64: 8, 16, 1>}> : (tensor<8x16x1xf32>, tensor<1xi32>) -> tensor<8x16xf32>
  return
}
