// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%a: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  // CHECK: stablehlo.tanh {{.*}}<([i, j])->([i, j]) {i=4, j=8}>
  %0 = stablehlo.tanh %a : tensor<4x8xf32>
  // CHECK: stablehlo.convert {{.*}}<([i, j])->([i, j]) {i=4, j=8}>
  %1 = stablehlo.convert %0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %1 : tensor<4x8xbf16>
}

// CHECK-LABEL: func @binary
func.func @binary(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // CHECK: stablehlo.add {{.*}}<([i, j], [i, j])->([i, j]) {i=4, j=8}>
  %0 = stablehlo.add %a, %b : tensor<4x8xf32>
  // CHECK: stablehlo.compare {{.*}}<([i, j], [i, j])->([i, j]) {i=4, j=8}>
  %1 = stablehlo.compare LT, %0, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %1 : tensor<4x8xi1>
}

// CHECK-LABEL: func @scalar_operands_have_no_factors
func.func @scalar_operands_have_no_factors(%p: tensor<i1>, %a: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  // CHECK: stablehlo.select {{.*}}<([], [i, j], [i, j])->([i, j]) {i=4, j=8}>
  %0 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<4x8xf32>
  // CHECK: stablehlo.clamp {{.*}}<([], [i, j], [])->([i, j]) {i=4, j=8}>
  %1 = stablehlo.clamp %s, %0, %s : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func @select_by_element
func.func @select_by_element(%p: tensor<4xi1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.select {{.*}}<([i], [i], [i])->([i]) {i=4}>
  %0 = stablehlo.select %p, %a, %a : tensor<4xi1>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @scalar
func.func @scalar(%a: tensor<f32>) -> tensor<f32> {
  // CHECK: stablehlo.add {{.*}}<([], [])->([])>
  %0 = stablehlo.add %a, %a : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func @empty
func.func @empty(%a: tensor<0x8xf32>) -> tensor<0x8xf32> {
  // CHECK: stablehlo.negate {{.*}}<([i, j])->([i, j]) {i=0, j=8}>
  %0 = stablehlo.negate %a : tensor<0x8xf32>
  return %0 : tensor<0x8xf32>
}

// CHECK-LABEL: func @dynamic_shape_has_no_rule
func.func @dynamic_shape_has_no_rule(%a: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: stablehlo.negate %{{.*}} : tensor
  %0 = stablehlo.negate %a : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func @chlo
func.func @chlo(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: chlo.square {{.*}}<([i, j])->([i, j]) {i=4, j=8}>
  %0 = chlo.square %a : tensor<4x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Values that only pass on are the business of data-flow edges.
// CHECK-LABEL: func @barrier_has_no_rule
func.func @barrier_has_no_rule(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.optimization_barrier %{{.*}} : tensor
  %0 = stablehlo.optimization_barrier %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
