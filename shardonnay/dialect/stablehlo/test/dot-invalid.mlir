// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @range(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{dim 2 of lhs of the contraction is out of range, expected 0 <= dim < 2}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [2] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @two_roles(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{dim 0 of rhs of the contraction comes twice}}
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @unpaired(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op has 2 contracting dims of lhs and 1 of rhs, expected pairs}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0, 1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-note @+1 {{rhs is made here}}
func.func @sizes(%x: tensor<4x8xf32>) { // expected-note {{lhs is made here}}
  // expected-error @+1 {{'stablehlo.dot_general' op pairs contracting dim 1 of lhs, of size 8, with dim 0 of rhs, of size 4}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// expected-note @+1 {{rhs is made here}}
func.func @batch_sizes(%x: tensor<4x8xf32>) { // expected-note {{lhs is made here}}
  // expected-error @+1 {{'stablehlo.dot_general' op pairs batching dim 0 of lhs, of size 4, with dim 1 of rhs, of size 8}}
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [1], contracting_dims = [] x [] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8x4xf32>
  return
}

// -----

func.func @result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{the result of the contraction has shape [4, 8], expected [4, 4]}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @precision(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op expected a precision for each of 2 operands, got 1}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], precision = [DEFAULT] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @unknown_precision(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.dot_general' expected one of [DEFAULT, HIGH, HIGHEST] for precision of a contraction's operand, got: LOW}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], precision = [LOW, LOW] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

// expected-note @+1 {{rhs is made here}}
func.func @dot_of_scalar(%x: tensor<2x4xf32>, %y: tensor<f32>) { // expected-note {{lhs is made here}}
  // expected-error @+1 {{'stablehlo.dot' op expected vectors or matrices, got 'tensor<2x4xf32>' and 'tensor<f32>'}}
  %0 = stablehlo.dot %x, %y : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

// expected-note @+1 {{rhs is made here}}
func.func @dot_of_other_sizes(%x: tensor<2x4xf32>, %y: tensor<5xf32>) { // expected-note {{lhs is made here}}
  // expected-error @+1 {{'stablehlo.dot' op pairs a dim of size 4 with one of size 5, expected equal sizes}}
  %0 = stablehlo.dot %x, %y : (tensor<2x4xf32>, tensor<5xf32>) -> tensor<2xf32>
  return
}
