// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-import-shard

shard.grid @grid(shape = 2x?)
func.func @unknown_group(%a: tensor<8xf32>) {
  // expected-error@+1 {{needs the size of axis 1 of the grid, which is '?'; expected a number}}
  %0 = shard.all_reduce %a on @grid grid_axes = [1] : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2x?)
func.func @unknown_shape() {
  // expected-error@+1 {{needs the size of axis 1 of the grid, which is '?'; expected a number}}
  %0:2 = shard.grid_shape @grid : index, index
  return
}


// -----

shard.grid @grid(shape = 2)
func.func @axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{names axis 5 of the grid @grid, which has 1}}
  %s = shard.sharding @grid split_axes = [[5]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @rank(%a: tensor<8xf32>) {
  // expected-error@+1 {{has axes for 2 dims, but is used for 'tensor<8xf32>', which has 1}}
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @halo(%a: tensor<8xf32>) {
  // expected-error@+1 {{has halo sizes, expected none: a sharding divides the tensor, and what an op needs of its neighbours is fetched for it}}
  %s = shard.sharding @grid split_axes = [[0]] halo_sizes = [1, 1] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @offsets(%a: tensor<8xf32>) {
  // expected-error@+1 {{has shards of sizes of its own, expected the offsets [0, 4, 8] for 'tensor<8xf32>': all shards are of one size but the last ones}}
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [0, 6, 8] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @computed_offsets(%a: tensor<8xf32>, %n: i64) {
  // expected-error@+1 {{has offsets of shards that are computed, expected constants}}
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [0, %n, 8] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @computed(%a: tensor<8xf32>, %s: !shard.sharding) {
  // expected-error@+1 {{has a sharding that is computed, expected one that 'shard.sharding' states}}
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @twice(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %t = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x8xf32>
  // expected-error@+1 {{annotates a value that has the sharding #sdy.sharding<@grid, [{"axis_0"}, {}]> already, with #sdy.sharding<@grid, [{}, {"axis_0"}]>; expected one: say 'annotate_for_users' if it is meant for what follows}}
  %1 = shard.shard %0 to %t : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @behind_users(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %t = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %a to %s annotate_for_users : tensor<8x8xf32>
  // expected-error@+1 {{annotates a value behind 'annotate_for_users', expected the annotation of the value first}}
  %1 = shard.shard %0 to %t : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @sharding_of(%a: tensor<8xf32>) {
  // expected-error@+1 {{has no form here; expected annotations, all_gather, all_reduce, all_slice, all_to_all, reduce_scatter, and indices of the process}}
  %s = shard.get_sharding %a : tensor<8xf32> -> !shard.sharding
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @kind(%a: tensor<8xf32>) {
  // expected-error@+1 {{reduces by 'product', expected sum, max or min}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = product : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @widened(%a: tensor<8xf32>) {
  // expected-error@+1 {{adds up 'f32' as 'f64', expected one element type; convert before}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<8xf32> -> tensor<8xf64>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @dynamic(%a: tensor<?xf32>) {
  // expected-error@+1 {{works on 'tensor<?xf32>', expected tensors of static shapes}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<?xf32> -> tensor<?xf32>
  return
}
