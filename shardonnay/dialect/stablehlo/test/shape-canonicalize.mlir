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
