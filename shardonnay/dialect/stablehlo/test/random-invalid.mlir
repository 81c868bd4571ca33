// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<f32>)  {
  %c = stablehlo.constant dense<[2,3]> : tensor<2xi64>
  // expected-error @+2 {{'stablehlo.rng' op failed to infer returned types}}
  // expected-error @+1 {{'stablehlo.rng' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<2x4xf32>'}}
  %0 = "stablehlo.rng"(%a, %a, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>)  {
  %c = stablehlo.constant dense<[2,3]> : tensor<2xi64>
  // expected-error @+1 {{'stablehlo.rng' op failed to verify that all of {a, b, result} have same element type}}
  %0 = "stablehlo.rng"(%a, %a, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf64>
  return
}

// -----

func.func @f(%a: tensor<f32>)  {
  %c = stablehlo.constant dense<[[2,3]]> : tensor<1x2xi64>
  // expected-error @+2 {{'stablehlo.rng' op failed to infer returned types}}
  // expected-error @+1 {{expected the shape as one list, got 'tensor<1x2xi64>'}}
  %0 = "stablehlo.rng"(%a, %a, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1x2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<i32>)  {
  %c = stablehlo.constant dense<[2,3]> : tensor<2xi64>
  // expected-error @+2 {{'stablehlo.rng' op failed to infer returned types}}
  // expected-error @+1 {{expected a normal distribution of floats, got 'i32'}}
  %0 = "stablehlo.rng"(%a, %a, %c) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%st: tensor<2xui64>)  { // expected-note {{the first state is made here}}
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op expected the next state to have type 'tensor<2xui64>' like the first one, got 'tensor<3xui64>'}}
  %1:2 = "stablehlo.rng_bit_generator"(%st) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4x4xui32>)
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  %c = stablehlo.constant dense<[2, -3]> : tensor<2xi64>
  // expected-error @+2 {{'stablehlo.rng' op failed to infer returned types}}
  // expected-error @+1 {{expected sizes of 0 or more, got -3}}
  %0 = stablehlo.rng %a, %a, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}
