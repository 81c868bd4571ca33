// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @dims
func.func @dims(%x: tensor<4x8x16xbf16>, %y: tensor<4x16x2xbf16>, %v: tensor<16xf32>) {
  // CHECK: stablehlo.dot_general %{{[^ ]+}}, %{{[^ ]+}}, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x16xbf16>, tensor<4x16x2xbf16>) -> tensor<4x8x2xf32>
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x16xbf16>, tensor<4x16x2xbf16>) -> tensor<4x8x2xf32>
  // CHECK: stablehlo.dot_general %{{[^ ]+}}, %{{[^ ]+}}, contracting_dims = [0] x [0] : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  %1 = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0] : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  // CHECK: stablehlo.dot_general %{{[^ ]+}}, %{{[^ ]+}}, contracting_dims = [] x [], precision = [HIGH, HIGHEST] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %2 = stablehlo.dot_general %v, %v, contracting_dims = [] x [], precision = [HIGH, HIGHEST] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  return
}

// CHECK-LABEL: func.func @algorithm
func.func @algorithm(%v: tensor<16xf32>) {
  // CHECK: stablehlo.dot_general %{{[^ ]+}}, %{{[^ ]+}}, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  %0 = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @dot
func.func @dot(%x: tensor<2x4xf32>, %y: tensor<4x3xf32>, %v: tensor<4xf32>) {
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [HIGH, DEFAULT] {a} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.dot %x, %y, precision = [HIGH, DEFAULT] {a} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %1 = stablehlo.dot %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}
