// RUN: sdy-opt %s -split-input-file -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func.func @broadcast
// CHECK: #sdy.op_sharding_rule<([j, k])->([i, j, k]) {i=3, j=4, k=6}>
func.func @broadcast(%a: tensor<4x6xf32>) {
  %0 = stablehlo.broadcast %a, sizes = [3] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @einsum
// CHECK: #sdy.op_sharding_rule<([i, j], [k, j])->([i, k]) {i=4, j=6, k=5} reduction={j}>
func.func @einsum(%a: tensor<4x6xf32>, %b: tensor<5x6xf32>) {
  %0 = stablehlo.einsum %a, %b, config = "ab,cb->ac" : (tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

// CHECK-LABEL: func.func @no_einsum
// CHECK-NOT: op_sharding_rule
func.func @no_einsum(%a: tensor<4x6xf32>, %b: tensor<5x6xf32>) {
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

// CHECK-LABEL: func.func @unary_einsum
// CHECK: #sdy.op_sharding_rule<([i, j])->([j]) {i=4, j=6} reduction={i}>
func.func @unary_einsum(%a: tensor<4x6xf32>) {
  %0 = stablehlo.unary_einsum %a, config = "ab->b" : (tensor<4x6xf32>) -> tensor<6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @index_select
// CHECK: #sdy.op_sharding_rule<([i, l, k], [i, j])->([i, j, k]) {i=2, j=3, k=6, l=4} need_replication={l}>
func.func @index_select(%a: tensor<2x4x6xf32>, %i: tensor<2x3xi32>) {
  %0 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 1 : i64, dim = 1 : i64}> : (tensor<2x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @no_index_select
// CHECK-NOT: op_sharding_rule
func.func @no_index_select(%a: tensor<2x4x6xf32>, %i: tensor<2x3xi32>) {
  %0 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 5 : i64, dim = 1 : i64}> : (tensor<2x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @quantize
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6}>
func.func @quantize(%a: tensor<4x6xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<4x6xf32>) -> tensor<4x6x!quant.uniform<i8:f32, 1.000000e+00>>
  return
}

// -----

// CHECK-LABEL: func.func @quantize_per_axis
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=2} need_replication={j}>
func.func @quantize_per_axis(%a: tensor<4x2xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32:1, {1.000000e+00, 2.000000e+00}>>
  return
}
