// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @feature(%a: tensor<4x6xf32>, %m: tensor<6xf32>) {
  // expected-error @+2 {{dim 2 of the features is out of range, expected 0 <= dim < 2}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%a, %m, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @vector(%a: tensor<4x6xf32>, %m: tensor<6xf32>, %n: tensor<4xf32>) {
  // expected-error @+2 {{a vector with an element per feature has shape [4], expected [6]}}
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%a, %m, %m, %n, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @element(%a: tensor<4x6xf32>, %m: tensor<6xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op requires the same element type for all operands and results, got 'tensor<4x6xf32>' and 'tensor<6xf64>'}}
  %0 = "stablehlo.batch_norm_inference"(%a, %m, %m, %m, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @grad(%a: tensor<4x6xf32>, %m: tensor<6xf32>, %g: tensor<5x6xf32>) {
  // expected-error @+2 {{the gradient of the output has shape [5, 6], expected [4, 6]}}
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %2:3 = "stablehlo.batch_norm_grad"(%a, %m, %m, %m, %g) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}
