// RUN: sdy-opt %s --canonicalize | FileCheck %s

// A causal convolution, as its author pads: the zeros are the window's.
// CHECK-LABEL: func @pads_before
func.func @pads_before(%arg0: tensor<8x20x4xf32>, %arg1: tensor<2x4x6xf32>) -> tensor<8x20x6xf32> {
  // CHECK-NOT: stablehlo.pad
  // CHECK: stablehlo.convolution(%arg0, %arg1) {{.*}}window = {pad = {{\[\[}}4, 0]], rhs_dilate = [4]}
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.convert %zero : (tensor<i32>) -> tensor<f32>
  %1 = stablehlo.pad %arg0, %0, low = [0, 4, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<8x20x4xf32>, tensor<f32>) -> tensor<8x24x4xf32>
  %2 = stablehlo.convolution(%1, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {rhs_dilate = [4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x24x4xf32>, tensor<2x4x6xf32>) -> tensor<8x20x6xf32>
  return %2 : tensor<8x20x6xf32>
}

// Its gradient: what is sliced off is not computed.
// CHECK-LABEL: func @cuts_behind
func.func @cuts_behind(%arg0: tensor<8x20x6xf32>, %arg1: tensor<2x6x4xf32>) -> tensor<8x20x4xf32> {
  // CHECK: stablehlo.convolution(%arg0, %arg1) {{.*}}window = {pad = {{\[\[}}0, 4]], rhs_dilate = [4]}
  // CHECK-NOT: stablehlo.slice
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[4, 4]], rhs_dilate = [4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x20x6xf32>, tensor<2x6x4xf32>) -> tensor<8x24x4xf32>
  %1 = stablehlo.slice %0 [0:8, 4:24, 0:4] : (tensor<8x24x4xf32>) -> tensor<8x20x4xf32>
  return %1 : tensor<8x20x4xf32>
}

// A stride: two results are four positions.
// CHECK-LABEL: func @cuts_strided
func.func @cuts_strided(%arg0: tensor<1x20x1xf32>, %arg1: tensor<2x1x1xf32>) -> tensor<1x8x1xf32> {
  // CHECK: stablehlo.convolution(%arg0, %arg1) {{.*}}window = {stride = [2], pad = {{\[\[}}-4, 0]]}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x1xf32>, tensor<2x1x1xf32>) -> tensor<1x10x1xf32>
  %1 = stablehlo.slice %0 [0:1, 2:10, 0:1] : (tensor<1x10x1xf32>) -> tensor<1x8x1xf32>
  return %1 : tensor<1x8x1xf32>
}

// CHECK-LABEL: func @stays
func.func @stays(%arg0: tensor<8x20x4xf32>, %arg1: tensor<2x4x6xf32>) -> (tensor<8x20x6xf32>, tensor<9x19x6xf32>, tensor<8x19x3xf32>) {
  // Ones are not what a convolution pads with.
  // CHECK: stablehlo.pad
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %arg0, %one, low = [0, 1, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<8x20x4xf32>, tensor<f32>) -> tensor<8x21x4xf32>
  %1 = stablehlo.convolution(%0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x21x4xf32>, tensor<2x4x6xf32>) -> tensor<8x20x6xf32>
  // A batch has no window.
  // CHECK: stablehlo.pad
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.pad %arg0, %zero, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<8x20x4xf32>, tensor<f32>) -> tensor<9x20x4xf32>
  %3 = stablehlo.convolution(%2, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<9x20x4xf32>, tensor<2x4x6xf32>) -> tensor<9x19x6xf32>
  // Nor have features.
  // CHECK: stablehlo.slice
  %4 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x20x4xf32>, tensor<2x4x6xf32>) -> tensor<8x19x6xf32>
  %5 = stablehlo.slice %4 [0:8, 0:19, 0:3] : (tensor<8x19x6xf32>) -> tensor<8x19x3xf32>
  return %1, %3, %5 : tensor<8x20x6xf32>, tensor<9x19x6xf32>, tensor<8x19x3xf32>
}
