// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @made
func.func @made() {
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
  %0 = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK: stablehlo.constant {a = "b"} dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant {a = "b"} dense<[1, 2]> : tensor<2xi32>
  // CHECK: stablehlo.constant dense<true> : tensor<i1>
  %2 = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: stablehlo.iota dim = 1 : tensor<4x8xi32>
  %3 = stablehlo.iota dim = 1 : tensor<4x8xi32>
  return
}

// CHECK-LABEL: func.func @constant_names
func.func @constant_names() -> (tensor<f32>, tensor<i1>) {
  // CHECK: %cst = stablehlo.constant
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  // CHECK: %c = stablehlo.constant
  %1 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
  return %0, %1 : tensor<f32>, tensor<i1>
}

// CHECK-LABEL: func.func @relabelled
func.func @relabelled(%x: tensor<4x1xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.broadcast_in_dim %{{[^ ]+}}, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{[^ ]+}}, dims = [2, 0] : (tensor<4x1xf32>) -> tensor<8x2x4xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<4x1xf32>) -> tensor<8x2x4xf32>
  // CHECK: stablehlo.reshape %{{[^ ]+}} : (tensor<4x1xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.reshape %x : (tensor<4x1xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.transpose %{{[^ ]+}}, dims = [1, 0] : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %3 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x1xf32>) -> tensor<1x4xf32>
  // CHECK: stablehlo.reverse %{{[^ ]+}}, dims = [0, 1] : tensor<4x1xf32>
  %4 = stablehlo.reverse %x, dims = [0, 1] : tensor<4x1xf32>
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<4xf32>) {
  // CHECK: stablehlo.bitcast_convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi32>
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: stablehlo.bitcast_convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4x2xi16>
  %1 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x2xi16>
  // CHECK: stablehlo.bitcast_convert %{{[^ ]+}} : (tensor<4x2xi16>) -> tensor<4xui32>
  %2 = stablehlo.bitcast_convert %1 : (tensor<4x2xi16>) -> tensor<4xui32>
  return
}

// CHECK-LABEL: func.func @pieces
func.func @pieces(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.slice %{{[^ ]+}} [0:4, 2:8:2] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %0 = stablehlo.slice %x [0:4, 2:8:2] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  // CHECK: stablehlo.slice %{{[^ ]+}} [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.concatenate %{{[^ ]+}}, %{{[^ ]+}}, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.concatenate %{{[^ ]+}}, dim = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.concatenate %x, dim = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.pad %{{[^ ]+}}, %{{[^ ]+}}, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x16xf32>
  %4 = stablehlo.pad %x, %s, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x16xf32>
  return
}

// CHECK-LABEL: func.func @unknown_sizes
func.func @unknown_sizes(%x: tensor<?x8xf32>) {
  // CHECK: stablehlo.slice %{{[^ ]+}} [0:2, 0:8] : (tensor<?x8xf32>) -> tensor<2x8xf32>
  %0 = stablehlo.slice %x [0:2, 0:8] : (tensor<?x8xf32>) -> tensor<2x8xf32>
  // CHECK: stablehlo.concatenate %{{[^ ]+}}, %{{[^ ]+}}, dim = 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<6x8xf32>
  %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<6x8xf32>
  return
}
