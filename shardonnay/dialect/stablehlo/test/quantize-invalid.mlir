// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @expressed(%a: tensor<4xf16>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.uniform_quantize' op quantizes reals of type 'f16', expected a result that stands for them, got 'f32'}}
  %0 = stablehlo.uniform_quantize %a : (tensor<4xf16>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @integers(%a: tensor<4xi8>) {
  // expected-error @+1 {{'stablehlo.uniform_quantize' op operand #0 must be tensor of float or quantized integers, but got 'tensor<4xi8>'}}
  %0 = stablehlo.uniform_quantize %a : (tensor<4xi8>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dequantize(%a: tensor<4x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @+2 {{'stablehlo.uniform_dequantize' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4xf16>'}}
  // expected-error @+1 {{'stablehlo.uniform_dequantize' op failed to infer returned types}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<4xf16>
  return
}

// -----

func.func @storage(%a: tensor<4x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @+1 {{'stablehlo.negate' op requires the same type for all operands and results, got 'tensor<4x!quant.uniform<i8:f32, 1.000000e+00>>' and 'tensor<4x!quant.uniform<i16:f32, 1.000000e+00>>'}}
  %0 = stablehlo.negate %a : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<4x!quant.uniform<i16:f32, 1.0>>
  return
}

// -----

func.func @axis(%a: tensor<2x3x!quant.uniform<i8:f32:1, {0.1, 0.2, 0.3}>>) {
  // expected-error @+1 {{'stablehlo.transpose' op result #0 must be ranked tensor of bool, integer, float, complex or quantized integer, but got 'tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>'}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:1, {0.1, 0.2, 0.3}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.1, 0.2, 0.3}>>
  return
}

// -----

func.func @scale(%a: tensor<3x!quant.uniform<i8:f32, 1.0>>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op expected a result with elements of type '!quant.uniform<i8:f32, 1.000000e+00>', got 'tensor<4x3x!quant.uniform<i8:f32, 2.000000e+00>>'}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3x!quant.uniform<i8:f32, 1.0>>) -> tensor<4x3x!quant.uniform<i8:f32, 2.0>>
  return
}
