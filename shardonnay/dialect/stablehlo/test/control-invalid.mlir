// RUN: sdy-opt %s -split-input-file -verify-diagnostics

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

// -----

func.func @condition_type(%x: tensor<4xf32>) {
  %0 = "stablehlo.while"(%x) ({ // expected-note {{the op is here}}
  ^bb0(%i: tensor<4xf32>):
    // expected-error @+1 {{the end of the condition of 'stablehlo.while' has values of types 'tensor<4xf32>', expected 'tensor<i1>'}}
    stablehlo.return %i : tensor<4xf32>
  }, {
  ^bb0(%i: tensor<4xf32>):
    stablehlo.return %i : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @loop_argument(%x: tensor<4xf32>) {
  // expected-error @+1 {{the start of the condition of 'stablehlo.while' has no values, expected 'tensor<4xf32>'}}
  %0 = "stablehlo.while"(%x) ({
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<4xf32>):
    stablehlo.return %i : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @loop_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{the result list of 'stablehlo.while' has values of types 'tensor<4xi32>', expected 'tensor<4xf32>'}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<4xf32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<4xf32>):
    stablehlo.return %i : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @no_branches(%i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.case' op expected at least one branch}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @branches_differ(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<3xf32>) {
  %0 = "stablehlo.if"(%p) ({ // expected-note {{the op is here}}
    stablehlo.return %x : tensor<4xf32>
  }, {
    // expected-error @+1 {{the end of a branch of 'stablehlo.if' has values of types 'tensor<3xf32>', expected 'tensor<4xf32>'}}
    stablehlo.return %y : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return
}

// -----

func.func @branch_takes(%p: tensor<i32>) {
  // expected-error @+1 {{the start of a branch of 'stablehlo.case' has values of types 'tensor<i32>', expected none}}
  "stablehlo.case"(%p) ({
  ^bb0(%i: tensor<i32>):
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}

// -----

func.func @map_dims(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'stablehlo.map' op has dimensions [1, 0], expected all dims in order: a map has as many as its result, 2}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%i: tensor<f32>):
    stablehlo.return %i : tensor<f32>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @map_shapes(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{an input of the map has shape [4, 5], expected [5, 4]}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%i: tensor<f32>):
    stablehlo.return %i : tensor<f32>
  }) : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @map_nothing() {
  // expected-error @+1 {{'stablehlo.map' op expected at least one input}}
  %0 = "stablehlo.map"() <{dimensions = array<i64: 0>}> ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : () -> tensor<4xf32>
  return
}
