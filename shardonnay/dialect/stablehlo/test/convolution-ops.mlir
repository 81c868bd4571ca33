// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s
// RUN: sdy-opt -emit-bytecode %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @window
func.func @window(%a: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x8xf32>) {
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = {{\[\[}}0, 1], [2, -1{{\]\]}}, lhs_dilate = [2, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x14x4x8xf32>
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[0, 1], [2, -1]], lhs_dilate = [2, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x14x4x8xf32>
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  %1 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1{{\]\]}}} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
  %2 = "stablehlo.convolution"(%a, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
  return
}

// CHECK-LABEL: func.func @any_order
func.func @any_order(%a: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x8xf32>) {
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = {{\[\[}}1, 1], [1, 1{{\]\]}}, reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [0, 1], pad = [[1, 1], [1, 1]], stride = [1, 1],} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
  return
}

// CHECK-LABEL: func.func @dims
func.func @dims(%a: tensor<2x4x9xbf16>, %w: tensor<6x2x3xbf16>, %p: tensor<2x3xf64>, %q: tensor<3x5xf64>) {
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, f, 0]x[o, i, 0]->[f, b, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x9xbf16>, tensor<6x2x3xbf16>) -> tensor<6x2x7xf32>
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[f, b, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x9xbf16>, tensor<6x2x3xbf16>) -> tensor<6x2x7xf32>
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf64>, tensor<3x5xf64>) -> tensor<2x5xf64>
  %1 = stablehlo.convolution(%p, %q) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf64>, tensor<3x5xf64>) -> tensor<2x5xf64>
  return
}

// CHECK-LABEL: func.func @batch_groups
func.func @batch_groups(%a: tensor<4x9x3xf32>, %w: tensor<2x3x6xf32>) {
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x9x3xf32>, tensor<2x3x6xf32>) -> tensor<2x8x6xf32>
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x9x3xf32>, tensor<2x3x6xf32>) -> tensor<2x8x6xf32>
  return
}

// CHECK-LABEL: func.func @unknown_sizes
func.func @unknown_sizes(%a: tensor<?x8x?x4xf32>, %w: tensor<3x3x?x8xf32>, %p: tensor<2x2xi64>) {
  // CHECK: stablehlo.convolution(%{{[^ ,)]+}}, %{{[^ ,)]+}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1{{\]\]}}} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x8x?x4xf32>, tensor<3x3x?x8xf32>) -> tensor<?x8x?x8xf32>
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x8x?x4xf32>, tensor<3x3x?x8xf32>) -> tensor<?x8x?x8xf32>
  // CHECK: "stablehlo.dynamic_conv"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 2>}> : (tensor<?x8x?x4xf32>, tensor<3x3x?x8xf32>, tensor<2x2xi64>) -> tensor<?x?x?x8xf32>
  %1 = "stablehlo.dynamic_conv"(%a, %w, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 2>}> : (tensor<?x8x?x4xf32>, tensor<3x3x?x8xf32>, tensor<2x2xi64>) -> tensor<?x?x?x8xf32>
  return
}

// Numbers that only an invalid op can have still have a text.
// CHECK: a = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 0, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = []>
func.func private @raw() attributes {a = #stablehlo.conv<raw input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, output_feature_dimension = 2>}
