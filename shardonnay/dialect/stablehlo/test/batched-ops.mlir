// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @sort
// CHECK: %{{[^ ,:)]+}}:2 = "stablehlo.sort"(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) <{dimension = 0 : i64, is_stable = true}> ({
// CHECK: ^bb0(%{{[^ ,:)]+}}: tensor<f32>, %{{[^ ,:)]+}}: tensor<f32>, %{{[^ ,:)]+}}: tensor<i32>, %{{[^ ,:)]+}}: tensor<i32>):
// CHECK: %{{[^ ,:)]+}} = stablehlo.compare LT, %{{[^ ,:)]+}}, %{{[^ ,:)]+}} : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK: stablehlo.return %{{[^ ,:)]+}} : tensor<i1>
// CHECK: }) : (tensor<4x3xf32>, tensor<4x3xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK: return
func.func @sort(%a: tensor<4x3xf32>, %b: tensor<4x3xi32>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<i32>, %w: tensor<i32>):
    %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4x3xf32>, tensor<4x3xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return
}

// CHECK-LABEL: func.func @fft
// CHECK: %{{[^ ,:)]+}} = stablehlo.fft %{{[^ ,:)]+}}, type = FFT, length = [4, 8] {foo} : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
// CHECK: %{{[^ ,:)]+}} = stablehlo.fft %{{[^ ,:)]+}}, type = RFFT, length = [8] : (tensor<4x?xf32>) -> tensor<4x5xcomplex<f32>>
// CHECK: %{{[^ ,:)]+}} = stablehlo.fft %{{[^ ,:)]+}}, type = IRFFT, length = [8] : (tensor<4x5xcomplex<f32>>) -> tensor<4x8xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.fft %{{[^ ,:)]+}}, type = IFFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
// CHECK: return
func.func @fft(%k: tensor<4x8xcomplex<f32>>, %r: tensor<4x?xf32>) {
  %0 = stablehlo.fft %k, type = FFT, length = [4, 8] {foo} : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  %1 = stablehlo.fft %r, type = RFFT, length = [8] : (tensor<4x?xf32>) -> tensor<4x5xcomplex<f32>>
  %2 = stablehlo.fft %1, type = IRFFT, length = [8] : (tensor<4x5xcomplex<f32>>) -> tensor<4x8xf32>
  %3 = stablehlo.fft %k, type = IFFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @matrices
// CHECK: %{{[^ ,:)]+}} = stablehlo.cholesky %{{[^ ,:)]+}}, lower = true : tensor<3x4x4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.cholesky %{{[^ ,:)]+}} {foo} : tensor<3x4x4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.cholesky %{{[^ ,:)]+}}, lower = true : (tensor<4x?xf32>) -> tensor<4x4xf32>
// CHECK: %{{[^ ,:)]+}} = "stablehlo.triangular_solve"(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x4x4xf32>, tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
// CHECK: return
func.func @matrices(%a: tensor<3x4x4xf32>, %b: tensor<3x4x2xf32>, %c: tensor<4x?xf32>) {
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x4x4xf32>
  %1 = stablehlo.cholesky %a {foo} : tensor<3x4x4xf32>
  %2 = stablehlo.cholesky %c, lower = true : (tensor<4x?xf32>) -> tensor<4x4xf32>
  %3 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x4x4xf32>, tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  return
}
