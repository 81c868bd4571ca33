// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @dim(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{dim 1 of the reduction is out of range, expected 0 <= dim < 1}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @result(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{a result of the reduction has shape [4], expected []}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @init(%x: tensor<4xf32>, %c: tensor<i32>) {
  // expected-error @+1 {{the body of 'stablehlo.reduce' combines values of type 'tensor<i32>', expected 'tensor<f32>' for a result of type 'tensor<f32>'}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @not_commutative(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{custom op 'stablehlo.reduce' expected a commutative op of stablehlo, got stablehlo.subtract; write the body as reducer(..) {..}}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.subtract across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @applied_to_two(%x: tensor<4xf32>, %c: tensor<f32>) {
  %0:2 = stablehlo.reduce(%x init: %c), (%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error @+1 {{custom op 'stablehlo.reduce' expected the types of one input and its initial value with 'applies', got '(tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)'}}
  return
}

// -----

func.func @odd(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expected inputs and as many initial values, got 1 operands}}
  %0 = "stablehlo.reduce"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @results(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected 1 results of the reduction, got 2}}
  %0:2 = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @inputs(%x: tensor<4xf32>, %y: tensor<5xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{an input of the reduction has shape [5], expected [4]}}
  %0:2 = "stablehlo.reduce"(%x, %y, %c, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @body_arguments(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expected a body with 4 arguments, got 2}}
  %0:2 = "stablehlo.reduce"(%x, %x, %c, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @body_returns(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expected a body that returns 1 values, got 2}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %a, %b : tensor<f32>, tensor<f32> // expected-note {{returned here}}
  }
  return
}

// -----

func.func @body_types(%x: tensor<4xf32>, %c: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> // expected-note {{the op is here}}
  // expected-error @+1 {{the body of 'stablehlo.reduce' combines values of type 'tensor<bf16>', expected 'tensor<f32>' for a result of type 'tensor<f32>'}}
   reducer(%a: tensor<bf16>, %b: tensor<bf16>) {
    stablehlo.return %a : tensor<bf16>
  }
  return
}

// -----

func.func @narrower(%x: tensor<4xi32>, %c: tensor<i16>) {
  // expected-error @+1 {{'stablehlo.reduce' op can't accumulate elements of type 'i32' as 'i16'}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xi32>, tensor<i16>) -> tensor<i16>
   reducer(%a: tensor<i16>, %b: tensor<i16>) {
    stablehlo.return %a : tensor<i16>
  }
  return
}

// -----

func.func @empty_body(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %0 = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 0>}> ({}) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}
