// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @result(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{'stablehlo.gather' op inferred type(s) 'tensor<32x8xf32>' are incompatible with return type(s) of operation 'tensor<8x32xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @index_vector_dim(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{index_vector_dim is 3, expected at most the rank 2 of the indices}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @index_components(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{maps 2 index components to dims, expected 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @index_map(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{dim 2 of the index map is out of range, expected 0 <= dim < 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @window_dims(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{expected 1 window dims, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @window_range(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{dim 2 of the window dims is out of range, expected 0 <= dim < 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @window_order(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{expected window dims in increasing order, got [2, 1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @collapsed_range(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{dim 2 of the collapsed, inserted or batching dims is out of range, expected 0 <= dim < 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @collapsed_size(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{slice size 2 in dim 0, expected at most 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @slice_size(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{slice size 33 in dim 1, expected at most 32}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 33>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @slice_count(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{expected 2 slice sizes, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @batching_pairs(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{expected 1 batching dims of the indices, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @batching_size(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{batching dim 0 of size 64 is paired with dim 0 of the indices, of size 8}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @batching_index(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+2 {{batching dim 0 of size 64 is paired with dim 1 of the indices, of size 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @scatter_update_shape(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>, %u: tensor<7x32xf32>) {
  // expected-error @+1 {{an update has shape [7, 32], expected [8, 32]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x1xi32>, tensor<7x32xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_update_window(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>, %u: tensor<8x33xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.scatter' op updates 33 elements in dim 1 of size 32}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x1xi32>, tensor<8x33xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_update_rank(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>, %u: tensor<8x32x1xf32>) {
  // expected-error @+1 {{expected 2 dims of the updates, got 3}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x1xi32>, tensor<8x32x1xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_update_element(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>, %u: tensor<8x32xi32>) {
  // expected-error @+1 {{'stablehlo.scatter' op can't accumulate elements of type 'i32' as 'f32'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x1xi32>, tensor<8x32xi32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_inserted(%x: tensor<64x32xf32>, %i: tensor<8x1xi32>, %u: tensor<8x32xf32>) {
  // expected-error @+1 {{dim 0 of the collapsed, inserted or batching dims comes twice}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<8x1xi32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_operands(%i: tensor<8x1xi32>) {
  // expected-error @+1 {{'stablehlo.scatter' op expected inputs, indices and as many updates, got 1 operands}}
  %0 = "stablehlo.scatter"(%i) <{scatter_dimension_numbers = #stablehlo.scatter<>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x1xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_result(%x: tensor<64xf32>, %i: tensor<1xi32>, %u: tensor<f32>) {
  // expected-error @+1 {{a result has shape [32], expected [64]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64xf32>, tensor<1xi32>, tensor<f32>) -> tensor<32xf32>
  return
}

// -----

func.func @dynamic_slice_size(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{window of size 5 in dim 0, expected at most 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @dynamic_slice_starts(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{expected 1 start indices, one per dim, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1] : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<1xf32>
  return
}

// -----

func.func @dynamic_slice_start_types(%x: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+2 {{expected start indices of one type, got 'tensor<i32>', 'tensor<i64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 1] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<1x1xf32>
  return
}

// -----

func.func @dynamic_update_slice_size(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{window of size 5 in dim 0, expected at most 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_element(%x: tensor<4xf32>, %u: tensor<1xi32>, %i: tensor<i32>) {
  // expected-error @+2 {{can't update 'tensor<4xf32>' with 'tensor<1xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<1xi32>, tensor<i32>) -> tensor<4xf32>
  return
}
