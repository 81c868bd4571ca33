// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @groups(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.ragged_dot' op has sizes of 4 groups, but dim 0 of rhs has 3}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @ragged_result(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{the result of the contraction has shape [5, 8], expected [4, 8]}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @pair(%a: tensor<4x6xf32>, %b: tensor<3x5x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.ragged_dot' op pairs contracting dim 1 of 'tensor<4x6xf32>' with dim 1 of 'tensor<3x5x8xf32>'}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x5x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sizes_rank(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<1x3xi32>) {
  // expected-error @+1 {{'chlo.ragged_dot' op expected group sizes of rank 1 or 1, got 'tensor<1x3xi32>'}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<1x3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sizes_shape(%a: tensor<2x4x6xf32>, %b: tensor<3x2x6x8xf32>, %g: tensor<3x3xi32>) {
  // expected-error @+1 {{the tensor of group sizes has shape [3, 3], expected [2, 3]}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<2x4x6xf32>, tensor<3x2x6x8xf32>, tensor<3x3xi32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @no_ragged(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{expected 1 ragged dim of lhs, got 0}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @no_group(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{expected 1 group dims of rhs, got 0}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @ragged_range(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{dim 5 of the ragged dims is out of range, expected 0 <= dim < 2}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [5], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @roles(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{dim 1 of rhs comes twice}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @lhs_roles(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{dim -1 of lhs is out of range, expected 0 <= dim < 2}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [-1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pairs(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.ragged_dot' op has 1 contracting dims of lhs and 2 of rhs, expected pairs}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1, 2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @precision(%a: tensor<4x6xf32>, %b: tensor<3x6x8xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.ragged_dot' op expected a precision for each of 2 operands, got 3}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision HIGH>, #chlo<precision HIGH>, #chlo<precision HIGH>]}> : (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scan_dim(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{'chlo.scan' op scans dim 2 of an input of type 'tensor<4x6xf32>'}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 2 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @scan_negative(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{'chlo.scan' op scans dim -1 of an input of type 'tensor<4x6xf32>'}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = -1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @scan_size(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{'chlo.scan' op scans 9 slices, but an input has 'tensor<4x6xf32>'}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>, scan_dim_size = 9 : i64}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @scan_slice(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{'chlo.scan' op expected slices of an input of type 'tensor<4xf32>' in the body, got 'tensor<6xf32>'}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @scan_output(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{'chlo.scan' op expected slices of an output of type 'tensor<5xf32>' in the body, got 'tensor<6xf32>'}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x5xf32>, tensor<6xf32>)
  return
}

// -----

func.func @scan_carry(%a: tensor<4x6xf32>, %i: tensor<7xf32>) {
  // expected-error @+1 {{'chlo.scan' op expected a carry of type 'tensor<7xf32>' in the body, got 'tensor<6xf32>'}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<7xf32>) -> (tensor<4x6xf32>, tensor<7xf32>)
  return
}

// -----

func.func @scan_final(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{'chlo.scan' op has a carry of type 'tensor<6xf32>' that becomes 'tensor<7xf32>'}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x, %c : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<7xf32>)
  return
}

// -----

func.func @scan_arguments(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{expected 2 arguments of the body, got 1}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>):
    stablehlo.return %x, %x : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @scan_returned(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{expected 2 values that the body returns, got 1}}
  %0:2 = "chlo.scan"(%a, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x : tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @scan_nothing(%i: tensor<6xf32>) {
  // expected-error @+1 {{'chlo.scan' op expected inputs or outputs to scan along}}
  %0 = "chlo.scan"(%i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 0, 1>, resultSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%d: tensor<6xf32>):
    stablehlo.return %d : tensor<6xf32>
  }) : (tensor<6xf32>) -> (tensor<6xf32>)
  return
}

// -----

func.func @scan_carries(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  // expected-error @+1 {{expected 1 carries among the results, as initial ones, got 0}}
  %0 = "chlo.scan"(%a, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: tensor<6xf32>, %c: tensor<6xf32>):
    stablehlo.return %x : tensor<6xf32>
  }) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @scan_text(%a: tensor<4x6xf32>, %i: tensor<6xf32>) {
  chlo.scan() inits (%i) dimension=0 {
  ^bb0(%d: tensor<6xf32>):
    stablehlo.return %d : tensor<6xf32>
  // expected-error @+1 {{custom op 'chlo.scan' expected the final values of 1 carries, got 0 results}}
  } : (tensor<6xf32>) -> ()
  return
}

// -----

func.func @broadcast_element(%a: tensor<4x6xf32>, %b: tensor<6xi32>) {
  // expected-error @+2 {{expected operands of one element type, got 'tensor<4x6xf32>' and 'tensor<6xi32>'}}
  // expected-error @+1 {{'chlo.broadcast_add' op failed to infer returned types}}
  %0 = chlo.broadcast_add %a, %b : (tensor<4x6xf32>, tensor<6xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @broadcast_shape(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  // expected-error @+2 {{'chlo.broadcast_add' op inferred type(s) 'tensor<4x6xf32>' are incompatible with return type(s) of operation 'tensor<6x6xf32>'}}
  // expected-error @+1 {{'chlo.broadcast_add' op failed to infer returned types}}
  %0 = chlo.broadcast_add %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  return
}

// -----

func.func @select_element(%p: tensor<i1>, %a: tensor<6xf32>, %b: tensor<6xi32>) {
  // expected-error @+2 {{expected to select from one element type, got 'tensor<6xf32>' and 'tensor<6xi32>'}}
  // expected-error @+1 {{'chlo.broadcast_select' op failed to infer returned types}}
  %0 = chlo.broadcast_select %p, %a, %b : (tensor<i1>, tensor<6xf32>, tensor<6xi32>) -> tensor<6xf32>
  return
}

// -----

func.func @constant_like(%a: tensor<6xf32>) {
  // expected-error @+2 {{expected a number as value, got "x"}}
  // expected-error @+1 {{'chlo.constant_like' op failed to infer returned types}}
  %0 = "chlo.constant_like"(%a) <{value = "x"}> : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @too_few(%x: tensor<4xf32>) {
  // expected-error @+2 {{can't pick 5 of 4 elements}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error @+2 {{expected a tensor of rank 1 or more, got 'tensor<f32>'}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 0) : tensor<f32> -> (tensor<f32>, tensor<i32>)
  return
}
