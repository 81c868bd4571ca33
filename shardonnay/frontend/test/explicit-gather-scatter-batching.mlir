// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-explicit-gather-scatter-batching))" | FileCheck %s

// CHECK-LABEL: func @gather
func.func @gather(%arg0: tensor<4x9xf32>, %arg1: tensor<4x3x1xi32>) -> tensor<4x3xf32> {
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
  // CHECK-SAME: indices_are_sorted = false
  %0 = stablehlo.iota dim = 0 : tensor<4x3x1xi32>
  %1 = stablehlo.concatenate %0, %arg1, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = true}> : (tensor<4x9xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// Through what front ends do with an index; the last dim of the operand, the first of the indices.
// CHECK-LABEL: func @through
func.func @through(%arg0: tensor<9x4xf32>, %arg1: tensor<4x3x1xi32>) -> tensor<4x3xf32> {
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 2>
  %iota = stablehlo.iota dim = 0 : tensor<4xi32>
  %column = stablehlo.reshape %iota : (tensor<4xi32>) -> tensor<4x1xi32>
  %zero = stablehlo.constant dense<0> : tensor<4x1xi32>
  %four = stablehlo.constant dense<4> : tensor<4x1xi32>
  %negative = stablehlo.compare LT, %column, %zero : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
  %wrapped = stablehlo.add %column, %four : tensor<4x1xi32>
  %index = stablehlo.select %negative, %wrapped, %column : tensor<4x1xi1>, tensor<4x1xi32>
  %min = stablehlo.constant dense<0> : tensor<i32>
  %max = stablehlo.constant dense<3> : tensor<i32>
  %clamped = stablehlo.clamp %min, %index, %max : (tensor<i32>, tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi32>
  %all = stablehlo.broadcast_in_dim %clamped, dims = [0, 2] : (tensor<4x1xi32>) -> tensor<4x3x1xi32>
  %1 = stablehlo.concatenate %arg1, %all, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<9x4xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// Two of three components.
// CHECK-LABEL: func @scatter
func.func @scatter(%arg0: tensor<4x5x9xf32>, %arg1: tensor<4x5x1xi32>, %arg2: tensor<4x5xf32>) -> tensor<4x5x9xf32> {
  // CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>, unique_indices = true}>
  %0 = stablehlo.iota dim = 0 : tensor<4x5x1xi32>
  %1 = stablehlo.iota dim = 1 : tensor<4x5x1xi32>
  %2 = stablehlo.concatenate %1, %0, %arg1, dim = 2 : (tensor<4x5x1xi32>, tensor<4x5x1xi32>, tensor<4x5x1xi32>) -> tensor<4x5x3xi32>
  %3 = "stablehlo.scatter"(%arg0, %2, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1, 0, 2], index_vector_dim = 2>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5x9xf32>, tensor<4x5x3xi32>, tensor<4x5xf32>) -> tensor<4x5x9xf32>
  return %3 : tensor<4x5x9xf32>
}

// Fewer batches than rows, an index that is clamped below the last one, a window along the dim: none of them.
// CHECK-LABEL: func @none
// CHECK-NOT: batching_dims
func.func @none(%arg0: tensor<5x9xf32>, %arg1: tensor<4x3x1xi32>, %arg2: tensor<4x9xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<4x3x1xi32>
  %1 = stablehlo.concatenate %0, %arg1, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x9xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
  %min = stablehlo.constant dense<0> : tensor<i32>
  %max = stablehlo.constant dense<2> : tensor<i32>
  %3 = stablehlo.clamp %min, %0, %max : (tensor<i32>, tensor<4x3x1xi32>, tensor<i32>) -> tensor<4x3x1xi32>
  %4 = stablehlo.concatenate %3, %arg1, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %5 = "stablehlo.gather"(%arg2, %4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x9xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
  return %2, %5 : tensor<4x3xf32>, tensor<4x3xf32>
}
