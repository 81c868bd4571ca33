// RUN: sdy-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @types_say_the_sizes
func.func @types_say_the_sizes(%a: tensor<4x8xf32>, %i: tensor<3x1xi32>, %n: tensor<1xi32>, %m: tensor<2xi32>, %k: tensor<3xi32>) -> (tensor<32xf32>, tensor<2x4x8xf32>, tensor<4x8xi32>, tensor<3x8xf32>) {
  // CHECK: stablehlo.reshape %arg0 {test.attr} : (tensor<4x8xf32>) -> tensor<32xf32>
  %0 = stablehlo.dynamic_reshape %a, %n {test.attr} : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<32xf32>
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %a, %k, dims = [1, 2] : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<2x4x8xf32>
  // CHECK: stablehlo.iota dim = 1 : tensor<4x8xi32>
  %2 = stablehlo.dynamic_iota %m, dim = 1 : (tensor<2xi32>) -> tensor<4x8xi32>
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{{.*}}slice_sizes = array<i64: 1, 8>
  %3 = "stablehlo.dynamic_gather"(%a, %i, %m) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x8xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x8xf32>
  return %0, %1, %2, %3 : tensor<32xf32>, tensor<2x4x8xf32>, tensor<4x8xi32>, tensor<3x8xf32>
}

// CHECK-LABEL: func @constants_say_the_sizes
func.func @constants_say_the_sizes(%a: tensor<4x8xf32>, %c: tensor<f32>, %x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x5xf32>) -> (tensor<7x8xf32>, tensor<2x4xf32>, tensor<1x4x4x5xf32>) {
  %low = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %high = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  // CHECK: stablehlo.pad %arg0, %arg1, low = [1, 0], high = [2, 0], interior = [0, 0]
  %0 = stablehlo.dynamic_pad %a, %c, %low, %high, %none : (tensor<4x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<7x8xf32>
  %limit = stablehlo.constant dense<[3, 8]> : tensor<2xi32>
  %stride = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK: stablehlo.slice %arg0 [1:3, 0:8:2]
  %1 = stablehlo.real_dynamic_slice %a, %low, %limit, %stride : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x4xf32>
  %padding = stablehlo.constant dense<1> : tensor<2x2xi32>
  // CHECK: stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1]]}
  %2 = "stablehlo.dynamic_conv"(%x, %w, %padding) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>, tensor<2x2xi32>) -> tensor<1x4x4x5xf32>
  return %0, %1, %2 : tensor<7x8xf32>, tensor<2x4xf32>, tensor<1x4x4x5xf32>
}

// What contradicts the types is left as it is.
// CHECK-LABEL: func @data
func.func @data(%a: tensor<4x8xf32>, %c: tensor<f32>, %n: tensor<2xi32>) -> (tensor<7x8xf32>, tensor<5x8xf32>) {
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  // CHECK: stablehlo.dynamic_pad
  %0 = stablehlo.dynamic_pad %a, %c, %n, %none, %none : (tensor<4x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<7x8xf32>
  // CHECK: stablehlo.dynamic_pad
  %1 = stablehlo.dynamic_pad %a, %c, %none, %none, %none : (tensor<4x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x8xf32>
  return %0, %1 : tensor<7x8xf32>, tensor<5x8xf32>
}

// CHECK-LABEL: func @sizes
func.func @sizes(%a: tensor<4x8xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: %[[SIZE:.*]] = stablehlo.constant dense<8> : tensor<i32>
  %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x8xf32>) -> tensor<i32>
  %1 = stablehlo.set_dimension_size %a, %0, dim = 1 : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  // CHECK: %[[OTHER:.*]] = stablehlo.set_dimension_size %arg0, %[[SIZE]], dim = 0
  %2 = stablehlo.set_dimension_size %1, %0, dim = 0 : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  // CHECK: %[[DATA:.*]] = stablehlo.set_dimension_size %arg0, %arg1, dim = 1
  %3 = stablehlo.set_dimension_size %a, %n, dim = 1 : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  // CHECK: return %[[SIZE]], %arg0, %[[OTHER]], %[[DATA]]
  return %0, %1, %2, %3 : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
