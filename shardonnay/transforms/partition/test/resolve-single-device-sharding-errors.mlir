// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics -pass-pipeline="builtin.module(func.func(sdy-resolve-single-device-sharding))"

sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}
sdy.mesh @maximal_3 = <[], device_ids=[3]>
func.func @no_such_device(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @below {{is on device 3, but mesh "mesh" has 2; expected one of its devices}}
  %0 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @maximal_1 = <[], device_ids=[1]>
func.func @no_other_value() -> index {
  // expected-error @below {{yields 'index' on one device; expected a tensor or a token, or an operand of that type for the other devices}}
  %0 = "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@maximal_1, []>]>} : () -> index
  return %0 : index
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @maximal_1 = <[], device_ids=[1]>
func.func @computation(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{can't be on one device; expected a sharding on the whole mesh}}
  %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@maximal_1, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @maximal_1 = <[], device_ids=[1]>
func.func @quantized(%arg0: tensor<8x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @below {{on one device, of which the others can't have a neutral element; expected a tensor of numbers and static shape}}
  %0 = "test.op"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_1, []>]>} : (tensor<8x!quant.uniform<i8:f32, 0.5>>) -> tensor<8x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

sdy.mesh @mesh = <["x"=4]>
sdy.mesh @maximal_1 = <[], device_ids=[1]>
sdy.mesh @maximal_2 = <[], device_ids=[2]>
func.func @two_devices(%arg0: tensor<8xf32>) {
  // expected-error @below {{has a result on device 1 and one on device 2, expected all on one device}}
  %0:2 = "test.op"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_1, []>, <@maximal_2, []>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}


// -----

// The boundary is the whole mesh's.
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @maximal_1 = <[], device_ids=[1]>
func.func @argument(
    %arg0: tensor<8xf32>,
    // expected-error @below {{argument 1 is on device 1 alone, expected a sharding on the whole mesh: constrain it to the device inside the function, or set 'keep-given'}}
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_1, []>}) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
sdy.mesh @maximal_1 = <[], device_ids=[1]>
// expected-error @below {{result 0 is on device 1 alone, expected a sharding on the whole mesh: constrain it to the device inside the function, or set 'keep-given'}}
func.func @result(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_1, []>}) {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Of a mesh of one device too.
sdy.mesh @mesh = <["x"=1]>
sdy.mesh @maximal_0 = <[], device_ids=[0]>
sdy.mesh @maximal_2 = <[], device_ids=[2]>
func.func @two_devices_of_one(%arg0: tensor<8xf32>) {
  // expected-error @below {{has a result on device 0 and one on device 2, expected all on one device}}
  %0:2 = "test.op"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_0, []>, <@maximal_2, []>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @maximal_3 = <[], device_ids=[3]>
func.func @kept_function(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{is on device 3, but mesh "mesh" has 2; expected one of its devices}}
  %0 = sdy.named_computation<"f">(%arg0) in_shardings=[<@maximal_3, []>] out_shardings=[<@mesh, [{"x"}]>] (%arg2: tensor<8xf32>) {
    sdy.return %arg2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
