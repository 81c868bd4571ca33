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
  // expected-error @+1 {{'chlo.mulhi' op operand #0 must be ranked tensor of integer but not bool values, but got 'tensor<4xf32>'}}
  %0 = chlo.mulhi %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----
