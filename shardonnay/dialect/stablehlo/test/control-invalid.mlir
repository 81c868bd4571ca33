// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @return_from_function() {
  // expected-error @+1 {{'stablehlo.return' op expected to end a region of an op of stablehlo, got 'func.func'}}
  stablehlo.return
}

// -----

func.func @barrier_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op expected results of the operands' types 'tensor<4xf32>', got 'tensor<4xi32>'}}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @barrier_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op expected results of the operands' types 'tensor<4xf32>', 'tensor<4xf32>', got 'tensor<4xf32>'}}
  %0 = "stablehlo.optimization_barrier"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
