// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @mixed_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'stablehlo.add' op all non-scalar operands/results must have the same shape and base type}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @mixed_elements(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.negate' op requires the same type for all operands and results}}
  %0 = stablehlo.negate %x : (tensor<4xf32>) -> tensor<4xbf16>
  return
}

// -----

func.func @subtract_bools(%x: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.subtract' op operand #0 must be ranked tensor of integer or float or complex or quantized integer values, but got 'tensor<4xi1>'}}
  %0 = stablehlo.subtract %x, %x : tensor<4xi1>
  return
}

// -----

func.func @and_floats(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.and' op operand #0 must be ranked tensor of bool or integer values, but got 'tensor<4xf32>'}}
  %0 = stablehlo.and %x, %x : tensor<4xf32>
  return
}

// -----

func.func @sine_of_ints(%x: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.sine' op operand #0 must be ranked tensor of float or complex or quantized integer values, but got 'tensor<4xi32>'}}
  %0 = stablehlo.sine %x : tensor<4xi32>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{'stablehlo.add' op operand #0 must be ranked tensor of bool, integer, float, complex or quantized integer, but got 'tensor<*xf32>'}}
  %0 = stablehlo.add %x, %x : tensor<*xf32>
  return
}

// -----

func.func @operand_types(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.add' expected 2 operand types and one result type, got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = stablehlo.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @compare_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.compare' op all non-scalar operands/results must have the same shape and base type}}
  %0 = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xi1>
  return
}

// -----

func.func @compare_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.compare' op requires the same element type for all operands}}
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @convert_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.convert' op all non-scalar operands/results must have the same shape and base type}}
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @select_predicate(%p: tensor<2xi1>, %x: tensor<4xf32>) {
  // expected-error @+2 {{the predicate has shape [2], expected [4]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.select %p, %x, %x : tensor<2xi1>, tensor<4xf32>
  return
}

// -----

func.func @select_types(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+2 {{expected to select from one type, got 'tensor<4xf32>' and 'tensor<4xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_elements(%m: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error @+2 {{the minimum has type 'tensor<i32>', expected the element type of 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.clamp %m, %x, %x : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_shape(%m: tensor<2xf32>, %x: tensor<4xf32>) {
  // expected-error @+2 {{the maximum has shape [2], expected [4]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.clamp %x, %x, %m : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @float_format(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.reduce_precision' expected a float format such as e5m10, got e5x}}
  %0 = stablehlo.reduce_precision %x, format = e5x : tensor<4xf32>
  return
}

// -----

func.func @complex_of_float(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.complex' expected a tensor of complex, got 'tensor<4xf32>'}}
  %0 = stablehlo.complex %x, %x : tensor<4xf32>
  return
}

// -----

func.func @unknown_op(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.no_such_op' is unknown}}
  %0 = stablehlo.no_such_op @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
