// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<4x8xf32>, %i: tensor<4xui8>) {
  // CHECK: stablehlo.ceil %{{[^ ]+}} : tensor<4x8xf32>
  %0 = stablehlo.ceil %x : tensor<4x8xf32>
  // CHECK: stablehlo.floor %{{[^ ]+}} : tensor<4x8xf32>
  %1 = stablehlo.floor %x : tensor<4x8xf32>
  // CHECK: stablehlo.negate %{{[^ ]+}} : tensor<4x8xf32>
  %2 = stablehlo.negate %x : tensor<4x8xf32>
  // CHECK: stablehlo.round_nearest_even %{{[^ ]+}} : tensor<4x8xf32>
  %3 = stablehlo.round_nearest_even %x : tensor<4x8xf32>
  // CHECK: stablehlo.round_nearest_afz %{{[^ ]+}} : tensor<4x8xf32>
  %4 = stablehlo.round_nearest_afz %x : tensor<4x8xf32>
  // CHECK: stablehlo.sign %{{[^ ]+}} : tensor<4x8xf32>
  %5 = stablehlo.sign %x : tensor<4x8xf32>
  // CHECK: stablehlo.cbrt %{{[^ ]+}} : tensor<4x8xf32>
  %6 = stablehlo.cbrt %x : tensor<4x8xf32>
  // CHECK: stablehlo.cosine %{{[^ ]+}} : tensor<4x8xf32>
  %7 = stablehlo.cosine %x : tensor<4x8xf32>
  // CHECK: stablehlo.exponential %{{[^ ]+}} : tensor<4x8xf32>
  %8 = stablehlo.exponential %x : tensor<4x8xf32>
  // CHECK: stablehlo.exponential_minus_one %{{[^ ]+}} : tensor<4x8xf32>
  %9 = stablehlo.exponential_minus_one %x : tensor<4x8xf32>
  // CHECK: stablehlo.log %{{[^ ]+}} : tensor<4x8xf32>
  %10 = stablehlo.log %x : tensor<4x8xf32>
  // CHECK: stablehlo.log_plus_one %{{[^ ]+}} : tensor<4x8xf32>
  %11 = stablehlo.log_plus_one %x : tensor<4x8xf32>
  // CHECK: stablehlo.logistic %{{[^ ]+}} : tensor<4x8xf32>
  %12 = stablehlo.logistic %x : tensor<4x8xf32>
  // CHECK: stablehlo.rsqrt %{{[^ ]+}} : tensor<4x8xf32>
  %13 = stablehlo.rsqrt %x : tensor<4x8xf32>
  // CHECK: stablehlo.sine %{{[^ ]+}} : tensor<4x8xf32>
  %14 = stablehlo.sine %x : tensor<4x8xf32>
  // CHECK: stablehlo.sqrt %{{[^ ]+}} : tensor<4x8xf32>
  %15 = stablehlo.sqrt %x : tensor<4x8xf32>
  // CHECK: stablehlo.tan %{{[^ ]+}} : tensor<4x8xf32>
  %16 = stablehlo.tan %x : tensor<4x8xf32>
  // CHECK: stablehlo.tanh %{{[^ ]+}} : tensor<4x8xf32>
  %17 = stablehlo.tanh %x : tensor<4x8xf32>
  // CHECK: stablehlo.count_leading_zeros %{{[^ ]+}} : tensor<4xui8>
  %18 = stablehlo.count_leading_zeros %i : tensor<4xui8>
  // CHECK: stablehlo.popcnt %{{[^ ]+}} : tensor<4xui8>
  %19 = stablehlo.popcnt %i : tensor<4xui8>
  // CHECK: stablehlo.not %{{[^ ]+}} : tensor<4xui8>
  %20 = stablehlo.not %i : tensor<4xui8>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<4x8xbf16>, %i: tensor<4xi32>) {
  // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %0 = stablehlo.add %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.atan2 %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %1 = stablehlo.atan2 %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.divide %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %2 = stablehlo.divide %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.maximum %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %3 = stablehlo.maximum %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.minimum %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %4 = stablehlo.minimum %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.multiply %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %5 = stablehlo.multiply %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.power %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %6 = stablehlo.power %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.remainder %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %7 = stablehlo.remainder %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.subtract %{{[^ ]+}}, %{{[^ ]+}} : tensor<4x8xbf16>
  %8 = stablehlo.subtract %x, %x : tensor<4x8xbf16>
  // CHECK: stablehlo.and %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xi32>
  %9 = stablehlo.and %i, %i : tensor<4xi32>
  // CHECK: stablehlo.or %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xi32>
  %10 = stablehlo.or %i, %i : tensor<4xi32>
  // CHECK: stablehlo.xor %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xi32>
  %11 = stablehlo.xor %i, %i : tensor<4xi32>
  // CHECK: stablehlo.shift_left %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xi32>
  %12 = stablehlo.shift_left %i, %i : tensor<4xi32>
  // CHECK: stablehlo.shift_right_arithmetic %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xi32>
  %13 = stablehlo.shift_right_arithmetic %i, %i : tensor<4xi32>
  // CHECK: stablehlo.shift_right_logical %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xi32>
  %14 = stablehlo.shift_right_logical %i, %i : tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @other_element_type
func.func @other_element_type(%x: tensor<4xf32>, %c: tensor<4xcomplex<f32>>) {
  // CHECK: stablehlo.abs %{{[^ ]+}} : tensor<4xf32>
  %0 = stablehlo.abs %x : tensor<4xf32>
  // CHECK: stablehlo.abs %{{[^ ]+}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %1 = stablehlo.abs %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.real %{{[^ ]+}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.real %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.imag %{{[^ ]+}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %3 = stablehlo.imag %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.is_finite %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi1>
  %4 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.complex %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xcomplex<f32>>
  %5 = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  // CHECK: stablehlo.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xbf16>
  %6 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: stablehlo.convert %{{[^ ]+}} : tensor<4xf32>
  %7 = stablehlo.convert %x : tensor<4xf32>
  // CHECK: stablehlo.compare EQ, %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %8 = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare LT, %{{[^ ]+}}, %{{[^ ]+}}, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %9 = stablehlo.compare LT, %x, %x, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @scalar_operands
func.func @scalar_operands(%x: tensor<4xf32>, %s: tensor<f32>, %p: tensor<4xi1>, %b: tensor<i1>) {
  // CHECK: stablehlo.select %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xi1>, tensor<4xf32>
  %0 = stablehlo.select %p, %x, %x : tensor<4xi1>, tensor<4xf32>
  // CHECK: stablehlo.select %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.select %b, %x, %x : tensor<i1>, tensor<4xf32>
  // CHECK: stablehlo.clamp %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xf32>
  %2 = stablehlo.clamp %x, %x, %x : tensor<4xf32>
  // CHECK: stablehlo.clamp %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<4xf32>) {
  // CHECK: stablehlo.reduce_precision %{{[^ ]+}}, format = e5m10 : tensor<4xf32>
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
  // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} {mhlo.frontend_attributes = {a = "b"}} : tensor<4xf32>
  %1 = stablehlo.add %x, %x {mhlo.frontend_attributes = {a = "b"}} : tensor<4xf32>
  // CHECK: stablehlo.log %{{[^ ]+}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  %2 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  // CHECK: stablehlo.log %{{[^ ]+}} {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-01, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %3 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-01, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// A dim of unknown size matches every size.
// CHECK-LABEL: func.func @unknown_sizes
func.func @unknown_sizes(%x: tensor<4xf32>, %y: tensor<?xf32>) {
  // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.negate %{{[^ ]+}} : (tensor<4xf32>) -> tensor<?xf32>
  %1 = stablehlo.negate %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: stablehlo.compare NE, %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xi1>
  %2 = stablehlo.compare NE, %x, %y : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xi1>
  return
}
