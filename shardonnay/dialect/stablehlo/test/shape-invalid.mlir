// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @constant_of_vector() {
  // expected-error @+1 {{'stablehlo.constant' op result #0 must be ranked tensor of bool or integer or float or complex or quantized integer values, but got 'vector<4xf32>'}}
  %0 = stablehlo.constant dense<1.0> : vector<4xf32>
  return
}

// -----

func.func @iota_dim() {
  // expected-error @+1 {{'stablehlo.iota' op counts along dim 1, expected one of 'tensor<4xf32>'}}
  %0 = stablehlo.iota dim = 1 : tensor<4xf32>
  return
}

// -----

func.func @broadcast_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 broadcast dimensions, got 0}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{dim 1 of the broadcast dimensions is out of range, expected 0 <= dim < 1}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_twice(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{dim 0 of the broadcast dimensions comes twice}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 0] : (tensor<4x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<4xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op can't broadcast dim 0 of 'tensor<4xf32>' to dim 0 of 'tensor<8x4xf32>', expected size 1 or the same size}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_element(%x: tensor<4xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op expected a result with elements of type 'f32', got 'tensor<4xi32>'}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @reshape_count(%x: tensor<4xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.reshape' op expected as many elements as 'tensor<4xf32>' has, got 'tensor<5xf32>'}}
  %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @bitcast_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{the tensor of narrower elements has shape [4], expected [4, 2]}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

func.func @bitcast_complex(%x: tensor<4xcomplex<f32>>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.bitcast_convert' op can't convert between complex and other elements}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @bitcast_rest(%x: tensor<4xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.bitcast_convert' op can't split elements of 32 bits into elements of 6}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xf6E2M3FN>
  return
}

// -----

func.func @transpose_count(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{expected 2 dims in the permutation, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %x, dims = [0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{dim 0 of the permutation comes twice}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<8x4xf32>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reverse_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{dim -1 of the dims to reverse is out of range, expected 0 <= dim < 1}}
  %0 = stablehlo.reverse %x, dims = [-1] : tensor<4xf32>
  return
}

// -----

func.func @slice_limit(%x: tensor<4xf32>) {
  // expected-error @+2 {{slices dim 0 by 0:5:1, expected 0 <= start <= limit <= 4 and stride >= 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %x [0:5] : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @slice_order(%x: tensor<4xf32>) {
  // expected-error @+2 {{slices dim 0 by 3:2:1, expected 0 <= start <= limit <= 4 and stride >= 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %x [3:2] : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4xf32>) {
  // expected-error @+2 {{slices dim 0 by 0:4:0, expected 0 <= start <= limit <= 4 and stride >= 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %x [0:4:0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_count(%x: tensor<4xf32>) {
  // expected-error @+2 {{expected 1 ranges, one per dim, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %x [0:4, 0:1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_nothing() {
  // expected-error @+2 {{concatenates nothing}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate dim = 0 : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_dim(%x: tensor<4xf32>) {
  // expected-error @+2 {{dim 1 of the concatenation is out of range, expected 0 <= dim < 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %x, dim = 1 : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_size(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>) {
  // expected-error @+2 {{can't concatenate 'tensor<4x7xf32>' to 'tensor<4x8xf32>' in dim 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @concatenate_rank(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error @+2 {{can't concatenate 'tensor<4xf32>' to 'tensor<4x8xf32>' in dim 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>, %s: tensor<i32>) {
  // expected-error @+2 {{can't pad 'tensor<4xf32>' with a value of type 'tensor<i32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_count(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+2 {{expected 1 paddings, one per dim, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_interior(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+2 {{pads -1 elements between those of dim 0, expected at least 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+2 {{pads dim 0 to the negative size -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %x, %s, low = [-3], high = [-2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

// The number of positions wraps around to 8.
func.func @pads_wrap(%a: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+2 {{pads dim 0 of size 9 to more than 2^63 positions}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %a, %z, low = [0], high = [-1], interior = [2305843009213693952] : (tensor<9xf32>, tensor<f32>) -> tensor<8xf32>
  return
}
