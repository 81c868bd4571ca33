// RUN: sdy-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @adds_dims_of_size_one
func.func @adds_dims_of_size_one(%arg0: tensor<8x16xf32>) -> tensor<8x1x16xf32> {
  // CHECK: stablehlo.reshape %arg0 {test.attr} : (tensor<8x16xf32>) -> tensor<8x1x16xf32>
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] {test.attr} : (tensor<8x16xf32>) -> tensor<8x1x16xf32>
  return %0 : tensor<8x1x16xf32>
}

// CHECK-LABEL: func @repeats
func.func @repeats(%arg0: tensor<8xf32>) -> tensor<8x2xf32> {
  // CHECK: stablehlo.broadcast_in_dim
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func @transposes
func.func @transposes(%arg0: tensor<8x16xf32>) -> tensor<16x8xf32> {
  // CHECK: stablehlo.broadcast_in_dim
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// A shift by one row: what is sliced off is never there.
// CHECK-LABEL: func @pads_and_cuts
func.func @pads_and_cuts(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<4x6xf32> {
  // CHECK: stablehlo.pad %arg0, %arg1, low = [1, -1], high = [-1, -1], interior = [0, 0] {test.attr} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  // CHECK-NOT: slice
  %0 = stablehlo.pad %arg0, %arg1, low = [1, 0], high = [0, 1], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x9xf32>
  %1 = stablehlo.slice %0 [0:4, 1:7] {test.attr} : (tensor<5x9xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// The gaps of one dim stay, another dim is sliced.
// CHECK-LABEL: func @spreads_and_cuts
func.func @spreads_and_cuts(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<7x4xf32> {
  // CHECK: stablehlo.pad %arg0, %arg1, low = [0, -2], high = [0, -2], interior = [1, 0]
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x8xf32>
  %1 = stablehlo.slice %0 [0:7, 2:6] : (tensor<7x8xf32>) -> tensor<7x4xf32>
  return %1 : tensor<7x4xf32>
}

// CHECK-LABEL: func @stays
func.func @stays(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<5xf32>, tensor<4xf32>) {
  // Only padding would remain.
  // CHECK: stablehlo.slice
  %0 = stablehlo.pad %arg0, %arg1, low = [2], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = stablehlo.slice %0 [0:2] : (tensor<6xf32>) -> tensor<2xf32>
  // A stride.
  // CHECK: stablehlo.slice
  %2 = stablehlo.pad %arg0, %arg1, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %3 = stablehlo.slice %2 [0:5:2] : (tensor<5xf32>) -> tensor<3xf32>
  // Gaps, one of which an edge would fall into.
  // CHECK: stablehlo.slice
  %4 = stablehlo.pad %arg0, %arg1, low = [0], high = [0], interior = [2] : (tensor<4xf32>, tensor<f32>) -> tensor<10xf32>
  %5 = stablehlo.slice %4 [1:3] : (tensor<10xf32>) -> tensor<2xf32>
  // Another use.
  // CHECK: stablehlo.slice
  %6 = stablehlo.pad %arg0, %arg1, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %7 = stablehlo.slice %6 [0:4] : (tensor<5xf32>) -> tensor<4xf32>
  return %1, %3, %5, %6, %7 : tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<5xf32>, tensor<4xf32>
}

// The gradient of a slice, and then of a pad.
// CHECK-LABEL: func @takes_away
func.func @takes_away(%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<4xf32> {
  // CHECK: stablehlo.pad %arg0, %arg1, low = [-1], high = [1], interior = [0]
  // CHECK-NOT: pad
  %0 = stablehlo.pad %arg0, %arg1, low = [0], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = stablehlo.pad %0, %arg2, low = [-1], high = [0], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The neighbours on both sides.
// CHECK-LABEL: func @looks_around
func.func @looks_around(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: stablehlo.pad %arg0, %arg1, low = [1], high = [-1], interior = [0]
  // CHECK-DAG: stablehlo.pad %arg0, %arg1, low = [-1], high = [1], interior = [0]
  // CHECK: return
  %0 = stablehlo.pad %arg0, %arg1, low = [1], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = stablehlo.slice %0 [0:4] : (tensor<6xf32>) -> tensor<4xf32>
  %2 = stablehlo.slice %0 [2:6] : (tensor<6xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
