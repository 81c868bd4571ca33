// RUN: sdy-opt %s -sdy-emit-stablehlo | FileCheck %s

// XLA merges slices of slices and loses the clamp of one, also behind what it moves aside.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @piece_of_a_slice(
func.func @piece_of_a_slice(%a: tensor<8xf32>, %at: tensor<i32>) -> tensor<2xf32> {
  // CHECK:      %[[SLICE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK:      %[[APART:.*]] = stablehlo.optimization_barrier %[[SLICE]]
  // CHECK:      stablehlo.dynamic_slice %[[APART]]
  %0 = stablehlo.dynamic_slice %a, %at, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = spmd.all_slice %0 dim = 0 @mesh {"x"} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @slice_of_a_piece(
func.func @slice_of_a_piece(%a: tensor<8xf32>, %at: tensor<1xi32>) -> tensor<1xf32> {
  // CHECK:      %[[PIECE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[PIECE]]
  // CHECK-NEXT: "stablehlo.gather"(%[[APART]]
  %0 = spmd.all_slice %a dim = 0 @mesh {"x"} : (tensor<8xf32>) -> tensor<4xf32>
  %1 = "stablehlo.gather"(%0, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0]>,
    slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// CHECK-LABEL: func.func @constant_starts_are_in_range(
func.func @constant_starts_are_in_range(%a: tensor<8xf32>) -> tensor<2xf32> {
  // CHECK-NOT: optimization_barrier
  // CHECK: return
  %at = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %at, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = spmd.all_slice %0 dim = 0 @mesh {"x"} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @many_places(
func.func @many_places(%a: tensor<8xf32>, %at: tensor<4x1xi32>) -> tensor<2xf32> {
  // CHECK-NOT: optimization_barrier
  // CHECK: return
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %1 = spmd.all_slice %0 dim = 0 @mesh {"x"} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @constant_start_out_of_range(
func.func @constant_start_out_of_range(%a: tensor<8xf32>) -> tensor<2xf32> {
  // CHECK:      %[[SLICE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK-NEXT: stablehlo.optimization_barrier %[[SLICE]]
  %at = stablehlo.constant dense<5> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %at, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = spmd.all_slice %0 dim = 0 @mesh {"x"} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @pieces_may_merge(
func.func @pieces_may_merge(%a: tensor<8xf32>) -> tensor<1xf32> {
  // CHECK-NOT: optimization_barrier
  // CHECK: return
  %0 = spmd.all_slice %a dim = 0 @mesh {"x"} : (tensor<8xf32>) -> tensor<4xf32>
  %1 = spmd.fetch_window %0 dim=0 global_size=8 start=0 step=1 size=1 @mesh {"x"} to {"x", "y"} : (tensor<4xf32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// CHECK-LABEL: func.func @slices_of_the_program(
func.func @slices_of_the_program(%a: tensor<8xf32>, %at: tensor<i32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[SLICE]]
  // CHECK-NEXT: stablehlo.dynamic_slice %[[APART]]
  %0 = stablehlo.dynamic_slice %a, %at, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = stablehlo.dynamic_slice %0, %at, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @behind_moves(
func.func @behind_moves(%a: tensor<8x2xf32>, %at: tensor<1xi32>, %u: tensor<1x2x1xf32>) -> tensor<1x2x4xf32> {
  // CHECK:      %[[PIECE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[PIECE]]
  // CHECK-NEXT: stablehlo.transpose %[[APART]]
  %0 = spmd.all_slice %a dim = 0 @mesh {"x"} : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %3 = stablehlo.negate %2 : tensor<1x2x4xf32>
  %4 = "stablehlo.scatter"(%3, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [2]>,
    indices_are_sorted = true, unique_indices = true}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1x2x1xf32>) -> tensor<1x2x4xf32>
  return %4 : tensor<1x2x4xf32>
}

// Each input of a scatter is taken a slice of.
// CHECK-LABEL: func.func @into_the_second(
func.func @into_the_second(%a: tensor<4xf32>, %b: tensor<8xi32>, %at: tensor<1xi32>, %u: tensor<1xf32>, %v: tensor<1xi32>) -> tensor<4xi32> {
  // CHECK:      %[[PIECE:.*]] = stablehlo.dynamic_slice %arg1
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[PIECE]]
  // CHECK-NEXT: stablehlo.scatter"(%arg0, %[[APART]]
  %0 = spmd.all_slice %b dim = 0 @mesh {"x"} : (tensor<8xi32>) -> tensor<4xi32>
  %1:2 = "stablehlo.scatter"(%a, %0, %at, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>,
    indices_are_sorted = true, unique_indices = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<i32>, %p: tensor<f32>, %q: tensor<i32>):
    %2 = stablehlo.maximum %y, %q : tensor<i32>
    stablehlo.return %p, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<4xf32>, tensor<4xi32>, tensor<1xi32>, tensor<1xf32>, tensor<1xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %1#1 : tensor<4xi32>
}

// A loop of one iteration is inlined. The barrier stands before the loop.
// CHECK-LABEL: func.func @in_a_loop(
func.func @in_a_loop(%a: tensor<8xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  // CHECK:      %[[PIECE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[PIECE]]
  // CHECK:      stablehlo.while(%{{.*}} = %arg1, %{{.*}} = %[[APART]])
  // CHECK-NOT:  optimization_barrier
  // CHECK:      return
  %0 = spmd.all_slice %a dim = 0 @mesh {"x"} : (tensor<8xf32>) -> tensor<4xf32>
  %1:2 = stablehlo.while(%i = %n, %v = %0) : tensor<i32>, tensor<4xf32> cond {
    %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %v, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %4 = stablehlo.add %v, %3 : tensor<4xf32>
    %5 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %5, %v : tensor<i32>, tensor<4xf32>
  }
  return %1#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @to_a_call(
func.func @to_a_call(%a: tensor<8xf32>, %at: tensor<i32>) -> (tensor<2xf32>, tensor<1xf32>) {
  // CHECK:      %[[PIECE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[PIECE]]
  // CHECK-NEXT: call @callee(%[[APART]]
  %0 = spmd.all_slice %a dim = 0 @mesh {"x"} : (tensor<8xf32>) -> tensor<4xf32>
  %1 = call @callee(%0, %at) : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  %2 = spmd.all_slice %1 dim = 0 @mesh {"x"} : (tensor<2xf32>) -> tensor<1xf32>
  return %1, %2 : tensor<2xf32>, tensor<1xf32>
}

// CHECK-LABEL: func.func private @callee(
func.func private @callee(%a: tensor<4xf32>, %at: tensor<i32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[SLICE]]
  // CHECK-NEXT: return %[[APART]]
  %0 = stablehlo.dynamic_slice %a, %at, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
