// RUN: sdy-opt %s -split-input-file -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func.func @top_k
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=4, j=6} need_replication={j}>
func.func @top_k(%x: tensor<4x6xf32>) {
  %0:2 = chlo.top_k(%x, k = 3) : tensor<4x6xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return
}

// -----

// CHECK-LABEL: func.func @ragged_rows
// CHECK: #sdy.op_sharding_rule<([i, k], [l, k, j], [l])->([i, j]) {i=4, j=8, k=6, l=3} reduction={k} need_replication={i, l}>
func.func @ragged_rows(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @ragged_rows_of_batches
// CHECK: #sdy.op_sharding_rule<([i, j, l], [m, i, l, k], [i, m])->([i, j, k]) {i=2, j=4, k=8, l=6, m=3} reduction={l} need_replication={j, m}>
func.func @ragged_rows_of_batches(%a: tensor<2x4x6xf32>, %b: tensor<3x2x6x8xf32>, %g: tensor<2x3xi32>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<2x4x6xf32>, tensor<3x2x6x8xf32>, tensor<2x3xi32>) -> tensor<2x4x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @ragged_contraction
// CHECK: #sdy.op_sharding_rule<([i, j, l], [i, l, k], [i, m])->([m, i, j, k]) {i=2, j=4, k=8, l=6, m=3} need_replication={l, m}>
func.func @ragged_contraction(%a: tensor<2x4x6xf32>, %b: tensor<2x6x8xf32>, %g: tensor<2x3xi32>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]>}> : (tensor<2x4x6xf32>, tensor<2x6x8xf32>, tensor<2x3xi32>) -> tensor<3x2x4x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @ragged_batch
// CHECK: #sdy.op_sharding_rule<([i, j, l], [i, l, k], [m])->([i, j, k]) {i=2, j=4, k=8, l=6, m=3} reduction={l} need_replication={i, m}>
func.func @ragged_batch(%a: tensor<2x4x6xf32>, %b: tensor<2x6x8xf32>, %g: tensor<3xi32>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<2x4x6xf32>, tensor<2x6x8xf32>, tensor<3xi32>) -> tensor<2x4x8xf32>
  return
}
