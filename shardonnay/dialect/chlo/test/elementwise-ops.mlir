// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<4xf32>, %c: tensor<4xcomplex<f32>>) {
  // CHECK: chlo.acos %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %0 = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.acosh %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.asin %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.asinh %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.atan %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.atan %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.atanh %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.bessel_i1e %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %6 = chlo.bessel_i1e %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.conj %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %7 = chlo.conj %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.cosh %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %8 = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.digamma %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %9 = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erf %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %10 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erf_inv %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %11 = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erfc %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %12 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.lgamma %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %13 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.sinh %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %14 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.square %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %15 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.tan %{{[^ ]+}} : tensor<4xf32> -> tensor<4xf32>
  %16 = chlo.tan %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.square %{{[^ ]+}} : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %17 = chlo.square %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @predicate
func.func @predicate(%x: tensor<4xf32>) {
  // CHECK: chlo.is_inf %{{[^ ]+}} : tensor<4xf32> -> tensor<4xi1>
  %0 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: chlo.is_neg_inf %{{[^ ]+}} : tensor<4xf32> -> tensor<4xi1>
  %1 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: chlo.is_pos_inf %{{[^ ]+}} : tensor<4xf32> -> tensor<4xi1>
  %2 = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // CHECK: chlo.next_after %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %0 = chlo.next_after %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.polygamma %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.polygamma %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.zeta %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.zeta %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.mulhi %{{[^ ]+}}, %{{[^ ]+}} {a = "b"} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %3 = chlo.mulhi %i, %i {a = "b"} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return
}
