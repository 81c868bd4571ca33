// RUN: sdy-opt %s -split-input-file --sdy-import-gspmd-shardings | FileCheck %s

// As JAX prints it; one mesh for all shardings.
// CHECK: sdy.mesh @mesh = <["axis_0"=4, "axis_1"=2]>
// CHECK: func.func public @boundary
// CHECK-SAME: %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {}]>}
// CHECK-SAME: %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"axis_1"}]>}
// CHECK-SAME: -> (tensor<16x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1"}]>})
func.func public @boundary(
    %arg0: tensor<16x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"},
    %arg1: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"})
    -> (tensor<16x16xf32> {jax.result_info = "result", mhlo.sharding = "{devices=[4,2]<=[8]}"}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  // CHECK: [[A:%.*]] = sdy.sharding_constraint %{{.*}} <@mesh, [{"axis_0"}, {"axis_1"}]>
  // CHECK: [[B:%.*]] = sdy.sharding_constraint [[A]] <@mesh, [{"axis_0"}, {?}]>
  // CHECK: stablehlo.tanh [[B]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[4,2]<=[8]}"} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = stablehlo.custom_call @Sharding(%1) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = stablehlo.tanh %2 {mhlo.sharding = "{replicated}"} : tensor<16x16xf32>
  return %3 : tensor<16x16xf32>
}

// -----

// Several orders of the devices, one device, summands, and shardings that are not said.
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
// CHECK: sdy.mesh @mesh_0 = <["axis_0"=2, "axis_1"=2], device_ids=[0, 1, 3, 2]>
// CHECK: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK: func.func @others
// CHECK-SAME: %arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_1"}]>}
// CHECK-SAME: %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"axis_0"}, {"axis_1"}]>}
// CHECK-SAME: %arg2: tensor<4xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3, []>}
// CHECK-SAME: %arg3: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"axis_0", "axis_1"}>}
// CHECK-SAME: %arg4: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}], unreduced={"axis_1"}>}
// CHECK-SAME: %arg5: tensor<4xf32>)
func.func @others(
    %arg0: tensor<4xf32> {mhlo.sharding = "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"},
    %arg1: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,2]0,1,3,2}"},
    %arg2: tensor<4xf32> {mhlo.sharding = "{maximal device=3}"},
    %arg3: tensor<4xf32> {mhlo.sharding = "{unreduced}"},
    %arg4: tensor<4xf32> {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dims={unreduced}}"},
    %arg5: tensor<4xf32> {mhlo.sharding = "{unknown}"}) {
  // Scalars can't be sharded.
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant
  // CHECK-NEXT: stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{?}]>]>} %[[C]], %arg5
  // CHECK-NEXT: stablehlo.custom_call @callback({{.*}}sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_3, []>]>
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{replicated}"} : (tensor<f32>) -> tensor<f32>
  %2:2 = "stablehlo.optimization_barrier"(%1, %arg5) {mhlo.sharding = "{{replicated}, {unknown}}"} : (tensor<f32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  stablehlo.custom_call @callback(%1) {has_side_effect = true, mhlo.sharding = "{maximal device=3}"} : (tensor<f32>) -> ()
  return
}

// -----

// CHECK: func.func @groups
func.func @groups(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=3
  // CHECK-NEXT: sdy.sharding_group %arg1 group_id=3
  // CHECK-NEXT: [[C:%.*]] = sdy.sharding_constraint %arg1 <@mesh, [{"axis_0"}]>
  // CHECK-NEXT: return [[C]]
  %0 = stablehlo.custom_call @Sharding(%arg0) {has_side_effect = true, mhlo.sharding = "{unknown shard_as 3}"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @Sharding(%arg1) {mhlo.sharding = "{devices=[2]<=[2] shard_like 3}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK: func.func @manual(%arg0: tensor<16x8xf32>, %arg1: tensor<16xf32>)
func.func @manual(%arg0: tensor<16x8xf32>, %arg1: tensor<16xf32>) -> (tensor<16x8xf32>, tensor<4x8xf32>) {
  // The constant inside is also used outside; the last result comes of no input.
  // CHECK-NEXT: [[C:%.*]] = stablehlo.constant dense<2.0
  // CHECK-NEXT: [[D:%.*]] = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"axis_0"}, {}]>] manual_axes={"axis_0", "axis_1"} () {
  // CHECK-NEXT:   stablehlo.constant dense<2.0
  // CHECK-NEXT:   func.call @body
  // CHECK-NEXT:   sdy.return
  // CHECK-NEXT: }
  // CHECK-NEXT: [[E:%.*]] = stablehlo.multiply [[C]], [[C]]
  // CHECK-NEXT: [[M:%.*]]:2 = sdy.manual_computation(%arg0, %arg1)
  // CHECK-SAME:   in_shardings=[<@mesh, [{"axis_0", ?}, {?}]>, <@mesh, [{"axis_0", ?}]>]
  // CHECK-SAME:   out_shardings=[<@mesh, [{"axis_0", ?}, {?}]>, <@mesh, [{"axis_0", ?}]>] manual_axes={"axis_0"} (%arg2: tensor<4x8xf32>, %arg3: tensor<4xf32>) {
  // CHECK-NEXT:   [[F:%.*]] = stablehlo.broadcast_in_dim %arg3
  // CHECK-NEXT:   [[A:%.*]] = stablehlo.add %arg2, [[F]]
  // CHECK-NEXT:   [[B:%.*]] = sdy.sharding_constraint [[A]] <@mesh, [{"axis_1"}, {?}]>
  // CHECK-NEXT:   sdy.return [[B]], %arg3
  // CHECK-NEXT: }
  // CHECK-NEXT: return [[M]]#0, [[D]]
  %c = stablehlo.constant dense<2.0> : tensor<1x8xf32>
  %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<16x8xf32>) -> tensor<4x8xf32>
  %d = func.call @body(%c) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %d1 = stablehlo.custom_call @Sharding(%d) {mhlo.sharding = "{manual}"} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %d2 = stablehlo.custom_call @SPMDShardToFullShape(%d1) {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %e = stablehlo.multiply %c, %c : tensor<1x8xf32>
  %2 = stablehlo.custom_call @Sharding(%arg1) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[4,2]<=[8] last_tile_dim_replicate}"} : (tensor<16xf32>) -> tensor<16xf32>
  %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<16xf32>) -> tensor<4xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.add %1, %4 : tensor<4x8xf32>
  // Manual axes go: they are no business of the inside.
  %6 = stablehlo.custom_call @Sharding(%5) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dims={manual}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = stablehlo.custom_call @Sharding(%6) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<4x8xf32>) -> tensor<16x8xf32>
  // A value that only passes through.
  %9 = stablehlo.custom_call @Sharding(%3) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<4xf32>) -> tensor<4xf32>
  %10 = stablehlo.custom_call @SPMDShardToFullShape(%9) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[4,2]<=[8] last_tile_dim_replicate}"} : (tensor<4xf32>) -> tensor<16xf32>
  return %8, %d2 : tensor<16x8xf32>, tensor<4x8xf32>
}
func.func private @body(tensor<1x8xf32>) -> tensor<1x8xf32>

