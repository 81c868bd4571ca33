// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<64x32xf32>, %i: tensor<8x16x1xi32>, %y: tensor<8x16x64xf32>, %j: tensor<8x16x1x1xi32>) {
  // CHECK: "stablehlo.gather"(%{{[^ ]+}}, %{{[^ ]+}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x16x1xi32>) -> tensor<8x16x32xf32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x16x1xi32>) -> tensor<8x16x32xf32>
  // CHECK: "stablehlo.gather"(%{{[^ ]+}}, %{{[^ ]+}}) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x16x64xf32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1xf32>
  %1 = "stablehlo.gather"(%y, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x16x64xf32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1xf32>
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<64x32xf32>, %i: tensor<8x16x1xi32>, %u: tensor<8x16x32xf32>) {
  // CHECK: "stablehlo.scatter"(%{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>
    %1 = stablehlo.add %a, %b : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x16x1xi32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
  return
}

// CHECK-LABEL: func.func @scatter_batched
func.func @scatter_batched(%x: tensor<8x16x64xf32>, %i: tensor<8x16x1x1xi32>, %u: tensor<8x16x1xf32>) {
  // CHECK: "stablehlo.scatter"(%{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>}> ({
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8x16x64xf32>, tensor<8x16x1x1xi32>, tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
  return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<4x8xf32>, %u: tensor<1x2xf32>, %i: tensor<i32>, %s: tensor<f32>) {
  // CHECK: stablehlo.dynamic_slice %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, sizes = [1, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  // CHECK: stablehlo.dynamic_slice %{{[^ ]+}}, sizes = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.dynamic_slice %s, sizes = [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dynamic_update_slice %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4x8xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %2 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}
