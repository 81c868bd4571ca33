// RUN: sdy-opt %s -split-input-file -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func.func @overlapping
// CHECK: #sdy.op_sharding_rule<([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=7, k=6, l=8, m=3} reduction={k} need_replication={m} permutation={j}>
func.func @overlapping(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x7x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @padded
// CHECK: #sdy.op_sharding_rule<([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=9, k=6, l=8, m=3} reduction={k} need_replication={m} permutation={j}>
func.func @padded(%a: tensor<4x9x6xf32>, %w: tensor<3x6x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xf32>, tensor<3x6x8xf32>) -> tensor<4x9x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @side_by_side
// CHECK: #sdy.op_sharding_rule<([i, jk, l], [k, l, m])->([i, j, m]) {i=4, j=8, k=2, l=6, m=8} reduction={k, l} permutation={j}>
func.func @side_by_side(%a: tensor<4x16x6xf32>, %w: tensor<2x6x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x6xf32>, tensor<2x6x8xf32>) -> tensor<4x8x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @pointwise
// CHECK: #sdy.op_sharding_rule<([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=16, k=6, l=8, m=1} reduction={k} permutation={j}>
func.func @pointwise(%a: tensor<4x16x6xf32>, %w: tensor<1x6x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x6xf32>, tensor<1x6x8xf32>) -> tensor<4x16x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @feature_groups
// CHECK: #sdy.op_sharding_rule<([i, j, kl], [n, l, km])->([i, j, km]) {i=4, j=14, k=2, l=3, m=4, n=3} reduction={l} need_replication={n} permutation={j}>
func.func @feature_groups(%a: tensor<4x16x6xf32>, %w: tensor<3x3x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<4x16x6xf32>, tensor<3x3x8xf32>) -> tensor<4x14x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @depthwise
// CHECK: #sdy.op_sharding_rule<([i, j, k], [m, l, k])->([i, j, k]) {i=4, j=14, k=6, l=1, m=3} reduction={l} need_replication={m} permutation={j}>
func.func @depthwise(%a: tensor<4x16x6xf32>, %w: tensor<3x1x6xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 6 : i64} : (tensor<4x16x6xf32>, tensor<3x1x6xf32>) -> tensor<4x14x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @batch_groups
// CHECK: #sdy.op_sharding_rule<([ij, k, l], [n, l, im])->([j, k, im]) {i=2, j=2, k=14, l=6, m=4, n=3} reduction={l} need_replication={n} permutation={k}>
func.func @batch_groups(%a: tensor<4x16x6xf32>, %w: tensor<3x6x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x16x6xf32>, tensor<3x6x8xf32>) -> tensor<2x14x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @all_batch_groups
// CHECK: #sdy.op_sharding_rule<([i, k, l], [m, l, i])->([j, k, i]) {i=4, j=1, k=14, l=6, m=3} reduction={l} need_replication={m} permutation={k}>
func.func @all_batch_groups(%a: tensor<4x16x6xf32>, %w: tensor<3x6x4xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<4x16x6xf32>, tensor<3x6x4xf32>) -> tensor<1x14x4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @large_kernel
// CHECK: #sdy.op_sharding_rule<([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=6, k=6, l=8, m=12} reduction={k} need_replication={m} permutation={j}>
func.func @large_kernel(%a: tensor<4x6x6xf32>, %w: tensor<12x6x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[11, 11]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x6xf32>, tensor<12x6x8xf32>) -> tensor<4x17x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @dilated
// CHECK: #sdy.op_sharding_rule<([i, j, k], [m, k, l])->([i, j, l]) {i=4, j=16, k=6, l=8, m=2} reduction={k} need_replication={m} permutation={j}>
func.func @dilated(%a: tensor<4x16x6xf32>, %w: tensor<2x6x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2], pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x6xf32>, tensor<2x6x8xf32>) -> tensor<4x31x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @no_space
// CHECK: #sdy.op_sharding_rule<([i, l, m, j], [n, o, j, k])->([i, p, q, k]) {i=4, j=8, k=8, l=1, m=1, n=1, o=1, p=1, q=1} reduction={j}>
func.func @no_space(%a: tensor<4x1x1x8xf32>, %w: tensor<1x1x8x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x1x1x8xf32>, tensor<1x1x8x8xf32>) -> tensor<4x1x1x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @finer_groups
// CHECK: #sdy.op_sharding_rule<([i, j, kl], [n, l, km])->([i, j, km]) {i=4, j=14, k=3, l=2, m=4, n=3} reduction={l} need_replication={n} permutation={j}>
func.func @finer_groups(%a: tensor<4x16x6xf32>, %w: tensor<3x2x12xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<4x16x6xf32>, tensor<3x2x12xf32>) -> tensor<4x14x12xf32>
  return
}

// -----

// CHECK-LABEL: func.func @weights
// CHECK: #sdy.op_sharding_rule<([k, j, i], [k, j, l])->([i, m, l]) {i=6, j=12, k=16, l=8, m=3} reduction={j, k} need_replication={m}>
func.func @weights(%a: tensor<16x14x6xf32>, %w: tensor<16x12x8xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [f, 0, b]x[i, 0, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x14x6xf32>, tensor<16x12x8xf32>) -> tensor<6x3x8xf32>
  return
}
