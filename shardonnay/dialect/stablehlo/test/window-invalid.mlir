// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @sizes(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected 2 sizes of the window, one per dim, got 1}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @size(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected a window of size 1 or more in dim 1, got 0}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @strides(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected 2 strides, one per window dim, got 1}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @base_dilation(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected the base dilation of dim 1 of the window between 1 and 2^61, got -1}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1, -1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @window_dilations(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected 2 window dilations, one per window dim, got 3}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1, 1, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @padding(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected a padding with a row of 2 per dim of the window, got 'tensor<2xi64>'}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @paddings(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected 2 rows of the padding, one per window dim, got 1}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @init(%a: tensor<4x6xf32>, %c: tensor<1xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op operand #1 must be variadic of 0D tensor of bool or integer or float or complex or quantized integer values, but got 'tensor<1xf32>'}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<1xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @init_element(%a: tensor<4x6xf32>, %c: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op can't accumulate elements of type 'i32' as 'f32'}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<i32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @result(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{a result of the reduction has shape [3, 4], expected [3, 5]}}
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @result_element(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>}> ({ // expected-note {{the op is here}}
  // expected-error @+1 {{the body of 'stablehlo.reduce_window' combines values of type 'tensor<f32>', expected 'tensor<f64>' for a result of type 'tensor<3x5xf64>'}}
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf64>
  return
}

// -----

func.func @body(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2, 2>}> ({ // expected-note {{the op is here}}
  // expected-error @+1 {{the body of 'stablehlo.reduce_window' combines values of type 'tensor<1xf32>', expected 'tensor<f32>' for a result of type 'tensor<3x5xf32>'}}
  ^bb0(%x: tensor<1xf32>, %y: tensor<1xf32>):
    %1 = stablehlo.add %x, %y : tensor<1xf32>
    stablehlo.return %1 : tensor<1xf32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @operands(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op expected inputs and as many initial values, got 1 operands}}
  %0 = "stablehlo.reduce_window"(%a) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @results(%a: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected 1 results, one per input, got 2}}
  %0:2 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @shapes(%a: tensor<4xf32>, %b: tensor<5xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{an input of the reduction has shape [5], expected [4]}}
  %0:2 = "stablehlo.reduce_window"(%a, %b, %c, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @s_sizes(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected 2 sizes of the window, one per dim, got 0}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @s_window(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected a window of size 1 or more in dim 1, got 0}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @s_source(%a: tensor<4x6xf32>, %s: tensor<3x3xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{the source, with an element per window, has shape [3, 3], expected [2, 3]}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @s_result(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{the result has shape [4, 5], expected [4, 6]}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @s_select(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op expected to select by a function of two 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @s_predicate(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op expected to select by a function to tensor<i1>}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %x : tensor<f32> // expected-note {{returned here}}
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @s_scatter(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({ // expected-note {{the op is here}}
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  // expected-error @+1 {{the body of 'stablehlo.select_and_scatter' combines values of type 'tensor<f64>', expected 'tensor<f32>' for a result of type 'tensor<4x6xf32>'}}
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %1 = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @s_init(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op can't accumulate elements of type 'i32' as 'f32'}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<4x6xf32>
  return
}
