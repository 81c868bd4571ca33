// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics -pass-pipeline="builtin.module(func.func(sdy-resolve-single-device-sharding{keep-given=true}))"

// With `keep-given` the boundary may name one device, if the mesh has it.
sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}
sdy.mesh @maximal_3 = <[], device_ids=[3]>
func.func @no_such_argument(
    // expected-error @below {{argument 0 is on device 3, but mesh "mesh" has 2; expected one of its devices}}
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}
sdy.mesh @maximal_3 = <[], device_ids=[3]>
// expected-error @below {{result 0 is on device 3, but mesh "mesh" has 2; expected one of its devices}}
func.func @no_such_result(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>}) {
  return %arg0 : tensor<8xf32>
}
