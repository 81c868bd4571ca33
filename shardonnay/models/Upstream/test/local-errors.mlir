// RUN: sdy-opt %s -split-input-file -sdy-partition-pipeline -verify-diagnostics

// A named op's body can't be masked.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-error @below {{no local computation for 'linalg.reduce' whose reduction over loop 0 of size 7 is sharded into 2 unequal parts: shard it by axes that divide it, or write it as a linalg.generic}}
  %0 = linalg.reduce ins(%x : tensor<7xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %1 = math.exp %a : f32
      %2 = arith.addf %1, %b : f32
      linalg.yield %2 : f32
    }
  return %0 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%table: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<8xindex>) -> tensor<8xf32> {
  %c = arith.constant dense<0.0> : tensor<8xf32>
  // expected-note @-2 {{the value from outside}}
  // expected-error @below {{expected regions that use no tensor from outside: make the value an operand, or compute it inside}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<8xindex>) outs(%c : tensor<8xf32>) {
  ^bb0(%a: index, %b: f32):
    %1 = tensor.extract %table[%a] : tensor<8xf32>
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
