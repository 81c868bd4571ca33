// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file --sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4x4xf32>) -> (tensor<4x4xf32> {jax.result_info = "r"})
func.func @elementwise(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, jax.result_info = "r"}) {
  // CHECK-NEXT: %[[R:.*]] = stablehlo.add %[[A]], %[[B]] : tensor<4x4xf32>
  // CHECK-NEXT: return %[[R]] : tensor<4x4xf32>
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4x8xf32>) -> tensor<8x8xf32>
func.func @matmul(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[A]], %[[B]]
  // CHECK-SAME:   (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: %[[SUM:.*]] = spmd.all_reduce %[[DOT]] @mesh {"y"}
  // CHECK-NEXT: return %[[SUM]]
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @collectives(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>) -> tensor<8x16xf32>
func.func @collectives(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[MOVED:.*]] = spmd.all_to_all %[[A]] {{.*}} : (tensor<4x4xf32>) -> tensor<1x16xf32>
  %0 = sdy.all_to_all [{"y"}: 1->0] %a out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x16xf32>
  // CHECK-NEXT: %[[GATHERED:.*]] = spmd.all_gather %[[MOVED]] {{.*}}{"y"} : (tensor<1x16xf32>) -> tensor<4x16xf32>
  %1 = sdy.all_gather [{"y"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  // CHECK-NEXT: %[[SLICED:.*]] = spmd.all_slice %[[GATHERED]] {{.*}}{"y"} : (tensor<4x16xf32>) -> tensor<4x4xf32>
  %2 = sdy.all_slice [{}, {"y"}] %1 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>
  // One op for each dim.
  // CHECK-NEXT: %[[ROWS:.*]] = spmd.all_gather %[[SLICED]] {{.*}}{"x"} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: %[[ALL:.*]] = spmd.all_gather %[[ROWS]] {{.*}}{"y"} : (tensor<8x4xf32>) -> tensor<8x16xf32>
  %3 = sdy.all_gather [{"x"}, {"y"}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  // CHECK-NEXT: return %[[ALL]]
  return %3 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @reduce_scatter(
func.func @reduce_scatter(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK-NEXT: %[[ROWS:.*]] = spmd.reduce_scatter %arg0 {{.*}}{"x"} : (tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK-NEXT: spmd.reduce_scatter %[[ROWS]] {{.*}}{"y"} : (tensor<4x16xf32>) -> tensor<4x4xf32>
  %0 = sdy.reduce_scatter [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @constants(
func.func @constants() -> (
    tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK-NEXT: %[[SPLAT:.*]] = sdy.constant dense<1.000000e+00> : tensor<2x8xf32>
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<1.0> : tensor<4x8xf32>
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[PIECE:.*]] = spmd.all_slice %[[WHOLE]] {{.*}}{"y"} : (tensor<4xi32>) -> tensor<1xi32>
  %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: return %[[SPLAT]], %[[PIECE]]
  return %0, %1 : tensor<4x8xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @data_flow(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>
func.func @data_flow(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: stablehlo.optimization_barrier %[[A]] : tensor<4xf32>
  %0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A device's index, for what an op computes from positions.
// CHECK-LABEL: func.func @positions(
func.func @positions()
    -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: spmd.device_index @mesh {"y"} : tensor<i32>
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @no_rule(
func.func @no_rule(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: "test.op"(%arg0)
  %0 = "test.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @donation(
// CHECK-SAME:    %arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}
// CHECK-SAME:    %arg1: tensor<8xf32>)
func.func @donation(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 0 : i32},
    %b: tensor<8xf32> {tf.aliasing_output = 1 : i32})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %a, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// Of the meshes only the one in use stays.
// CHECK-NOT: @unused
// CHECK:     sdy.mesh @mesh
// CHECK-NOT: @empty
sdy.mesh @unused = <["z"=4]>
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @empty = <[]>

// CHECK-LABEL: func.func @meshes(%arg0: tensor<4xf32>)
func.func @meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Sums that are still to be reduced pass through what is linear in them.
// CHECK-LABEL: func.func @partial(
func.func @partial(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>})
    -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %0 = stablehlo.transpose %a, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}], unreduced={"y"}>]>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  // CHECK-NEXT: spmd.all_reduce %[[T]] @mesh {"y"}
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @permute(
func.func @permute(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}]>}) {
  // CHECK-NEXT: spmd.collective_permute %arg0 [{"x"}, {}] -> [{"y":(1)2}, {}] @mesh : tensor<4x16xf32>
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y":(1)2}, {}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Who has which part is told too.
// CHECK-LABEL: func.func @permute_parts(
func.func @permute_parts(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y":(2)2}>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}], unreduced={"y":(2)2}>}) {
  // CHECK-NEXT: spmd.collective_permute %arg0 [{"x"}, {}, {"y":(2)2}] -> [{"y":(1)2}, {}, {"y":(2)2}] @mesh : tensor<4x16xf32>
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y":(1)2}, {}], unreduced={"y":(2)2}> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The first window is the tensor, the others are behind its end.
// CHECK-LABEL: func.func @owner(
func.func @owner(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[F:.*]] = sdy.constant dense<-0.000000e+00> : tensor<f32>
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=4 start=0 step=4 size=4 @mesh {} to {"y"} fill %[[F]]
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x16xf32>
  // CHECK: %[[P:.*]] = spmd.pack %arg1 : (tensor<i32>) -> tensor<1xi32>
  // CHECK-NEXT: %[[W:.*]] = spmd.fetch_window %[[P]] dim=0 global_size=1 start=0 step=1 size=1 @mesh {} to {"x"} fill
  // CHECK-NEXT: spmd.unpack %[[W]] : (tensor<1xi32>) -> tensor<i32>
  %1 = sdy.replicated_to_unreduced {"x"} %b out_sharding=<@mesh, [], unreduced={"x"}> : tensor<i32>
  %2 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %3 = sdy.all_gather [{"x"}, {}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// Each shard between what does not count; of the 10 rows a device then has 5.
// CHECK-LABEL: func.func @pieces(
func.func @pieces(%a: tensor<10x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<10x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[S:.*]] = spmd.fetch_window %arg0 dim=0 global_size=2 start=0 step=-2 size=8 @mesh {} to {"y"} fill
  // CHECK-NEXT: spmd.fetch_window %[[S]] dim=0 global_size=10 start=0 step=5 size=5 @mesh {"x"}
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<10x16xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<10x16xf32>
  return %1 : tensor<10x16xf32>
}

// -----

// What is fetched says what else could be done: here, to take the other dim.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @halo(
func.func @halo(%a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: spmd.fetch_window {{.*}} {sdy.cause = "what 'stablehlo.slice' sees of dim 0 of operand 0 beyond its shard; 'stablehlo.slice' with i by {x} costs
  // CHECK-SAME: the next best,
  %0 = stablehlo.slice %a [4:16, 0:4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x4xf32>) -> tensor<12x4xf32>
  return %0 : tensor<12x4xf32>
}

// What is on no mesh all devices have: of parts it is one device's.
// CHECK-LABEL: func.func @whole_to_parts(
func.func @whole_to_parts(%a: tensor<4xf32>)
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // CHECK-NEXT: %[[FILL:.*]] = sdy.constant dense<-0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[OWN:.*]] = spmd.fetch_window %arg0 dim=0 global_size=4 start=0 step=4 size=4 @mesh {} to {"x"} fill %[[FILL]]
  // CHECK-NEXT: return %[[OWN]]
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Windows of a slice are taken from what each device has whole, of every dim, and
// of one that does not divide.
// CHECK-LABEL: func.func @taken_from_whole(
func.func @taken_from_whole(%a: tensor<16x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %z: tensor<f32>) {
  %0 = sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x10xf32>
  // CHECK:      %[[X:.*]] = spmd.fetch_window %arg0 dim=0 global_size=16 start=-1 step=9 size=9 @mesh {} to {"x"} fill %arg1
  // CHECK:      %[[Y:.*]] = spmd.fetch_window %[[X]] dim=1 global_size=10 start=-2 step=3 size=3 @mesh {} to {"y"} fill %arg1
  // CHECK-NEXT: stablehlo.pad %[[Y]]
  %1 = stablehlo.pad %0, %z, low = [1, 2], high = [1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<16x10xf32>, tensor<f32>) -> tensor<18x12xf32>
  return
}

// Neighbours send where a dim of a window was in shards before.
// CHECK-LABEL: func.func @taken_from_shards(
func.func @taken_from_shards(%a: tensor<16x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %z: tensor<f32>) {
  %0 = sdy.all_slice [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x10xf32>
  // CHECK: %[[X:.*]] = spmd.fetch_window {{.*}} start=-1 step=9 size=9 @mesh {"x"} fill
  // CHECK: spmd.fetch_window %[[X]] {{.*}} start=-2 step=3 size=3 @mesh {"y"} fill
  %1 = stablehlo.pad %0, %z, low = [1, 2], high = [1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<16x10xf32>, tensor<f32>) -> tensor<18x12xf32>
  return
}
