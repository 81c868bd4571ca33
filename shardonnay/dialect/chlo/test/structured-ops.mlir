// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s
// RUN: sdy-opt -emit-bytecode %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<4x6xf32>, %y: tensor<?xui8>) {
  // CHECK: chlo.top_k(%{{[^ ,)]+}}, k = 3) : tensor<4x6xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  %0:2 = chlo.top_k(%x, k = 3) : tensor<4x6xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  // CHECK: chlo.top_k(%{{[^ ,)]+}}, k = 0) : tensor<?xui8> -> (tensor<0xui8>, tensor<0xi32>)
  %1:2 = chlo.top_k(%y, k = 0) : tensor<?xui8> -> (tensor<0xui8>, tensor<0xi32>)
  return
}

// CHECK-LABEL: func.func @ragged_dot
func.func @ragged_dot(%a: tensor<4x6xf32>, %b: tensor<2x4x6xf32>, %g: tensor<3xi32>, %h: tensor<2x3xi32>, %r: tensor<3x6x8xf32>, %q: tensor<2x6x8xf32>) {
  // CHECK: "chlo.ragged_dot"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  %0 = "chlo.ragged_dot"(%a, %r, %g) <{precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  // CHECK: "chlo.ragged_dot"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]>}> : (tensor<2x4x6xf32>, tensor<2x6x8xf32>, tensor<2x3xi32>) -> tensor<3x2x4x8xf32>
  %1 = "chlo.ragged_dot"(%b, %q, %h) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]>}> : (tensor<2x4x6xf32>, tensor<2x6x8xf32>, tensor<2x3xi32>) -> tensor<3x2x4x8xf32>
  // CHECK: "chlo.ragged_dot"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<2x4x6xf32>, tensor<2x6x8xf32>, tensor<3xi32>) -> tensor<2x4x8xbf16>
  %2 = "chlo.ragged_dot"(%b, %q, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<2x4x6xf32>, tensor<2x6x8xf32>, tensor<3xi32>) -> tensor<2x4x8xbf16>
  return
}

// CHECK-LABEL: func.func @constants
func.func @constants(%a: tensor<4x6xf32>) {
  // CHECK: chlo.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = chlo.constant dense<1.000000e+00> : tensor<2xf32>
  // CHECK: "chlo.constant_like"(%{{[^ ,)]+}}) <{value = 3.200000e+00 : f32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.constant_like"(%a) <{value = 3.200000e+00 : f32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: "chlo.constant_like"(%{{[^ ,)]+}}) <{value = #complex.number<:f32 1.000000e+00, 2.000000e+00> : complex<f32>}> : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
  %2 = "chlo.constant_like"(%a) <{value = #complex.number<:f32 1.000000e+00, 2.000000e+00> : complex<f32>}> : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%a: tensor<4x6xf32>, %b: tensor<6xf32>, %p: tensor<i1>, %c: tensor<4x1xi32>) {
  // CHECK: chlo.broadcast_add %{{[^ ,)]+}}, %{{[^ ,)]+}} {broadcast_dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_compare %{{[^ ,)]+}}, %{{[^ ,)]+}} {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction EQ>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xi1>
  %1 = chlo.broadcast_compare %a, %b {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction EQ>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xi1>
  // CHECK: chlo.broadcast_complex %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xcomplex<f32>>
  %2 = chlo.broadcast_complex %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xcomplex<f32>>
  // CHECK: chlo.broadcast_select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<i1>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %3 = chlo.broadcast_select %p, %a, %b : (tensor<i1>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo._asin_acos_kernel %{{[^ ,)]+}} : tensor<4x6xcomplex<f32>> -> tensor<4x6xcomplex<f32>>
  %4 = chlo._asin_acos_kernel %2 : tensor<4x6xcomplex<f32>> -> tensor<4x6xcomplex<f32>>
  // CHECK: chlo.broadcast_and %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %5 = chlo.broadcast_and %c, %c : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  // CHECK: chlo.broadcast_atan2 %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %6 = chlo.broadcast_atan2 %b, %a : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_divide %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %7 = chlo.broadcast_divide %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %8 = chlo.broadcast_maximum %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<?x?xf32>
  %9 = chlo.broadcast_minimum %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<?x?xf32>
  // CHECK: chlo.broadcast_multiply %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %10 = chlo.broadcast_multiply %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_next_after %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %11 = chlo.broadcast_next_after %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_or %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %12 = chlo.broadcast_or %c, %c : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  // CHECK: chlo.broadcast_polygamma %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %13 = chlo.broadcast_polygamma %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_power %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %14 = chlo.broadcast_power %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_remainder %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %15 = chlo.broadcast_remainder %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_shift_left %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %16 = chlo.broadcast_shift_left %c, %c : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  // CHECK: chlo.broadcast_shift_right_arithmetic %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %17 = chlo.broadcast_shift_right_arithmetic %c, %c : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  // CHECK: chlo.broadcast_shift_right_logical %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %18 = chlo.broadcast_shift_right_logical %c, %c : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  // CHECK: chlo.broadcast_subtract %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %19 = chlo.broadcast_subtract %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: chlo.broadcast_xor %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %20 = chlo.broadcast_xor %c, %c : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  // CHECK: chlo.broadcast_zeta %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %21 = chlo.broadcast_zeta %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @scan
func.func @scan(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // CHECK: chlo.scan(%{{[^ ,)]+}}) inits (%{{[^ ,)]+}}) dimension=0  attributes {foo = 1 : i32, is_associative = false, is_reverse = true, scan_dim_size = 4 : i64} {
  %0:2 = chlo.scan(%a) inits (%i) dimension=0  attributes {foo = 1 : i32, is_associative = false, is_reverse = true, scan_dim_size = 4 : i64} {
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  } : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  // CHECK: chlo.scan() inits (%{{[^ ,)]+}}) dimension=1  attributes {scan_dim_size = 9 : i64} {
  %1:2 = chlo.scan() inits (%i) dimension=1  attributes {scan_dim_size = 9 : i64} {
  ^bb0(%c: tensor<6xf32>):
    stablehlo.return %c, %c : tensor<6xf32>, tensor<6xf32>
  } : (tensor<6xf32>) -> (tensor<6x9xf32>, tensor<6xf32>)
  return
}
