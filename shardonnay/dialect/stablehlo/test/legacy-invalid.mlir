// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @negative(%a: tensor<4xf32>) {
  // expected-error @+2 {{broadcasts to the negative size -1}}
  // expected-error @+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %0 = stablehlo.broadcast %a, sizes = [-1] : (tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @result(%a: tensor<4xf32>) {
  // expected-error @+2 {{'stablehlo.broadcast' op inferred type(s) 'tensor<2x4xf32>' are incompatible with return type(s) of operation 'tensor<3x4xf32>'}}
  // expected-error @+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %0 = stablehlo.broadcast %a, sizes = [2] : (tensor<4xf32>) -> tensor<3x4xf32>
  return
}
