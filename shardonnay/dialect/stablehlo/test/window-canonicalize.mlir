// RUN: sdy-opt %s --canonicalize | FileCheck %s

// The gradient of an average pooling: what is padded, with holes, with what the windows are padded with.
// CHECK-LABEL: func @padded_windows
// CHECK-NOT: stablehlo.pad
// CHECK: "stablehlo.reduce_window"(%arg0
// CHECK-SAME: base_dilations = array<i64: 1, 4>
// CHECK-SAME{LITERAL}: padding = dense<[[0, 0], [5, 2]]>
func.func @padded_windows(%x: tensor<2x4xf32>) -> tensor<2x17xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<f32>
  %p = stablehlo.pad %x, %z, low = [0, 2], high = [0, 1], interior = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x10xf32>
  %0 = "stablehlo.reduce_window"(%p, %i) <{window_dimensions = array<i64: 1, 4>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x10xf32>, tensor<f32>) -> tensor<2x17xf32>
  return %0 : tensor<2x17xf32>
}

// Other padding than zeros, and what does not start from zero, for which XLA has nothing around the elements; and a running sum, whose windows are known by their padding.
// CHECK-LABEL: func @kept_pads
// CHECK-COUNT-3: stablehlo.pad
func.func @kept_pads(%x: tensor<6xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<8xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %o = stablehlo.constant dense<1.0> : tensor<f32>
  %p = stablehlo.pad %x, %o, low = [1], high = [1], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = "stablehlo.reduce_window"(%p, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
  %r = stablehlo.pad %x, %o, low = [1], high = [1], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = "stablehlo.reduce_window"(%r, %o) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
  %q = stablehlo.pad %x, %z, low = [2], high = [0], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "stablehlo.reduce_window"(%q, %z) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %2, %1 : tensor<7xf32>, tensor<7xf32>, tensor<8xf32>
}
