// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-explicit-gather-scatter-batching))" | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

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

// JAX carries what a loop does not change, and numpy's counts are constants; a transposed count.
// CHECK-LABEL: func @carried
func.func @carried(%arg0: tensor<4x9x3xf32>, %arg1: tensor<4x3x1xi32>, %arg2: tensor<i32>) -> tensor<4x3xf32> {
  %iota = stablehlo.iota dim = 1 : tensor<3x4x1xi32>
  %rows = stablehlo.transpose %iota, dims = [1, 0, 2] : (tensor<3x4x1xi32>) -> tensor<4x3x1xi32>
  %constant = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi8>
  %converted = stablehlo.convert %constant : (tensor<3xi8>) -> tensor<3xi32>
  %columns = stablehlo.broadcast_in_dim %converted, dims = [1] : (tensor<3xi32>) -> tensor<4x3x1xi32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %carried = %rows, %sum = %zeros) : tensor<i32>, tensor<4x3x1xi32>, tensor<4x3xf32>
  cond {
    %more = stablehlo.compare LT, %i, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0, 2], start_indices_batching_dims = [0, 1], start_index_map = [1], index_vector_dim = 2>
    %indices = stablehlo.concatenate %carried, %arg1, %columns, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x3xi32>
    %picked = "stablehlo.gather"(%arg0, %indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x9x3xf32>, tensor<4x3x3xi32>) -> tensor<4x3xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %more = stablehlo.add %sum, %picked : tensor<4x3xf32>
    stablehlo.return %next, %carried, %more : tensor<i32>, tensor<4x3x1xi32>, tensor<4x3xf32>
  }
  return %0#2 : tensor<4x3xf32>
}

// A count that the user shards, and one behind a barrier of a rematerialization.
// CHECK-LABEL: func @other_names
func.func @other_names(%arg0: tensor<4x3x9xf32>, %arg1: tensor<4x3x1xi32>) -> tensor<4x3xf32> {
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2]
  %0 = stablehlo.iota dim = 0 : tensor<4x3x1xi32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}, {}]> : tensor<4x3x1xi32>
  %2 = stablehlo.iota dim = 1 : tensor<4x3x1xi32>
  %3:2 = stablehlo.optimization_barrier %arg1, %2 : tensor<4x3x1xi32>, tensor<4x3x1xi32>
  %4 = stablehlo.concatenate %1, %3#1, %arg1, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x3xi32>
  %5 = "stablehlo.gather"(%arg0, %4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x3x9xf32>, tensor<4x3x3xi32>) -> tensor<4x3xf32>
  return %5 : tensor<4x3xf32>
}

// A count that wraps around in its type, is carried and changed, begins at 1, or is clamped by an unsigned number.
// CHECK-LABEL: func @wrong_counts
// CHECK-NOT: batching_dims
func.func @wrong_counts(%arg0: tensor<200x9xf32>, %arg1: tensor<200x1xi32>, %arg2: tensor<i1>) -> (tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>) {
  %small = stablehlo.iota dim = 0 : tensor<200x1xi8>
  %wrapped = stablehlo.convert %small : (tensor<200x1xi8>) -> tensor<200x1xi32>
  %0 = stablehlo.concatenate %wrapped, %arg1, dim = 1 : (tensor<200x1xi32>, tensor<200x1xi32>) -> tensor<200x2xi32>
  %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<200x9xf32>, tensor<200x2xi32>) -> tensor<200xf32>
  %count = stablehlo.iota dim = 0 : tensor<200x1xi32>
  %zeros = stablehlo.constant dense<0.0> : tensor<200xf32>
  %one = stablehlo.constant dense<1> : tensor<200x1xi32>
  %2:2 = stablehlo.while(%carried = %count, %sum = %zeros) : tensor<200x1xi32>, tensor<200xf32>
  cond {
    stablehlo.return %arg2 : tensor<i1>
  } do {
    %3 = stablehlo.concatenate %carried, %arg1, dim = 1 : (tensor<200x1xi32>, tensor<200x1xi32>) -> tensor<200x2xi32>
    %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<200x9xf32>, tensor<200x2xi32>) -> tensor<200xf32>
    %5 = stablehlo.add %carried, %one : tensor<200x1xi32>
    stablehlo.return %5, %4 : tensor<200x1xi32>, tensor<200xf32>
  }
  %6 = stablehlo.add %count, %one : tensor<200x1xi32>
  %7 = stablehlo.concatenate %6, %arg1, dim = 1 : (tensor<200x1xi32>, tensor<200x1xi32>) -> tensor<200x2xi32>
  %8 = "stablehlo.gather"(%arg0, %7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<200x9xf32>, tensor<200x2xi32>) -> tensor<200xf32>
  %unsigned = stablehlo.iota dim = 0 : tensor<200x1xui32>
  %min = stablehlo.constant dense<4294967295> : tensor<ui32>
  %clamped = stablehlo.clamp %min, %unsigned, %min : (tensor<ui32>, tensor<200x1xui32>, tensor<ui32>) -> tensor<200x1xui32>
  %index = stablehlo.convert %arg1 : (tensor<200x1xi32>) -> tensor<200x1xui32>
  %9 = stablehlo.concatenate %clamped, %index, dim = 1 : (tensor<200x1xui32>, tensor<200x1xui32>) -> tensor<200x2xui32>
  %10 = "stablehlo.gather"(%arg0, %9) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<200x9xf32>, tensor<200x2xui32>) -> tensor<200xf32>
  return %1, %2#1, %8, %10 : tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>
}

// As torch-mlir writes an arange: its step and its start are there.
// CHECK-LABEL: func @step_and_start
func.func @step_and_start(%arg0: tensor<4x9xf32>, %arg1: tensor<4x1xi64>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<4x1xi64>
  %zero = stablehlo.constant dense<0> : tensor<4x1xi64>
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi64>
  %1 = stablehlo.multiply %0, %one : tensor<4x1xi64>
  %2 = stablehlo.add %zero, %1 : tensor<4x1xi64>
  %3 = stablehlo.concatenate %2, %arg1, dim = 1 : (tensor<4x1xi64>, tensor<4x1xi64>) -> tensor<4x2xi64>
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0]
  %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x9xf32>, tensor<4x2xi64>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
