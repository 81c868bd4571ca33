// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @mixed(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.square' op requires the same type for all operands and results}}
  %0 = chlo.square %x : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @ints(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.erf' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<4xi32>'}}
  %0 = chlo.erf %x : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @predicate(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.is_inf' op requires the same shape for all operands and results}}
  %0 = chlo.is_inf %x : tensor<4xf32> -> tensor<8xi1>
  return
}

// -----

func.func @floats(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.mulhi' op operand #0 must be ranked tensor of integer values, but got 'tensor<4xf32>'}}
  %0 = chlo.mulhi %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// -----

func.func @too_few(%x: tensor<4xf32>) {
  // expected-error @+2 {{can't pick 5 of 4 elements}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error @+2 {{expected a tensor of rank 1 or more, got 'tensor<f32>'}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 0) : tensor<f32> -> (tensor<f32>, tensor<i32>)
  return
}
