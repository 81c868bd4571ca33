// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<4x9x6xf32>, %w: tensor<3x6xf32>) {
  // expected-error @+1 {{expected 3 dims of the kernel, as the input has, got 2}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @result_rank(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected 3 dims of the result, as the input has, got 2}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7xf32>
  return
}

// -----

// expected-note @+1 {{rhs is made here}}
func.func @element(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf16>) { // expected-note {{lhs is made here}}
  // expected-error @+1 {{'stablehlo.convolution' op expected operands of one element type, got 'tensor<4x9x6xf32>' and 'tensor<3x6x8xf16>'}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf16>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @number_of_dims(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected 3 dims of the input, got 2}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @raw_dims(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{dim 0 of the input comes twice}}
  %0 = "stablehlo.convolution"(%a, %w) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 0, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func private @unknown_field() attributes {
  // expected-error @+1 {{unknown or repeated field 'batch'}}
  a = #stablehlo.conv<raw batch = 0>}

// -----

func.func private @repeated_field() attributes {
  // expected-error @+1 {{unknown or repeated field 'input_batch_dimension'}}
  a = #stablehlo.conv<raw input_batch_dimension = 0, input_batch_dimension = 0>}

// -----

func.func @twice(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' expected 'b' and 'f' once each and the numbers of spatial dims, got 'b'}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, b, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @missing(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' expected a dim 'f'}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @spatial(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' expected a spatial dim 0}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 1, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @spatial_twice(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' spatial dim 0 is negative or comes twice}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @both_groups(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op has 2 feature groups and 2 batch groups, expected one of them to be 1}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @batch_groups(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected the input's batch size to be a multiple of 3, got 4}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 3 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @features(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected the number of the input's features to be a multiple of 4, got 6}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @outputs(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected the number of the kernel's output features to be a multiple of 3, got 8}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @output_batch_groups(%a: tensor<4x9x6xf32>, %w: tensor<3x6x7xf32>) {
  // expected-error @+1 {{expected the number of the kernel's output features to be a multiple of 2, got 7}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x7xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @kernel_features(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) { // expected-note {{the kernel is made here}}
  // expected-error @+1 {{'stablehlo.convolution' op has 6 input features in 2 groups, but the kernel takes 6}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @precision(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op expected a precision for each of 2 operands, got 3}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>, #stablehlo<precision HIGH>]} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @no_groups(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op requires attribute 'feature_group_count'}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @zero_groups(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' 'stablehlo.convolution' op attribute 'batch_group_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 0 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @stride(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected the stride of dim 0 of the window between 1 and 2^61, got 0}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @strides(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected 1 strides, one per window dim, got 2}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @kernel(%a: tensor<4x9x6xf32>, %w: tensor<0x6x8xf32>) {
  // expected-error @+1 {{expected the size of dim 0 of the window between 1 and 2^61, got 0}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<0x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @dilation(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected the dilation of dim 0 of the window between 1 and 2^61, got -1}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {rhs_dilate = [-1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @base_dilation(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected the base dilation of dim 0 of the window between 1 and 2^61, got 5000000000000000000}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [5000000000000000000]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @dilated_base(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{dilates dim 0 of the base to more than 2^61 positions}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [1000000000000000000]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @dilated_window(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{dilates dim 0 of the window to more than 2^61 positions}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {rhs_dilate = [2000000000000000000]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @pad(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' expected a low and a high padding, got 1 numbers}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @pads(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected 1 rows of the padding, one per window dim, got 2}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @huge(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{pads dim 0 by 1 and -5000000000000000000, expected less than 2^61}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, -5000000000000000000]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @reverse(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected 1 reversals, one per window dim, got 2}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @repeated(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' expected stride, pad, lhs_dilate, rhs_dilate or reverse, once each, got 'stride'}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @field(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' expected stride, pad, lhs_dilate, rhs_dilate or reverse, once each, got 'step'}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {step = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @result(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{the result of the convolution has shape [4, 8, 8], expected [4, 7, 8]}}
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x8x8xf32>
  return
}

// -----

func.func @padding_type(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @+1 {{expected a padding with a row of 2 per dim of the window, got 'tensor<2xi64>'}}
  %0 = "stablehlo.convolution"(%a, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<1> : tensor<2xi64>}> : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

func.func @dynamic_padding(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>, %p: tensor<2xi64>) {
  // expected-error @+1 {{the padding has shape [2], expected [1, 2]}}
  %0 = "stablehlo.dynamic_conv"(%a, %w, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x9x6xf32>, tensor<3x6x8xf32>, tensor<2xi64>) -> tensor<4x?x8xf32>
  return
}
