// RUN: sdy-opt %s -sdy-check-strict=strict -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>
// C80
// expected-error @below {{dim 0 of size 1 is sharded by "x": nothing is left for the last axis to shard, take it out [C80]}}
func.func @each(%arg0: tensor<1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<1xf32> {
  // expected-error @below {{dim 0 of size 1 is sharded by "y": nothing is left for the last axis to shard, take it out [C80]}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}]> : tensor<1xf32>
  return %0 : tensor<1xf32>
}
