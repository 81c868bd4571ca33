// RUN: sdy-opt %s -split-input-file -sdy-slice-before-pad | FileCheck %s

// The dim that is whole is padded once, for slices that need it; a slice that
// needs no padding has none.
// CHECK-LABEL: func @neighbours
sdy.mesh @mesh = <["x"=2]>
func.func @neighbours(%a: tensor<8x4xf32>, %zero: f32) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<6x6xf32>) {
  // CHECK-NEXT: %[[COLUMNS:.*]] = tensor.pad %arg0 low[0, 1] high[0, 1] {
  // CHECK: } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32> to tensor<8x6xf32>
  // CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %arg0[0, 0] [7, 4] [1, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32> to tensor<7x4xf32>
  // CHECK-NEXT: %[[UP:.*]] = tensor.pad %[[PART]] low[1, 0] high[0, 0] {
  // CHECK: } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<7x4xf32> to tensor<8x4xf32>
  // CHECK-NEXT: %[[LEFT:.*]] = tensor.extract_slice %[[COLUMNS]][0, 0] [8, 4] [1, 1] : tensor<8x6xf32> to tensor<8x4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = tensor.extract_slice %[[COLUMNS]][1, 0] [6, 6] [1, 1] : tensor<8x6xf32> to tensor<6x6xf32>
  // CHECK-NEXT: return %[[UP]], %[[LEFT]], %[[INNER]]
  %0 = tensor.pad %a low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32> to tensor<10x6xf32>
  %1 = tensor.extract_slice %0[0, 1] [8, 4] [1, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<10x6xf32> to tensor<8x4xf32>
  %2 = tensor.extract_slice %0[1, 0] [8, 4] [1, 1] : tensor<10x6xf32> to tensor<8x4xf32>
  %3 = tensor.extract_slice %0[2, 0] [6, 6] [1, 1] : tensor<10x6xf32> to tensor<6x6xf32>
  return %1, %2, %3 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<6x6xf32>
}

// -----

// Left: a whole dim, another use than slices, a slice that is all padding, one
// with gaps, a fill that the position says.
// CHECK-LABEL: func @left
sdy.mesh @mesh = <["x"=2]>
func.func @left(%a: tensor<8xf32>, %zero: f32, %at: index) -> (tensor<8xf32>, tensor<12xf32>, tensor<2xf32>, tensor<4xf32>, tensor<8xf32>) {
  // CHECK-COUNT-5: low[2] high[2]
  %whole = tensor.pad %a low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32> to tensor<12xf32>
  %0 = tensor.extract_slice %whole[0] [8] [1] : tensor<12xf32> to tensor<8xf32>
  %used = tensor.pad %a low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32> to tensor<12xf32>
  %padding = tensor.pad %a low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32> to tensor<12xf32>
  %1 = tensor.extract_slice %padding[0] [2] [1] : tensor<12xf32> to tensor<2xf32>
  %gaps = tensor.pad %a low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32> to tensor<12xf32>
  %2 = tensor.extract_slice %gaps[0] [4] [2] : tensor<12xf32> to tensor<4xf32>
  %counted = tensor.pad %a low[2] high[2] {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32> to tensor<12xf32>
  %3 = tensor.extract_slice %counted[0] [8] [1] : tensor<12xf32> to tensor<8xf32>
  return %0, %used, %1, %2, %3 : tensor<8xf32>, tensor<12xf32>, tensor<2xf32>, tensor<4xf32>, tensor<8xf32>
}
