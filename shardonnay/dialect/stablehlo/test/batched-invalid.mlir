// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op sorts dim 1, expected -1 <= dim < 1}}
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op expected a comparator that takes 'tensor<f32>', 'tensor<f32>', got 'tensor<f64>', 'tensor<f64>'}}
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %l = stablehlo.compare LT, %x, %y : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({ // expected-note {{the sort is here}}
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // expected-error @+1 {{'stablehlo.return' op expected a comparator that returns 'tensor<i1>', got 'tensor<f32>'}}
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op expected results of the operands' types 'tensor<4xf32>', got 'tensor<4xf32>', 'tensor<4xf32>'}}
  %0:2 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.sort' op expected 1 or more operands, but found 0}}
  "stablehlo.sort"() <{dimension = 0 : i64, is_stable = true}> ({
    %l = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : () -> ()
  return
}

// -----

func.func @f(%k: tensor<4x8xf32>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{FFT of 'f32', expected complex}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 8>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%k: tensor<4x8xcomplex<f32>>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{transforms 3 dims of 'tensor<4x8xcomplex<f32>>', expected 1 to 3}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 1, 4, 8>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return
}

// -----

func.func @f(%k: tensor<4x8xcomplex<f32>>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{RFFT of 'complex<f32>', expected f32 or f64}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 8>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x5xcomplex<f32>>
  return
}

// -----

func.func @f(%k: tensor<4x8xf32>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{'stablehlo.fft' op inferred type(s) 'tensor<4x5xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<4x6xcomplex<f32>>'}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 8>}> : (tensor<4x8xf32>) -> tensor<4x6xcomplex<f32>>
  return
}

// -----

func.func @f(%k: tensor<4x8xf32>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{the transform has lengths [5, 8], but the dims sizes [4, 8]}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 5, 8>}> : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>
  return
}

// -----

func.func @f(%k: tensor<4x?xf32>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{'stablehlo.fft' op inferred type(s) 'tensor<4x5xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<4x6xcomplex<f32>>'}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 8>}> : (tensor<4x?xf32>) -> tensor<4x6xcomplex<f32>>
  return
}

// -----

func.func @f(%k: tensor<4x5xcomplex<f32>>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{the transform has lengths [3, 5], but the dims sizes [4, 5]}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 3, 8>}> : (tensor<4x5xcomplex<f32>>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%k: tensor<4x?xcomplex<f32>>)  {
  // expected-error @+2 {{'stablehlo.fft' op failed to infer returned types}}
  // expected-error @+1 {{'stablehlo.fft' op inferred type(s) 'tensor<4x8xf32>' are incompatible with return type(s) of operation 'tensor<4x7xf32>'}}
  %2 = "stablehlo.fft"(%k) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 8>}> : (tensor<4x?xcomplex<f32>>) -> tensor<4x7xf32>
  return
}

// -----

func.func @f(%ch: tensor<4x?xf32>)  {
  // expected-error @+2 {{'stablehlo.cholesky' op failed to infer returned types}}
  // expected-error @+1 {{'stablehlo.cholesky' op inferred type(s) 'tensor<4x?xf32>' are incompatible with return type(s) of operation 'tensor<5x4xf32>'}}
  %5 = "stablehlo.cholesky"(%ch) <{lower = true}> : (tensor<4x?xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%ch: tensor<3x4x4xf32>, %bb: tensor<3x5x2xf32>)  {
  // expected-error @+2 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  // expected-error @+1 {{can't multiply matrices of 'tensor<3x4x4xf32>' and solutions like 'tensor<3x5x2xf32>'}}
  %8 = "stablehlo.triangular_solve"(%ch, %bb) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x4x4xf32>, tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  return
}

// -----

func.func @f(%ch: tensor<4x5xf32>, %bb: tensor<4x4xf32>)  {
  // expected-error @+2 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  // expected-error @+1 {{expected square matrices, got 'tensor<4x5xf32>'}}
  %8 = "stablehlo.triangular_solve"(%ch, %bb) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4x5xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%ch: tensor<4xf32>, %bb: tensor<4xf32>)  {
  // expected-error @+2 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  // expected-error @+1 {{expected square matrices, got 'tensor<4xf32>'}}
  %8 = "stablehlo.triangular_solve"(%ch, %bb) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%ch: tensor<4x4xf32>, %bb: tensor<4x4xf64>)  {
  // expected-error @+1 {{'stablehlo.triangular_solve' op requires the same element type for all operands and results}}
  %8 = "stablehlo.triangular_solve"(%ch, %bb) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return
}

// -----

func.func @f(%ch: tensor<4x4xi32>, %bb: tensor<4x4xi32>)  {
  // expected-error @+1 {{'stablehlo.triangular_solve' op operand #0 must be ranked tensor of float or complex values, but got 'tensor<4x4xi32>'}}
  %8 = "stablehlo.triangular_solve"(%ch, %bb) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return
}

// -----

func.func @f(%ch: tensor<4x4xf32>, %bb: tensor<4x4xf32>)  {
  // expected-error @+1 {{'stablehlo.triangular_solve' op requires attribute 'unit_diagonal'}}
  %8 = "stablehlo.triangular_solve"(%ch, %bb) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
