// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-export-local-shard

sdy.mesh @mesh = <["x"=2]>
func.func @window(%a: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error@+1 {{'spmd.fetch_window' has no form in MLIR's 'shard' dialect; run sdy-expand-collectives=keep-named first}}
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=-1 step=4 size=6 @mesh {"x"} : (tensor<4xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @global(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' has no form in a program of local shards; run sdy-partition-to-local first}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has an axis without a size, expected sizes: say how many devices there are (option 'devices', or the pass sdy-bind-axis-sizes)}}
sdy.mesh @mesh = <["x"=2, "y"=?]>
func.func @main() {
  return
}
