// RUN: sdy-opt %s -split-input-file -sdy-import-shard | FileCheck %s

// Of a value: its sharding. Of its users: a constraint.
// CHECK: sdy.mesh @grid = <["axis_0"=2, "axis_1"=4]>
// CHECK-LABEL: func @annotations
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis_0"}, {}]>}
shard.grid @grid(shape = 2x4)
func.func @annotations(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"axis_1", "axis_0"}, {}]>]>}
  // CHECK-NEXT: %[[USE:.*]] = sdy.sharding_constraint %[[SUM]] <@grid, [{}, {"axis_1"}]>
  // CHECK-NEXT: return %[[USE]]
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %both = shard.sharding @grid split_axes = [[1, 0]] : !shard.sharding
  %columns = shard.sharding @grid split_axes = [[], [1]] : !shard.sharding
  %0 = shard.shard %a to %rows : tensor<8x8xf32>
  %1 = arith.addf %0, %0 : tensor<8x8xf32>
  %2 = shard.shard %1 to %both : tensor<8x8xf32>
  %3 = shard.shard %2 to %columns annotate_for_users : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// -----

// Offsets of shards of one size, the last one smaller; two grids.
// CHECK: sdy.mesh @g = <["axis_0"=2]>
// CHECK: sdy.mesh @h = <["axis_0"=2, "axis_1"=1]>
// CHECK-LABEL: func @uneven
// CHECK-SAME: %arg0: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@g, [{"axis_0"}, {}]>}
// CHECK: sdy.sharding_constraint %arg0 <@h, [{}, {}]>
shard.grid @g(shape = 2)
shard.grid @h(shape = 2x1)
func.func @uneven(%a: tensor<7x8xf32>) -> tensor<7x8xf32> {
  %s = shard.sharding @g split_axes = [[0]] sharded_dims_offsets = [0, 4, 7] : !shard.sharding
  %t = shard.sharding @h split_axes = [[]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<7x8xf32>
  %1 = shard.shard %0 to %t annotate_for_users : tensor<7x8xf32>
  return %1 : tensor<7x8xf32>
}

// -----

// A local program.
// CHECK-LABEL: func @local
shard.grid @grid(shape = 2x4)
func.func @local(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, index, index, index) {
  // CHECK: %[[GATHER:.*]] = spmd.all_gather %arg0 dim=1 @grid {"axis_1"} : (tensor<8x8xf32>) -> tensor<8x32xf32>
  // CHECK: %[[SLICE:.*]] = spmd.all_slice %[[GATHER]] dim=0 @grid {"axis_0"} : (tensor<8x32xf32>) -> tensor<4x32xf32>
  // CHECK: %[[MOVED:.*]] = spmd.all_to_all %[[SLICE]] split_dim=1 concat_dim=0 @grid {"axis_0"} : (tensor<4x32xf32>) -> tensor<8x16xf32>
  // CHECK: %[[MAX:.*]] = spmd.all_reduce max %[[MOVED]] @grid {"axis_1", "axis_0"} : tensor<8x16xf32>
  // CHECK: %[[SUM:.*]] = spmd.reduce_scatter %[[MAX]] dim=1 @grid {"axis_0"} : (tensor<8x16xf32>) -> tensor<8x8xf32>
  %0 = shard.all_gather %a on @grid grid_axes = [1] gather_axis = 1 : tensor<8x8xf32> -> tensor<8x32xf32>
  %1 = shard.all_slice %0 on @grid grid_axes = [0] slice_axis = 0 : tensor<8x32xf32> -> tensor<4x32xf32>
  %2 = shard.all_to_all %1 on @grid grid_axes = [0] split_axis = 1 concat_axis = 0 : tensor<4x32xf32> -> tensor<8x16xf32>
  %3 = shard.all_reduce %2 on @grid grid_axes = [1, 0] reduction = max : tensor<8x16xf32> -> tensor<8x16xf32>
  %4 = shard.reduce_scatter %3 on @grid grid_axes = [0] scatter_axis = 1 : tensor<8x16xf32> -> tensor<8x8xf32>
  // Without axes it is the identity.
  // CHECK-NOT: spmd.all_reduce
  %5 = shard.all_reduce %4 on @grid : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: spmd.device_index @grid {"axis_1"} : tensor<i32>
  // CHECK: spmd.device_index @grid {"axis_0", "axis_1"} : tensor<i32>
  // CHECK: %[[SIZE:.*]] = arith.constant 4 : index
  // CHECK: return %[[SUM]], %{{.*}}, %{{.*}}, %[[SIZE]]
  %6 = shard.process_multi_index on @grid axes = [1] : index
  %7 = shard.process_linear_index on @grid : index
  %8 = shard.grid_shape @grid axes = [1] : index
  return %5, %6, %7, %8 : tensor<8x8xf32>, index, index, index
}

// -----

// How many devices there are is said later.
// CHECK: sdy.mesh @grid = <["axis_0"=?, "axis_1"=2]>
// CHECK-LABEL: func @unknown
// CHECK-SAME: %arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis_0"}]>}
shard.grid @grid(shape = ?x2)
func.func @unknown(%a: tensor<7xf32>) {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<7xf32>
  return
}
