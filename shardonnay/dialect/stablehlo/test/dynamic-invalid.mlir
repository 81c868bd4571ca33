// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @element(%a: tensor<4x6xf32>, %s: tensor<3xi32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op expected elements of one type, got 'tensor<4x6xf32>' and 'tensor<?x?x?xf64>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1, 2] : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @dims(%a: tensor<4x6xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{expected 2 broadcast dimensions, got 1}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @dim(%a: tensor<4x6xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{dim 3 of the broadcast dimensions is out of range, expected 0 <= dim < 3}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1, 3] : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @size(%a: tensor<4x6xf32>, %s: tensor<3xi32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op can't broadcast dim 0 of 'tensor<4x6xf32>' to dim 1 of 'tensor<?x5x?xf32>', expected size 1 or the same size}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1, 2] : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<?x5x?xf32>
  return
}

// -----

func.func @known(%a: tensor<4x6xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{dim 0 of the known dimensions comes twice}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1, 2] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @reshape_element(%a: tensor<4x6xf32>, %s: tensor<2xi32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op expected elements of one type, got 'tensor<4x6xf32>' and 'tensor<?x?xi32>'}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<?x?xi32>
  return
}

// -----

func.func @reshape_size(%a: tensor<4x6xf32>, %s: tensor<2xi32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op expected as many elements as 'tensor<4x6xf32>' has, got 'tensor<3x9xf32>'}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<3x9xf32>
  return
}

// -----

func.func @reshape_rank(%a: tensor<4x6xf32>, %s: tensor<3xi32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{has 3 sizes for a result of type 'tensor<?x?xf32>', expected one per dim}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape_sizes(%a: tensor<4x6xf32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op operand #1 must be statically shaped 1D tensor of index or integer, but got 'tensor<?xi32>'}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @pad(%a: tensor<4x6xf32>, %f: tensor<f32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{expected 2 sizes, one per dim, got 3}}
  %0 = stablehlo.dynamic_pad %a, %f, %s, %s, %s : (tensor<4x6xf32>, tensor<f32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @slice(%a: tensor<4x6xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{expected 2 sizes, one per dim, got 3}}
  %0 = stablehlo.real_dynamic_slice %a, %s, %s, %s : (tensor<4x6xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @iota(%s: tensor<2xi32>) {
  // expected-error @+1 {{dim 2 of the count is out of range, expected 0 <= dim < 2}}
  %0 = stablehlo.dynamic_iota %s, dim = 2 : (tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @gather(%a: tensor<4x6xf32>, %s: tensor<3xi32>, %i: tensor<3x2xi32>) {
  // expected-error @+2 {{expected 2 slice sizes, got 3}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %4 = "stablehlo.dynamic_gather"(%a, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x2xi32>, tensor<3xi32>) -> tensor<3x?x?xf32>
  return
}

// -----

func.func @get(%a: tensor<4x6xf32>) {
  // expected-error @+2 {{dim 2 of the size is out of range, expected 0 <= dim < 2}}
  // expected-error @+1 {{'stablehlo.get_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.get_dimension_size %a, dim = 2 : (tensor<4x6xf32>) -> tensor<i32>
  return
}

// -----

func.func @set(%a: tensor<4x6xf32>, %n: tensor<i32>) {
  // expected-error @+2 {{dim 2 of the size is out of range, expected 0 <= dim < 2}}
  // expected-error @+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.set_dimension_size %a, %n, dim = 2 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @bound(%a: tensor<?x6xf32, #stablehlo.bounds<4, ?>>) {
  // expected-error @+1 {{'stablehlo.sine' op requires the same type for all operands and results, got 'tensor<?x6xf32, #stablehlo.bounds<4, ?>>' and 'tensor<5x6xf32>'}}
  %0 = stablehlo.sine %a : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>) -> tensor<5x6xf32>
  return
}

// -----

func.func private @known_size(
  // expected-error @+1 {{dim 1 has the known size 6 and the bound 6, expected '?' in its place}}
  tensor<?x6xf32, #stablehlo.bounds<4, 6>>)

// -----

func.func private @bounds(
  // expected-error @+1 {{expected a bound or '?' for each of 2 dims, got 1}}
  tensor<?x6xf32, #stablehlo.bounds<4>>)

// -----

func.func private @text() attributes {
  // expected-error @+1 {{expected integer value}}
  a = #stablehlo.bounds<x>}