// -----

// In a manual computation, more axes become manual; the axes that shard a value may stand where it is computed.
// CHECK: func.func @nested(
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}, {"axis_1"}]>] out_shardings=[<@mesh, [{}, {"axis_1"}]>] manual_axes={"axis_1"} (%arg1: tensor<4x4xf32>)
func.func @nested(%arg0: tensor<4x8xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={manual}}"}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.tanh %0 {mhlo.sharding = "{manual}"} : tensor<4x4xf32>
  %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={manual}}"} : (tensor<4x4xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// One device, no mesh.
// CHECK: sdy.mesh @empty_mesh = <[]>
// CHECK: func.func @one(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>})
func.func @one(%arg0: tensor<4xf32> {mhlo.sharding = "{devices=[1]<=[1]}"}) {
  return
}

// -----

// The number of devices comes from the module where no sharding says it.
// CHECK: sdy.mesh @mesh = <["axis_0"=8]>
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @replicated(%arg0: tensor<4xf32> {mhlo.sharding = "{replicated}"}) {
    return
  }
}

// -----

// What is inspected stays.
// CHECK-LABEL: @inspected
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add
// CHECK-NEXT: return %[[SUM]], %[[SUM]]
func.func @inspected(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %1 = stablehlo.custom_call @InspectSharding(%0) {backend_config = "\10\05", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
